// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/equivalence_class.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fansite::causal {
namespace {

void add_sorted(std::vector<int>& list, int node) {
  list.insert(std::lower_bound(list.begin(), list.end(), node), node);
}

}  // namespace

EquivalenceClass::EquivalenceClass(int nodes)
    : mark_(ByteMatrix::Zero(nodes, nodes)),
      parents_(at(nodes)),
      children_(at(nodes)),
      neighbours_(at(nodes)),
      linked_to_(at(nodes)),
      dag_parents_(at(nodes)),
      rank_(at(nodes)) {
  std::iota(rank_.begin(), rank_.end(), 0);
}

EquivalenceClass::EquivalenceClass(const Dag& dag) : EquivalenceClass(dag.nodes()) {
  for (int node = 0; node < dag.nodes(); ++node) {
    for (const int parent : dag.parents(node)) {
      add_sorted(linked_to_[at(parent)], node);
      add_sorted(linked_to_[at(node)], parent);
      set_arrow(parent, node);
    }
  }
  complete();
}

std::vector<int> EquivalenceClass::linked_neighbours(int x, int y) const {
  std::vector<int> found;
  for (const int node : neighbours(y)) {
    if (node != x && linked(node, x)) found.push_back(node);
  }
  return found;
}

std::vector<int> EquivalenceClass::open_path(int y, int x, const std::vector<int>& set) const {
  constexpr int kUnseen = -1, kNever = -2;
  std::vector<int> before(at(nodes()), kUnseen);
  for (const int node : set) before[at(node)] = kNever;
  before[at(y)] = y;
  std::vector<int> waiting = {y};
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    for (const auto* list : {&children_[at(node)], &neighbours_[at(node)]}) {
      for (const int next : *list) {
        if (before[at(next)] != kUnseen) continue;
        before[at(next)] = node;
        waiting.push_back(next);
        if (next != x) continue;
        std::vector<int> path = {x};
        while (path.back() != y) path.push_back(before[at(path.back())]);
        std::reverse(path.begin(), path.end());
        return path;
      }
    }
  }
  return {};
}

bool EquivalenceClass::is_path(const std::vector<int>& nodes) const {
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    if (mark_(nodes[k - 1], nodes[k]) == kNone) return false;
  }
  return nodes.size() > 1;
}

void EquivalenceClass::set_arrow(int from, int to) {
  mark_(from, to) = kArrow;
  mark_(to, from) = kNone;
}

std::vector<int> EquivalenceClass::insert(int x, int y, const std::vector<int>& set) {
  add_sorted(linked_to_[at(x)], y);
  add_sorted(linked_to_[at(y)], x);
  set_arrow(x, y);
  for (const int t : set) set_arrow(t, y);
  return complete();
}

std::vector<int> EquivalenceClass::remove(int x, int y, const std::vector<int>& set) {
  std::erase(linked_to_[at(x)], y);
  std::erase(linked_to_[at(y)], x);
  mark_(x, y) = mark_(y, x) = kNone;
  for (const int h : set) {
    set_arrow(y, h);
    if (mark_(x, h) == kOpen) set_arrow(x, h);
  }
  return complete();
}

// A DAG of the class (Dor and Tarsi, 1992): takes away one by one what can be last. No arrow leaves it, and whatever an
// undirected edge joins to it is linked to all else around it.
void EquivalenceClass::extend() {
  std::vector<char> gone(at(nodes()), 0);
  std::vector<int> waiting(at(nodes()));
  std::iota(waiting.rbegin(), waiting.rend(), 0);
  const auto can_be_last = [&](int node) {
    for (const int other : linked_to_[at(node)]) {
      if (gone[at(other)]) continue;
      if (mark_(node, other) == kArrow) return false;
      if (mark_(node, other) != kOpen) continue;
      for (const int third : linked_to_[at(node)]) {
        if (third != other && !gone[at(third)] && !linked(other, third)) return false;
      }
    }
    return true;
  };
  int next = nodes() - 1;
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    if (gone[at(node)] || !can_be_last(node)) continue;
    gone[at(node)] = 1;
    rank_[at(node)] = next--;
    std::vector<int>& parents = dag_parents_[at(node)];
    parents.clear();
    for (const int other : linked_to_[at(node)]) {
      if (gone[at(other)]) continue;
      parents.push_back(other);
      waiting.push_back(other);
    }
  }
  assert(next == -1);
  for (std::vector<int>& parents : dag_parents_) {
    std::sort(parents.begin(), parents.end(), [&](int a, int b) { return rank_[at(a)] < rank_[at(b)]; });
  }
}

// Which edges into y all DAGs of the class share, those into earlier nodes being known. The parent that comes last
// decides for all that nothing else does (Chickering, UAI 1995).
void EquivalenceClass::label_into(int y, std::vector<std::vector<char>>& compelled) const {
  const std::vector<int>& parents = dag_parents_[at(y)];
  std::vector<char>& of_y = compelled[at(y)];
  of_y.assign(parents.size(), 0);
  if (parents.empty()) return;
  const int last = parents.back();
  const std::vector<int>& above = dag_parents_[at(last)];
  for (std::size_t k = 0; k < above.size(); ++k) {
    if (!compelled[at(last)][k]) continue;
    const auto place = std::find(parents.begin(), parents.end(), above[k]);
    if (place == parents.end()) {
      of_y.assign(parents.size(), 1);
      return;
    }
    of_y[static_cast<std::size_t>(place - parents.begin())] = 1;
  }
  const bool collider =
      std::any_of(parents.begin(), parents.end(), [&](int z) { return z != last && !linked(z, last); });
  if (collider) of_y.assign(parents.size(), 1);
}

std::vector<int> EquivalenceClass::complete() {
  extend();
  std::vector<int> order(at(nodes()));
  for (int node = 0; node < nodes(); ++node) order[at(rank_[at(node)])] = node;
  std::vector<std::vector<char>> compelled(at(nodes()));
  for (const int y : order) label_into(y, compelled);
  for (int y = 0; y < nodes(); ++y) {
    for (std::size_t k = 0; k < dag_parents_[at(y)].size(); ++k) {
      const int x = dag_parents_[at(y)][k];
      mark_(x, y) = compelled[at(y)][k] ? kArrow : kOpen;
      mark_(y, x) = compelled[at(y)][k] ? kNone : kOpen;
    }
  }
  std::vector<int> changed;
  for (int node = 0; node < nodes(); ++node) {
    std::vector<int> parents, children, neighbours;
    for (const int other : linked_to_[at(node)]) {
      (mark_(node, other) == kOpen ? neighbours : mark_(node, other) == kArrow ? children : parents).push_back(other);
    }
    if (parents != parents_[at(node)] || neighbours != neighbours_[at(node)]) changed.push_back(node);
    parents_[at(node)] = std::move(parents);
    children_[at(node)] = std::move(children);
    neighbours_[at(node)] = std::move(neighbours);
  }
  return changed;
}

PartialDag EquivalenceClass::graph() const {
  return {(mark_.array() == kArrow).cast<unsigned char>(), (mark_.array() == kOpen).cast<unsigned char>()};
}

}  // namespace fansite::causal
