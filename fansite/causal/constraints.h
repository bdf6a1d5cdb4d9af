// SPDX-License-Identifier: Apache-2.0
//
// Which graphs may be found.
#pragma once

#include <utility>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite::causal {

using Edge = std::pair<int, int>;  ///< from, to

struct GraphConstraints {
  ByteMatrix allowed;                ///< (i, j): i → j may be
  std::vector<Edge> required;        ///< edges that must be; they make no cycle
  std::vector<Edge> required_links;  ///< pairs between which there must be an edge, in one direction or the other
  ByteMatrix apart;                  ///< symmetric: pairs that have no common child; empty: none
};

}  // namespace fansite::causal
