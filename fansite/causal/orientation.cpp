// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/orientation.h"

#include <optional>
#include <utility>
#include <vector>

namespace fansite::causal {
namespace {

// Meek's rules, each arrow's consequences as soon as it is drawn.
class Orienting {
 public:
  explicit Orienting(PartialDag graph) : graph_(std::move(graph)) {
    const auto d = static_cast<int>(graph_.directed.rows());
    neighbours_.resize(static_cast<std::size_t>(d));
    for (int j = 0; j < d; ++j) {
      for (int i = 0; i < d; ++i) {
        if (arrow(i, j)) waiting_.emplace_back(i, j);
        if (linked(i, j)) neighbours_[static_cast<std::size_t>(j)].push_back(i);
      }
    }
  }

  void orient(int i, int j) {
    if (!open(i, j)) return;
    graph_.undirected(i, j) = graph_.undirected(j, i) = 0;
    graph_.directed(i, j) = 1;
    waiting_.emplace_back(i, j);
  }

  PartialDag result() && {
    while (!waiting_.empty()) {
      const auto [i, j] = waiting_.back();
      waiting_.pop_back();
      follow(i, j);
    }
    return std::move(graph_);
  }

 private:
  bool open(int i, int j) const { return graph_.undirected(i, j) != 0; }
  bool arrow(int i, int j) const { return graph_.directed(i, j) != 0; }
  bool linked(int i, int j) const { return open(i, j) || arrow(i, j) || arrow(j, i); }
  const std::vector<int>& neighbours(int node) const { return neighbours_[static_cast<std::size_t>(node)]; }

  // What a new arrow i → j makes certain.
  void follow(int i, int j) {
    for (const int k : std::vector<int>(neighbours(j))) {
      // 1: i → j – k, i and k not linked: j → k, else j were a collider.
      if (open(j, k) && !linked(i, k)) orient(j, k);
      // 2: i → j → k and i – k: i → k, else a cycle. Either arrow may be the new one.
      if (arrow(j, k) && open(i, k)) orient(i, k);
    }
    for (const int h : std::vector<int>(neighbours(i))) {
      if (arrow(h, i) && open(h, j)) orient(h, j);
    }
    for (const int a : std::vector<int>(neighbours(j))) {
      if (!open(a, j)) continue;
      for (const int k : neighbours(j)) {
        // 3: a – i → j, a – k → j, a – j, i and k not linked: a → j.
        if (k != i && arrow(k, j) && open(a, i) && open(a, k) && !linked(i, k)) orient(a, j);
      }
    }
    // 4: a – i → j → k (or h → i → j), a – k open, a linked to the middle, first and last not linked: a → last.
    for (const int k : std::vector<int>(neighbours(j))) {
      if (!arrow(j, k) || linked(i, k)) continue;
      for (const int a : std::vector<int>(neighbours(k))) {
        if (open(a, k) && open(a, i) && linked(a, j)) orient(a, k);
      }
    }
    for (const int h : std::vector<int>(neighbours(i))) {
      if (!arrow(h, i) || linked(h, j)) continue;
      for (const int a : std::vector<int>(neighbours(j))) {
        if (open(a, j) && open(a, h) && linked(a, i)) orient(a, j);
      }
    }
  }

  PartialDag graph_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::pair<int, int>> waiting_;
};

bool in_collider(const Dag& dag, int i, int j) {
  for (const int other : dag.parents(j)) {
    if (other != i && !dag.has_edge(i, other) && !dag.has_edge(other, i)) return true;
  }
  return false;
}

// Takes nodes away that can be last: no arrow leaves them, and whatever an undirected edge joins to them is linked to
// all their other neighbours, so that pointing it there makes no collider.
class Extending {
 public:
  explicit Extending(const PartialDag& graph) : graph_(graph), neighbours_(nodes()), gone_(nodes(), 0) {
    for (int j = 0; j < graph.directed.rows(); ++j) {
      for (int i = 0; i < graph.directed.rows(); ++i) {
        if (linked(i, j)) neighbours_[at(j)].push_back(i);
      }
    }
  }

  std::optional<Dag> run() {
    ByteMatrix adjacency = ByteMatrix::Zero(graph_.directed.rows(), graph_.directed.rows());
    // Smallest first; a node is looked at again when a neighbour has gone.
    std::vector<int> waiting(nodes());
    for (std::size_t k = 0; k < nodes(); ++k) waiting[k] = static_cast<int>(nodes() - 1 - k);
    std::size_t left = nodes();
    while (!waiting.empty()) {
      const int node = waiting.back();
      waiting.pop_back();
      if (gone_[at(node)] || !can_be_last(node)) continue;
      gone_[at(node)] = 1;
      --left;
      for (const int other : neighbours_[at(node)]) {
        if (gone_[at(other)]) continue;
        adjacency(other, node) = 1;
        waiting.push_back(other);
      }
    }
    if (left > 0) return std::nullopt;
    return Dag(std::move(adjacency));
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  std::size_t nodes() const { return static_cast<std::size_t>(graph_.directed.rows()); }
  bool linked(int i, int j) const {
    return graph_.undirected(i, j) != 0 || graph_.directed(i, j) != 0 || graph_.directed(j, i) != 0;
  }

  bool can_be_last(int node) const {
    for (const int other : neighbours_[at(node)]) {
      if (gone_[at(other)]) continue;
      if (graph_.directed(node, other)) return false;
      if (!graph_.undirected(node, other)) continue;
      for (const int third : neighbours_[at(node)]) {
        if (third != other && !gone_[at(third)] && !linked(other, third)) return false;
      }
    }
    return true;
  }

  const PartialDag& graph_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<char> gone_;
};

}  // namespace

PartialDag oriented(const Dag& dag, const ByteMatrix& decided) {
  const ByteMatrix links = dag.adjacency() + ByteMatrix(dag.adjacency().transpose());
  Orienting orienting({ByteMatrix::Zero(dag.nodes(), dag.nodes()), links});
  for (int j = 0; j < dag.nodes(); ++j) {
    for (const int i : dag.parents(j)) {
      if (decided(i, j) || in_collider(dag, i, j)) orienting.orient(i, j);
    }
  }
  return std::move(orienting).result();
}

PartialDag closed_under_meek_rules(PartialDag graph) { return Orienting(std::move(graph)).result(); }

std::optional<Dag> consistent_extension(const PartialDag& graph) { return Extending(graph).run(); }

}  // namespace fansite::causal
