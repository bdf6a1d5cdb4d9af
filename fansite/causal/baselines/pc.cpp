// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/pc.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/base/subsets.h"
#include "fansite/causal/detail/skeleton.h"

namespace fansite::causal {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The best set that separates a pair, and the weakest dependence seen.
struct Outcome {
  double p_value = -1;  // −1: none separates
  std::vector<int> set = {};
  double strength = std::numeric_limits<double>::infinity();

  void merge(const Outcome& other) {
    strength = std::min(strength, other.strength);
    if (other.p_value > p_value || (other.p_value == p_value && other.set < set)) {
      p_value = other.p_value;
      set = other.set;
    }
  }
};

// Tests of one variable with its partners, given all sets of one size that begin with one of its neighbours.
struct Piece {
  int variable = 0;
  std::size_t first = 0;               // of its neighbours; not used for empty sets
  std::vector<Outcome> outcomes = {};  // with each partner
  long tests = 0;
};

class Pc {
 public:
  Pc(const IndependenceTest& test, const ByteMatrix& links, const Knowledge& knowledge, const PcParams& params,
     Progress& progress)
      : test_(test), knowledge_(knowledge), params_(params), progress_(progress), adjacent_(links), open_(links) {
    const Index d = links.rows();
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        if (links(i, j) && !knowledge.may_neighbour(i, j)) adjacent_(i, j) = 0;
      }
    }
    result_.strength = Matrix::Constant(d, d, std::numeric_limits<double>::infinity());
    result_.strength.diagonal().setZero();
  }

  PcResult run() && {
    for (int size = 0; level(size); ++size) {
    }
    orient();
    return std::move(result_);
  }

 private:
  int variables() const { return static_cast<int>(adjacent_.rows()); }

  std::vector<int> listed(const ByteMatrix& among, int variable) const {
    std::vector<int> list;
    for (int other = 0; other < variables(); ++other) {
      if (among(variable, other)) list.push_back(other);
    }
    return list;
  }

  // Whether there were sets of this size.
  bool level(int size) {
    neighbours_.clear();
    partners_.clear();
    std::vector<Piece> pieces;
    for (int i = 0; i < variables(); ++i) {
      const std::vector<int>& own = neighbours_.emplace_back(listed(adjacent_, i));
      std::vector<int>& partners = partners_.emplace_back(listed(open_, i));
      // Both sides of a pair have the same empty set.
      if (size == 0) std::erase_if(partners, [&](int other) { return other < i; });
      // A set of all neighbours but the one it is tested with is the largest.
      const bool all =
          own.size() == at(size) && std::includes(own.begin(), own.end(), partners.begin(), partners.end());
      if (partners.empty() || own.size() < at(size) || (size > 0 && all)) continue;
      const std::size_t begins = size == 0 ? 1 : own.size() - at(size) + 1;
      for (std::size_t first = 0; first < begins; ++first) pieces.push_back({i, first});
    }
    if (size > 0 && pieces.empty()) return false;
    if (params_.max_given >= 0 && size > params_.max_given) {
      result_.limited = true;
      return false;
    }
    result_.largest_given = size;
    progress_.begin(fmt::format("tests given {} other{}", size, size == 1 ? "" : "s"),
                    static_cast<long>(pieces.size()));
    // So many pieces at a time that what they find fits into memory.
    constexpr std::size_t kBatch = 4096;
    for (std::size_t begin = 0; begin < pieces.size(); begin += kBatch) {
      const std::size_t count = std::min(kBatch, pieces.size() - begin);
      parallel_for(static_cast<std::ptrdiff_t>(count), [&](std::ptrdiff_t k) {
        examine(pieces[begin + static_cast<std::size_t>(k)], at(size));
        progress_.advance(1);
      });
      for (std::size_t k = begin; k < begin + count; ++k) take(pieces[k], size);
    }
    for (auto& [pair, outcome] : separated_) sets_[pair] = std::move(outcome.set);
    separated_.clear();
    return true;
  }

  void examine(Piece& piece, std::size_t size) const {
    piece.outcomes.resize(partners_[at(piece.variable)].size());
    const std::vector<int>& own = neighbours_[at(piece.variable)];
    if (size == 0) {
      examine_given(piece, {});
      return;
    }
    const std::vector<int> rest(own.begin() + static_cast<std::ptrdiff_t>(piece.first) + 1, own.end());
    for_each_subset(rest, size - 1, [&](const std::vector<int>& others) {
      std::vector<int> given = {own[piece.first]};
      given.insert(given.end(), others.begin(), others.end());
      throw_if_interrupted(progress_);
      examine_given(piece, given);
      return true;
    });
  }

  void examine_given(Piece& piece, const std::vector<int>& given) const {
    const std::vector<int>& partners = partners_[at(piece.variable)];
    std::vector<int> candidates;
    std::vector<std::size_t> place;
    for (std::size_t k = 0; k < partners.size(); ++k) {
      if (contains(given, partners[k])) continue;
      candidates.push_back(partners[k]);
      place.push_back(k);
    }
    const std::vector<IndependenceVerdict> verdicts = test_.test_each(piece.variable, candidates, given);
    for (std::size_t k = 0; k < verdicts.size(); ++k) {
      const bool separated = verdicts[k].independent_when_removing(params_.edge_alpha);
      const bool defined = !std::isnan(verdicts[k].p_value);
      piece.outcomes[place[k]].merge({separated ? verdicts[k].p_value : -1, separated ? given : std::vector<int>(),
                                      defined ? verdicts[k].strength : std::numeric_limits<double>::infinity()});
    }
    piece.tests += static_cast<long>(verdicts.size());
  }

  // Piece by piece in their order, so that threads do not matter.
  void take(Piece& piece, int size) {
    result_.tests += piece.tests;
    for (std::size_t k = 0; k < piece.outcomes.size(); ++k) {
      const Outcome& outcome = piece.outcomes[k];
      const int i = std::min(piece.variable, partners_[at(piece.variable)][k]);
      const int j = std::max(piece.variable, partners_[at(piece.variable)][k]);
      result_.strength(i, j) = result_.strength(j, i) = std::min(result_.strength(i, j), outcome.strength);
      if (outcome.p_value < 0 || knowledge_.requires_link(i, j)) continue;
      open_(i, j) = open_(j, i) = adjacent_(i, j) = adjacent_(j, i) = 0;
      if (size > 0) separated_[{i, j}].merge(outcome);
    }
    piece.outcomes = {};
  }

  // ---- Directions ---------------------------------------------------------------------------------------------------

  void orient() {
    const Index d = adjacent_.rows();
    PartialDag start{ByteMatrix::Zero(d, d), adjacent_};
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        if (!adjacent_(i, j) || knowledge_.allows(j, i)) continue;
        start.directed(i, j) = 1;
        start.undirected(i, j) = start.undirected(j, i) = 0;
      }
    }
    break_cycles(start);
    OrientedSkeleton oriented = orient_skeleton(start, colliders(start));
    result_.graph = std::move(oriented.graph);
    result_.conflicts = oriented.conflicts;
    result_.undone = oriented.undone;
    for (double& strength : result_.strength.reshaped()) {
      if (std::isinf(strength)) strength = 1;  // no test of it was defined: nothing speaks against the edge
    }
  }

  // What is forbidden can leave a cycle as the only directions of some links: one of them is not there, and the weakest
  // is taken to be it.
  void break_cycles(PartialDag& start) {
    for (std::vector<int> cycle = find_cycle(start.directed); !cycle.empty(); cycle = find_cycle(start.directed)) {
      Pair weakest{-1, -1};
      for (std::size_t k = 0; k < cycle.size(); ++k) {
        const int from = cycle[k], to = cycle[(k + 1) % cycle.size()];
        if (from == to || knowledge_.requires_link(from, to)) continue;
        const bool weaker =
            weakest.first < 0 || result_.strength(from, to) < result_.strength(weakest.first, weakest.second);
        if (weaker) weakest = {from, to};
      }
      const auto [from, to] = weakest;
      check_data(from >= 0, "[knowledge] the links that it requires can only be directed round a cycle");
      start.directed(from, to) = 0;
      ++result_.broken;
    }
  }

  std::vector<Collider> colliders(const PartialDag& start) const {
    std::vector<Collider> found;
    const auto linked = [&](int i, int j) {
      return start.undirected(i, j) || start.directed(i, j) || start.directed(j, i);
    };
    for (int k = 0; k < variables(); ++k) {
      const std::vector<int> around = listed(adjacent_, k);
      for (const int i : around) {
        for (const int j : around) {
          // A pair that nothing separates, though the knowledge has it unlinked, tells nothing.
          if (i >= j || linked(i, j) || open_(i, j) || !linked(i, k) || !linked(j, k)) continue;
          const auto set = sets_.find({i, j});
          if (set == sets_.end()) {
            found.push_back({i, k, j, test_.test(i, j, {}).p_value});
          } else if (!contains(set->second, k)) {
            found.push_back({i, k, j, test_.test(i, j, set->second).p_value});
          }
        }
      }
    }
    return found;
  }

  const IndependenceTest& test_;
  const Knowledge& knowledge_;
  const PcParams& params_;
  Progress& progress_;
  ByteMatrix adjacent_;  // linked so far
  ByteMatrix open_;      // not separated so far: also pairs that the knowledge does not let be linked
  std::vector<std::vector<int>> neighbours_;  // at the beginning of the level, ascending …
  std::vector<std::vector<int>> partners_;    // … and whom each is tested with
  std::map<Pair, Outcome> separated_;         // on this level, unless by the empty set
  std::map<Pair, std::vector<int>> sets_;     // that separate, unless empty
  PcResult result_;
};

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<PcParams>();
  check_no_boundary_statements(context.knowledge(), "pc");
  const FittedTest fitted = fit_test(context, params.test);
  PcResult found = pc(*fitted.test, links_with_scale(problem), context.knowledge(), params, context.progress());
  GraphAnswer answer;
  answer.warnings = fitted.warnings;
  answer.how = fmt::format("{} tests, given at most {}", found.tests, found.largest_given);
  answer.details = {{"tests", std::int64_t{found.tests}},
                    {"largest_given", std::int64_t{found.largest_given}},
                    {"max_given_reached", found.limited},
                    {"conflicting_colliders", std::int64_t{found.conflicts}},
                    {"undirected_cycle_edges", std::int64_t{found.undone}}};
  if (found.limited) {
    answer.warnings.push_back(fmt::format(
        "[dag] pairs that only more than {} variables separate keep their edge: max_given stopped the tests",
        params.max_given));
  }
  if (found.broken > 0) {
    answer.warnings.push_back(fmt::format(
        "[dag] {} edge{} left out: with the directions that the knowledge leaves them they would close a cycle",
        found.broken, found.broken == 1 ? " is" : "s are"));
  }
  if (params.dag) {
    std::vector<int> columns(at(static_cast<int>(problem.links.rows())));
    std::iota(columns.begin(), columns.end(), 0);
    const Dag dag = directed_throughout(found.graph, columns);
    found.graph = {dag.adjacency(), ByteMatrix::Zero(dag.nodes(), dag.nodes())};
  }
  answer.weights = edge_weights(found.graph, found.strength);
  answer.graph = std::move(found.graph);
  return answer;
}

}  // namespace

const Description& PcParams::description() {
  using P = PcParams;
  static const Description list =
      Describe<P>()
          .part(&P::test, TestParams::description(), "edge_")
          .field("edge_alpha", &P::edge_alpha, "a pair is separated by a test whose p-value is above this",
                 between(0, 1))
          .field("max_given", &P::max_given, "variables that a test conditions on, at most; -1: no limit", at_least(-1))
          .field("dag", &P::dag, "a direction for every edge, decided by the data or not")
          .done();
  return list;
}

PcResult pc(const IndependenceTest& test, const ByteMatrix& links, const Knowledge& knowledge, const PcParams& params,
            Progress& progress) {
  validate(params);
  return Pc(test, links, knowledge, params, progress).run();
}

GraphMethod pc_method() {
  GraphMethod row;
  row.name = "pc";
  row.summary = "PC-stable: tests of independence given neighbours; what colliders do not decide stays undirected";
  row.citation = "Spirtes, Glymour and Scheines, 2000; Colombo and Maathuis, JMLR 2014 (PC-stable)";
  row.can = covariance_capabilities();
  row.can.satisfies_knowledge = true;
  row.parameters = PcParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
