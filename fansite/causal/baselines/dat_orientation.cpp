// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dat_orientation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "fansite/base/sets.h"
#include "fansite/graph/dag.h"

namespace fansite::causal {
namespace {

bool linked(const PartialDag& graph, Index a, Index b) {
  return graph.directed(a, b) || graph.directed(b, a) || graph.undirected(a, b);
}

void direct(PartialDag& graph, Index from, Index to) {
  graph.undirected(from, to) = graph.undirected(to, from) = 0;
  graph.directed(to, from) = 0;
  graph.directed(from, to) = 1;
}

// Who is reached along directed edges, itself left out unless it lies on a cycle.
ByteMatrix reached(const ByteMatrix& directed) {
  const Index d = directed.rows();
  ByteMatrix result = directed;
  for (Index k = 0; k < d; ++k) {
    for (Index i = 0; i < d; ++i) {
      if (!result(i, k)) continue;
      for (Index j = 0; j < d; ++j) result(i, j) = static_cast<unsigned char>(result(i, j) | result(k, j));
    }
  }
  return result;
}

// a → b, b − v, a and v not linked.
bool extend_chains(PartialDag& graph) {
  const ByteMatrix before = graph.directed;
  const Index d = before.rows();
  bool changed = false;
  for (Index b = 0; b < d; ++b) {
    for (Index a = 0; a < d; ++a) {
      if (!before(a, b)) continue;
      for (Index v = 0; v < d; ++v) {
        if (!graph.undirected(b, v) || v == a || linked(graph, a, v)) continue;
        direct(graph, b, v);
        changed = true;
      }
    }
  }
  return changed;
}

bool follow_paths(PartialDag& graph) {
  const ByteMatrix paths = reached(graph.directed);
  const Index d = paths.rows();
  bool changed = false;
  for (Index b = 0; b < d; ++b) {
    for (Index a = 0; a < d; ++a) {
      if (!paths(a, b) || !graph.undirected(a, b)) continue;
      direct(graph, a, b);
      changed = true;
    }
  }
  return changed;
}

// The nodes that have parents and children again and again: all cycles are among them.
std::vector<Index> core(const ByteMatrix& directed) {
  std::vector<Index> nodes;
  for (Index v = 0; v < directed.rows(); ++v) nodes.push_back(v);
  for (bool changed = true; changed;) {
    const auto ends = [&](Index v) {
      const auto has = [&](auto&& edge) { return std::any_of(nodes.begin(), nodes.end(), edge); };
      return !has([&](Index u) { return directed(u, v) != 0; }) || !has([&](Index u) { return directed(v, u) != 0; });
    };
    std::vector<Index> kept;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(kept), [&](Index v) { return !ends(v); });
    changed = kept.size() != nodes.size();
    nodes = std::move(kept);
  }
  return nodes;
}

// Diagonal of (I + A)^power, up to a factor whose logarithm comes with it: the numbers of walks may be beyond any.
struct Walks {
  Vector diagonal;
  double log_factor = 0;

  double log_trace() const { return std::log(diagonal.sum()) + log_factor; }
};

Walks walks(const ByteMatrix& directed, Index power) {
  Matrix base = directed.cast<double>() + Matrix::Identity(directed.rows(), directed.rows());
  Matrix result = Matrix::Identity(directed.rows(), directed.rows());
  double of_base = 0, of_result = 0;
  for (Index left = power; left > 0; left /= 2) {
    if (left % 2 != 0) {
      result = Matrix(result * base);
      of_result += of_base;
      const double largest = result.maxCoeff();
      result /= largest;
      of_result += std::log(largest);
    }
    base = Matrix(base * base);
    of_base *= 2;
    const double largest = base.maxCoeff();
    base /= largest;
    of_base += std::log(largest);
  }
  return {result.diagonal(), of_result};
}

}  // namespace

Matrix skeleton_scores(const std::vector<TestedPair>& tested, int variables) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Matrix explained = Matrix::Constant(variables, variables, kNaN);
  for (const TestedPair& pair : tested) explained(pair.i, pair.j) = pair.explained;
  const Matrix squares = explained.array().square();
  return squares + squares.transpose();
}

int direct_colliders(const std::vector<TestedPair>& tested, double threshold, PartialDag& graph) {
  std::map<std::pair<int, int>, const TestedPair*> by_ends;
  for (const TestedPair& pair : tested) by_ends[{pair.i, pair.j}] = &pair;
  const PartialDag skeleton = graph;
  int count = 0;
  for (const auto& [ends, pair] : by_ends) {
    const auto [i, j] = ends;
    const auto other = by_ends.find({j, i});
    if (i > j || other == by_ends.end() || linked(skeleton, i, j)) continue;
    for (std::size_t k = 0; k < pair->members.size(); ++k) {
      const int c = pair->members[k];
      if (!linked(skeleton, i, c) || !linked(skeleton, j, c)) continue;
      const auto& members = other->second->members;
      const auto place = std::find(members.begin(), members.end(), c);
      if (place == members.end()) continue;
      const double psi = other->second->psi[static_cast<std::size_t>(place - members.begin())];
      if (pair->psi[k] * pair->psi[k] + psi * psi >= threshold) continue;
      direct(graph, i, c);
      direct(graph, j, c);
      ++count;
    }
  }
  return count;
}

void apply_dat_rules(PartialDag& graph) {
  for (bool changed = true; changed;) {
    changed = extend_chains(graph);
    changed = follow_paths(graph) || changed;
  }
}

int direct_at_random(PartialDag& graph, Key key) {
  Random random(key);
  int count = 0;
  for (;; ++count) {
    std::vector<std::pair<Index, Index>> open;
    for (Index i = 0; i < graph.undirected.rows(); ++i) {
      for (Index j = i + 1; j < graph.undirected.rows(); ++j) {
        if (graph.undirected(i, j)) open.emplace_back(i, j);
      }
    }
    if (open.empty()) return count;
    const auto [i, j] = open[random.below(static_cast<std::uint32_t>(open.size()))];
    random.coin() ? direct(graph, i, j) : direct(graph, j, i);
    apply_dat_rules(graph);
  }
}

int break_cycles(ByteMatrix& directed) {
  const Index power = directed.rows();
  int removed = 0;
  for (std::vector<Index> nodes = core(directed); !nodes.empty(); nodes = core(directed), ++removed) {
    ByteMatrix among = directed(nodes, nodes);
    Index node = 0;
    walks(among, power).diagonal.maxCoeff(&node);
    double fewest = std::numeric_limits<double>::infinity();
    std::pair<Index, Index> worst{-1, -1};
    for (Index to = 0; to < among.rows(); ++to) {
      for (Index from = 0; from < among.rows(); ++from) {
        if (!among(from, to) || (from != node && to != node)) continue;
        among(from, to) = 0;
        const double left = walks(among, power).log_trace();
        among(from, to) = 1;
        if (left >= fewest) continue;
        fewest = left;
        worst = {from, to};
      }
    }
    directed(nodes[static_cast<std::size_t>(worst.first)], nodes[static_cast<std::size_t>(worst.second)]) = 0;
  }
  return removed;
}

DatGraph direct_skeleton(const ByteMatrix& skeleton, const std::vector<TestedPair>& tested, double collider_threshold,
                         Key key) {
  PartialDag graph{ByteMatrix::Zero(skeleton.rows(), skeleton.cols()), skeleton};
  DatGraph result;
  result.colliders = direct_colliders(tested, collider_threshold, graph);
  apply_dat_rules(graph);
  result.by_chance = direct_at_random(graph, key);
  result.removed = break_cycles(graph.directed);
  result.directed = std::move(graph.directed);
  return result;
}

}  // namespace fansite::causal
