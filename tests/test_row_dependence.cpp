// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/row_dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <cmath>

#include "fansite/run/boundaries.h"
#include "support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RowDependence of(const Dataset& data) { return row_dependence(data, TableFacts(data)); }

// Independent columns, each x_i = memory · x_{i−1} + noise.
Dataset series(double memory, Index rows, int columns, std::uint64_t seed) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{seed});
  for (int j = 0; j < columns; ++j) {
    double x = 0;
    for (Index i = 0; i < rows; ++i) data.values(i, j) = x = memory * x + random.normal();
  }
  return data;
}

TEST(RowDependence, OfIndependentRowsIsNone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dataset data = simulate_linear(12, 2, 400, seed).data;
    const RowDependence rows = of(data);
    EXPECT_FALSE(rows.dependent()) << seed;
    EXPECT_EQ(rows.copies, 0);
    EXPECT_THAT(rows.sentences(data.names), IsEmpty());
    EXPECT_THAT(groups_of(rows, rows.block), IsEmpty());
  }
}

TEST(RowDependence, OfWalksAndSlowSeriesIsFound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowDependence walk = of(series(1, 400, 6, seed)), slow = of(series(0.95, 400, 6, seed));
    const RowDependence half = of(series(0.5, 400, 6, seed));
    EXPECT_GE(walk.block, 30) << seed;
    EXPECT_GE(slow.block, 20) << seed;
    EXPECT_LT(slow.effective_rows(), 80) << seed;
    EXPECT_FALSE(half.dependent()) << seed;  // not enough for blocks, which cost power; but told
    EXPECT_THAT(half.sentences(default_names(6)), ElementsAre(HasSubstr("are worth about"))) << seed;
    // Bartlett: (1 + a²) / (1 − a²) = 5/3 for a = 0.5.
    EXPECT_NEAR(half.inflation, 5.0 / 3, 0.6) << seed;
    EXPECT_NEAR(half.correlation, 0.5, 0.15) << seed;
  }
}

TEST(RowDependence, OfFewRowsIsFoundToo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_TRUE(of(series(1, 60, 6, seed)).dependent()) << seed;
    EXPECT_GT(of(series(0.9, 90, 6, seed)).inflation, 2) << seed;
    EXPECT_THAT(of(series(0, 45, 6, seed)).sentences(default_names(6)), IsEmpty()) << seed;
    EXPECT_THAT(of(simulate_linear(8, 2, 60, seed).data).sentences(default_names(8)), IsEmpty()) << seed;
  }
}

// Far parts of a walk are alike too, so ten blocks are no ten facts.
TEST(RowDependence, BlocksOfWalksAreWorthLessThanOneRow) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Dataset data = series(1, 400, 6, seed);
    const RowDependence walk = of(data), slow = of(series(0.9, 400, 6, seed));
    EXPECT_LT(walk.effective_rows(), 10) << seed;
    EXPECT_LT(walk.worth_of_block(), 1) << seed;
    EXPECT_THAT(walk.sentences(data.names), Contains(HasSubstr("differences from row to row would tell more"))) << seed;
    EXPECT_EQ(slow.worth_of_block(), 1) << seed;
    EXPECT_FALSE(slow.wanders) << seed;
  }
  const RowDependence longer = of(series(0.9, 6000, 4, 1));  // every third row is summed over all lags
  EXPECT_NEAR(longer.effective_rows(), 6000 / 9.5, 150);
}

// Four batches with means of their own: rows are independent given the batch, and the table does not hold it.
TEST(RowDependence, BatchesAndDriftAreFound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dataset clean = simulate_linear(8, 2, 400, seed).data, batches = clean, drift = clean;
    Random random(Key{seed});
    for (Index j = 0; j < 8; ++j) {
      const double scale = std::sqrt((clean.values.col(j).array() - clean.values.col(j).mean()).square().mean());
      for (Index batch = 0; batch < 4; ++batch) {
        batches.values.col(j).segment(batch * 100, 100).array() += 1.5 * scale * random.normal();
      }
      drift.values.col(j) += scale * Vector::LinSpaced(400, -1, 1);
    }
    EXPECT_THAT(of(clean).shifting, IsEmpty()) << seed;
    for (const Dataset& table : {batches, drift}) {
      const RowDependence rows = of(table);
      const bool told = rows.shifting.size() >= 4 || rows.inflation > 1;
      EXPECT_TRUE(told) << seed;
      EXPECT_FALSE(rows.sentences(default_names(8)).empty()) << seed;
    }
    const RowDependence rows = of(batches);
    EXPECT_TRUE(rows.dependent() || rows.shift > 0.1) << seed;
  }
}

TEST(RowDependence, RowsSortedByAColumnAreNoDrift) {
  Dataset data = simulate_linear(8, 2, 400, 2).data;
  std::vector<int> order(400);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return data.values(a, 3) < data.values(b, 3); });
  EXPECT_THAT(of(take_rows(data, order)).shifting, IsEmpty());
}

TEST(RowDependence, OneColumnInOrderIsNone) {
  Dataset data = simulate_linear(8, 2, 300, 3).data;
  for (Index i = 0; i < 300; ++i) data.values(i, 0) = std::sin(0.02 * static_cast<double>(i));
  EXPECT_FALSE(of(data).dependent());
}

// Whatever goes along the rows of a sorted table may be what it is sorted by.
TEST(RowDependence, OfASortedTableCannotBeSeen) {
  Dataset data = series(0.95, 400, 6, 5);
  for (Index i = 0; i < 400; ++i) data.values(i, 0) = std::sqrt(static_cast<double>(i));
  const RowDependence rows = of(data);
  EXPECT_FALSE(rows.dependent());
  EXPECT_EQ(rows.sorted_by, 0);
  EXPECT_THAT(rows.sentences(data.names), ElementsAre(HasSubstr("sorted by 'x1'")));
  for (Index i = 0; i < 400; ++i) data.values(i, 0) = 1990 + static_cast<double>(i / 4);  // a clock sorts nothing
  EXPECT_TRUE(of(data).dependent());
  Random random(Key{4});  // nor does one that is read a little early or late
  for (Index i = 0; i < 400; ++i) data.values(i, 0) = 0.37 * static_cast<double>(i) + 0.1 * random.uniform();
  EXPECT_TRUE(of(data).dependent());
  for (double& x : data.values.col(0)) x = random.uniform();
  std::sort(data.values.col(0).begin(), data.values.col(0).end());
  EXPECT_EQ(of(data).sorted_by, 0);
}

TEST(RowDependence, CopiesAreCountedOnce) {
  Dataset data = simulate_linear(6, 2, 20, 7).data;
  data.values = data.values.replicate(20, 1).eval();
  const RowDependence rows = of(data);
  EXPECT_EQ(rows.copies, 380);
  EXPECT_EQ(rows.effective_rows(), 20);
  EXPECT_THAT(rows.sentences(data.names), ElementsAre(HasSubstr("380 of 400 rows repeat an earlier one")));
  const std::vector<int> groups = groups_of(rows, 1);
  ASSERT_EQ(groups.size(), 400u);
  EXPECT_EQ(groups[3], groups[23]);
  EXPECT_NE(groups[3], groups[4]);
}

TEST(RowDependence, EqualRowsOfFewLevelsAreNoCopies) {
  Dataset data{default_names(5), Matrix(300, 5)};
  Random random(Key{2});
  for (double& x : data.values.reshaped()) x = static_cast<double>(random.below(2));
  const RowDependence rows = of(data);
  EXPECT_EQ(rows.copies, 0);
  EXPECT_THAT(rows.first_of, IsEmpty());
}

TEST(RowDependence, BlocksAreNumberedAsTheyCome) {
  RowDependence rows;
  rows.rows = 5;
  EXPECT_THAT(groups_of(rows, 2), ElementsAre(0, 0, 1, 1, 2));
  rows.first_of = {0, 1, 2, 0, 4};
  EXPECT_THAT(groups_of(rows, 2), ElementsAre(0, 0, 1, 0, 2));
  EXPECT_THAT(groups_of(rows, 1), ElementsAre(0, 1, 2, 0, 3));
}

// ---- What becomes of boundaries -------------------------------------------------------------------------------------

BoundariesResult boundaries(const Dataset& data, const std::string& block) {
  BoundariesParams params("fansite");
  params.options.as<FansiteParams>().effort = Effort::quick;
  params.options.as<FansiteParams>().block = block;
  params.options.as<FansiteParams>().steps = 2000;
  return markov_boundaries(data, params);
}

TEST(RowDependence, WalksAndCopiesHaveNoBoundariesInEachOther) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const BoundariesResult walks = boundaries(series(1, 400, 6, seed), "auto");
    EXPECT_THAT(walks.found.moral_edges, IsEmpty()) << seed;
    EXPECT_THAT(walks.warnings, Contains(HasSubstr("neighbouring rows are alike")));
    EXPECT_THAT(walks.warnings, Contains(HasSubstr("rows are left out in 10 blocks, which count as 0.")));
    Dataset copied = simulate_linear(6, 0, 20, seed).data;
    copied.values = copied.values.replicate(20, 1).eval();
    EXPECT_THAT(boundaries(copied, "auto").found.moral_edges, IsEmpty()) << seed;
  }
  EXPECT_GT(boundaries(series(1, 400, 6, 1), "none").found.moral_edges.size(), 3u);  // what would else be claimed
}

// By lines as well, and where there are too few rows for networks.
TEST(RowDependence, WalksHaveNoBoundariesByLinesEither) {
  int tables = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Index rows : {90, 400}) {
      BoundariesParams params("fansite");
      params.options.as<FansiteParams>().estimator = "gaussian";
      tables += markov_boundaries(series(1, rows, 6, seed), params).found.moral_edges.empty() ? 0 : 1;
    }
  }
  EXPECT_LE(tables, 2);
}

TEST(RowDependence, BlocksThatAreAskedForAreUsed) {
  Dataset data = simulate_linear(6, 2, 300, 4).data;
  EXPECT_THAT(boundaries(data, "30").warnings, Contains(HasSubstr("10 blocks")));
  EXPECT_THAT(message_of<ParameterError>([&] { boundaries(data, "some"); }), HasSubstr("auto, none, or a number"));
  data.groups.assign(300, 0);
  for (std::size_t i = 0; i < 300; ++i) data.groups[i] = static_cast<int>(i / 3);
  EXPECT_THAT(message_of<UsageError>([&] { boundaries(data, "30"); }), HasSubstr("in groups already"));
}

TEST(RowDependenceInOrder, BlocksAreOfRowsAsTheyCame) {
  RowDependence rows{.rows = 6};
  const ContentOrder order{.rows = {5, 0, 3, 2, 4, 1}, .columns = {0}};
  EXPECT_THAT(groups_of(in_order(rows, order), 2), ElementsAre(0, 1, 2, 2, 0, 1));  // {4, 5}, {0, 1}, {2, 3}
  rows.first_of = {0, 1, 2, 3, 0, 5};
  rows.copies = 1;
  EXPECT_THAT(groups_of(in_order(rows, order), 1), ElementsAre(0, 1, 2, 3, 1, 4));  // row 4 repeats row 0
}

TEST(RowDependenceInOrder, WhatIsKnownOfColumnsIsToldOfTheirPlaces) {
  RowDependence rows{.rows = 2};
  rows.columns = {0, 2};
  rows.sorted_by = 1;
  const RowDependence ordered = in_order(rows, {.rows = {0, 1}, .columns = {2, 1, 0}});
  EXPECT_THAT(ordered.columns, ElementsAre(0, 2));
  EXPECT_EQ(ordered.sorted_by, 1);
}

}  // namespace
}  // namespace fansite
