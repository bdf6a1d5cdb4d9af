// SPDX-License-Identifier: Apache-2.0
//
// What the pieces of a run cost, by timing a little of each on the table itself, every thread busy.
#pragma once

#include <vector>

#include "fansite/boundary/detail/growth.h"
#include "fansite/causal/additive_noise.h"
#include "fansite/entropy/entropy.h"
#include "fansite/graph/knowledge.h"
#include "fansite/table/dataset.h"

namespace fansite {

/// What is taken for granted about the answer.
struct Supposed {
  ByteMatrix links;           ///< symmetric: pairs in each other's boundary
  std::vector<double> sizes;  ///< of boundaries, per target searched
  double pairs = 0;           ///< with an end searched, each once

  /// `more`: members of each boundary beside those that are linked.
  Supposed(ByteMatrix links, const std::vector<int>& targets, double more = 0);
  double mean_size() const;
};

struct SearchCost {
  double seconds = 0;
  double describing = 0;  ///< of that
  double evaluations = 0;
};
/// Every target is searched to the size supposed and over the misses that end its search. What a density costs does not
/// depend on the weights, so the networks may be untrained.
SearchCost search_cost(const SearchEstimator& estimator, const Search& search, const Supposed& supposed, double pairs,
                       Progress& progress);

/// Rehearses the search for a graph inside the links supposed, or some of them, with few rows and landmarks; its time
/// is multiplied by what regressions cost with all of them.
double graph_seconds(const Dataset& data, const Knowledge& knowledge, const Supposed& supposed,
                     const causal::AdditiveNoiseParams& params, Progress& progress);

}  // namespace fansite
