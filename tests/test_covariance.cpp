// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/covariance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "support.h"

namespace fansite {
namespace {

Matrix random_table(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix values(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) values(i, j) = random.normal() + (j > 0 ? 0.5 * values(i, j - 1) : 0.0);
  }
  return values;
}

// Pearson's formula, one pair at a time.
double plain_correlation(const Matrix& x, Index a, Index b) {
  const double mean_a = x.col(a).mean(), mean_b = x.col(b).mean();
  double ab = 0, aa = 0, bb = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    ab += (x(i, a) - mean_a) * (x(i, b) - mean_b);
    aa += (x(i, a) - mean_a) * (x(i, a) - mean_a);
    bb += (x(i, b) - mean_b) * (x(i, b) - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Covariance, EqualsThePlainFormulaAcrossTiles) {
  const Matrix values = random_table(60, 300, 1);  // 300 columns: two tiles a side
  const Covariance result = covariance(values);
  EXPECT_EQ(result.rows, 60);
  for (Index a = 0; a < 300; a += 7) {
    for (Index b = 0; b < 300; b += 11) {
      EXPECT_NEAR(result.correlation(a, b), plain_correlation(values, a, b), 1e-12) << a << ", " << b;
    }
    EXPECT_NEAR(result.mean(a), values.col(a).mean(), 1e-12);
    const double variance = (values.col(a).array() - values.col(a).mean()).square().sum() / 59;
    EXPECT_NEAR(result.scale(a), std::sqrt(variance), 1e-12);
  }
  EXPECT_EQ(result.correlation, result.correlation.transpose());
  EXPECT_TRUE((result.correlation.diagonal().array() == 1.0).all());
}

TEST(Covariance, SurvivesLargeMeansAndExtremeScales) {
  Matrix values = random_table(100, 3, 2);
  const Matrix before = covariance(values).correlation;
  values.col(0).array() += 1e8;
  values.col(1) *= 1e307;
  values.col(2) *= 1e-307;
  const Covariance after = covariance(values);
  EXPECT_TRUE(std::isfinite(after.scale(1)));
  EXPECT_GT(after.scale(2), 0.0);
  EXPECT_TRUE(after.correlation.isApprox(before, 1e-6)) << after.correlation;
}

TEST(Covariance, AConstantColumnCorrelatesWithNothing) {
  Matrix values = random_table(50, 3, 3);
  values.col(1).setConstant(0.1);  // not exactly representable: its mean may round
  const Covariance result = covariance(values);
  EXPECT_EQ(result.scale(1), 0.0);
  EXPECT_EQ(result.correlation(0, 1), 0.0);
  EXPECT_EQ(result.correlation(1, 1), 1.0);
}

TEST(Covariance, SameBitsForAnyNumberOfThreads) {
  const Matrix values = random_table(200, 700, 4);
  const ThreadLimit one(1);
  const Matrix serial = covariance(values).correlation;
  const ThreadLimit many(4);
  EXPECT_EQ(covariance(values).correlation, serial);
}

TEST(Covariance, OneRowIsTooFew) { EXPECT_THROW(covariance(Matrix::Zero(1, 2)), DataError); }

TEST(Covariance, CanBeInterrupted) {
  Impatient progress;
  EXPECT_THROW(covariance(random_table(20, 5, 5), progress), Interrupted);
}

}  // namespace
}  // namespace fansite
