// SPDX-License-Identifier: Apache-2.0
//
// The graph of the best score over a few variables: exactly, by dynamic programming over their subsets (Silander and
// Myllymäki, UAI 2006), or by hill climbing where they are too many for that.
#pragma once

#include <span>
#include <vector>

#include "fansite/independence/local_score.h"

namespace fansite {

struct BestDagParams {
  int max_parents = 5;  ///< of a variable
  int max_exact = 12;   ///< variables; time and memory of the exact search grow as n·2ⁿ. 20 at most
};

struct BestDag {
  std::vector<int> variables;
  std::vector<std::vector<int>> parents;  ///< of each, among `variables`, ascending
  double score = 0;                       ///< the sum over all
  bool exact = true;                      ///< false: they were more than max_exact, and it may not be the best
  bool parents_limited = false;           ///< some variable has as many parents as are allowed

  bool has_edge(int from, int to) const;
  bool adjacent(int a, int b) const { return has_edge(a, b) || has_edge(b, a); }
};

/// A larger graph must be better by more than 1e-9, so that an edge that tells nothing is not there.
BestDag best_dag(const LocalScore& score, std::span<const int> variables, const BestDagParams& params = {});

}  // namespace fansite
