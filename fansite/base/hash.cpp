// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/hash.h"

#include <bit>

#include "fansite/base/detail/work_count.h"

namespace fansite {

std::uint64_t hash_of(const MatrixView& values) {
  ++detail::work_count.table_hashes;
  Hash hash;
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) hash.add(std::bit_cast<std::uint64_t>(values(i, j)));
  }
  return hash.value();
}

std::uint64_t hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace fansite
