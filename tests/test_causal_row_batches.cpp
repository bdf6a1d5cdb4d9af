// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/row_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fansite/base/error.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

Matrix numbers(Index rows, Index columns) {
  Random random(Key{1});
  return Matrix::NullaryExpr(rows, columns, [&] { return 3 + 7 * random.normal(); });
}

TEST(RowBatches, ColumnsHaveMeanZeroAndVarianceOne) {
  Matrix values = numbers(50, 4);
  values.col(1).setConstant(5);
  values.col(2) *= 1e300;
  values(7, 3) = 1e300;
  const RowBatches batches(values, {3, 2, 1, 0}, 10, Key{1});
  ASSERT_EQ(batches.values().rows(), 4);
  EXPECT_TRUE(batches.values().allFinite());
  for (const Index row : {0, 1, 3}) {
    const Vector column = batches.values().row(row).cast<double>();
    EXPECT_NEAR(column.mean(), 0, 1e-6);
    EXPECT_NEAR(column.squaredNorm() / 50, 1, 1e-6);
  }
  EXPECT_TRUE(batches.values().row(2).isZero());
  EXPECT_NEAR(batches.values()(0, 7), 7, 1e-5);  // √(N − 1): the one that decides alone
}

TEST(RowBatches, EachTimeThroughEveryRowComesOnceAndWhatIsLeftOverWaits) {
  const RowBatches batches(numbers(23, 2), {0, 1}, 5, Key{2});
  EXPECT_EQ(batches.batch(), 5);
  RowBatches::Cursor cursor(batches), other(batches);
  std::vector<std::vector<int>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> seen;
    for (int step = 4 * epoch; step < 4 * epoch + 4; ++step) {
      const auto rows = cursor.rows(step);
      seen.insert(seen.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 20u);
    epochs.push_back(seen);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  EXPECT_THAT(other.rows(9), testing::ElementsAreArray(epochs[2].begin() + 5, epochs[2].begin() + 10));
}

TEST(RowBatches, FewRowsAreOneBatch) {
  const RowBatches batches(numbers(7, 2), {0, 1}, 256, Key{3});
  EXPECT_EQ(batches.batch(), 7);
  RowBatches::Cursor cursor(batches);
  for (const int step : {0, 1, 100}) {
    const auto rows = cursor.rows(step);
    EXPECT_THAT(std::vector<int>(rows.begin(), rows.end()), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6));
  }
}

TEST(RowBatches, WhatNoNetworkCanLearnFromIsRefused) {
  EXPECT_THAT(message_of<DataError>([] { RowBatches(numbers(1, 2), {0}, 5, Key{1}); }), HasSubstr("2 or more"));
  Matrix values = numbers(5, 2);
  values(2, 1) = std::nan("");
  EXPECT_THAT(message_of<DataError>([&] {
                RowBatches(values, {0, 1}, 5, Key{1});
              }),
              HasSubstr("missing or not finite"));
}

}  // namespace
}  // namespace fansite::causal
