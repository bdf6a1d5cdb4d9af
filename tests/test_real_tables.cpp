// SPDX-License-Identifier: Apache-2.0
//
// Boundaries of tables as people bring them: levels without order, missing cells, context, groups, stand-ins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/run/boundaries.h"
#include "fansite/table/dataset.h"
#include "support.h"

namespace fansite {
namespace {

using Names = std::vector<std::string>;
using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

BoundariesParams flow(int steps) {
  BoundariesParams params;
  params.fansite().estimator = "flow";
  params.fansite().refine = Refine::none;
  params.fansite().folds = 5;
  params.fansite().repeats = 1;
  params.fansite().steps = steps;
  return params;
}

Names members(const BoundariesResult& result, const std::string& target) {
  Names names;
  for (const Boundary& boundary : result.found.boundaries) {
    if (result.names[static_cast<std::size_t>(boundary.target)] != target) continue;
    for (const int z : boundary.member_indices()) names.push_back(result.names[static_cast<std::size_t>(z)]);
  }
  return names;
}

// city (three levels without order) → rent; rent → size, bent; noise apart.
Dataset cities(Index rows, std::uint64_t seed) {
  Dataset data;
  data.names = {"city", "rent", "size", "noise"};
  data.columns = {{.kind = ColumnKind::nominal, .levels = {"Bonn", "Köln", "Ulm"}}, {}, {}, {}};
  data.values.resize(rows, 4);
  Random random(Key{seed});
  for (auto row : data.values.rowwise()) {
    const auto city = static_cast<int>(random.below(3));
    const double rent = (city == 1 ? 1.5 : city == 2 ? -0.2 : 0.0) + 0.6 * random.normal();
    row << city, rent, rent * rent + 0.4 * random.normal(), random.normal();
  }
  return data;
}

TEST(RealTables, ANominalColumnIsOneVariable) {
  const BoundariesResult found = markov_boundaries(cities(600, 1), flow(1500));
  EXPECT_EQ(members(found, "city"), Names{"rent"});
  EXPECT_THAT(members(found, "rent"), UnorderedElementsAre("city", "size"));
  EXPECT_THAT(members(found, "noise"), IsEmpty());
  EXPECT_NEAR(found.found.boundaries[0].entropy, std::log(3), 0.03);  // of its levels
}

TEST(RealTables, AutoUsesFlowsForLevelsWithoutOrderAndTheGaussianEstimatorSaysWhatItCannot) {
  BoundariesParams params = flow(300);
  params.fansite().estimator = "auto";
  EXPECT_EQ(markov_boundaries(cities(300, 2), params).estimator, "flow");
  params.fansite().estimator = "gaussian";
  EXPECT_THAT(markov_boundaries(cities(300, 2), params).warnings, Contains(testing::HasSubstr("'city'")));
}

TEST(RealTables, MissingCellsAreUsedAndTheRowsCounted) {
  Dataset data = cities(800, 3);
  Random random(Key{4});
  for (double& cell : data.values.reshaped()) {
    if (random.uniform() < 0.1) cell = std::nan("");
  }
  for (const char* estimator : {"flow", "gaussian"}) {
    BoundariesParams params = flow(1500);
    params.fansite().estimator = estimator;
    const BoundariesResult found = markov_boundaries(data, params);
    EXPECT_THAT(members(found, "noise"), IsEmpty()) << estimator;
    if (found.estimator == "gaussian") continue;
    EXPECT_THAT(members(found, "rent"), UnorderedElementsAre("city", "size"));
    const Boundary& rent = found.found.boundaries[1];
    EXPECT_GT(rent.rows, 680);  // that have rent: 0.9 of 800; what else they lack is drawn
    EXPECT_LT(rent.rows, 750);
  }
}

// Two things that a site has in common have nothing to do with each other there.
Dataset sites(Index rows, std::uint64_t seed) {
  Dataset data;
  data.names = {"site", "a", "b"};
  data.values.resize(rows, 3);
  Random random(Key{seed});
  for (auto row : data.values.rowwise()) {
    const double site = random.below(2);
    row << site, 2 * site + random.normal(), 2 * site + random.normal();
  }
  return data;
}

TEST(RealTables, ContextIsConditionedOnEverywhere) {
  for (const char* estimator : {"flow", "gaussian"}) {
    Dataset data = sites(600, 5);
    BoundariesParams params = flow(800);
    params.fansite().estimator = estimator;
    data.columns.resize(3);
    data.columns[0].context = true;
    const BoundariesResult given = markov_boundaries(data, params);
    EXPECT_THAT(members(given, "a"), IsEmpty()) << estimator;
    EXPECT_THAT(members(given, "b"), IsEmpty()) << estimator;
    EXPECT_EQ(given.found.boundaries.size(), 2u);  // the context is no target
    params.targets = {"site"};
    EXPECT_THROW(markov_boundaries(data, params), UsageError);
  }
}

// Twenty rows, each twenty times: without groups a correlation of chance is a certainty.
TEST(RealTables, RowsOfAGroupCountOnce) {
  Dataset data;
  data.names = {"a", "b", "c", "d"};
  data.values.resize(400, 4);
  Random random(Key{6});
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const double value = random.normal();
      for (Index copy = 0; copy < 20; ++copy) data.values(20 * i + copy, j) = value + 0.01 * random.normal();
    }
  }
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  params.fansite().block = "none";
  EXPECT_FALSE(markov_boundaries(data, params).found.moral_edges.empty());
  params.fansite().block = "auto";
  EXPECT_THAT(markov_boundaries(data, params).found.moral_edges, IsEmpty());  // seen, since they lie side by side
  for (int i = 0; i < 400; ++i) data.groups.push_back(i / 20);
  EXPECT_THAT(markov_boundaries(data, params).found.moral_edges, IsEmpty());
}

// Two columns that tell the same: one of them is in, the other is named beside it, and nothing is empty.
TEST(RealTables, StandInsAreToldAndOneStays) {
  Dataset data;
  data.names = {"cause", "again", "effect", "noise"};
  data.values.resize(500, 4);
  Random random(Key{7});
  for (auto row : data.values.rowwise()) {
    const double x = random.normal();
    row << x + 0.05 * random.normal(), x + 0.05 * random.normal(), std::sin(2 * x) + 0.3 * random.normal(),
        random.normal();
  }
  const BoundariesResult found = markov_boundaries(data, flow(2000));
  const Boundary& effect = found.found.boundaries[2];
  ASSERT_FALSE(effect.members.empty());
  const Member& member = effect.members.front();
  EXPECT_LT(member.variable, 2);
  if (effect.members.size() == 1) {
    ASSERT_EQ(member.interchangeable.size(), 1u);
    EXPECT_EQ(member.interchangeable[0].variable, 1 - member.variable);
    EXPECT_LT(member.interchangeable[0].cost, member.unique / 2);
  }
}

}  // namespace
}  // namespace fansite
