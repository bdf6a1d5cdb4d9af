// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/skeleton.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

std::size_t at(int node) { return static_cast<std::size_t>(node); }

// Along arrows; a node reaches itself.
bool reaches(const ByteMatrix& directed, int from, int to) {
  std::vector<char> seen(at(static_cast<int>(directed.rows())), 0);
  std::vector<int> waiting = {from};
  seen[at(from)] = 1;
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    if (node == to) return true;
    for (int next = 0; next < directed.rows(); ++next) {
      if (!directed(node, next) || seen[at(next)]) continue;
      seen[at(next)] = 1;
      waiting.push_back(next);
    }
  }
  return false;
}

void direct(PartialDag& graph, int from, int to) {
  graph.undirected(from, to) = graph.undirected(to, from) = 0;
  graph.directed(from, to) = 1;
}

// Leaves open what was directed round a cycle; the number of edges.
int open_cycles(PartialDag& graph, const PartialDag& start) {
  if (find_cycle(graph.directed).empty()) return 0;
  std::vector<std::pair<int, int>> round;
  for (int i = 0; i < graph.directed.rows(); ++i) {
    for (int j = 0; j < graph.directed.rows(); ++j) {
      if (graph.directed(i, j) && !start.directed(i, j) && reaches(graph.directed, j, i)) round.emplace_back(i, j);
    }
  }
  for (const auto& [i, j] : round) {
    graph.directed(i, j) = 0;
    graph.undirected(i, j) = graph.undirected(j, i) = 1;
  }
  return static_cast<int>(round.size());
}

}  // namespace

OrientedSkeleton orient_skeleton(const PartialDag& start, std::vector<Collider> colliders) {
  OrientedSkeleton result{.graph = start};
  std::sort(colliders.begin(), colliders.end(), [](const Collider& a, const Collider& b) {
    return std::tuple(-a.p_value, a.k, a.i, a.j) < std::tuple(-b.p_value, b.k, b.i, b.j);
  });
  for (const auto& [i, k, j, p_value] : colliders) {
    const ByteMatrix& directed = result.graph.directed;
    const bool known = directed(i, k) && directed(j, k);
    if (known) continue;
    if (directed(k, i) || directed(k, j) || reaches(directed, k, i) || reaches(directed, k, j)) {
      ++result.conflicts;
      continue;
    }
    direct(result.graph, i, k);
    direct(result.graph, j, k);
  }
  result.graph = closed_under_meek_rules(std::move(result.graph));
  result.undone = open_cycles(result.graph, start);
  return result;
}

Dag directed_throughout(const PartialDag& graph, const std::vector<int>& preferred) {
  if (std::optional<Dag> dag = consistent_extension(graph)) return *std::move(dag);
  const auto nodes = static_cast<int>(graph.directed.rows());
  std::vector<int> rank(at(nodes)), parents(at(nodes), 0), place(at(nodes), 0);
  for (int k = 0; k < nodes; ++k) rank[at(preferred[at(k)])] = k;
  for (int j = 0; j < nodes; ++j) parents[at(j)] = graph.directed.col(j).cast<int>().sum();
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> ready;
  for (int j = 0; j < nodes; ++j) {
    if (parents[at(j)] == 0) ready.emplace(rank[at(j)], j);
  }
  for (int next = 0; !ready.empty(); ++next) {
    const int node = ready.top().second;
    ready.pop();
    place[at(node)] = next;
    for (int child = 0; child < nodes; ++child) {
      if (graph.directed(node, child) && --parents[at(child)] == 0) ready.emplace(rank[at(child)], child);
    }
  }
  ByteMatrix adjacency = graph.directed;
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      if (graph.undirected(i, j) && place[at(i)] < place[at(j)]) adjacency(i, j) = 1;
    }
  }
  return Dag(std::move(adjacency));
}

ByteMatrix links_with_scale(const GraphProblem& problem) {
  ByteMatrix links = problem.links;
  const Vector& scale = problem.context.covariance()->scale;
  for (Index z = 0; z < links.rows(); ++z) {
    if (scale(z) > 0) continue;
    links.row(z).setZero();
    links.col(z).setZero();
  }
  return links;
}

void check_no_boundary_statements(const Knowledge& knowledge, std::string_view method) {
  for (const Statement& statement : knowledge.statements()) {
    const bool boundary =
        statement.kind == Statement::Kind::in_boundary || statement.kind == Statement::Kind::not_in_boundary;
    check(!boundary,
          "[knowledge] line {} is about Markov boundaries, which {} cannot be held to: use fansite-anm, or say it of "
          "edges",
          statement.line, method);
  }
}

Matrix edge_weights(const PartialDag& graph, const Matrix& of_pairs) {
  return (graph.directed + graph.undirected).cast<double>().cwiseProduct(of_pairs);
}

}  // namespace fansite::causal
