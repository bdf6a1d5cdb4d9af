// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/orientation.h"

#include <utility>
#include <vector>

namespace fansite::causal {
namespace {

class Orienting {
 public:
  Orienting(const Dag& dag, const ByteMatrix& decided) : dag_(dag) {
    const Index d = dag.nodes();
    result_.directed = ByteMatrix::Zero(d, d);
    result_.undirected = ByteMatrix::Zero(d, d);
    neighbours_.resize(static_cast<std::size_t>(d));
    for (int j = 0; j < dag.nodes(); ++j) {
      for (const int i : dag.parents(j)) {
        result_.undirected(i, j) = result_.undirected(j, i) = 1;
        neighbours_[static_cast<std::size_t>(i)].push_back(j);
        neighbours_[static_cast<std::size_t>(j)].push_back(i);
      }
    }
    for (int j = 0; j < dag.nodes(); ++j) {
      for (const int i : dag.parents(j)) {
        if (decided(i, j) || in_collider(i, j)) orient(i, j);
      }
    }
    while (!waiting_.empty()) {
      const auto [i, j] = waiting_.back();
      waiting_.pop_back();
      follow(i, j);
    }
  }

  PartialDag result() && { return std::move(result_); }

 private:
  bool linked(int i, int j) const { return dag_.has_edge(i, j) || dag_.has_edge(j, i); }
  bool open(int i, int j) const { return result_.undirected(i, j) != 0; }
  bool arrow(int i, int j) const { return result_.directed(i, j) != 0; }
  const std::vector<int>& neighbours(int node) const { return neighbours_[static_cast<std::size_t>(node)]; }

  bool in_collider(int i, int j) const {
    for (const int other : dag_.parents(j)) {
      if (other != i && !linked(i, other)) return true;
    }
    return false;
  }

  void orient(int i, int j) {
    if (!open(i, j)) return;
    result_.undirected(i, j) = result_.undirected(j, i) = 0;
    result_.directed(i, j) = 1;
    waiting_.emplace_back(i, j);
  }

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

  const Dag& dag_;
  PartialDag result_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::pair<int, int>> waiting_;
};

}  // namespace

PartialDag oriented(const Dag& dag, const ByteMatrix& decided) { return Orienting(dag, decided).result(); }

}  // namespace fansite::causal
