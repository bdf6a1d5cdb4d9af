// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as .npy or throw a DataError; what parses is no larger than its bytes justify and reads back.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fansite/base/error.h"
#include "fansite/table/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  try {
    const NpyArray array = parse_npy({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    if (static_cast<std::size_t>(array.values.size()) > size) std::abort();
    const NpyArray again = parse_npy(to_npy(array.values), "again");
    if (std::memcmp(again.values.data(), array.values.data(),
                    static_cast<std::size_t>(array.values.size()) * sizeof(double)) != 0) {
      std::abort();
    }
  } catch (const DataError&) {
  }
  return 0;
}
