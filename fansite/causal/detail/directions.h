// SPDX-License-Identifier: Apache-2.0
//
// The best graph, and for each of its edges the best one in which it is turned round.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "fansite/base/progress.h"
#include "fansite/causal/detail/graph_search.h"

namespace fansite::causal {

struct Weighed {
  ParentSets best;
  std::map<Edge, ParentSets> turned;  ///< of the edges that can be
  std::set<Edge> open;                ///< time ran out before these could be turned
};

/// Climbs, and turns each edge round and climbs from there, which escapes from graphs that no single step improves;
/// from the best of all it says how much worse the best other direction is. It climbs from `starts` too, and begins
/// with the best graph of all.
Weighed weigh_directions(GraphSearch& search, const std::vector<ParentSets>& starts, Progress& progress);

}  // namespace fansite::causal
