// SPDX-License-Identifier: Apache-2.0
//
// A causal graph's second opinion on Markov boundaries: spouses are hard to see in entropies and plain in a graph, and
// a false member is a link that no graph needs.
#pragma once

#include <utility>
#include <vector>

#include "fansite/boundary/search.h"
#include "fansite/graph/dag.h"

namespace fansite {

/// The boundaries read off the graph: parents, children, spouses. Members that stay keep their order and p-values;
/// those that the graph adds come after them, by what they gain; those that it drops become near misses, and so do
/// those of least gain that the estimator knows no set for. Gains are computed anew.
/// `unexplained` pairs stay, marked `against_graph`, and what was found of their ends stays as it was found: where the
/// graph is wrong about one link, it is no judge of those beside it.
Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph,
                   const std::vector<std::pair<int, int>>& unexplained, Progress& progress);
inline Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph,
                          Progress& progress) {
  return refined(estimator, found, graph, {}, progress);
}

/// The pairs, i < j, that were found and the graph would drop, although it does not explain them: given the boundaries
/// that it proposes instead, the test of the pair still has a p-value below 1e-4.
std::vector<std::pair<int, int>> unexplained_pairs(const SearchEstimator& estimator, const Boundaries& found,
                                                   const Dag& graph, Progress& progress);

}  // namespace fansite
