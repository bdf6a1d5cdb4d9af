// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/incomplete.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/random.h"
#include "fansite/table/covariance.h"
#include "support.h"

namespace fansite {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// x → y → z with correlations 0.8, 0.6 and so 0.48.
Matrix chain(Index rows, std::uint64_t seed) {
  Matrix values(rows, 3);
  Random random(Key{seed});
  for (auto row : values.rowwise()) {
    row[0] = random.normal();
    row[1] = 0.8 * row[0] + 0.6 * random.normal();
    row[2] = 0.6 * row[1] + 0.8 * random.normal();
  }
  return values;
}

TEST(IncompleteMoments, OfACompleteTableAreThePlainOnes) {
  const Matrix values = chain(300, 1);
  const auto [mean, covariance] = incomplete_moments(values);
  const Vector plain = values.colwise().mean();
  const Matrix centred = values.rowwise() - plain.transpose();
  EXPECT_LT((mean - plain).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((covariance - centred.transpose() * centred / 300).cwiseAbs().maxCoeff(), 1e-12);
}

// y is missing where x is large: the mean of the cells there are is too low by far, that of EM is not.
TEST(IncompleteMoments, AllowForWhatIsMissingByOtherColumns) {
  Matrix values = chain(20000, 2);
  for (auto row : values.rowwise()) {
    if (row[0] > 0) row[1] = kMissing;
  }
  const auto [mean, covariance] = incomplete_moments(values);
  EXPECT_NEAR(mean[1], 0, 0.03);
  EXPECT_NEAR(covariance(0, 1), 0.8, 0.03);
  EXPECT_NEAR(covariance(1, 1), 1, 0.04);
  EXPECT_NEAR(covariance(1, 2), 0.6, 0.03);
}

// One column with missing cells, the others whole: maximum likelihood is the regression of the rows that have it.
TEST(IncompleteMoments, OfAMonotonePatternAreThoseOfTheRegression) {
  Matrix values = chain(400, 3).leftCols(2);
  for (Index i = 0; i < 150; ++i) values(i, 1) = kMissing;
  const auto [mean, covariance] = incomplete_moments(values);
  const Matrix whole = values.bottomRows(250);
  const Vector at = whole.colwise().mean();
  const Matrix centred = whole.rowwise() - at.transpose();
  const double slope = centred.col(0).dot(centred.col(1)) / centred.col(0).squaredNorm();
  EXPECT_NEAR(mean[1], at[1] + slope * (values.col(0).mean() - at[0]), 1e-4);
  EXPECT_NEAR(covariance(0, 1), slope * covariance(0, 0), 1e-4);
}

TEST(IncompleteMoments, AWeightOfTwoIsARowTwice) {
  Matrix values = chain(60, 4);
  values(5, 1) = values(7, 2) = values(8, 0) = kMissing;
  Vector weights = Vector::Ones(60);
  Matrix twice(90, 3);
  twice << values, values.topRows(30);
  weights.head(30).setConstant(2);
  const auto [mean, covariance] = incomplete_moments(values, weights);
  const auto [mean2, covariance2] = incomplete_moments(twice);
  EXPECT_LT((mean - mean2).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((covariance - covariance2).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(RowsWithBoth, AreCounted) {
  Matrix values = Matrix::Zero(4, 2);
  values(0, 0) = values(1, 1) = values(2, 1) = kMissing;
  const Matrix counts = rows_with_both(values);
  EXPECT_EQ(counts(0, 0), 3);
  EXPECT_EQ(counts(1, 1), 2);
  EXPECT_EQ(counts(0, 1), 1);
}

Covariance covariance_of(const Dataset& data) {
  NoProgress silent;
  return covariance(data, TableFacts(data), silent);
}

TEST(CovarianceOfATable, IsThePlainOneForAPlainTable) {
  const Dataset data{{"x", "y", "z"}, chain(100, 5)};
  const Covariance plain = covariance(data.values), of_table = covariance_of(data);
  EXPECT_EQ(plain.correlation, of_table.correlation);
  EXPECT_EQ(plain.scale, of_table.scale);
}

// Given y, x and z have nothing to do with each other.
TEST(CovarianceOfATable, TakesTheContextOut) {
  Dataset data{{"x", "y", "z"}, chain(5000, 6)};
  data.columns = {{}, {.context = true}, {}};
  const Covariance found = covariance_of(data);
  EXPECT_NEAR(found.correlation(0, 2), 0, 0.04);
  EXPECT_EQ(found.scale[1], 0);
  EXPECT_EQ(found.rows, 4999);
  EXPECT_NEAR(found.scale[2], 0.8, 0.03);
}

TEST(CovarianceOfATable, CountsWhatRowsAreWorth) {
  Dataset data{{"x", "y", "z"}, chain(100, 7)};
  data.groups.resize(100);
  for (int i = 0; i < 100; ++i) data.groups[static_cast<std::size_t>(i)] = i / 5;
  EXPECT_EQ(covariance_of(data).rows, 20);
  data.groups.clear();
  data.weights = Vector::Ones(100);
  data.weights.head(50).setConstant(3);
  EXPECT_EQ(covariance_of(data).rows, 80);  // 200² / (50·9 + 50) = 80
  data.weights.resize(0);
  data.values(3, 0) = data.values(4, 1) = kMissing;
  EXPECT_EQ(covariance_of(data).rows, 98);
}

}  // namespace
}  // namespace fansite
