// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/row_means.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fansite {
namespace {

Dataset table(Index rows) { return {{"x"}, Matrix::Zero(rows, 1)}; }

TEST(RowMeans, OfPlainRowsAreTheUsualOnes) {
  const EntropyEstimate mean = RowMeans(table(4)).mean(Eigen::Array4d(1, 2, 3, 6));
  EXPECT_DOUBLE_EQ(mean.value, 3);
  EXPECT_DOUBLE_EQ(mean.standard_error, std::sqrt(14.0 / 3 / 4));
  EXPECT_EQ(mean.rows, 4);
}

TEST(RowMeans, PassOverRowsWithoutAValue) {
  const EntropyEstimate mean = RowMeans(table(4)).mean(Eigen::Array4d(1, std::nan(""), 3, std::nan("")));
  EXPECT_DOUBLE_EQ(mean.value, 2);
  EXPECT_DOUBLE_EQ(mean.standard_error, 1);
  EXPECT_EQ(mean.rows, 2);
  EXPECT_TRUE(std::isnan(RowMeans(table(1)).mean(Eigen::ArrayXd::Constant(1, std::nan(""))).value));
}

TEST(RowMeans, WeighRows) {
  Dataset data = table(2);
  data.weights = Eigen::Vector2d(1.5, 0.5);
  EXPECT_DOUBLE_EQ(RowMeans(data).mean(Eigen::Array2d(1, 5)).value, 2);
}

TEST(RowMeans, RowsWorthAQuarterAreTwiceAsUncertain) {
  Dataset data = table(4);
  const double plain = RowMeans(data).mean(Eigen::Array4d(1, 2, 3, 6)).standard_error;
  data.row_worth = 0.25;
  EXPECT_DOUBLE_EQ(RowMeans(data).mean(Eigen::Array4d(1, 2, 3, 6)).standard_error, 2 * plain);
  EXPECT_DOUBLE_EQ(RowMeans(data).inflation(), 2);
}

// Rows copied k times tell no more than once.
TEST(RowMeans, OfGroupsAreAsUncertainAsTheirNumber) {
  Eigen::ArrayXd values(8);
  values << 1, 1, 2, 2, 3, 3, 6, 6;
  Dataset data = table(8);
  data.groups = {0, 0, 1, 1, 2, 2, 3, 3};
  const EntropyEstimate mean = RowMeans(data).mean(values);
  EXPECT_DOUBLE_EQ(mean.value, 3);
  EXPECT_DOUBLE_EQ(mean.standard_error, std::sqrt(14.0 / 3 / 4));
  const Eigen::ArrayXf units = RowMeans(data).by_unit(values.cast<float>());
  EXPECT_EQ(units.size(), 4);
  EXPECT_EQ(units[3], 12);
}

TEST(RowMeans, OfSomeRowsAreThoseOfTheirTable) {
  Dataset data = table(6);
  data.weights = Vector{{1, 2, 0.5, 1, 0.5, 1}};
  data.groups = {3, 3, 0, 2, 2, 1};
  const RowMeans some = RowMeans(data).of_rows({4, 5, 1, 3});
  EXPECT_EQ(some.units(), 3);
  const Eigen::Array4d values(1, 5, 2, 7);
  const EntropyEstimate mean = some.mean(values);
  EXPECT_DOUBLE_EQ(mean.value, (0.5 * 1 + 1 * 5 + 2 * 2 + 1 * 7) / 4.5);
  EXPECT_EQ(mean.rows, 4);
  // Rows 4 and 3 are one group.
  const double m = mean.value, one = 0.5 * (1 - m) + (7 - m), two = 5 - m, three = 2 * (2 - m);
  EXPECT_DOUBLE_EQ(mean.standard_error, std::sqrt((one * one + two * two + three * three) * 3 / 2) / 4.5);
}

TEST(RowMeans, VersionsOfARowCountAsOne) {
  const Eigen::Array4d once(1, 2, 3, 6);
  Eigen::ArrayXd values(7);
  values << 1, 1.5, 2, 2.5, 3, 5, 7;
  const EntropyEstimate of_rows = RowMeans(table(4)).mean(once);
  const RowMeans means(table(4), {0, 1, 1, 1, 2, 3, 3});
  const EntropyEstimate of_versions = means.mean(values);
  EXPECT_DOUBLE_EQ(of_versions.value, of_rows.value);
  EXPECT_DOUBLE_EQ(of_versions.standard_error, of_rows.standard_error);
  EXPECT_EQ(of_versions.rows, 4);
  EXPECT_EQ(means.units(), 4);
  EXPECT_TRUE(means.by_unit(values.cast<float>()).isApprox(once.cast<float>()));
}

TEST(RowMeans, VersionsKeepWeightsAndGroups) {
  Dataset data = table(3);
  data.weights = Eigen::Vector3d(1.5, 1, 0.5);
  data.groups = {0, 1, 1};
  const RowMeans means(data, {0, 0, 1, 2});
  Eigen::ArrayXd values(4);
  values << 1, 3, 5, 7;
  EXPECT_DOUBLE_EQ(means.mean(values).value, (1.5 * 2 + 5 + 3.5) / 3);
  EXPECT_TRUE(means.by_unit(values.cast<float>()).isApprox(Eigen::Array2f(3, 8.5)));
}

}  // namespace
}  // namespace fansite
