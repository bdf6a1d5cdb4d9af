// SPDX-License-Identifier: Apache-2.0
//
// All DAGs with the same independences, as one graph: directed edges are those that all of them share. It grows and
// shrinks by Chickering's operators.
#pragma once

#include <vector>

#include "fansite/graph/dag.h"
#include "fansite/graph/partial_dag.h"

namespace fansite::causal {

class EquivalenceClass {
 public:
  /// Without edges.
  explicit EquivalenceClass(int nodes);
  /// That of a DAG.
  explicit EquivalenceClass(const Dag& dag);

  int nodes() const { return static_cast<int>(parents_.size()); }
  /// Joined by an undirected edge, and ascending, as all lists here.
  const std::vector<int>& neighbours(int node) const { return neighbours_[at(node)]; }
  const std::vector<int>& parents(int node) const { return parents_[at(node)]; }
  bool linked(int i, int j) const { return mark_(i, j) != kNone || mark_(j, i) != kNone; }
  /// Neighbours of y that are linked to x.
  std::vector<int> linked_neighbours(int x, int y) const;
  /// The nodes of a path from y to x that goes along arrows and undirected edges and has no node of the set; empty if
  /// the set blocks them all.
  std::vector<int> open_path(int y, int x, const std::vector<int>& set) const;
  /// Whether there still is a path through these nodes.
  bool is_path(const std::vector<int>& nodes) const;

  /// Adds x → y and directs t → y for all of the set, neighbours of y. The graph must have an extension, which the
  /// conditions of the operator ensure; so with the others. Returns the nodes whose parents or neighbours are others
  /// now.
  std::vector<int> insert(int x, int y, const std::vector<int>& set);
  /// Takes the edge of x and y away and directs y → h, and x → h if that is undirected, for all of the set.
  std::vector<int> remove(int x, int y, const std::vector<int>& set);

  PartialDag graph() const;

 private:
  enum Mark : unsigned char { kNone, kArrow, kOpen };  // (i, j): kArrow: i → j; kOpen stands in both entries

  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  void set_arrow(int from, int to);
  std::vector<int> complete();
  void extend();
  void label_into(int y, std::vector<std::vector<char>>& compelled) const;

  ByteMatrix mark_;
  std::vector<std::vector<int>> parents_, children_, neighbours_, linked_to_;
  std::vector<std::vector<int>> dag_parents_;  // ascending in the order of the DAG
  std::vector<int> rank_;                      // of each node in that order
};

}  // namespace fansite::causal
