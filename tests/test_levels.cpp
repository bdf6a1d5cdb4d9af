// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite {
namespace {

using testing::ElementsAre;

const double kMissing = std::nan("");

/// So many rows of each level, in turn.
Vector column(const std::vector<int>& rows) {
  std::vector<double> values;
  for (std::size_t level = 0; level < rows.size(); ++level) {
    values.insert(values.end(), static_cast<std::size_t>(rows[level]), static_cast<double>(level));
  }
  return Vector::Map(values.data(), static_cast<Index>(values.size()));
}

TEST(Levels, AreThoseOfNominalColumnsAndOfOrderedOnesWithFewValues) {
  const Vector few = column({20, 30, 25});
  EXPECT_FALSE(levels_of(few, ColumnKind::continuous));
  EXPECT_FALSE(levels_of(few, ColumnKind::atoms));
  EXPECT_TRUE(levels_of(few, ColumnKind::ordered)->ordered);
  EXPECT_FALSE(levels_of(few, ColumnKind::nominal)->ordered);
  EXPECT_TRUE(levels_of(column(std::vector<int>(10, 6)), ColumnKind::ordered));
  EXPECT_FALSE(levels_of(column(std::vector<int>(11, 6)), ColumnKind::ordered));  // rounded numbers
  EXPECT_TRUE(levels_of(column(std::vector<int>(11, 6)), ColumnKind::nominal));
  EXPECT_FALSE(levels_of(column({30}), ColumnKind::ordered));  // a constant
  EXPECT_FALSE(levels_of(Vector::Constant(9, kMissing), ColumnKind::nominal));
}

TEST(Levels, OrderedOnesOfFewRowsJoinTheirNeighbours) {
  const Levels levels = *levels_of(column({20, 2, 2, 30, 1}), ColumnKind::ordered);
  EXPECT_THAT(levels.group_of, ElementsAre(0, 1, 1, 1, 1));
  EXPECT_EQ(levels.groups, 2);
  EXPECT_DOUBLE_EQ(levels.within[0], 0);
  EXPECT_DOUBLE_EQ(levels.within[3], std::log(35.0 / 30));
  EXPECT_EQ(levels_of(column({3, 1}), ColumnKind::ordered)->groups, 1);
}

TEST(Levels, NominalOnesOfFewRowsAreTogether) {
  const Levels levels = *levels_of(column({3, 20, 3, 40}), ColumnKind::nominal);
  EXPECT_THAT(levels.group_of, ElementsAre(2, 1, 2, 0));
  EXPECT_THAT(levels_of(column({2, 20, 40}), ColumnKind::nominal)->group_of, ElementsAre(1, 1, 0));
  EXPECT_EQ(levels_of(column(std::vector<int>(30, 6)), ColumnKind::nominal)->groups, 10);
}

TEST(Levels, MissingCellsDoNotCountAndOthersAreTheNearestLevel) {
  Vector values = column({20, 0, 30});
  values[0] = kMissing;
  const Levels levels = *levels_of(values, ColumnKind::ordered);
  EXPECT_THAT(levels.values, ElementsAre(0, 2));
  EXPECT_EQ(levels.group(-7), 0);
  EXPECT_EQ(levels.group(0.9), 0);
  EXPECT_EQ(levels.group(1.5), 1);
  EXPECT_EQ(levels.group(9), 1);
}

TEST(LevelsProperty, IndicatorsAreAsFarApartAsNumbersOfVarianceOne) {
  EXPECT_TRUE(rc::check("mean squared distance 2", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int count = 2 + static_cast<int>(random.below(5));
    std::vector<int> groups;
    for (int i = 0; i < 40; ++i) groups.push_back(i < count ? i : static_cast<int>(random.below(2)));
    const Matrix coded = indicators(groups, count);
    double sum = 0;
    for (Index i = 0; i < 40; ++i) sum += (coded.rowwise() - coded.row(i)).squaredNorm();
    RC_ASSERT(std::abs(sum / 1600 - 2) < 1e-12);
  }));
}

}  // namespace
}  // namespace fansite
