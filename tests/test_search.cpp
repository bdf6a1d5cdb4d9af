// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/fdr.h"
#include "fansite/boundary/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/graph/dag.h"
#include "fansite/graph/metrics.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

BoundariesScore score(const Simulation& simulation, const SearchParams& params) {
  const GaussianEstimator estimator(covariance(simulation.data.values));
  std::vector<std::vector<int>> predicted, truth;
  for (const Boundary& boundary : find_boundaries(estimator, params).boundaries) {
    predicted.push_back(boundary.member_indices());
    truth.push_back(simulation.dag.markov_boundary(boundary.target));
  }
  return score_boundaries(predicted, truth);
}

SearchParams with(StopRule stop, Symmetry rule = Symmetry::or_) {
  SearchParams params;
  params.stop = stop;
  params.rule = rule;
  return params;
}

// x0 → x2 ← x1, x2 → x3, and x4 apart: boundaries known by heart.
GaussianEstimator collider() {
  Random random(Key{1});
  Matrix values(2000, 5);
  for (Index i = 0; i < values.rows(); ++i) {
    const double x0 = random.normal(), x1 = random.normal();
    const double x2 = x0 + x1 + random.normal();
    values.row(i) << x0, x1, x2, 0.8 * x2 + random.normal(), random.normal();
  }
  return GaussianEstimator(covariance(values));
}

TEST(Search, FindsParentsChildrenAndSpouses) {
  const GaussianEstimator estimator = collider();
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    const Boundaries found = find_boundaries(estimator, with(stop));
    EXPECT_THAT(found.boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
    EXPECT_THAT(found.boundaries[1].member_indices(), UnorderedElementsAre(0, 2));
    EXPECT_THAT(found.boundaries[2].member_indices(), UnorderedElementsAre(0, 1, 3));
    EXPECT_THAT(found.boundaries[3].member_indices(), ElementsAre(2));
    EXPECT_THAT(found.boundaries[4].member_indices(), IsEmpty());
    EXPECT_THAT(found.moral_edges, ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(1, 2), std::pair(2, 3)));
  }
}

TEST(Search, GainsAddUpToTheInformationOfTheBoundary) {
  const Simulation simulation = simulate_linear(25, 2, 800, 3);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  for (const Boundary& boundary : find_boundaries(estimator).boundaries) {
    double sum = 0;
    for (const Member& member : boundary.members) {
      sum += member.gain;
      EXPECT_GE(member.unique, 0);
      EXPECT_GT(member.standard_error, 0);
      EXPECT_LE(member.p_value, member.q_value);
      EXPECT_LE(member.q_value, 0.05);
    }
    EXPECT_NEAR(sum, boundary.entropy - boundary.conditional_entropy, 1e-9);
    EXPECT_EQ(boundary.entropy, estimator.conditional_entropy({boundary.target, {}}).value);
  }
}

TEST(Search, BothRulesRecoverSparseGraphs) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Simulation simulation = simulate_linear(50, 1, 3000, seed);
    EXPECT_GT(score(simulation, with(StopRule::calibrated)).mean.f1, 0.99);
    EXPECT_GT(score(simulation, with(StopRule::paper)).mean.f1, 0.97);
  }
}

// In a dense graph single best steps stall; the others' finds must bring the stalled targets back.
TEST(Search, DenseGraphsAreNotLeftStalled) {
  const Simulation simulation = simulate_linear(60, 5, 3000, 1);
  EXPECT_GT(score(simulation, with(StopRule::calibrated)).mean.recall, 0.93);
  EXPECT_GT(score(simulation, with(StopRule::calibrated, Symmetry::or_)).mean.recall,
            score(simulation, with(StopRule::calibrated, Symmetry::none)).mean.recall);
}

TEST(Search, PureNoiseGivesEmptyBoundaries) {
  // Few rows and many columns need the exact distributions; limits and approximations fail there.
  for (const auto& [columns, rows] : {std::pair(15, 200), std::pair(40, 10), std::pair(60, 20)}) {
    for (const Symmetry rule : {Symmetry::or_, Symmetry::none}) {
      int not_empty = 0;
      constexpr int kTables = 200;
      for (std::uint64_t seed = 0; seed < kTables; ++seed) {
        const Simulation simulation = simulate_linear(columns, 0, rows, seed);
        const GaussianEstimator estimator(covariance(simulation.data.values));
        not_empty += !find_boundaries(estimator, with(StopRule::calibrated, rule)).moral_edges.empty();
      }
      EXPECT_LE(not_empty, 0.05 * kTables + 3 * std::sqrt(0.05 * 0.95 * kTables)) << columns << " × " << rows;
    }
  }
}

TEST(Search, TheFdrLevelGovernsTheShareOfFalseMembers) {
  double loose = 0, strict = 0;
  int members_loose = 0, members_strict = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulateParams weak;
    weak.nodes = 20;
    weak.rows = 300;
    weak.weight_low = 0.1;
    weak.weight_high = 0.6;
    weak.seed = seed;
    const Simulation simulation = simulate(weak);
    SearchParams params;
    const GaussianEstimator estimator(covariance(simulation.data.values));
    for (const auto& [fdr, rate, members] :
         {std::tuple(0.3, &loose, &members_loose), std::tuple(0.01, &strict, &members_strict)}) {
      params.fdr = fdr;
      *rate += score(simulation, params).false_discovery_rate / 20;
      for (const Boundary& b : find_boundaries(estimator, params).boundaries)
        *members += static_cast<int>(b.members.size());
    }
  }
  EXPECT_GT(members_loose, members_strict);
  EXPECT_LE(loose, 0.3);
  EXPECT_LE(strict, 0.02);
}

TEST(Search, SymmetryRules) {
  const Simulation simulation = simulate_linear(40, 3, 300, 7);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    const auto pairs_of = [&](Symmetry rule) {
      std::set<std::pair<int, int>> pairs;
      for (const Boundary& b : find_boundaries(estimator, with(stop, rule)).boundaries) {
        for (const int z : b.member_indices()) pairs.emplace(b.target, z);
      }
      return pairs;
    };
    const auto either = pairs_of(Symmetry::or_), both = pairs_of(Symmetry::and_);
    for (const auto& [a, b] : either) EXPECT_TRUE(either.count({b, a}));
    for (const auto& [a, b] : both) EXPECT_TRUE(both.count({b, a}));
    EXPECT_LT(both.size(), either.size());
    if (stop == StopRule::paper) {  // set relations hold by definition there
      const auto none = pairs_of(Symmetry::none);
      EXPECT_TRUE(std::includes(either.begin(), either.end(), none.begin(), none.end()));
      EXPECT_TRUE(std::includes(none.begin(), none.end(), both.begin(), both.end()));
    }
  }
}

TEST(Search, LateComersGoToTheEndAndSaySo) {
  const Simulation simulation = simulate_linear(40, 3, 300, 7);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  int late = 0;
  for (const Boundary& boundary : find_boundaries(estimator, with(StopRule::paper)).boundaries) {
    bool seen = false;
    for (const Member& member : boundary.members) {
      EXPECT_TRUE(member.by_symmetry || !seen) << "an own member after a late-comer";
      seen = seen || member.by_symmetry;
      late += member.by_symmetry;
    }
  }
  EXPECT_GT(late, 0);
}

// ---- The paper's rule, step by step ---------------------------------------------------------------------------------

TEST(Search, PaperThresholds) {
  const GaussianEstimator estimator = collider();
  SearchParams params = with(StopRule::paper, Symmetry::none);
  params.eps_grow = 10;  // nothing gains that much
  for (const Boundary& b : find_boundaries(estimator, params).boundaries) EXPECT_THAT(b.members, IsEmpty());
  params.eps_grow = 0;
  params.eps_shrink = 0;
  for (const Boundary& b : find_boundaries(estimator, params).boundaries) EXPECT_EQ(b.members.size(), 4u);
  params.max_size = 2;
  for (const Boundary& b : find_boundaries(estimator, params).boundaries) EXPECT_EQ(b.members.size(), 2u);
  params.eps_shrink = 10;
  for (const Boundary& b : find_boundaries(estimator, params).boundaries) EXPECT_THAT(b.members, IsEmpty());
}

// y = a − b with a and b nearly equal: each alone says almost nothing of y, together everything. Patience finds them.
TEST(Search, PatienceSeesBeyondAMiss) {
  Random random(Key{4});
  Matrix values(5000, 3);
  for (Index i = 0; i < values.rows(); ++i) {
    const double common = 10 * random.normal();
    const double a = common + random.normal(), b = common + random.normal();
    values.row(i) << a - b + 0.3 * random.normal(), a, b;
  }
  const GaussianEstimator estimator(covariance(values));
  SearchParams params = with(StopRule::paper, Symmetry::none);
  params.eps_grow = 0.02;
  params.patience = 0;
  EXPECT_THAT(find_boundaries(estimator, params).boundaries[0].members, IsEmpty());
  params.patience = 1;
  EXPECT_THAT(find_boundaries(estimator, params).boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
}

TEST(Search, TheDefaultPatienceIsThePapers) {
  const Simulation simulation = simulate_linear(40, 3, 300, 7);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    SearchParams params = with(stop);
    const Boundaries by_default = find_boundaries(estimator, params);
    params.patience = 15;
    EXPECT_EQ(find_boundaries(estimator, params).moral_edges, by_default.moral_edges);
    EXPECT_EQ(find_boundaries(estimator, params).steps, by_default.steps);
    params.patience = 3;
    EXPECT_LT(find_boundaries(estimator, params).steps, by_default.steps);
  }
}

// ---- Deciding -------------------------------------------------------------------------------------------------------

TEST(Admissible, ALoneOneMustPassTheWholeTable) {
  EXPECT_EQ(admissible({}, 100, 0.05), 0u);
  EXPECT_EQ(admissible({0.0004}, 100, 0.05), 1u);  // 100 · 0.0004 = 0.04
  EXPECT_EQ(admissible({0.0006}, 100, 0.05), 0u);
  EXPECT_EQ(admissible({1e-30, 1e-20, 0.0006}, 100, 0.05), 2u);
}

TEST(Admissible, ACrowdMayGoFurther) {
  std::vector<double> crowd;
  for (int k = 1; k <= 20; ++k) crowd.push_back(1e-4 * k);  // 20 where chance has 0.2
  EXPECT_EQ(admissible(crowd, 100, 0.05), 20u);
}

TEST(Admissible, CertainMembersDoNotPayForSurelyFalseOnes) {
  std::vector<double> p(50, 1e-30);
  for (int k = 1; k <= 3; ++k) p.push_back(0.01 * k);  // just what 100 nulls give; BH alone would admit two of them
  EXPECT_EQ(admissible(p, 100, 0.05), 50u);
}

TEST(Admissible, NothingIsAdmittedFromUniformPValues) {
  int any = 0;
  constexpr int kTables = 4000;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    Random random(Key{seed});
    std::vector<double> p(50);
    for (double& x : p) x = random.uniform();
    std::sort(p.begin(), p.end());
    any += admissible(p, 50, 0.05) > 0;
  }
  EXPECT_LE(any, 0.05 * kTables + 3 * std::sqrt(0.05 * 0.95 * kTables));
}

TEST(Admissible, NeverExceedsBenjaminiHochberg) {
  EXPECT_TRUE(rc::check("p_(k) ≤ fdr·k/m at the last admitted", [] {
    auto p = *rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(0, 1000000), [](int i) { return i * 1e-6 * i * 1e-6; }));
    std::sort(p.begin(), p.end());
    const double hypotheses = static_cast<double>(p.size()) + *rc::gen::inRange(0, 1000);
    const double fdr = *rc::gen::inRange(1, 30) / 100.0;
    const std::size_t k = admissible(p, hypotheses, fdr);
    RC_ASSERT(k <= p.size());
    if (k > 0) RC_ASSERT(p[k - 1] * hypotheses <= fdr * static_cast<double>(k) * (1 + 1e-12));
  }));
}

// ---- Near misses ----------------------------------------------------------------------------------------------------

TEST(Search, TheNearMissIsTheBestVariableLeftOutAndSaysWhy) {
  const GaussianEstimator estimator = collider();
  for (const auto& [stop, reason] : {std::pair(StopRule::calibrated, NearMiss::Reason::chance),
                                     std::pair(StopRule::paper, NearMiss::Reason::small)}) {
    for (const Boundary& boundary : find_boundaries(estimator, with(stop)).boundaries) {
      ASSERT_EQ(boundary.near_misses.size(), boundary.members.size() == 4 ? 0u : 1u);
      if (boundary.near_misses.empty()) continue;
      const NearMiss& miss = boundary.near_misses[0];
      EXPECT_EQ(miss.reason, reason);
      EXPECT_GE(miss.p_value, 0.05);
      EXPECT_TRUE(std::isnan(miss.q_value));
      for (int z = 0; z < 5; ++z) {
        if (z == boundary.target || testing::Value(boundary.member_indices(), testing::Contains(z))) continue;
        const double gain = estimator.mutual_information({boundary.target, {z}, boundary.member_indices()}).value;
        EXPECT_GE(miss.candidate.gain, gain - 1e-6);
        if (z == miss.candidate.variable) {
          EXPECT_NEAR(miss.candidate.gain, gain, 1e-6);
        }
      }
    }
  }
  SearchParams params;
  params.evidence = false;
  for (const Boundary& boundary : find_boundaries(estimator, params).boundaries) {
    EXPECT_THAT(boundary.near_misses, IsEmpty());
  }
}

TEST(Search, AClosedFormHasNoPathsVotesOrResamples) {
  const Boundaries found = find_boundaries(collider());
  EXPECT_EQ(found.tested_pairs, 0);
  for (const Boundary& boundary : found.boundaries) {
    EXPECT_THAT(boundary.path, IsEmpty());
    for (const Member& member : boundary.members) {
      EXPECT_TRUE(std::isnan(member.votes));
      EXPECT_TRUE(std::isnan(member.stability));
    }
  }
}

// ---- Promises -------------------------------------------------------------------------------------------------------

bool same(const Boundaries& a, const Boundaries& b) {
  if (a.boundaries.size() != b.boundaries.size() || a.moral_edges != b.moral_edges || a.threshold != b.threshold)
    return false;
  for (std::size_t i = 0; i < a.boundaries.size(); ++i) {
    const auto &x = a.boundaries[i].members, &y = b.boundaries[i].members;
    if (x.size() != y.size()) return false;
    for (std::size_t m = 0; m < x.size(); ++m) {
      if (x[m].variable != y[m].variable || x[m].gain != y[m].gain || x[m].p_value != y[m].p_value) return false;
    }
  }
  return true;
}

TEST(Search, SameBitsForAnyNumberOfThreads) {
  const Simulation simulation = simulate_linear(150, 2, 400, 5);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    const ThreadLimit one(1);
    const Boundaries serial = find_boundaries(estimator, with(stop));
    const ThreadLimit many(4);
    EXPECT_TRUE(same(find_boundaries(estimator, with(stop)), serial));
  }
}

TEST(Search, TheOrderOfColumnsDoesNotMatter) {
  const Simulation simulation = simulate_linear(30, 2, 500, 6);
  const auto order = Random(Key{9}).permutation(30);
  Matrix shuffled(500, 30);
  for (int j = 0; j < 30; ++j) shuffled.col(j) = simulation.data.values.col(order[static_cast<std::size_t>(j)]);
  const Boundaries plain = find_boundaries(GaussianEstimator(covariance(simulation.data.values)));
  const Boundaries moved = find_boundaries(GaussianEstimator(covariance(shuffled)));
  for (int j = 0; j < 30; ++j) {
    std::set<int> expected, actual;
    for (const int z : plain.boundaries[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])].member_indices())
      expected.insert(z);
    for (const int z : moved.boundaries[static_cast<std::size_t>(j)].member_indices())
      actual.insert(order[static_cast<std::size_t>(z)]);
    EXPECT_EQ(actual, expected);
  }
}

TEST(Search, TheUnitsOfColumnsDoNotMatter) {
  const Simulation simulation = simulate_linear(20, 2, 500, 8);
  Matrix scaled = simulation.data.values;
  for (Index j = 0; j < 20; ++j) scaled.col(j) = scaled.col(j) * (j % 2 == 0 ? 1024.0 : -0.25);  // powers of two: exact
  const Boundaries plain = find_boundaries(GaussianEstimator(covariance(simulation.data.values)));
  const Boundaries moved = find_boundaries(GaussianEstimator(covariance(scaled)));
  for (std::size_t t = 0; t < 20; ++t)
    EXPECT_EQ(moved.boundaries[t].member_indices(), plain.boundaries[t].member_indices());
}

TEST(Search, QValuesCountEachFactOnce) {
  const Simulation simulation = simulate_linear(30, 2, 300, 4);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  NoProgress silent;
  for (const auto& [targets, hypotheses] :
       {std::pair(std::vector<int>{}, 435.0), std::pair(std::vector<int>{3}, 29.0)}) {
    double largest_p = 0, largest_q = 0;
    const Boundaries found = find_boundaries(estimator, {}, {targets, {}, {}}, silent);
    for (const Boundary& boundary : found.boundaries) {
      for (const Member& member : boundary.members) {
        largest_p = std::max(largest_p, member.p_value);
        largest_q = std::max(largest_q, member.q_value);
      }
    }
    EXPECT_NEAR(largest_q, largest_p * hypotheses / static_cast<double>(found.moral_edges.size()), 1e-9 * largest_q);
  }
}

TEST(Search, AMemberIsNotByBothSymmetries) {
  const Simulation simulation = simulate_linear(60, 5, 3000, 1);
  std::set<std::pair<int, int>> told;
  for (const Boundary& b : find_boundaries(GaussianEstimator(covariance(simulation.data.values))).boundaries) {
    for (const Member& m : b.members) {
      if (m.by_symmetry) told.emplace(b.target, m.variable);
    }
  }
  for (const auto& [a, b] : told) EXPECT_FALSE(told.count({b, a}));
}

TEST(Search, TargetsAndExclusions) {
  const GaussianEstimator estimator = collider();
  NoProgress silent;
  const Boundaries some = find_boundaries(estimator, {}, {{3, 2}, {}, {}}, silent);
  ASSERT_EQ(some.boundaries.size(), 2u);
  EXPECT_EQ(some.boundaries[0].target, 3);
  EXPECT_THAT(some.boundaries[1].member_indices(), UnorderedElementsAre(0, 1, 3));
  const Boundaries without = find_boundaries(estimator, {}, {{}, {2}, {}}, silent);
  EXPECT_THAT(without.boundaries[2].members, IsEmpty());
  for (const Boundary& b : without.boundaries) {
    for (const int z : b.member_indices()) EXPECT_NE(z, 2);
  }
}

TEST(Search, BadParametersAreNamed) {
  const GaussianEstimator estimator = collider();
  const auto message = [&](auto change) -> std::string {
    SearchParams params;
    change(params);
    try {
      find_boundaries(estimator, params);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([](SearchParams& p) { p.fdr = 0; }), HasSubstr("[fdr] 0 is out of range"));
  EXPECT_THAT(message([](SearchParams& p) { p.fdr = 1; }), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(message([](SearchParams& p) { p.eps_grow = -1; }), HasSubstr("[eps_grow] -1"));
  EXPECT_THAT(message([](SearchParams& p) { p.eps_shrink = -1; }), HasSubstr("[eps_shrink] -1"));
  EXPECT_THAT(message([](SearchParams& p) { p.patience = -2; }), HasSubstr("[patience] -2 is out of range"));
  EXPECT_THAT(message([](SearchParams& p) { p.max_size = -1; }), HasSubstr("[max_size] -1"));
  NoProgress silent;
  EXPECT_THROW(find_boundaries(estimator, {}, {{7}, {}, {}}, silent), UsageError);
  EXPECT_THROW(find_boundaries(estimator, {}, {{1, 1}, {}, {}}, silent), UsageError);
  EXPECT_THROW(parse<StopRule>("oracle"), UsageError);
  EXPECT_THROW(parse<Symmetry>("xor"), UsageError);
}

TEST(Search, StopsWhenAsked) {
  Impatient progress;
  EXPECT_THROW(find_boundaries(collider(), {}, {}, progress), Interrupted);
}

TEST(Search, MoreColumnsThanRowsEndsAndStaysQuiet) {
  const Simulation simulation = simulate_linear(120, 0, 30, 2);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  EXPECT_LE(find_boundaries(estimator).moral_edges.size(), 2u);
  EXPECT_NO_THROW(find_boundaries(estimator, with(StopRule::paper)));
}

}  // namespace
}  // namespace fansite
