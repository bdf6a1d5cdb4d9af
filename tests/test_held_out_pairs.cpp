// SPDX-License-Identifier: Apache-2.0
//
// Which pairs stand up to a test on held-out rows, asked of estimators that answer by heart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "by_heart.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/boundary/detail/held_out_pairs.h"

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

// ---- Confirming -----------------------------------------------------------------------------------------------------

// The shortest set of 0 proposes {0, 1} alone, but {0, 2} and {0, 3} are in the best set and count.
class Family : public testing::Test {
 protected:
  Family() : table(5) {
    table.both_ways(0, 1, 0.5);
    table.worth(0, 2) = table.worth(0, 3) = 1.0 / 256;
  }
  Additive table;
};

TEST_F(Family, IsThePairsOfTheBestSetsWhileOnlyThoseNeededAreTested) {
  table.evidence[{0, 1}] = evidence_of(0.016, 5, 0.75);
  const Boundaries found = find(table);
  EXPECT_EQ(found.tested_pairs, 1);
  ASSERT_EQ(found.boundaries[0].members.size(), 1u);
  const Member& member = found.boundaries[0].members[0];
  EXPECT_EQ(member.variable, 1);
  EXPECT_EQ(member.p_value, 0.016);
  EXPECT_DOUBLE_EQ(member.q_value, (3 - 1) * 0.016);  // itself was certain
  EXPECT_EQ(member.votes, 0.75);
  EXPECT_EQ(found.threshold, 0.016);
  ASSERT_EQ(table.asked.size(), 1u);
  EXPECT_EQ(table.asked[0].a, 0);
  EXPECT_EQ(table.asked[0].b, 1);
  EXPECT_TRUE(table.asked[0].both_sides);
  EXPECT_THAT(table.asked[0].given_a, IsEmpty());  // 2 and 3 are in the best set, but not needed
  EXPECT_THAT(table.asked[0].given_b, IsEmpty());

  table.evidence[{0, 1}] = evidence_of(0.017);  // 3 · 0.017 > 0.05
  const Boundaries refused = find(table);
  EXPECT_THAT(refused.moral_edges, IsEmpty());
  EXPECT_EQ(refused.tested_pairs, 1);
  EXPECT_EQ(refused.threshold, 0);
  SearchParams params;
  params.fdr = 0.052;
  EXPECT_THAT(find(table, params).moral_edges, ElementsAre(Pair(0, 1)));
}

TEST(Confirm, QValuesStepUpInTwoStages) {
  Additive table(12);
  const double p_values[] = {0.001, 0.012, 0.035, 0.04, 0.5, 0.9};
  for (int k = 0; k < 6; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence_of(p_values[k]);
  }
  NoProgress silent;
  const SearchParams params;
  const Search search(table, params, all_of(table), {});
  Boundaries boundaries;
  const Confirmed confirmed = decide_on_held_out_rows(search, grow_paths(search, boundaries, silent), silent);
  ASSERT_EQ(confirmed.tested.size(), 6u);
  const auto tested = [&](int k) { return confirmed.tested.at({2 * k, 2 * k + 1}); };
  // Of six the first stage admits two (0.012 · 6 / 2 ≤ 0.05), so the second pays for four.
  EXPECT_DOUBLE_EQ(tested(0).q_value, 0.001 * 4);
  EXPECT_DOUBLE_EQ(tested(1).q_value, 0.012 * 4 / 2);
  EXPECT_DOUBLE_EQ(tested(2).q_value, 0.04 * 4 / 4);  // not 0.035 · 4 / 3: the next one pays for it
  EXPECT_DOUBLE_EQ(tested(3).q_value, 0.04 * 4 / 4);
  EXPECT_DOUBLE_EQ(tested(4).q_value, 0.5);  // not 0.5 · 4 / 5
  EXPECT_DOUBLE_EQ(tested(5).q_value, 0.9);
  for (int k = 0; k < 6; ++k) EXPECT_EQ(tested(k).admitted, k < 4) << k;
  EXPECT_EQ(confirmed.threshold, 0.04);
  EXPECT_THAT(confirmed.sets,
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(3), ElementsAre(2), ElementsAre(5),
                          ElementsAre(4), ElementsAre(7), ElementsAre(6), IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

// Nineteen certain pairs would pay for one that is as likely false as not.
TEST(Confirm, TheCertainDoNotPayForWhatChanceExplains) {
  Additive table(40);
  for (int k = 0; k < 20; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence_of(k < 19 ? 1e-9 : 0.5);
  }
  const Boundaries found = find(table);
  EXPECT_EQ(found.tested_pairs, 20);
  EXPECT_EQ(found.moral_edges.size(), 19u);
}

TEST(Confirm, SymmetryRules) {
  Additive table(4);
  table.both_ways(0, 1, 0.5);
  table.worth(0, 2) = 0.25;  // 2 does not see 0
  table.evidence[{0, 1}] = evidence_of(0.001);
  table.evidence[{1, 0}] = evidence_of(0.9);
  table.evidence[{0, 2}] = evidence_of(0.01);

  const Boundaries either = find(table, with_rule(Symmetry::or_));
  EXPECT_EQ(either.tested_pairs, 2);
  EXPECT_THAT(either.boundaries[0].member_indices(), ElementsAre(1, 2));
  EXPECT_THAT(either.boundaries[1].member_indices(), ElementsAre(0));
  EXPECT_THAT(either.boundaries[2].member_indices(), ElementsAre(0));
  EXPECT_FALSE(either.boundaries[0].members[1].by_symmetry);
  EXPECT_TRUE(either.boundaries[2].members[0].by_symmetry);
  EXPECT_EQ(either.boundaries[2].members[0].gain, -1.0 / 64);  // on held-out rows it may cost
  EXPECT_EQ(either.boundaries[2].members[0].p_value, either.boundaries[0].members[1].p_value);
  EXPECT_THAT(either.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2)));

  table.asked.clear();
  const Boundaries both = find(table, with_rule(Symmetry::and_));
  EXPECT_EQ(both.tested_pairs, 1);
  EXPECT_THAT(both.boundaries[0].member_indices(), ElementsAre(1));
  EXPECT_EQ(both.boundaries[0].members[0].q_value, 0.001);  // {0, 2} is no hypothesis
  EXPECT_THAT(both.moral_edges, ElementsAre(Pair(0, 1)));
  ASSERT_EQ(table.asked.size(), 1u);
  EXPECT_THAT(table.asked[0].given_a, ElementsAre(2));

  table.asked.clear();
  const Boundaries none = find(table, with_rule(Symmetry::none));
  EXPECT_EQ(none.tested_pairs, 3);
  EXPECT_THAT(none.boundaries[0].member_indices(), ElementsAre(1, 2));
  EXPECT_THAT(none.boundaries[1].member_indices(), IsEmpty());  // its own side says 0.9
  EXPECT_THAT(none.boundaries[2].member_indices(), IsEmpty());
  for (const PairQuery& query : table.asked) EXPECT_FALSE(query.both_sides);
  EXPECT_THAT(none.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2)));
}

TEST(Confirm, LateComersComeLastTheMostCertainFirst) {
  Additive table(7);
  table.both_ways(0, 5, 0.5);
  for (const int z : {1, 2, 3}) table.worth(z, 0) = 0.5;
  table.evidence[{0, 5}] = evidence_of(0.02);
  table.evidence[{0, 1}] = evidence_of(0.003);
  table.evidence[{0, 2}] = evidence_of(0.001);
  table.evidence[{0, 3}] = evidence_of(0.002);
  const Boundary boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(5, 2, 3, 1));
  EXPECT_FALSE(boundary.members[0].by_symmetry);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_TRUE(boundary.members[k].by_symmetry) << k;
}

// Of five members none can be told from chance given the four others; given one other at most, the first can.
TEST(Confirm, WhatChanceExplainsLeavesTheSetsTheWeakerHalfFirst) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) {
    return evidence_of(query.b == 1 && query.given_a.size() < 2 ? 0.001 : 0.1 * query.b);
  };
  const Boundaries found = find(table, {}, {0});
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(1));
  EXPECT_EQ(found.boundaries[0].members[0].p_value, 0.001);
  EXPECT_EQ(found.tested_pairs, 5);
  std::vector<std::pair<int, std::size_t>> asked;  // who, given how many
  for (const PairQuery& query : table.asked) asked.emplace_back(query.b, query.given_a.size());
  EXPECT_THAT(asked, UnorderedElementsAre(Pair(1, 4), Pair(2, 4), Pair(3, 4), Pair(4, 4), Pair(5, 4),  // all
                                          Pair(1, 1), Pair(2, 1),                            // the better half
                                          Pair(2, 1), Pair(3, 1), Pair(4, 1), Pair(5, 1)));  // all are missed
}

TEST(Confirm, WhatWasAdmittedIsNotTestedAgain) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) { return evidence_of(query.b <= 2 ? 1e-6 : 0.1 * query.b); };
  const Boundaries found = find(table, {}, {0});
  EXPECT_THAT(found.boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
  EXPECT_EQ(table.asked.size(), 5u + 1u + 3u);  // 3 alone stays of 3, 4, 5, and goes; then all three are missed
}

TEST(Confirm, WhatIsClearlyMissedComesBack) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) {
    const bool seen = query.b == 1 || (query.b == 5 && query.given_a == std::vector<int>{1});
    return evidence_of(seen ? 1e-6 : 0.1 * query.b);
  };
  table.error = 1.0 / 24;  // just within three standard errors of nothing: it is not asked again
  EXPECT_THAT(find(table, {}, {0}).boundaries[0].member_indices(), ElementsAre(1));
  table.error = 1.0 / 25;
  EXPECT_THAT(find(table, {}, {0}).boundaries[0].member_indices(), ElementsAre(1, 5));
}

TEST(Confirm, OnlyTheSearchedEndTests) {
  Additive table(5);
  table.worth(3, 1) = table.worth(3, 4) = 0.5;
  table.evidence[{3, 1}] = evidence_of(0.001);
  table.evidence[{3, 4}] = evidence_of(0.002);
  const Boundaries found = find(table, {}, {3});
  ASSERT_EQ(found.boundaries.size(), 1u);
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(1, 4));
  EXPECT_THAT(found.moral_edges, ElementsAre(Pair(1, 3), Pair(3, 4)));
  ASSERT_EQ(table.asked.size(), 2u);
  for (const PairQuery& query : table.asked) {
    EXPECT_EQ(query.a, 3);
    EXPECT_FALSE(query.both_sides);
    EXPECT_THAT(query.given_a, ElementsAre(query.b == 1 ? 4 : 1));
  }
}

TEST(Confirm, NothingProposedNothingTested) {
  const Additive noise(5);
  const Boundaries found = find(noise);
  EXPECT_EQ(found.tested_pairs, 0);
  EXPECT_EQ(found.threshold, 0);
  EXPECT_THAT(found.moral_edges, IsEmpty());
  EXPECT_THAT(noise.asked, IsEmpty());
  Additive alone(3);
  alone.flat = {1, 0, 1};
  const Boundaries none = find(alone);
  ASSERT_EQ(none.boundaries.size(), 3u);
  for (const Boundary& boundary : none.boundaries) {
    EXPECT_THAT(boundary.members, IsEmpty());
    EXPECT_THAT(boundary.path, IsEmpty());
    EXPECT_THAT(boundary.near_misses, IsEmpty());
    EXPECT_EQ(boundary.entropy, 1);
  }
}

// ---- Stability ------------------------------------------------------------------------------------------------------

std::vector<double> stabilities(const std::vector<PairEvidence>& evidence) {
  const int pairs = static_cast<int>(evidence.size());
  Additive table(2 * pairs);
  for (int k = 0; k < pairs; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence[static_cast<std::size_t>(k)];
    table.evidence[{2 * k, 2 * k + 1}].p_value = 1e-9;  // all are in; what resamples say is another matter
  }
  std::vector<double> result;
  for (int k = 0; k < pairs; ++k) {
    const Boundary boundary = find(table).boundaries[static_cast<std::size_t>(2 * k)];
    result.push_back(boundary.members.at(0).stability);
  }
  return result;
}

TEST(Stability, IsTheShareOfResamplesInWhichAPairIsIn) {
  std::vector<double> shares;
  for (const double z : {0.01, 1.6, 2.2, 3.0, 19.0}) shares.push_back(stabilities({evidence_of(0, z)})[0]);
  EXPECT_THAT(shares, Each(AllOf(Ge(0.0), Le(1.0))));
  EXPECT_LT(shares[0], 0.2);   // mostly out
  EXPECT_GT(shares[1], 0.25);  // p = 0.055, the edge
  EXPECT_LT(shares[1], 0.75);
  for (std::size_t k = 1; k < shares.size(); ++k) EXPECT_GE(shares[k], shares[k - 1]) << k;
  EXPECT_GT(shares[3], 0.85);
  EXPECT_EQ(shares[4], 1.0);
}

TEST(Stability, IsCertainOfWhatEveryRowSaysAndOfWhatNoRowSays) {
  PairEvidence strong = evidence_of(0), nothing = evidence_of(0);
  strong.scores.setConstant(0.3f);
  nothing.scores.setZero();
  EXPECT_THAT(stabilities({strong, nothing}), ElementsAre(1.0, 0.0));
}

TEST(Stability, FeelsInflationAndTheFamily) {
  PairEvidence inflated = evidence_of(0, 2.2);
  inflated.inflation = std::sqrt(2.0);
  EXPECT_LT(stabilities({inflated})[0], stabilities({evidence_of(0, 2.2)})[0]);
  const PairEvidence weak = evidence_of(0, 0.01);
  EXPECT_LT(stabilities({evidence_of(0, 2.2), weak, weak, weak})[0], stabilities({evidence_of(0, 2.2)})[0]);
}

TEST(Stability, IsTheSameEveryTimeAndForAnyNumberOfThreads) {
  const std::vector<PairEvidence> evidence = {evidence_of(0, 1.5), evidence_of(0, 2), evidence_of(0, 2.5)};
  const ThreadLimit one(1);
  const std::vector<double> first = stabilities(evidence);
  EXPECT_EQ(stabilities(evidence), first);
  const ThreadLimit many(4);
  EXPECT_EQ(stabilities(evidence), first);
}

// "Empty: it is no such sum": then nobody knows how stable the pair is, and it must not be made up.
TEST(Stability, IsNotKnownWithoutScores) {
  PairEvidence silent = evidence_of(1e-9);
  silent.scores.resize(0);
  const std::vector<double> shares = stabilities({silent, evidence_of(0, 19)});
  EXPECT_THAT(shares[0], IsNan());
  EXPECT_EQ(shares[1], 1.0);
}

}  // namespace
}  // namespace fansite
