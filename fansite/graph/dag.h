// SPDX-License-Identifier: Apache-2.0
//
// Directed acyclic graphs and what can be read off them. Everywhere A[i][j] = 1 means i → j.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

class Dag {
 public:
  /// From an adjacency matrix, any nonzero entry an edge; throws a DataError that names a cycle if there is one.
  explicit Dag(ByteMatrix adjacency);
  /// From edges (i, j), meaning i → j; naming one twice is harmless.
  Dag(int nodes, const std::vector<std::pair<int, int>>& edges);

  int nodes() const { return static_cast<int>(adjacency_.rows()); }
  int edges() const { return edges_; }
  bool has_edge(int from, int to) const { return adjacency_(from, to) != 0; }
  const ByteMatrix& adjacency() const { return adjacency_; }
  const std::vector<int>& parents(int node) const { return parents_[static_cast<std::size_t>(node)]; }
  const std::vector<int>& children(int node) const { return children_[static_cast<std::size_t>(node)]; }
  /// Parents before children; among the possible orders the one with the smallest indices first.
  const std::vector<int>& topological_order() const { return order_; }

  /// Parents, children and the children's other parents, ascending.
  std::vector<int> markov_boundary(int node) const;
  /// Symmetric: every edge, and every pair of parents of a common child.
  ByteMatrix moral_graph() const;
  /// Whether x and y are d-separated by `given`, in time linear in nodes and edges; x ≠ y, neither of them given.
  bool d_separated(int x, int y, const std::vector<int>& given) const;

 private:
  ByteMatrix adjacency_;
  std::vector<std::vector<int>> parents_, children_;  // ascending; everything but the matrices runs on these
  std::vector<int> order_;
  int edges_ = 0;
};

/// A cycle i → … → i as the list of its nodes, or empty if the graph has none.
std::vector<int> find_cycle(const ByteMatrix& adjacency);

/// Writers; `directed` false writes each linked pair once. Names are escaped for the format, whatever is in them:
/// quotes, markup, line breaks, bytes that are not UTF-8 (GraphML and DOT show those as U+FFFD).
std::string to_csv(const ByteMatrix& adjacency, const std::vector<std::string>& names);
std::string to_dot(const ByteMatrix& adjacency, const std::vector<std::string>& names, bool directed = true);
std::string to_graphml(const ByteMatrix& adjacency, const std::vector<std::string>& names, bool directed = true);
/// Of a graph whose symmetric part `undirected` has no direction: one edge for each such pair, marked dir=none, or by
/// the edge attribute "directed". Pairs with a hidden common cause are dashed with two heads, or have the attribute
/// "hidden_cause".
std::string to_dot(const ByteMatrix& directed, const ByteMatrix& undirected, const std::vector<std::string>& names,
                   const std::vector<std::pair<int, int>>& hidden_causes = {});
std::string to_graphml(const ByteMatrix& directed, const ByteMatrix& undirected, const std::vector<std::string>& names,
                       const std::vector<std::pair<int, int>>& hidden_causes = {});

struct NamedDag {
  std::vector<std::string> names;
  Dag dag;
};

/// Reads a graph with its names: a CSV adjacency matrix with a header, or the array `dag` of an .npz (names x1, x2, …).
/// Any nonzero entry is an edge, so a matrix of weights serves too. Throws a DataError if it is not square, has a
/// missing cell or has a cycle, which is named.
NamedDag load_dag(const std::string& path);

struct NamedGraph {
  std::vector<std::string> names;
  ByteMatrix adjacency;  ///< an undirected edge has both entries
};

/// The same of a graph that may have undirected edges and cycles, as `fansite dag --csv` writes.
NamedGraph load_graph(const std::string& path);

}  // namespace fansite
