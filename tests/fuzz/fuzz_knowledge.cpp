// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as knowledge or throw a DataError; what parses is consistent with itself, writes and reads back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/graph/knowledge.h"

namespace {

using namespace fansite;

void require(bool ok) {
  if (!ok) std::abort();
}

void check_consistency(const Knowledge& k) {
  const ByteMatrix allowed = k.allowed(), candidates = k.boundary_candidates();
  std::vector<std::vector<int>> boundaries;
  for (int i = 0; i < k.variables(); ++i) {
    boundaries.push_back(k.known_boundary(i));
    for (int j = 0; j < k.variables(); ++j) {
      require(!k.requires_edge(i, j) || allowed(i, j) != 0);
      require(!(k.requires_edge(i, j) && k.requires_edge(j, i)));
      require(!k.requires_link(i, j) || k.may_neighbour(i, j));
      require(candidates(i, j) == candidates(j, i) && k.in_boundary(i, j) == k.in_boundary(j, i));
      require(!k.in_boundary(i, j) || candidates(i, j) != 0);
      require(!k.may_neighbour(i, j) || candidates(i, j) != 0);
    }
  }
  require(k.violations_of_boundaries(boundaries).empty());
  for (const auto& graph : {ByteMatrix(ByteMatrix::Zero(k.variables(), k.variables())), allowed, candidates}) {
    for (const std::string& sentence : k.violations(graph, candidates)) require(is_utf8(sentence));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<std::string> names = {"a", "b", "c", "age", "two words", "*", "say \"hi\"", "1", "\xE9\n#"};
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const Knowledge k = Knowledge::parse(text, "fuzz", names);
    check_consistency(k);
    require(Knowledge::parse(k.to_text(), "again", names) == k);
  } catch (const DataError& error) {
    require(is_utf8(error.what()));
  }
  return 0;
}
