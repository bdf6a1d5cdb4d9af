// SPDX-License-Identifier: Apache-2.0
//
// A causal graph's second opinion on Markov boundaries: spouses are hard to see in entropies and plain in a graph, and
// a false member is a link that no graph needs.
#pragma once

#include <vector>

#include "fansite/boundary/search.h"
#include "fansite/graph/dag.h"

namespace fansite {

/// The boundaries read off the graph: parents, children, spouses. Members that stay keep their order and p-values;
/// those that the graph adds come after them, by what they gain; those that it drops become near misses, and so do
/// those of least gain that the estimator knows no set for. Gains are computed anew.
Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph, Progress& progress);

/// Pairs in each other's boundary as either of them says.
ByteMatrix links_of(const Boundaries& boundaries, int variables);

}  // namespace fansite
