// SPDX-License-Identifier: Apache-2.0
//
// Hill climbing over directed acyclic graphs with scores that are sums over children.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fansite/base/progress.h"
#include "fansite/causal/constraints.h"
#include "fansite/causal/equations.h"
#include "fansite/graph/dag.h"

namespace fansite::causal {

class ScoreKeeper;

using ParentSets = std::vector<std::vector<int>>;  ///< per node, ascending

Dag dag_of(const ParentSets& parents);
bool has_edge(const ParentSets& parents, int from, int to);
/// Whether there is a directed path; a node reaches itself.
bool reaches(const ParentSets& parents, int from, int to);

/// The entropy of each child given its parents, each computed once.
class LocalScores {
 public:
  using Query = std::pair<int, std::vector<int>>;  ///< a child and its parents, ascending

  /// Without a keeper they are gone when this is.
  LocalScores(Equations equations, NoiseDistribution distribution, ScoreKeeper* keeper = nullptr)
      : equations_(std::move(equations)), distribution_(distribution), keeper_(keeper) {}
  /// Of numbers; the regression must outlive this.
  LocalScores(const Regression& regression, NoiseDistribution distribution, ScoreKeeper* keeper = nullptr)
      : LocalScores(Equations(regression), distribution, keeper) {}

  /// Computes those that are neither known nor kept, in parallel. Interrupted, it leaves all as it was, but the keeper
  /// has what was computed.
  void prepare(const std::vector<Query>& queries, const Progress& progress);
  /// One that is known.
  double operator()(int child, const std::vector<int>& parents) const { return known_.at({child, parents}); }
  /// −ln p(child | parents) of every row, kept or computed. The bits do not depend on whom a child was computed with.
  Eigen::VectorXf rows(int child, const std::vector<int>& parents, const Progress& progress) const;
  /// Regressions that have been asked for, whether computed or kept.
  long fits() const { return static_cast<long>(known_.size()); }
  const Equations& equations() const { return equations_; }
  const Regression& regression() const { return equations_.regression(); }

 private:
  Equations equations_;
  NoiseDistribution distribution_;
  ScoreKeeper* keeper_;
  std::map<Query, double> known_;
  std::map<Query, Eigen::VectorXf> rows_;  // of the first ones computed, as far as there is room
};

class GraphSearch;

/// A climb that stops before each step for the scores it needs, so that several can have them computed together.
class Climb {
 public:
  /// `kept` stays.
  Climb(const GraphSearch& search, ParentSets parents, Edge kept = {-1, -1});
  /// From another graph, with what is known of the gains in those parts that it shares with this one's.
  Climb elsewhere(ParentSets parents, Edge kept) const;

  const ParentSets& parents() const { return parents_; }
  /// No step lowers the total.
  bool settled() const { return settled_; }
  /// What the next step hangs on that has not been looked at yet.
  void add_needed(std::vector<std::pair<int, std::vector<int>>>& queries) const;
  /// The best step, if one lowers the total. Needed scores must be known.
  void step();

 private:
  enum class Kind { add, remove, reverse };
  struct Step {
    Kind kind = Kind::add;
    Edge edge;
    double gain = 0;
  };
  void look_again();
  Step best_step() const;
  void changed(int node);

  const GraphSearch* search_;
  ParentSets parents_;
  Edge kept_;
  std::vector<std::array<double, 2>> gains_;  // per pair: of adding or removing the edge, and of reversing it
  std::vector<char> stale_;                   // per pair
  bool settled_ = false;
};

class GraphSearch {
 public:
  /// An edge costs `penalty` nats.
  GraphSearch(LocalScores& scores, GraphConstraints constraints, double penalty, int max_parents,
              const Progress& progress);

  /// The required edges alone, and required links in the first directions that may be and close no cycle.
  ParentSets start() const;
  /// And every edge that may be along an order of the nodes.
  ParentSets start_along(const std::vector<int>& order) const;
  /// Adds, deletes and reverses edges, the best first, until no such step lowers the total or time runs out. `kept`
  /// stays.
  void climb(ParentSets& parents, Edge kept = {-1, -1});
  /// Several climbs side by side, step by step: each round's scores are computed in parallel. `after_round` is told of
  /// each.
  void climb(
      std::span<Climb> climbs, const std::function<void()>& after_round = [] {});
  /// The same graph with from → to turned round, which a first climb may then repair around it; false if that must not
  /// be.
  bool reverse(ParentSets& parents, Edge edge);
  /// A graph with the same independences in which from → to is turned round, if there is one that may be: where data
  /// say nothing of directions, single steps lead through worse graphs to it.
  /// `undirected` from edges_without_direction(parents).
  std::optional<ParentSets> equivalent(const ParentSets& parents, const ByteMatrix& undirected, Edge edge) const;
  static ByteMatrix edges_without_direction(const ParentSets& parents);
  /// Scores and penalties of all edges, in nats a row.
  double total(const ParentSets& parents);

 private:
  friend class Climb;
  bool direct_links(ParentSets& parents, std::size_t first) const;
  bool is_required(int from, int to) const;
  bool is_required_link(int from, int to) const;
  bool may_become_parent(const ParentSets& parents, int from, int to) const;
  bool may_have_more(const std::vector<int>& parents) const { return static_cast<int>(parents.size()) < max_parents_; }

  LocalScores& scores_;
  std::vector<Edge> pairs_;                   // allowed edges
  std::vector<std::vector<std::size_t>> at_;  // per node: the pairs that it is an end of
  GraphConstraints constraints_;
  double penalty_;
  int max_parents_;
  const Progress& progress_;
};

}  // namespace fansite::causal
