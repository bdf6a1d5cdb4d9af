// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <string_view>

#include "fansite/base/error.h"
#include "fansite/table/dataset.h"
#include "fansite/table/npy.h"

namespace fansite {
namespace {

using Lists = std::vector<std::vector<int>>;

std::size_t at(int node) { return static_cast<std::size_t>(node); }

void check_square(const ByteMatrix& adjacency) {
  check(adjacency.rows() == adjacency.cols(), "[graph] an adjacency matrix is square, this one is {}×{}",
        adjacency.rows(), adjacency.cols());
}

struct Neighbours {
  Lists parents, children;  // ascending
};

// Column by column, the order of storage; both kinds of list come out ascending.
Neighbours neighbours(const ByteMatrix& adjacency) {
  const int nodes = static_cast<int>(adjacency.rows());
  Neighbours result{Lists(at(nodes)), Lists(at(nodes))};
  for (int to = 0; to < nodes; ++to) {
    for (int from = 0; from < nodes; ++from) {
      if (adjacency(from, to) == 0) continue;
      result.parents[at(to)].push_back(from);
      result.children[at(from)].push_back(to);
    }
  }
  return result;
}

// Kahn's algorithm, smallest index first. Shorter than the number of nodes if there is a cycle.
std::vector<int> kahn_order(const Neighbours& graph) {
  std::vector<std::size_t> waiting(graph.parents.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t node = 0; node < waiting.size(); ++node) {
    waiting[node] = graph.parents[node].size();
    if (waiting[node] == 0) ready.push(static_cast<int>(node));
  }
  std::vector<int> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int child : graph.children[at(node)]) {
      if (--waiting[at(child)] == 0) ready.push(child);
    }
  }
  return order;
}

// Every node that Kahn's order leaves out has a parent that it leaves out too, so a walk up those parents must come
// back to where it has been.
std::vector<int> cycle_outside(const Neighbours& graph, const std::vector<int>& order) {
  const std::size_t nodes = graph.parents.size();
  if (order.size() == nodes) return {};
  std::vector<bool> ordered(nodes, false);
  for (const int node : order) ordered[at(node)] = true;
  std::vector<int> walk;
  std::vector<bool> visited(nodes, false);
  int node = static_cast<int>(std::find(ordered.begin(), ordered.end(), false) - ordered.begin());
  while (!visited[at(node)]) {
    visited[at(node)] = true;
    walk.push_back(node);
    const auto& parents = graph.parents[at(node)];
    node = *std::find_if(parents.begin(), parents.end(), [&](int parent) { return !ordered[at(parent)]; });
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), node));
  std::reverse(walk.begin(), walk.end());
  std::rotate(walk.begin(), std::min_element(walk.begin(), walk.end()), walk.end());
  return walk;
}

// "a → b → a"; the middle of a long cycle is left out.
template <class NameOf>
std::string describe_cycle(const std::vector<int>& cycle, NameOf name_of) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) text += fmt::format("{} → ", name_of(cycle[i]));
  if (cycle.size() > kShown) text += fmt::format("… ({} more) → ", cycle.size() - kShown);
  return text + fmt::format("{}", name_of(cycle.front()));
}

}  // namespace

std::vector<int> find_cycle(const ByteMatrix& adjacency) {
  check_square(adjacency);
  const Neighbours graph = neighbours(adjacency);
  return cycle_outside(graph, kahn_order(graph));
}

Dag::Dag(ByteMatrix adjacency) : adjacency_(std::move(adjacency)) {
  check_square(adjacency_);
  adjacency_ = (adjacency_.array() != 0).cast<unsigned char>();
  Neighbours graph = neighbours(adjacency_);
  order_ = kahn_order(graph);
  const std::vector<int> cycle = cycle_outside(graph, order_);
  check_data(cycle.empty(), "[graph] the graph has a cycle: {}",
             cycle.empty() ? "" : describe_cycle(cycle, [](int node) { return node; }));
  parents_ = std::move(graph.parents);
  children_ = std::move(graph.children);
  for (const auto& list : parents_) edges_ += static_cast<int>(list.size());
}

Dag::Dag(int nodes, const std::vector<std::pair<int, int>>& edges)
    : Dag([&] {
        check(nodes >= 0, "[graph] {} nodes asked for", nodes);
        ByteMatrix adjacency = ByteMatrix::Zero(nodes, nodes);
        for (const auto& [from, to] : edges) {
          check(0 <= from && from < nodes && 0 <= to && to < nodes,
                "[graph] the edge {} → {} leaves the {} nodes, which count from 0", from, to, nodes);
          adjacency(from, to) = 1;
        }
        return adjacency;
      }()) {}

std::vector<int> Dag::markov_boundary(int node) const {
  check(0 <= node && node < nodes(), "[graph] there is no node {} among {}", node, nodes());
  std::vector<int> boundary = parents(node);
  for (const int child : children(node)) {
    boundary.push_back(child);
    boundary.insert(boundary.end(), parents(child).begin(), parents(child).end());
  }
  std::sort(boundary.begin(), boundary.end());
  boundary.erase(std::unique(boundary.begin(), boundary.end()), boundary.end());
  const auto itself = std::lower_bound(boundary.begin(), boundary.end(), node);
  if (itself != boundary.end() && *itself == node) boundary.erase(itself);
  return boundary;
}

ByteMatrix Dag::moral_graph() const {
  ByteMatrix moral = ByteMatrix::Zero(nodes(), nodes());
  for (int child = 0; child < nodes(); ++child) {
    for (const int parent : parents(child)) {
      moral(parent, child) = moral(child, parent) = 1;
      for (const int other : parents(child)) {
        if (other != parent) moral(parent, other) = 1;
      }
    }
  }
  return moral;
}

// Reachability along active trails (Koller & Friedman 2009, algorithm 3.1): a state is a node and whether the trail
// entered it from a child (going up) or from a parent (going down).
bool Dag::d_separated(int x, int y, const std::vector<int>& given) const {
  const auto exists = [&](int node) { return 0 <= node && node < nodes(); };
  check(exists(x) && exists(y) && std::all_of(given.begin(), given.end(), exists),
        "[d_separated] a node is not among 0 … {}", nodes() - 1);
  check(x != y && std::find(given.begin(), given.end(), x) == given.end() &&
            std::find(given.begin(), given.end(), y) == given.end(),
        "[d_separated] {} and {} must differ, and neither may be given", x, y);

  std::vector<bool> is_given(at(nodes()), false), leads_to_given(at(nodes()), false);
  std::vector<int> upward = given;
  for (const int node : given) is_given[at(node)] = true;
  while (!upward.empty()) {
    const int node = upward.back();
    upward.pop_back();
    if (leads_to_given[at(node)]) continue;
    leads_to_given[at(node)] = true;
    upward.insert(upward.end(), parents(node).begin(), parents(node).end());
  }

  enum Direction : std::size_t { kUp, kDown };
  std::vector<bool> visited[2] = {std::vector<bool>(at(nodes()), false), std::vector<bool>(at(nodes()), false)};
  std::vector<std::pair<int, Direction>> frontier = {{x, kUp}};
  while (!frontier.empty()) {
    const auto [node, direction] = frontier.back();
    frontier.pop_back();
    if (visited[direction][at(node)]) continue;
    visited[direction][at(node)] = true;
    if (node == y) return false;
    // Up through a fork or chain and down through a chain unless the node is given; up from a collider only if it, or a
    // descendant of it, is given.
    const bool open = !is_given[at(node)];
    if (direction == kUp ? open : leads_to_given[at(node)]) {
      for (const int parent : parents(node)) frontier.emplace_back(parent, kUp);
    }
    if (open) {
      for (const int child : children(node)) frontier.emplace_back(child, kDown);
    }
  }
  return true;
}

NamedGraph load_graph(const std::string& path) {
  const bool npz = path.size() >= 4 && path.compare(path.size() - 4, 4, ".npz") == 0;
  Dataset table;
  if (npz) {
    table.values = load_npz_array(path, "dag");
    table.names = default_names(static_cast<int>(table.values.cols()));
  } else {
    table = load(path, {.text = false});
  }
  check_data(
      table.values.rows() == table.values.cols(),
      "[load_dag] {}: {} rows and {} columns, but an adjacency matrix is square (row i, column j: 1 means i → j).{}",
      path, table.values.rows(), table.values.cols(),
      table.values.cols() == table.values.rows() + 1 ? " Does it begin with a column of row names?" : "");
  const int nodes = table.variables();
  ByteMatrix adjacency(nodes, nodes);
  for (int to = 0; to < nodes; ++to) {
    for (int from = 0; from < nodes; ++from) {
      const double entry = table.values(from, to);
      check_data(!std::isnan(entry), "[load_dag] {}: the entry in row {} under \"{}\" is missing; write 0 for no edge",
                 path, from + 1, table.names[at(to)]);
      adjacency(from, to) = entry != 0.0;
    }
  }
  return {std::move(table.names), std::move(adjacency)};
}

NamedDag load_dag(const std::string& path) {
  NamedGraph table = load_graph(path);
  ByteMatrix& adjacency = table.adjacency;
  const std::vector<int> cycle = find_cycle(adjacency);
  check_data(cycle.empty(), "[load_dag] {}: the graph has a cycle: {}", path,
             cycle.empty() ? "" : describe_cycle(cycle, [&](int node) { return table.names[at(node)]; }));
  return {std::move(table.names), Dag(std::move(adjacency))};
}

}  // namespace fansite
