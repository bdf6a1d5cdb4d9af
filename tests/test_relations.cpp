// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fansite/run/boundaries.h"
#include "fansite/table/roles.h"
#include "support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<Relation> of(const Dataset& data, double independent = 1) {
  return surest_relations(data, TableFacts(data), independent);
}

Dataset noise(Index rows, int columns, std::uint64_t seed) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{seed});
  for (double& x : data.values.reshaped()) x = random.normal();
  return data;
}

TEST(SurestRelations, OfNoiseAreNotSure) {
  int sure = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    double least = 1;
    for (const Relation& relation : of(noise(200, 10, seed))) least = std::min(least, relation.p_value);
    sure += least < 0.05 ? 1 : 0;
  }
  EXPECT_LE(sure, 5);  // 5 % of tables at the level 0.05; correlated functions make it less
}

TEST(SurestRelations, SeeLinesSquaresAndScales) {
  Dataset data = noise(400, 6, 3);
  Random random(Key{4});
  for (Index i = 0; i < 400; ++i) {
    data.values(i, 1) = data.values(i, 0) + random.normal();
    data.values(i, 3) = data.values(i, 2) * data.values(i, 2) + 0.5 * random.normal();
    data.values(i, 5) = data.values(i, 4) * random.normal();  // uncorrelated both ways
  }
  const std::vector<Relation> relations = of(data);
  for (int j = 0; j < 6; ++j) {
    EXPECT_EQ(relations[static_cast<std::size_t>(j)].other, j % 2 == 0 ? j + 1 : j - 1) << j;
    EXPECT_LT(relations[static_cast<std::size_t>(j)].p_value, 1e-6) << j;
  }
  EXPECT_GT(of(data, 0.05)[5].p_value, 1e-6);  // as if there were twenty rows
}

TEST(SurestRelations, MissingCellsAndLevels) {
  Dataset data = noise(300, 3, 5);
  data.columns.resize(3);
  data.columns[2].kind = ColumnKind::nominal;
  for (Index i = 0; i < 300; ++i) {
    data.values(i, 2) = static_cast<double>(i % 3);
    data.values(i, 0) += 2 * static_cast<double>(i % 3 == 1);
    if (i % 4 == 0) data.values(i, 0) = std::nan("");
  }
  const std::vector<Relation> relations = of(data);
  EXPECT_EQ(relations[0].other, 2);
  EXPECT_EQ(relations[2].other, 0);
  EXPECT_LT(relations[0].p_value, 1e-6);
  EXPECT_GT(relations[1].p_value, 0.01);
}

// The Gaussian estimator sees no square, and says so instead of answering with an empty boundary.
TEST(SurestRelations, AreHeldAgainstEmptyBoundaries) {
  Dataset data = noise(400, 4, 6);
  BoundariesParams params("fansite");
  params.options.as<FansiteParams>().estimator = "gaussian";
  EXPECT_THAT(markov_boundaries(data, params).warnings, Not(Contains(HasSubstr("empty but cannot be"))));
  data.values.col(1) = data.values.col(0).cwiseAbs2() + 0.1 * data.values.col(1);
  const BoundariesResult result = markov_boundaries(data, params);
  ASSERT_TRUE(result.found.boundaries[1].members.empty());
  EXPECT_THAT(result.warnings, Contains(HasSubstr("2 boundaries are empty but cannot be")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'x2' on 'x1'")));
}

// Given a context that moves both there is nothing between them, and that is the answer.
TEST(SurestRelations, ProveNothingBesideAContext) {
  Dataset data = noise(400, 3, 9);
  for (Index j : {0, 1}) data.values.col(j) += 2 * data.values.col(2);
  data = with_roles(std::move(data), {.context = {"x3"}});
  BoundariesParams params("fansite");
  params.options.as<FansiteParams>().estimator = "gaussian";
  const BoundariesResult result = markov_boundaries(data, params);
  for (const Boundary& boundary : result.found.boundaries) EXPECT_TRUE(boundary.members.empty());
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("empty but cannot be"))));
}

// Ten rows and six columns: 15 pairs, z = 2.94 + 0.84, tanh(3.78 / √7) = 0.89.
TEST(FewRows, SayWhatTheyCouldHaveShown) {
  BoundariesParams params("fansite");
  params.options.as<FansiteParams>().estimator = "gaussian";
  EXPECT_THAT(markov_boundaries(noise(10, 6, 1), params).warnings,
              Contains(HasSubstr("10 independent rows show strong relations only: a partial correlation of 0.89")));
  EXPECT_THAT(markov_boundaries(noise(100, 6, 1), params).warnings, Not(Contains(HasSubstr("independent rows"))));
}

}  // namespace
}  // namespace fansite
