// SPDX-License-Identifier: Apache-2.0
//
// From links and colliders that tests speak for to a graph, also where tests contradict each other, and from that to a
// DAG: what the constraint-based methods have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fansite/causal/methods.h"
#include "fansite/causal/orientation.h"

namespace fansite::causal {

/// i → k ← j, whose parents are not linked.
struct Collider {
  int i = 0, k = 0, j = 0;
  double p_value = 0;  ///< of the independence of i and j given a set without k
};

struct OrientedSkeleton {
  PartialDag graph;
  int conflicts = 0;  ///< colliders that others, or what was directed before, contradict
  int undone = 0;     ///< edges that were directed round a cycle, and are left open instead
};

/// Colliders are taken in the order of their p-values, the largest first, so the columns' order does not matter. One
/// against an edge that is directed already, or that would close a cycle, is passed over. Then Meek's rules. Edges that
/// `start` directs stay as they are; these must make no cycle.
OrientedSkeleton orient_skeleton(const PartialDag& start, std::vector<Collider> colliders);

/// A direction for every edge: a consistent extension, or, if there is none, along an order that the directed edges
/// allow, in which of several nodes the one that comes first in `preferred` is first. Directed edges make no cycle.
Dag directed_throughout(const PartialDag& graph, const std::vector<int>& preferred);

/// The links among which a method that goes by covariances can find edges: less those of columns without a scale there,
/// such as context.
ByteMatrix links_with_scale(const GraphProblem& problem);

/// A UsageError for statements about boundaries, which the classical methods cannot satisfy.
void check_no_boundary_statements(const Knowledge& knowledge, std::string_view method);

/// The weights of a graph's edges, given those of pairs (symmetric): undecided edges have them in both directions.
Matrix edge_weights(const PartialDag& graph, const Matrix& of_pairs);

}  // namespace fansite::causal
