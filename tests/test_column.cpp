// SPDX-License-Identifier: Apache-2.0
//
// The rule that recognises kinds of columns.
#include "fansite/table/column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Vector normal(Index rows, std::uint64_t seed = 1) {
  Random random(Key{seed});
  Vector values(rows);
  for (double& value : values) value = random.normal();
  return values;
}

Vector rounded(const Vector& values, double step) {
  return values.unaryExpr([step](double value) { return std::round(value / step) * step; });
}

TEST(RecognisedKind, NumbersThatHardlyRepeatAreContinuous) {
  EXPECT_EQ(recognised_kind(normal(1000)), ColumnKind::continuous);
  EXPECT_EQ(recognised_kind(Vector::LinSpaced(1000, 1, 1000)), ColumnKind::continuous);  // distinct whole numbers
  EXPECT_EQ(recognised_kind(rounded(normal(1000), 1e-5)), ColumnKind::continuous);
  EXPECT_EQ(recognised_kind(normal(5)), ColumnKind::continuous);  // few values, each once
}

TEST(RecognisedKind, FewValuesAreOrdered) {
  const Vector values = normal(1000);
  EXPECT_EQ(recognised_kind((values.array() > 1).cast<double>()), ColumnKind::ordered);            // 0/1
  EXPECT_EQ(recognised_kind(rounded(values, 1).cwiseMin(2).cwiseMax(-2)), ColumnKind::ordered);    // ratings
  EXPECT_EQ(recognised_kind(rounded(values, 0.1)), ColumnKind::ordered);                           // rounded
  EXPECT_EQ(recognised_kind(rounded(values.array().exp().matrix() * 3, 1)), ColumnKind::ordered);  // counts
  EXPECT_EQ(recognised_kind(Vector::Constant(50, 3.5)), ColumnKind::ordered);                      // one value
}

TEST(RecognisedKind, ValuesThatRepeatAmongNumbersAreAtoms) {
  const Vector values = normal(1000);
  EXPECT_EQ(recognised_kind(values.cwiseMax(0)), ColumnKind::atoms);   // zeros of half the rows
  EXPECT_EQ(recognised_kind(values.cwiseMax(-2)), ColumnKind::atoms);  // a detection limit: 23 rows in a thousand
  EXPECT_EQ(recognised_kind(rounded((4 * values).array().exp(), 1)), ColumnKind::atoms);  // zeros and large counts
  EXPECT_EQ(recognised_kind(rounded(values, 0.01)), ColumnKind::atoms);  // rounded, with tails that do not repeat
}

TEST(RecognisedKind, MissingCellsSayNothing) {
  Vector values = normal(1000);
  for (Index row = 0; row < 900; ++row) values[row] = kMissing;
  EXPECT_EQ(recognised_kind(values), ColumnKind::continuous);
  Vector binary = (normal(1000).array() > 0).cast<double>();
  binary.head(990).setConstant(kMissing);
  EXPECT_EQ(recognised_kind(binary), ColumnKind::ordered);
  EXPECT_EQ(recognised_kind(Vector::Constant(10, kMissing)), recognised_kind(Vector()));
}

TEST(RecognisedKind, ZeroAndMinusZeroAreOneValue) {
  Vector values = normal(1000);
  for (Index row = 0; row < 20; ++row) values[row] = row % 2 == 0 ? 0.0 : -0.0;
  EXPECT_EQ(recognised_kind(values), ColumnKind::atoms);
}

/// Any mixture of numbers, repeated values and missing cells.
rc::Gen<std::vector<double>> any_column() {
  return rc::gen::container<std::vector<double>>(
      rc::gen::oneOf(rc::gen::map(rc::gen::inRange(-3, 3), [](int value) { return static_cast<double>(value); }),
                     rc::gen::map(rc::gen::inRange(-100000, 100000), [](int value) { return value / 1000.0; }),
                     rc::gen::element(0.0, -0.0, kMissing)));
}

TEST(RecognisedKindProperty, OrderOfRowsAndScaleDoNotMatter) {
  EXPECT_TRUE(rc::check("the kind stays under increasing maps and permutations of the rows", [] {
    const std::vector<double> cells = *any_column();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Vector values = Vector::Map(cells.data(), static_cast<Index>(cells.size()));
    const std::vector<int> order = Random(Key{seed}).permutation(static_cast<int>(cells.size()));
    const Vector mapped = values.unaryExpr([](double x) { return x * x * x + 2 * x - 7; });
    RC_ASSERT(recognised_kind(values(order)) == recognised_kind(values));
    RC_ASSERT(recognised_kind(mapped) == recognised_kind(values));
  }));
}

}  // namespace
}  // namespace fansite
