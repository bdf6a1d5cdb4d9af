// SPDX-License-Identifier: Apache-2.0
//
// Boundaries whose sizes are decided on held-out rows, found with estimators that answer by heart: no network is
// trained here. What networks make of it is in test_boundaries.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "by_heart.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/boundary/search.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::IsNan;
using testing::Le;
using testing::UnorderedElementsAre;

// ---- Paths ----------------------------------------------------------------------------------------------------------

TEST(Paths, AreRankedByTheFrontierAndSizedByHeldOutEntropies) {
  Additive table(6);
  table.rank({3, 1, 4, 2, 5, 0});
  table.worth.row(0) << 0, 0.25, -1.0 / 64, 0.5, 0.125, -1.0 / 32;
  const Grown grown = grow(table, {}, {0});
  ASSERT_EQ(grown.paths.size(), 1u);
  const Path& path = grown.paths[0];
  EXPECT_THAT(path.indices, ElementsAre(3, 1, 4, 2, 5));
  EXPECT_THAT(path.entropy, ElementsAre(1, 0.5, 0.25, 0.125, 0.140625, 0.171875));
  EXPECT_EQ(path.best, 3);
  EXPECT_THAT(path.needed, ElementsAre(3, 1, 4));
  EXPECT_EQ(grown.steps, 5);
}

TEST(Paths, NeededIsWhatIsMissedByMoreThanOneStandardError) {
  Additive table(5);
  table.rank({1, 2, 3, 4, 0});
  table.worth.row(0) << 0, 0.5, 1.0 / 128, 1.0 / 256, -0.5;
  for (const auto& [error, needed] :
       {std::pair(4.0 / 256, std::vector{1}), std::pair(2.01 / 256, std::vector{1}),
        std::pair(1.99 / 256, std::vector{1, 2}), std::pair(0.99 / 256, std::vector{1, 2, 3}),
        std::pair(1.0, std::vector<int>{})}) {
    table.error = error;
    const Path path = grow(table, {}, {0}).paths[0];
    EXPECT_EQ(path.needed, needed) << error;
  }
}

// A variable may be worth something only because of those after it.
TEST(Paths, ASmallStepBeforeALargeOneIsKept) {
  Additive table(4);
  table.rank({1, 2, 3, 0});
  table.worth.row(0) << 0, 0.25, 1.0 / 1024, 0.5;
  const Path path = grow(table, {}, {0}).paths[0];
  EXPECT_EQ(path.best, 3);
}

TEST(Paths, OfNothingAreEmptyOrTooLong) {
  const Additive noise(8);
  for (const Path& path : grow(noise).paths) {
    EXPECT_EQ(path.best, 0);
    EXPECT_THAT(path.needed, testing::IsEmpty());
    EXPECT_EQ(path.indices.size(), 7u);  // a patience of 6, and one more
  }
}

// More variables also average out what networks got wrong, so entropies may drift down for ever.
TEST(Paths, ADriftBelowTwoStandardErrorsAStepDoesNotGoOnForEver) {
  Additive table(12);
  table.rank({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0});
  table.worth.row(0) << 0, 0.5, Eigen::RowVectorXd::Constant(10, 1.0 / 64);
  for (const auto& [error, length] : {std::pair(1.0 / 129, 11u), std::pair(1.0 / 128, 8u), std::pair(1.0 / 64, 8u)}) {
    table.error = error;
    const Path path = grow(table, {}, {0}).paths[0];
    EXPECT_EQ(path.indices.size(), length) << error;
    // Of the steps after the last clear one, two may count.
    EXPECT_EQ(path.best, length == 11 ? 11 : 3) << error;
  }
}

TEST(Paths, PatienceIsHowManyStepsMayGoByWithoutTheBest) {
  Additive table(9);
  table.rank({1, 2, 3, 4, 5, 6, 7, 8, 0});
  table.worth.row(0) << 0, 0.25, -0.125, -0.125, 0.5, -0.125, -0.125, -0.125, -0.125;
  SearchParams params;
  const auto grown = [&](int patience) {
    params.patience = patience;
    return grow(table, params, {0}).paths[0];
  };
  EXPECT_EQ(grown(0).best, 1);
  EXPECT_EQ(grown(0).indices.size(), 2u);
  EXPECT_EQ(grown(1).best, 1);
  EXPECT_EQ(grown(1).indices.size(), 3u);
  EXPECT_EQ(grown(2).best, 4);
  EXPECT_EQ(grown(2).indices.size(), 7u);
  EXPECT_EQ(grown(3).indices.size(), 8u);
  EXPECT_EQ(grown(-1).indices.size(), 8u);  // 6 is the default here …
  EXPECT_EQ(Search(table, {}, {0}, {}).patience, 6);
  params.patience = -1;
  params.stop = StopRule::paper;
  EXPECT_EQ(Search(table, params, {0}, {}).patience, 15);  // … and 15 where no held-out rows decide
  EXPECT_FALSE(Search(table, params, {0}, {}).on_held_out_rows());
}

TEST(Paths, EndAtTheLargestSetAndAtMaxSize) {
  Additive table(9);
  table.worth.setConstant(0.125);
  for (const Path& path : grow(table).paths) EXPECT_EQ(path.indices.size(), 8u);
  table.largest = 5;
  for (const Path& path : grow(table).paths) EXPECT_EQ(path.indices.size(), 5u);
  SearchParams params;
  params.max_size = 2;
  for (const Path& path : grow(table, params).paths) {
    EXPECT_THAT(path.entropy, ElementsAre(1, 0.875, 0.75));
    EXPECT_EQ(path.best, 2);
  }
  params.max_size = 7;
  for (const Path& path : grow(table, params).paths) EXPECT_EQ(path.indices.size(), 5u);
}

TEST(Paths, PassOverExcludedAndUninformativeVariables) {
  Additive table(6);
  table.worth.setConstant(0.125);
  table.flat[2] = 1;
  const Grown grown = grow(table, {}, {}, {4});
  ASSERT_EQ(grown.paths.size(), 4u);  // of 0, 1, 3, 5
  EXPECT_THAT(grown.paths[0].indices, UnorderedElementsAre(1, 3, 5));
  EXPECT_THAT(grown.paths[3].indices, UnorderedElementsAre(0, 1, 3));
}

// ---- Near misses ----------------------------------------------------------------------------------------------------

class NearMisses : public testing::Test {
 protected:
  NearMisses() : table(9) {
    table.worth.row(0) << 0, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, -1.0 / 64, -1.0 / 64;
    const double p_values[] = {1e-6, 0.9, 0.5, 0.7, 0.3, 0.8};
    for (int z = 1; z <= 6; ++z) table.evidence[{0, z}] = evidence_of(p_values[z - 1]);
  }
  Additive table;
};

TEST_F(NearMisses, AreTheThreeNearestByChanceAndTheNextOnThePath) {
  const Boundary boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(1));
  ASSERT_EQ(boundary.near_misses.size(), 4u);
  const std::pair<int, double> expected[] = {{5, 0.3}, {3, 0.5}, {4, 0.7}};
  for (std::size_t k = 0; k < 3; ++k) {
    const NearMiss& miss = boundary.near_misses[k];
    EXPECT_EQ(miss.candidate.variable, expected[k].first);
    EXPECT_EQ(miss.candidate.gain, 0.25);  // given the boundary
    EXPECT_EQ(miss.candidate.standard_error, table.error);
    EXPECT_EQ(miss.p_value, expected[k].second);
    EXPECT_GT(miss.q_value, 0.05);
    EXPECT_EQ(miss.reason, NearMiss::Reason::chance);
  }
  EXPECT_DOUBLE_EQ(boundary.near_misses[0].q_value, 0.3 * (6 - 1) / 2);
  const NearMiss& next = boundary.near_misses[3];
  EXPECT_EQ(next.candidate.variable, 7);
  EXPECT_EQ(next.candidate.gain, -1.0 / 64);
  EXPECT_THAT(next.p_value, IsNan());
  EXPECT_THAT(next.q_value, IsNan());
  EXPECT_EQ(next.reason, NearMiss::Reason::held_out);
}

TEST_F(NearMisses, ConcernBothEndsUnlessEachSideStandsAlone) {
  const Boundary other = find(table).boundaries[5];
  ASSERT_EQ(other.near_misses.size(), 1u);
  EXPECT_EQ(other.near_misses[0].candidate.variable, 0);
  EXPECT_EQ(other.near_misses[0].p_value, 0.3);
  EXPECT_EQ(other.near_misses[0].reason, NearMiss::Reason::chance);
  const Boundary alone = find(table, with_rule(Symmetry::none)).boundaries[5];
  ASSERT_EQ(alone.near_misses.size(), 1u);
  EXPECT_EQ(alone.near_misses[0].candidate.variable, 0);  // first on its own path
  EXPECT_THAT(alone.near_misses[0].p_value, IsNan());
  EXPECT_EQ(alone.near_misses[0].reason, NearMiss::Reason::held_out);
}

TEST_F(NearMisses, AreNamedOnce) {
  table.worth(7, 0) = 0.5;  // next on the path of 0, and tested because 7 proposes it
  table.evidence[{0, 7}] = evidence_of(0.2);
  Boundary boundary = find(table).boundaries[0];
  ASSERT_EQ(boundary.near_misses.size(), 3u);
  EXPECT_EQ(boundary.near_misses[0].candidate.variable, 7);
  EXPECT_EQ(boundary.near_misses[0].reason, NearMiss::Reason::chance);
  table.evidence[{0, 7}] = evidence_of(1e-9);  // and now a member
  boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(1, 7));
  for (const NearMiss& miss : boundary.near_misses) EXPECT_NE(miss.candidate.variable, 7);
}

TEST(NearMissReasons, AreWords) {
  for (const auto reason : {NearMiss::Reason::chance, NearMiss::Reason::held_out, NearMiss::Reason::small}) {
    EXPECT_FALSE(explain(reason).empty());
  }
  EXPECT_NE(explain(NearMiss::Reason::chance), explain(NearMiss::Reason::held_out));
}

// ---- The whole search -----------------------------------------------------------------------------------------------

/// The Gaussian closed form, with what a set costs on rows that were not learnt from.
class HeldOutGaussian final : public ByHeart {
 public:
  explicit HeldOutGaussian(const Matrix& values)
      : ByHeart(static_cast<int>(values.cols())), gaussian(covariance(values)) {
    error = 0.001;
  }
  GaussianEstimator gaussian;

  double entropy(int target, const std::vector<int>& given) const override {
    return gaussian.conditional_entropy({target, given}).value + 0.002 * static_cast<double>(given.size());
  }
  PairEvidence pair_evidence(const PairQuery& query) const override {
    ByHeart::pair_evidence(query);  // is remembered
    PairEvidence evidence = gaussian.pair_evidence(query);
    evidence.scores = scores_of(std::clamp(-normal_quantile(std::max(evidence.p_value, 1e-30)), 0.01, 19.0));
    return evidence;
  }
};

// x0 → x2 ← x1, x2 → x3, and x4 apart.
Matrix collider() {
  Random random(Key{1});
  Matrix values(2000, 5);
  for (Index i = 0; i < values.rows(); ++i) {
    const double x0 = random.normal(), x1 = random.normal();
    const double x2 = x0 + x1 + random.normal();
    values.row(i) << x0, x1, x2, 0.8 * x2 + random.normal(), random.normal();
  }
  return values;
}

TEST(HeldOutSearch, FindsParentsChildrenAndSpouses) {
  const HeldOutGaussian estimator(collider());
  for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
    const Boundaries found = find(estimator, with_rule(rule));
    EXPECT_THAT(found.boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
    EXPECT_THAT(found.boundaries[1].member_indices(), UnorderedElementsAre(0, 2));
    EXPECT_THAT(found.boundaries[2].member_indices(), UnorderedElementsAre(0, 1, 3));
    EXPECT_THAT(found.boundaries[3].member_indices(), ElementsAre(2));
    EXPECT_THAT(found.boundaries[4].member_indices(), IsEmpty());
    EXPECT_THAT(found.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2), Pair(2, 3)));
  }
}

TEST(HeldOutSearch, TellsEntropiesGainsAndPathsOfHeldOutRows) {
  const HeldOutGaussian estimator(collider());
  const Boundaries found = find(estimator);
  long steps = 0;
  for (const Boundary& boundary : found.boundaries) {
    const int t = boundary.target;
    EXPECT_EQ(boundary.entropy, estimator.entropy(t, {}));
    EXPECT_EQ(boundary.conditional_entropy, estimator.entropy(t, boundary.member_indices()));
    std::vector<int> before;
    double gains = 0;
    for (const Member& member : boundary.members) {
      EXPECT_EQ(member.gain, estimator.mutual_information({t, {member.variable}, before}).value);
      EXPECT_EQ(member.standard_error, 0.001);
      const std::vector<int> others = without(boundary.member_indices(), member.variable);
      EXPECT_EQ(member.unique, estimator.mutual_information({t, {member.variable}, others}).value);
      EXPECT_LE(member.p_value, member.q_value);
      EXPECT_LE(member.q_value, 0.05);
      EXPECT_THAT(member.stability, AllOf(Ge(0.0), Le(1.0)));
      gains += member.gain;
      before.push_back(member.variable);
    }
    EXPECT_NEAR(gains, boundary.entropy - boundary.conditional_entropy, 1e-12);
    for (const NearMiss& miss : boundary.near_misses) {
      EXPECT_EQ(miss.candidate.gain,
                estimator.mutual_information({t, {miss.candidate.variable}, boundary.member_indices()}).value);
    }
    before.clear();
    for (const PathStep& step : boundary.path) {
      before.push_back(step.variable);
      EXPECT_EQ(step.conditional_entropy, estimator.entropy(t, before));
    }
    EXPECT_EQ(boundary.path.size(), 4u);  // beyond the boundary
    steps += static_cast<long>(boundary.path.size());
  }
  EXPECT_EQ(found.steps, steps);
}

TEST(HeldOutSearch, ExcludedAndUninformativeTargetsHaveEmptyBoundaries) {
  HeldOutGaussian estimator(collider());
  estimator.flat[3] = 1;
  const Boundaries found = find(estimator, {}, {}, {0});
  ASSERT_EQ(found.boundaries.size(), 5u);
  for (const int t : {0, 3}) {
    const Boundary& boundary = found.boundaries[static_cast<std::size_t>(t)];
    EXPECT_EQ(boundary.target, t);
    EXPECT_THAT(boundary.members, IsEmpty());
    EXPECT_THAT(boundary.path, IsEmpty());
    EXPECT_EQ(boundary.entropy, estimator.entropy(t, {}));
    EXPECT_EQ(boundary.conditional_entropy, boundary.entropy);
  }
  EXPECT_THAT(found.moral_edges, ElementsAre(Pair(1, 2)));
  for (const PairQuery& query : estimator.asked) {
    EXPECT_THAT((std::vector{query.a, query.b}), Each(testing::AnyOf(1, 2, 4)));
  }
}

TEST(HeldOutSearch, KeepsTheOrderOfTargets) {
  const HeldOutGaussian estimator(collider());
  const Boundaries found = find(estimator, {}, {3, 0});
  ASSERT_EQ(found.boundaries.size(), 2u);
  EXPECT_EQ(found.boundaries[0].target, 3);
  EXPECT_EQ(found.boundaries[1].target, 0);
  EXPECT_THAT(found.boundaries[1].member_indices(), UnorderedElementsAre(1, 2));
}

TEST(HeldOutSearch, ThePapersRuleKnowsNoHeldOutRows) {
  const HeldOutGaussian estimator(collider());
  SearchParams params;
  params.stop = StopRule::paper;
  const Boundaries found = find(estimator, params);
  EXPECT_THAT(found.boundaries[2].member_indices(), UnorderedElementsAre(0, 1, 3));
  EXPECT_EQ(found.tested_pairs, 0);
  for (const Boundary& boundary : found.boundaries) {
    EXPECT_THAT(boundary.path, IsEmpty());
    for (const Member& member : boundary.members) EXPECT_THAT(member.stability, IsNan());
    ASSERT_EQ(boundary.near_misses.size(), 1u);
    EXPECT_EQ(boundary.near_misses[0].reason, NearMiss::Reason::small);
    EXPECT_THAT(boundary.near_misses[0].p_value, IsNan());  // gains have no known distribution
  }
}

/// Counts what it is told, and interrupts when a stage begins.
class Recorder final : public Progress {
 public:
  explicit Recorder(std::string stage = {}) : stop_at_(std::move(stage)) {}
  void begin(std::string_view stage, long total) override {
    stage_ = stage;
    left[stage_] = total;
  }
  void advance(long steps) override {
    const std::lock_guard lock(mutex_);
    left[stage_] -= steps;
  }
  bool interrupted() const override { return stage_ == stop_at_; }
  std::map<std::string, long> left;

 private:
  std::mutex mutex_;
  std::string stage_ = "none yet", stop_at_;
};

TEST(HeldOutSearch, WhatIsKnownIsInEvenIfThereIsNoTimeToSearch) {
  class NoTime final : public Progress {
   public:
    void begin(std::string_view, long) override {}
    void advance(long) override {}
    bool interrupted() const override { return false; }
    bool out_of_time() const override { return true; }
  };
  const HeldOutGaussian estimator(collider());
  const Knowledge knowledge({"a", "b", "c", "d", "e"}, {{Statement::Kind::in_boundary, 0, 4},
                                                        {Statement::Kind::in_boundary, 0, 3},
                                                        {Statement::Kind::in_boundary, 1, 4}});
  NoTime hurried;
  const Boundaries found = find_boundaries(estimator, {}, {{}, {}, knowledge}, hurried);
  EXPECT_EQ(found.cut_short, 5);
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(3, 4));
  EXPECT_THAT(found.boundaries[1].member_indices(), ElementsAre(4));
  EXPECT_THAT(found.boundaries[2].member_indices(), IsEmpty());
  EXPECT_THAT(found.boundaries[3].member_indices(), ElementsAre(0));
  EXPECT_THAT(found.boundaries[4].member_indices(), ElementsAre(0, 1));
}

TEST(HeldOutSearch, StopsWhenAskedInEveryStage) {
  const HeldOutGaussian estimator(collider());
  for (const std::string stage : {"searching", "testing", "describing"}) {
    Recorder progress(stage);
    EXPECT_THROW(find_boundaries(estimator, {}, {}, progress), Interrupted) << stage;
    EXPECT_EQ(progress.left.count(stage), 1u);
  }
  Impatient at_once;
  EXPECT_THROW(find_boundaries(estimator, {}, {}, at_once), Interrupted);
}

TEST(HeldOutSearch, ItsProgressAddsUp) {
  Recorder progress;
  find_boundaries(HeldOutGaussian(collider()), {}, {}, progress);
  EXPECT_THAT(progress.left,
              ElementsAre(std::pair("describing", 0), std::pair("searching", 0), std::pair("testing", 0)));
}

TEST(HeldOutSearch, SameBitsForAnyNumberOfThreads) {
  const HeldOutGaussian estimator(simulate_linear(12, 2, 500, 3).data.values);
  const ThreadLimit one(1);
  const Boundaries serial = find(estimator);
  const ThreadLimit many(4);
  const Boundaries parallel = find(estimator);
  EXPECT_EQ(parallel.moral_edges, serial.moral_edges);
  EXPECT_FALSE(serial.moral_edges.empty());
  EXPECT_EQ(parallel.threshold, serial.threshold);
  for (std::size_t b = 0; b < serial.boundaries.size(); ++b) {
    ASSERT_EQ(parallel.boundaries[b].member_indices(), serial.boundaries[b].member_indices());
    for (std::size_t m = 0; m < serial.boundaries[b].members.size(); ++m) {
      const Member &x = parallel.boundaries[b].members[m], &y = serial.boundaries[b].members[m];
      EXPECT_EQ(std::tie(x.gain, x.p_value, x.q_value, x.stability),
                std::tie(y.gain, y.p_value, y.q_value, y.stability));
    }
  }
}

}  // namespace
}  // namespace fansite
