// SPDX-License-Identifier: Apache-2.0
//
// Which cells are missing, held against the other columns.
#include "fansite/table/missingness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/random.h"
#include "fansite/table/findings.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Dataset noise(Index rows, int columns, std::uint64_t seed = 1) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{seed});
  for (double& value : data.values.reshaped()) value = random.normal();
  return data;
}

/// Cells of this column go missing with this chance in each row.
template <class Chance>
void remove(Dataset& data, int column, const Chance& chance, std::uint64_t seed = 2) {
  Random random(Key{seed});
  for (Index row = 0; row < data.rows(); ++row) {
    if (random.uniform() < chance(row)) data.values(row, column) = kMissing;
  }
}

TEST(Missingness, AtRandomIsNoFinding) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Dataset data = noise(300, 6, seed);
    for (int column = 0; column < 4; ++column) {
      remove(
          data, column, [&](Index) { return column == 0 ? 0.02 : 0.2; }, 100 * seed + static_cast<unsigned>(column));
    }
    found += missing_dependences(data).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 4);  // one in a hundred is what the level allows
}

TEST(Missingness, FindsTheColumnItDependsOn) {
  Dataset data = noise(500, 5);
  remove(data, 1, [&](Index row) { return data.values(row, 3) > 0.5 ? 0.5 : 0.05; });
  auto found = missing_dependences(data);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].column, 1);
  EXPECT_EQ(found[0].other, 3);
  EXPECT_EQ(found[0].by, MissingDependence::By::value);
  EXPECT_GT(found[0].z, 0);
  EXPECT_LT(found[0].p_value, 1e-6);
  EXPECT_THAT(to_text(data, found[0]), HasSubstr("cells of 'x2' are missing more often where 'x4' is large (p = "));
  data.values.col(3) *= -1;
  EXPECT_THAT(to_text(data, missing_dependences(data)[0]), HasSubstr("where 'x4' is small"));
}

TEST(Missingness, MonotoneMapsOfTheOtherColumnDoNotMatter) {
  Dataset data = noise(500, 3);
  remove(data, 1, [&](Index row) { return data.values(row, 0) > 0.5 ? 0.5 : 0.05; });
  const double z = missing_dependences(data).at(0).z;
  data.values.col(0) = data.values.col(0).array().exp().exp();
  EXPECT_EQ(missing_dependences(data).at(0).z, z);
}

TEST(Missingness, FindsLevelsAndCellsThatAreMissingTogether) {
  Dataset data = noise(400, 4);
  data.columns.resize(4);
  data.columns[2] = {.kind = ColumnKind::nominal, .levels = {"A", "B", "C"}};
  for (Index row = 0; row < 400; ++row) data.values(row, 2) = static_cast<double>(row % 3);
  remove(data, 0, [&](Index row) { return data.values(row, 2) == 1 ? 0.6 : 0.05; });
  remove(data, 1, [](Index row) { return row < 60 ? 1 : 0; });
  remove(data, 3, [](Index row) { return row < 60 ? 1 : 0; });
  const auto found = missing_dependences(data);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(to_text(data, found[0]), HasSubstr("cells of 'x2' are missing more often where 'x4' is missing (p "));
  EXPECT_THAT(to_text(data, found[1], true), HasSubstr("those of 'x4' more often where 'x2' is missing"));
  EXPECT_THAT(to_text(data, found[2]), HasSubstr("cells of 'x1' are missing more often where 'x3' is 'B'"));
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].kind, Finding::Kind::missing_depends);
  EXPECT_FALSE(findings[1].fatal);
  EXPECT_THAT(findings[1].message, HasSubstr("and 1 more column depends on others: answers hold only if"));
}

// Two rare events that meet twice by chance are 12 standard deviations away, and no evidence.
TEST(Missingness, AFewRowsDecideNothing) {
  Dataset data = noise(1000, 2);
  for (const Index row : {1, 2, 3, 4, 5}) data.values(row, 0) = kMissing;
  for (const Index row : {4, 5, 6, 7, 8}) data.values(row, 1) = kMissing;
  EXPECT_THAT(missing_dependences(data), IsEmpty());
}

TEST(Missingness, ColumnsWithoutAnyCellSayNothing) {
  Dataset data = noise(100, 3);
  data.values.col(0).setConstant(kMissing);
  data.values.col(1).setConstant(1);
  remove(data, 2, [](Index) { return 0.3; });
  EXPECT_THAT(missing_dependences(data), IsEmpty());
  EXPECT_THAT(missing_dependences(noise(10, 2)), IsEmpty());
}

}  // namespace
}  // namespace fansite
