// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/marvel.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/base/special.h"
#include "fansite/base/subsets.h"
#include "fansite/causal/detail/skeleton.h"
#include "fansite/independence/incremental_association.h"
#include "fansite/independence/total_conditioning.h"

namespace fansite::causal {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Separation {
  std::vector<int> set;
  double p_value = 1;
};

class Marvel {
 public:
  Marvel(const IndependenceTest& test, const ByteMatrix& boundaries, const MarvelParams& params, Progress& progress)
      : test_(test),
        params_(params),
        progress_(progress),
        boundary_(boundaries),
        linked_(ByteMatrix::Zero(boundaries.rows(), boundaries.rows())),
        remains_(at(variables()), 1),
        skipped_(at(variables()), 0),
        learnt_(at(variables()), 0),
        colliders_(at(variables())) {
    result_.strength = Matrix::Ones(boundaries.rows(), boundaries.rows());
  }

  MarvelResult run() && {
    progress_.begin("removing variables", variables());
    while (static_cast<int>(result_.removed.size()) < variables()) {
      remove(next());
      progress_.advance(1);
    }
    orient();
    return std::move(result_);
  }

 private:
  int variables() const { return static_cast<int>(boundary_.rows()); }
  static Pair pair(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

  // ---- Tests --------------------------------------------------------------------------------------------------------

  IndependenceVerdict ask(int a, int b, const std::vector<int>& given) {
    throw_if_interrupted(progress_);
    ++result_.tests;
    const IndependenceVerdict verdict = test_.test(a, b, given);
    if (!std::isnan(verdict.p_value)) {
      double& strength = result_.strength(a, b);
      strength = result_.strength(b, a) = std::min(strength, verdict.strength);
    }
    return verdict;
  }

  // A set of `always` and some of the others that separates the two, the smallest first.
  std::optional<Separation> separation(int a, int b, const std::vector<int>& others, const std::vector<int>& always) {
    const std::size_t most = params_.max_members < 0 ? others.size() : std::min(others.size(), at(params_.max_members));
    std::optional<Separation> found;
    for (std::size_t size = 0; size <= most && !found; ++size) {
      for_each_subset(others, size, [&](const std::vector<int>& subset) {
        std::vector<int> given = always;
        given.insert(given.end(), subset.begin(), subset.end());
        const IndependenceVerdict verdict = ask(a, b, given);
        if (!verdict.independent_when_removing(params_.edge_alpha)) return true;
        found = Separation{std::move(given), verdict.p_value};
        return false;
      });
    }
    if (!found && most < others.size()) result_.limited = true;
    return found;
  }

  // ---- What is around a variable ------------------------------------------------------------------------------------

  std::vector<int> boundary(int x) const {
    std::vector<int> members;
    for (int y = 0; y < variables(); ++y) {
      if (boundary_(x, y)) members.push_back(y);
    }
    return members;
  }
  std::vector<int> neighbours(int x) const {
    std::vector<int> members;
    for (int y = 0; y < variables(); ++y) {
      if (remains_[at(y)] && linked_(x, y)) members.push_back(y);
    }
    return members;
  }
  std::vector<int> co_parents(int x) const {
    std::vector<int> members = boundary(x);
    std::erase_if(members, [&](int y) { return linked_(x, y) != 0; });
    return members;
  }

  // Whether the two are linked: what is known of them, else whether a set of these separates them.
  bool link(int a, int b, const std::vector<int>& others) {
    if (linked_(a, b) || apart_.contains(pair(a, b))) return linked_(a, b) != 0;
    if (std::optional<Separation> found = separation(a, b, others, {})) {
      apart_[pair(a, b)] = *std::move(found);
      return false;
    }
    linked_(a, b) = linked_(b, a) = 1;
    return true;
  }

  void learn_neighbours(int x) {
    if (learnt_[at(x)]) return;
    const std::vector<int> around = boundary(x);
    for (const int y : around) link(x, y, without(around, y));
    learnt_[at(x)] = 1;
  }

  // ---- Whether a variable can go ------------------------------------------------------------------------------------

  // Every two neighbours depend on each other whatever else is known beside x. What has passed once passes again:
  // boundaries only shrink.
  bool neighbours_stay_dependent(int x) {
    const std::vector<int> around = boundary(x), near = neighbours(x);
    for (const int y : near) {
      for (const int z : near) {
        if (y >= z || passed_first_.contains({x, y, z})) continue;
        if (separation(y, z, without(without(around, y), z), {x})) return false;
        passed_first_.insert({x, y, z});
      }
    }
    return true;
  }

  // (y, v) of x → v ← y. Found once: later there can only be fewer.
  const std::vector<Pair>& colliders(int x) {
    if (colliders_[at(x)]) return *colliders_[at(x)];
    std::vector<Pair> found;
    std::vector<int> known = boundary(x);
    known.push_back(x);
    for (const int y : co_parents(x)) {
      for (const int v : neighbours(x)) {
        const auto apart = apart_.find(pair(x, y));
        if (apart != apart_.end() && contains(apart->second.set, v)) continue;
        if (link(y, v, without(without(known, y), v))) found.emplace_back(y, v);
      }
    }
    return colliders_[at(x)].emplace(std::move(found));
  }

  // Nor does a neighbour and a co-parent become independent when x and a common child of both are known.
  bool co_parents_stay_dependent(int x) {
    const std::vector<int> around = boundary(x), near = neighbours(x);
    for (const int y : co_parents(x)) {
      for (const int z : near) {
        if (passed_second_.contains({x, y, z})) continue;
        for (const auto& [parent, v] : colliders(x)) {
          if (parent != y || v == z || !remains_[at(v)]) continue;
          if (separation(y, z, without(without(without(around, v), y), z), {x, v})) return false;
        }
        passed_second_.insert({x, y, z});
      }
    }
    return true;
  }

  bool removable(int x) {
    learn_neighbours(x);
    return neighbours_stay_dependent(x) && co_parents_stay_dependent(x);
  }

  // ---- Removing -----------------------------------------------------------------------------------------------------

  // The smallest boundary of a removable variable; if none is, the smallest of all, and all are looked at again.
  int next() {
    std::vector<std::pair<int, int>> order;  // size of the boundary, variable
    for (int x = 0; x < variables(); ++x) {
      if (remains_[at(x)]) order.emplace_back(boundary_.row(x).cast<int>().sum(), x);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [size, x] : order) {
      if (skipped_[at(x)]) continue;
      if (removable(x)) return x;
      skipped_[at(x)] = 1;
    }
    std::fill(skipped_.begin(), skipped_.end(), char{0});
    ++result_.forced;
    return order.front().second;
  }

  void remove(int x) {
    const std::vector<int> near = neighbours(x);
    for (const int y : boundary(x)) {
      boundary_(x, y) = boundary_(y, x) = 0;
      skipped_[at(y)] = 0;
    }
    remains_[at(x)] = 0;
    result_.removed.push_back(x);
    for (const int y : near) {
      for (const int z : near) {
        if (y < z && boundary_(y, z) && !linked_(y, z)) part(y, z);
      }
    }
  }

  // Two that may have been in each other's boundary only because of a common child that has gone.
  void part(int y, int z) {
    const std::vector<int> of_y = without(boundary(y), z), of_z = without(boundary(z), y);
    const std::vector<int>& given = of_z.size() < of_y.size() ? of_z : of_y;
    const IndependenceVerdict verdict = ask(y, z, given);
    if (!verdict.independent_when_removing(params_.edge_alpha)) return;
    boundary_(y, z) = boundary_(z, y) = 0;
    skipped_[at(y)] = skipped_[at(z)] = 0;
    apart_.try_emplace(pair(y, z), Separation{given, verdict.p_value});
  }

  // ---- Directions ---------------------------------------------------------------------------------------------------

  // Two that never were in each other's boundary have no common child, so only the others' sets tell of colliders.
  void orient() {
    std::vector<Collider> found;
    for (const auto& [ends, separation] : apart_) {
      const auto [i, j] = ends;
      for (int k = 0; k < variables(); ++k) {
        const bool between = linked_(i, k) && linked_(j, k) && !linked_(i, j);
        if (between && !contains(separation.set, k)) found.push_back({i, k, j, separation.p_value});
      }
    }
    const PartialDag skeleton{ByteMatrix::Zero(linked_.rows(), linked_.rows()), linked_};
    OrientedSkeleton oriented = orient_skeleton(skeleton, std::move(found));
    result_.graph = std::move(oriented.graph);
    result_.conflicts = oriented.conflicts;
    result_.undone = oriented.undone;
  }

  const IndependenceTest& test_;
  const MarvelParams& params_;
  Progress& progress_;
  ByteMatrix boundary_;  // of those that remain
  ByteMatrix linked_;
  std::vector<char> remains_, skipped_, learnt_;
  std::map<Pair, Separation> apart_;                                  // unlinked pairs and what separates them
  std::vector<std::optional<std::vector<Pair>>> colliders_;           // of each variable
  std::set<std::tuple<int, int, int>> passed_first_, passed_second_;  // x, y, z of the two conditions
  MarvelResult result_;
};

// ---- The row --------------------------------------------------------------------------------------------------------

// Pairs that depend on each other given all others.
ByteMatrix boundaries_by_all_others(const Covariance& covariance, const std::vector<int>& columns, double alpha) {
  const auto d = static_cast<int>(columns.size());
  ByteMatrix found = ByteMatrix::Zero(covariance.variables(), covariance.variables());
  if (d < 2) return found;
  check_data(covariance.rows > d + 1,
             "[marvel] {} rows for {} columns: boundaries by total conditioning need more rows than columns; use pc or "
             "ges, or fewer columns",
             covariance.rows, d);
  constexpr double kRidge = 1e-3;  // where it is needed the answer is refused
  const TotalConditioning total = total_conditioning(covariance, columns, kRidge);
  check_data(!total.shrunk,
             "[marvel] some column is determined by others, so no boundary follows from all of them; use pc or ges, or "
             "leave it out (fansite inspect names it)");
  const double threshold = total_conditioning_threshold(d, static_cast<double>(covariance.rows), alpha);
  for (int a = 0; a < d; ++a) {
    for (int b = 0; b < d; ++b) {
      if (a != b && std::abs(total.correlation(a, b)) > threshold) found(columns[at(a)], columns[at(b)]) = 1;
    }
  }
  return found;
}

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<MarvelParams>();
  const ByteMatrix links = links_with_scale(problem);
  std::vector<int> columns;
  for (int j = 0; j < links.rows(); ++j) {
    if (links.col(j).any()) columns.push_back(j);
  }
  const double d = static_cast<double>(columns.size());
  const double alpha = params.boundary_alpha > 0 ? params.boundary_alpha : 1 / (d * d);
  const FittedTest fitted = fit_test(context, params.test);
  const bool linear = params.test.kind == TestKind::fisher_z;
  const ByteMatrix boundaries = linear ? boundaries_by_all_others(*context.covariance(), columns, alpha)
                                       : grown_boundaries(*fitted.test, columns, alpha, context.progress());
  MarvelResult found = marvel(*fitted.test, boundaries, params, context.progress());
  GraphAnswer answer;
  answer.warnings = fitted.warnings;
  answer.how =
      fmt::format("boundaries by {}; {} tests", linear ? "total conditioning" : "growing and shrinking", found.tests);
  answer.details = {{"tests", std::int64_t{found.tests}},
                    {"forced_removals", std::int64_t{found.forced}},
                    {"max_members_reached", found.limited},
                    {"conflicting_colliders", std::int64_t{found.conflicts}},
                    {"undirected_cycle_edges", std::int64_t{found.undone}}};
  if (found.limited) {
    answer.warnings.push_back(
        fmt::format("[dag] some boundaries have more than {} members: max_members left out tests given more of them",
                    params.max_members));
  }
  if (params.dag) {
    // Where nothing else decides, what was taken away earlier is the child.
    const std::vector<int> parents_first(found.removed.rbegin(), found.removed.rend());
    const Dag dag = directed_throughout(found.graph, parents_first);
    found.graph = {dag.adjacency(), ByteMatrix::Zero(dag.nodes(), dag.nodes())};
  }
  answer.weights = edge_weights(found.graph, found.strength);
  answer.graph = std::move(found.graph);
  return answer;
}

}  // namespace

const Description& MarvelParams::description() {
  using P = MarvelParams;
  static const Description list =
      Describe<P>()
          .part(&P::test, TestParams::description(), "edge_")
          .field("edge_alpha", &P::edge_alpha, "a pair is separated by a test whose p-value is above this",
                 between(0, 1))
          .field("boundary_alpha", &P::boundary_alpha,
                 "level of the tests that find the boundaries to begin with; 0: 1/d², d columns", from_to(0, 1))
          .field("max_members", &P::max_members,
                 "members of a boundary that a test conditions on, at most; -1: no limit", at_least(-1))
          .field("dag", &P::dag, "a direction for every edge, decided by the data or not")
          .done();
  return list;
}

MarvelResult marvel(const IndependenceTest& test, const ByteMatrix& boundaries, const MarvelParams& params,
                    Progress& progress) {
  validate(params);
  return Marvel(test, boundaries, params, progress).run();
}

ByteMatrix grown_boundaries(const IndependenceTest& test, const std::vector<int>& columns, double alpha,
                            const Progress& progress) {
  Sets sets(columns.size());
  parallel_for(static_cast<Index>(columns.size()), [&](Index i) {
    throw_if_interrupted(progress);
    const int target = columns[static_cast<std::size_t>(i)];
    sets[static_cast<std::size_t>(i)] = incremental_association(test, target, without(columns, target), {}, alpha);
  });
  ByteMatrix found = ByteMatrix::Zero(test.variables(), test.variables());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const int member : sets[i]) found(columns[i], member) = found(member, columns[i]) = 1;
  }
  return found;
}

GraphMethod marvel_method() {
  GraphMethod row;
  row.name = "marvel";
  row.summary = "removes removable variables one by one, inside boundaries by total conditioning; for comparison";
  row.citation = "Mokhtarian, Akbari, Ghassami and Kiyavash, 2021 (MARVEL); Mokhtarian et al., JMLR 2025";
  row.can = covariance_capabilities();
  row.can.keeps_table_order = true;
  row.parameters = MarvelParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
