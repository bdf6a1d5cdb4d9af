// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/near_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fansite/table/row_dependence.h"
#include "support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

NearCopies found_in(const Dataset& data) {
  std::vector<Index> rows(static_cast<std::size_t>(data.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  return near_copies(data, TableFacts(data), rows);
}

// Row i nearly repeats row i − different, with so much noise for a standard deviation of 1.
Dataset repeated(Index different, Index rows, double noise, std::uint64_t seed) {
  Dataset data{default_names(6), Matrix(rows, 6)};
  Random random(Key{seed});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 6; ++j) {
      data.values(i, j) = i < different ? random.normal() : data.values(i % different, j) + noise * random.normal();
    }
  }
  return data;
}

TEST(NearCopies, OfCleanTablesAreNone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const auto& [nodes, rows] : {std::pair{2, 200}, std::pair{3, 60}, std::pair{10, 800}, std::pair{40, 30}}) {
      EXPECT_EQ(found_in(simulate_linear(nodes, 0.5, rows, seed).data).count, 0) << seed << " " << nodes;
    }
  }
}

TEST(NearCopies, AreFoundWhateverTheOrderScaleAndNumber) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Index different : {20, 200, 390}) {
      Dataset data = repeated(different, 400, 1e-3, seed);
      data.values.col(2) = data.values.col(2) * 1e6 + Vector::Constant(400, 5e6);
      const NearCopies found = found_in(data);
      ASSERT_EQ(found.count, 400 - different) << seed;
      EXPECT_LT(found.distance, 0.03);
      EXPECT_EQ(found.first_of[static_cast<std::size_t>(different)], 0);
      EXPECT_EQ(found.first_of[static_cast<std::size_t>(different - 1)], static_cast<int>(different - 1));
      std::vector<int> backwards(400);
      std::iota(backwards.rbegin(), backwards.rend(), 0);
      EXPECT_EQ(found_in(take_rows(data, backwards)).count, found.count) << seed;
    }
  }
}

TEST(NearCopies, OfWhichMoreThanAreComparedAreFoundToo) {
  const NearCopies found = found_in(repeated(2500, 5000, 1e-3, 1));
  EXPECT_EQ(found.count, 2500);
  EXPECT_EQ(found.first_of[4999], 2499);
}

// Levels, tight clusters, curves and sums all put rows close together.
TEST(NearCopies, ClosenessThatHasOtherReasonsIsNone) {
  Random random(Key{3});
  Dataset levels{default_names(5), Matrix(300, 5)}, clusters = levels, curve = levels;
  for (Index i = 0; i < 300; ++i) {
    const double t = random.normal();
    for (Index j = 0; j < 5; ++j) {
      levels.values(i, j) = static_cast<double>(random.below(3));
      clusters.values(i, j) = 10 * static_cast<double>(random.below(3)) + 1e-3 * random.normal();
      curve.values(i, j) = std::sin(static_cast<double>(j + 1) * t);
    }
  }
  for (const Dataset& data : {levels, clusters, curve}) EXPECT_EQ(found_in(data).count, 0);
  Dataset mixed = levels;
  mixed.values.col(0) = curve.values.col(0);
  EXPECT_EQ(found_in(mixed).count, 0);
}

TEST(NearCopies, WildAndMissingCellsMakeRowsDiffer) {
  Dataset data = repeated(200, 400, 1e-3, 2);
  data.values(0, 0) = 1e308;
  data.values(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(found_in(data).count, 198);
}

// ---- What becomes of them -------------------------------------------------------------------------------------------

TEST(NearCopies, CountOnceAndAreTold) {
  const Dataset data = repeated(20, 400, 1e-3, 4);
  const RowDependence rows = row_dependence(data, TableFacts(data));
  EXPECT_EQ(rows.copies, 0);
  EXPECT_EQ(rows.near_copies, 380);
  EXPECT_EQ(rows.effective_rows(), 20);
  EXPECT_THAT(rows.sentences(data.names), Contains(HasSubstr("380 of 400 rows nearly repeat an earlier one")));
  const std::vector<int> groups = groups_of(rows, 1);
  ASSERT_EQ(groups.size(), 400u);
  EXPECT_EQ(groups[3], groups[23]);
  EXPECT_NE(groups[3], groups[4]);
}

TEST(NearCopies, CopiesOfThemGoWithThem) {
  Dataset data = repeated(100, 200, 1e-3, 5);
  data.values.conservativeResize(300, Eigen::NoChange);
  data.values.bottomRows(100) = Matrix(data.values.middleRows(100, 100));
  const RowDependence rows = row_dependence(data, TableFacts(data));
  EXPECT_EQ(rows.copies, 100);
  EXPECT_EQ(rows.near_copies, 100);
  EXPECT_EQ(rows.first_of[207], 7);
}

TEST(Copies, AreSeenBesideARowNumber) {
  Dataset data = repeated(20, 400, 0, 6);
  data.names.emplace_back("id");
  data.values.conservativeResize(Eigen::NoChange, 7);
  for (Index i = 0; i < 400; ++i) data.values(i, 6) = static_cast<double>(1000 + (i * 7) % 400);
  EXPECT_EQ(row_dependence(data, TableFacts(data)).copies, 380);
}

}  // namespace
}  // namespace fansite
