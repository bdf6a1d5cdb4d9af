// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/hidden_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph_examples.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Parents = std::vector<std::vector<int>>;

std::vector<HiddenCause> found_in(const GraphTable& table, const Parents& parents) {
  NoProgress silent;
  return find_hidden_causes(Equations(table, RegressionParams(), Key{1}), parents, silent);
}

/// A cause of 0 and 1 that is not in the table; 2 is an effect of 0, 3 has nothing to do with them.
Matrix confounded(Index rows, bool bent) {
  return table(rows, 4, 5, [&](Random& random, auto&& x) {
    const double hidden = random.normal();
    x[0] = hidden + 0.7 * x[0];
    x[1] = (bent ? hidden * hidden : hidden) + 0.7 * x[1];
    x[2] = std::sin(x[0]) + 0.5 * x[2];
  });
}

TEST(HiddenCauses, AreFoundWhereEquationsLeaveOverWhatIsRelated) {
  for (const bool bent : {false, true}) {
    const Matrix values = confounded(600, bent);
    const std::vector<HiddenCause> found = found_in({values}, {{}, {}, {0}, {}});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].a, 0);
    EXPECT_EQ(found[0].b, 1);
    EXPECT_GT(std::abs(found[0].correlation), 0.3);
    EXPECT_LT(found[0].p_value, 1e-4);
  }
}

TEST(HiddenCauses, AreNoneInAGraphThatIsRight) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_THAT(found_in({curved_table(600, seed)}, {{}, {0}, {1}, {0, 2}}), IsEmpty()) << seed;
    EXPECT_THAT(found_in({noise_table(600, 4, seed)}, {{}, {}, {}, {}}), IsEmpty()) << seed;
  }
}

TEST(HiddenCauses, LookAtTheRowsThatHaveBothAndAtNumbersOnly) {
  const Matrix draw = confounded(900, false);
  Matrix values = draw;
  for (Index i = 0; i < values.rows(); i += 3) values(i, 0) = std::nan("");
  EXPECT_EQ(found_in({values, {}, {draw}}, {{}, {}, {0}, {}}).size(), 1u);
  Matrix levels = confounded(600, false);
  for (double& cell : levels.col(1)) cell = cell > 0 ? 1 : 0;
  const std::vector<ColumnKind> kinds = {ColumnKind::continuous, ColumnKind::ordered, ColumnKind::continuous,
                                         ColumnKind::continuous};
  EXPECT_THAT(found_in({levels, kinds}, {{}, {}, {0}, {}}), IsEmpty());
}

TEST(HiddenCauses, HaveWords) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(in_words({}, names), "");
  const std::string words = in_words({{0, 2, 0.41, 1e-9}, {1, 2, 0.3, 1e-4}}, names);
  EXPECT_THAT(words, HasSubstr("'a' and 'c' is related (correlation 0.41, p = 1e-09)"));
  EXPECT_THAT(words, HasSubstr("1 more of 3 pairs"));
  EXPECT_TRUE(touches({{0, 2, 0.4, 0}}, 2));
  EXPECT_FALSE(touches({{0, 2, 0.4, 0}}, 1));
}

// ---- What the search for a graph makes of refusals ------------------------------------------------------------------

/// y = x (1 + noise): noise that multiplies.
Matrix multiplied(Index rows) {
  return table(rows, 3, 7, [](Random& random, auto&& x) {
    x[1] = (1.5 + x[0]) * (1 + 0.8 * random.normal());
    x[2] = std::tanh(2 * x[2]) + 0.3 * random.normal();
  });
}

AdditiveNoiseResult graph_of(const Matrix& values, bool only_if_additive) {
  AdditiveNoiseParams params;
  params.scale = NoiseScale::original;
  params.only_if_additive = only_if_additive;
  GraphConstraints constraints;
  constraints.allowed = ByteMatrix::Ones(values.cols(), values.cols());
  constraints.allowed.diagonal().setZero();
  NoProgress silent;
  return find_additive_noise_graph(values, constraints, params, silent);
}

TEST(RefusedAdditivity, LeavesDirectionsOpen) {
  const AdditiveNoiseResult found = graph_of(multiplied(800), false);
  ASSERT_FALSE(found.additivity.additive);
  ASSERT_FALSE(found.additivity.refused.empty());
  ASSERT_FALSE(found.edges.empty());
  for (const GraphEdge& edge : found.edges) EXPECT_NE(edge.by, DirectionBy::score) << edge.from << " " << edge.to;
}

TEST(RefusedAdditivity, IsSeenBeforeTheWholeWorkIsDone) {
  const AdditiveNoiseResult whole = graph_of(multiplied(800), false), given_up = graph_of(multiplied(800), true);
  EXPECT_TRUE(given_up.given_up);
  EXPECT_FALSE(given_up.additivity.additive);
  EXPECT_TRUE(given_up.edges.empty());
  EXPECT_LT(given_up.fits, whole.fits);
  EXPECT_FALSE(graph_of(curved_table(400, 1), true).given_up);
}

}  // namespace
}  // namespace fansite::causal
