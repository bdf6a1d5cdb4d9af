// SPDX-License-Identifier: Apache-2.0
//
// From DAT's tests of pairs to a graph: links, colliders where ψ says that a common neighbour must not be known, two
// rules, a coin for what is left, and the cycles that remain taken apart.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "fansite/graph/partial_dag.h"

namespace fansite::causal {

/// An ordered pair that was tested.
struct TestedPair {
  int i = 0, j = 0;
  double explained = 0;      ///< what x_i tells of x_j
  std::vector<int> members;  ///< of i's boundary, j left out
  std::vector<double> psi;   ///< of each member: near 0, it is kept out of what is known
};

/// Explained(i, j)² + explained(j, i)² of pairs that were tested in both orders, symmetric; NaN elsewhere.
Matrix skeleton_scores(const std::vector<TestedPair>& tested, int variables);

/// Of every tested pair i, j without a link and every common neighbour c in both boundaries: i → c ← j if
/// ψ_ij(c)² + ψ_ji(c)² is below the threshold. A later one turns round what an earlier one has directed, as published.
/// Returns how many there were.
int direct_colliders(const std::vector<TestedPair>& tested, double threshold, PartialDag& graph);

/// Until nothing changes: a → b, b − v, no edge between a and v: b → v; a path a → … → b, a − b: a → b.
void apply_dat_rules(PartialDag& graph);

/// Directs the undirected edges, one at random at a time, and what follows of it. Returns how many were left to chance.
int direct_at_random(PartialDag& graph, Key key);

/// While there is a cycle: of the node through which most walks of up to d steps return, takes away the edge that
/// leaves the fewest such walks in the graph (diagonal and trace of (I + A)^d). Returns how many edges went.
int break_cycles(ByteMatrix& directed);

struct DatGraph {
  ByteMatrix directed;  ///< without cycles
  int colliders = 0, by_chance = 0, removed = 0;
};
DatGraph direct_skeleton(const ByteMatrix& skeleton, const std::vector<TestedPair>& tested, double collider_threshold,
                         Key key);

}  // namespace fansite::causal
