// SPDX-License-Identifier: Apache-2.0
//
// Residuals and leverages against a plain implementation that really leaves each row out, and on tables that are odd.
#include "fansite/causal/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "fansite/causal/residual_entropy.h"
#include "properties.h"

namespace fansite::causal {
namespace {

// ---- The plain implementation ---------------------------------------------------------------------------------------

Matrix kernel(const Matrix& a, const Matrix& b, double width) {
  Matrix result(a.rows(), b.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.rows(); ++j) {
      result(i, j) = std::exp(-(a.row(i) - b.row(j)).squaredNorm() / (2 * width * width));
    }
  }
  return result;
}

Matrix with_constant(const Matrix& x) {
  Matrix result(x.rows(), x.cols() + 1);
  result << Vector::Ones(x.rows()), x;
  return result;
}

struct Setting {
  double width, ridge;  ///< without a kernel if the width is 0
};

/// Values at some points of f: exact kernel ridge regression, with a constant and linear part that nothing penalises.
Matrix fitted(const Matrix& x, const Matrix& y, const Matrix& at, Setting setting) {
  const Index n = x.rows();
  const Matrix linear = with_constant(x);
  const bool curved = setting.width > 0;
  Matrix system = Matrix::Zero(n + linear.cols(), n + linear.cols());
  if (curved) system.topLeftCorner(n, n) = kernel(x, x, setting.width);
  system.topLeftCorner(n, n).diagonal().array() += curved ? setting.ridge : 1;
  system.topRightCorner(n, linear.cols()) = linear;
  system.bottomLeftCorner(linear.cols(), n) = linear.transpose();
  Matrix right = Matrix::Zero(system.rows(), y.cols());
  right.topRows(n) = y;
  Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
  decomposition.setThreshold(1e-9);  // columns that determine each other, in single precision
  const Matrix solution = decomposition.compute(system).solve(right);
  Matrix result = with_constant(at) * solution.bottomRows(linear.cols());
  if (curved) result += kernel(at, x, setting.width) * solution.topRows(n);
  return result;
}

Matrix without_row(const Matrix& x, Index row) {
  Matrix result(x.rows() - 1, x.cols());
  result << x.topRows(row), x.bottomRows(x.rows() - 1 - row);
  return result;
}

struct PlainResiduals {
  Vector left_out, leverage;
  std::pair<double, double> chosen;  ///< width and ridge
};

PlainResiduals plain_residuals(const Matrix& values, int target, const std::vector<int>& parents,
                               const RegressionParams& params) {
  const Matrix x = values(Eigen::all, parents), y = values.col(target);
  std::vector<Setting> settings = {{0, 0}};
  for (const double width : params.widths) {
    for (const double ridge : params.ridges) settings.push_back({width, ridge});
  }
  PlainResiduals best;
  double least = std::numeric_limits<double>::infinity();
  for (const Setting& setting : settings) {
    Vector left_out(x.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      left_out[i] = y(i, 0) - fitted(without_row(x, i), without_row(y, i), x.row(i), setting)(0, 0);
    }
    if (left_out.squaredNorm() >= least) continue;
    least = left_out.squaredNorm();
    // Row i's fitted value if its own target is 1 and all others are 0.
    const Vector leverage = fitted(x, Matrix::Identity(x.rows(), x.rows()), x, setting).diagonal();
    best = {left_out, leverage, {setting.width, setting.ridge}};
  }
  return best;
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

Matrix normal_table(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix values(rows, columns);
  for (double& cell : values.reshaped()) cell = random.normal();
  return values;
}

/// Columns 0 to 2 are independent, 3 to 5 curved functions of them with little or much noise, 6 is linear.
Matrix curved_table(Index rows, std::uint64_t seed) {
  Matrix values = normal_table(rows, 7, seed);
  for (auto row : values.rowwise()) {
    row[3] = std::sin(2 * row[0]) + 0.1 * row[3];
    row[4] = row[0] * row[1] + 0.5 * row[4];
    row[5] = std::tanh(row[0] - row[2]) + row[1] * row[1] + row[5];
    row[6] = row[0] - row[1] + 0.3 * row[6];
  }
  return standardised(values);
}

RegressionParams every_row_a_landmark() {
  RegressionParams params;
  params.landmarks = params.max_landmarks = 1'000'000;
  return params;
}

Residuals residuals_of(const Matrix& values, std::vector<int> targets, std::vector<int> parents,
                       const RegressionParams& params = every_row_a_landmark()) {
  return Regression(values, params, Key{1}).residuals(targets, parents);
}

// 1e-8·N on the diagonal moves the kernel by no more than that, so what a ridge of 0.1 smooths moves by N·1e-7 of the
// values' size: 2.5e-6 for the 25 rows here; leverages and the division by 1 − leverage can make a few times that.
constexpr double kJitter = 2e-5;

PlainResiduals expect_plain(const Matrix& values, int target, const std::vector<int>& parents,
                            const RegressionParams& params = every_row_a_landmark()) {
  const Residuals residuals = residuals_of(values, {target}, parents, params);
  const PlainResiduals plain = plain_residuals(values, target, parents, params);
  const auto far = [](const Vector& a, const Vector& b) { return (a - b).cwiseAbs().maxCoeff(); };
  EXPECT_LT(far(residuals.left_out.col(0), plain.left_out), kJitter)
      << target << " on " << testing::PrintToString(parents);
  EXPECT_LT(far(residuals.leverage.col(0), plain.leverage), kJitter)
      << target << " on " << testing::PrintToString(parents);
  return plain;
}

/// What least squares on constant and columns leave of y without the row.
Vector left_by_line(const Matrix& x, const Vector& y) {
  Vector result(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    result[i] = y[i] - fitted(without_row(x, i), without_row(y, i), x.row(i), {0, 0})(0, 0);
  }
  return result;
}

double score(const Residuals& residuals) {
  return surprisals(residuals.left_out.col(0), NoiseDistribution::any).mean();
}

// ---- Leaving rows out -----------------------------------------------------------------------------------------------

TEST(Regression, ResidualsAndLeveragesAreThoseOfLeavingEachRowOut) {
  std::set<std::pair<double, double>> chosen;
  for (const std::uint64_t seed : {1, 2}) {
    const Matrix values = curved_table(25, seed);
    chosen.insert(expect_plain(values, 3, {0}).chosen);
    chosen.insert(expect_plain(values, 4, {0, 1}).chosen);
    chosen.insert(expect_plain(values, 5, {0, 1, 2}).chosen);
    chosen.insert(expect_plain(values, 6, {0, 1}).chosen);
    chosen.insert(expect_plain(values, 0, {3, 6}).chosen);
    chosen.insert(expect_plain(values, 2, {1}).chosen);
  }
  EXPECT_GE(chosen.size(), 4u);  // or the choice went untested
}

TEST(Regression, EachWidthAndRidgeAloneIsExactToo) {
  const Matrix values = curved_table(20, 3);
  for (const double width : {0.5, 2.0}) {
    for (const double ridge : {0.1, 3.0}) {
      RegressionParams params = every_row_a_landmark();
      params.widths = {width};
      params.ridges = {ridge};
      expect_plain(values, 3, {0}, params);
      expect_plain(values, 5, {0, 1, 2}, params);
    }
  }
}

TEST(Regression, OrderOfRowsAndOfParentsDoesNotMatterIfEveryRowIsALandmark) {
  const Matrix values = curved_table(40, 4);
  const std::vector<int> order = Random(Key{5}).permutation(40);
  const Vector expected = residuals_of(values, {5}, {0, 1, 2}).left_out.col(0);
  const Vector other = residuals_of(values(order, Eigen::all), {5}, {2, 0, 1}).left_out.col(0);
  EXPECT_LT((other - expected(order)).cwiseAbs().maxCoeff(), kJitter);
}

TEST(Regression, SeveralTargetsAtOnceAreAsOneByOne) {
  const Matrix values = curved_table(150, 5);
  for (const std::vector<int>& parents : {std::vector<int>{}, {0}, {0, 2}}) {
    const std::vector<int> targets = {5, 3, 1, 6, 4};
    const Residuals all = residuals_of(values, targets, parents, {});
    ASSERT_EQ(all.left_out.cols(), 5);
    for (Index t = 0; t < 5; ++t) {
      const Residuals one = residuals_of(values, {targets[static_cast<std::size_t>(t)]}, parents, {});
      EXPECT_LT((one.left_out.col(0) - all.left_out.col(t)).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_LT((one.leverage.col(0) - all.leverage.col(t)).cwiseAbs().maxCoeff(), 1e-10);
    }
  }
  // They need not choose the same width and ridge.
  const Residuals two = residuals_of(values, {3, 6}, {0}, {});
  EXPECT_GT((two.leverage.col(0) - two.leverage.col(1)).cwiseAbs().maxCoeff(), 1e-3);
}

// ---- Known relations ------------------------------------------------------------------------------------------------

TEST(Regression, WithoutParentsLeavesDeviationsFromTheMeanOfTheOthers) {
  const Matrix values = curved_table(30, 6);
  const Residuals residuals = residuals_of(values, {0, 4}, {});
  for (Index t = 0; t < 2; ++t) {
    const Vector y = values.col(4 * t);
    for (Index i = 0; i < 30; ++i) EXPECT_NEAR(residuals.left_out(i, t), y[i] - (y.sum() - y[i]) / 29, 1e-12);
    EXPECT_LT((residuals.leverage.col(t).array() - 1.0 / 30).abs().maxCoeff(), 1e-14);
  }
}

TEST(Regression, FindsLinearRelationsWhateverTheWidthsAndRidges) {
  Matrix values = normal_table(60, 4, 7);
  values.col(3) = 2 * values.col(0) - 0.5 * values.col(1);
  values = standardised(values);
  for (const double width : {0.01, 1.0, 100.0}) {
    for (const double ridge : {1e-3, 1.0, 1e3}) {
      RegressionParams params;
      params.widths = {width};
      params.ridges = {ridge};
      // Single precision leaves 6e-8 of the values; 2e-6 is what the largest of 60 may be of that, with coefficients.
      EXPECT_LT(residuals_of(values, {3}, {0, 1}, params).left_out.cwiseAbs().maxCoeff(), 2e-6);
      EXPECT_GT(residuals_of(values, {3}, {0, 2}, params).left_out.cwiseAbs().maxCoeff(), 0.1);
    }
  }
}

TEST(Regression, OfAStiffOrNoKernelIsLeastSquares) {
  const Matrix values = curved_table(50, 8);
  const Vector expected = left_by_line(values(Eigen::all, std::vector{0, 1}), values.col(4));
  RegressionParams none, stiff;
  none.widths = {};
  stiff.ridges = {1e9};
  EXPECT_LT((residuals_of(values, {4}, {0, 1}, none).left_out - expected).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((residuals_of(values, {4}, {0, 1}, stiff).left_out - expected).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_GT((residuals_of(values, {4}, {0, 1}).left_out - expected).cwiseAbs().maxCoeff(), 0.1);
}

TEST(Regression, LearnsASmoothFunction) {
  Matrix values = normal_table(400, 2, 9);
  values.col(1) = (2 * values.col(0).array()).sin() + 0.2 * values.col(1).array();
  const double noise = 0.2 / std::sqrt((values.col(1).array() - values.col(1).mean()).square().mean());
  const Residuals residuals = residuals_of(standardised(values), {1}, {0}, {});
  // As large as the noise, within 3 standard errors of a variance (√(2/N)) and 5 % for what must be learnt.
  const double variance = residuals.left_out.squaredNorm() / 400 / (noise * noise);
  EXPECT_GT(variance, 1 - 3 * std::sqrt(2.0 / 400));
  EXPECT_LT(variance, 1.05 + 3 * std::sqrt(2.0 / 400));
}

// Residuals of rows that had a part in their own fit would be too small: 1/2 or less here.
TEST(Regression, OfNoiseOnNoiseLeavesAllOfIt) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix values = standardised(normal_table(40, 4, seed));
    RegressionParams params;
    params.widths = {0.5};
    params.ridges = {0.1};
    sum += residuals_of(values, {3}, {0, 1, 2}, params).left_out.squaredNorm() / 40 / 10;
  }
  EXPECT_GT(sum, 1.0);
}

TEST(Regression, LandmarksComeCloseToTheExactSolution) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix values = curved_table(400, seed);
    for (const auto& [target, parents] :
         {std::pair(3, std::vector{0}), std::pair(4, std::vector{0, 1}), std::pair(5, std::vector{0, 1, 2})}) {
      const double exact = score(residuals_of(values, {target}, parents));
      EXPECT_NEAR(score(residuals_of(values, {target}, parents, {})), exact, 0.005) << seed << ' ' << target;
    }
  }
}

TEST(Regression, FewLandmarksDoWorseAndOtherKeysDrawOthers) {
  const Matrix values = curved_table(400, 4);
  RegressionParams few;
  few.landmarks = 2;
  few.landmarks_per_parent = 1;
  EXPECT_GT(score(residuals_of(values, {5}, {0, 1, 2}, few)), score(residuals_of(values, {5}, {0, 1, 2}, {})) + 0.02);
  few.landmarks = 300;
  few.max_landmarks = 5;  // the least of the limits counts
  const auto with_key = [&](std::uint64_t key) -> Matrix {
    return Regression(values, few, Key{key}).residuals(std::array{5}, std::array{0, 1, 2}).left_out;
  };
  EXPECT_EQ(with_key(1), with_key(1));
  EXPECT_NE(with_key(1), with_key(2));
}

// ---- Odd tables -----------------------------------------------------------------------------------------------------

TEST(Regression, ParentsThatOthersDetermineAndConstantsDoNoHarm) {
  Matrix values = normal_table(25, 6, 10);
  values.col(2) = values.col(0);
  values.col(3).setConstant(4);
  values.col(4) = values.col(0) - 2 * values.col(1);
  values.col(5) = (2 * values.col(0).array()).sin() + values.col(1).array() + 0.1 * values.col(5).array();
  values = standardised(values);
  expect_plain(values, 5, {0, 2});
  expect_plain(values, 5, {0, 3});
  expect_plain(values, 5, {0, 1, 4});
  expect_plain(values, 5, {0, 1, 2, 3, 4});
  expect_plain(values, 5, {3});
  EXPECT_EQ(residuals_of(values, {3}, {0}).left_out.cwiseAbs().maxCoeff(), 0);
}

TEST(Regression, RepeatedRowsDoNoHarm) {
  const Matrix once = curved_table(12, 11);
  Matrix values(24, once.cols());
  values << once, once;
  expect_plain(values, 3, {0});
  expect_plain(values, 5, {0, 1, 2});
  values.bottomRows(20).leftCols(1).setConstant(0.5);  // and a parent that nearly always says the same
  expect_plain(values, 3, {0});
}

TEST(Regression, FewerRowsThanLandmarksAreAllLandmarks) {
  const Matrix values = curved_table(25, 12);
  EXPECT_EQ(residuals_of(values, {5}, {0, 1, 2}, {}).left_out, residuals_of(values, {5}, {0, 1, 2}).left_out);
}

TEST(Regression, OfAHandfulOfRowsIsFinite) {
  for (const Index rows : {1, 2, 3, 4, 5}) {
    const Matrix values = standardised(normal_table(rows, 4, 13));
    for (const std::vector<int>& parents : {std::vector<int>{}, {0}, {0, 1}, {0, 1, 2}}) {
      const Residuals residuals = residuals_of(values, {3}, parents, {});
      EXPECT_TRUE(residuals.left_out.allFinite()) << rows;
      EXPECT_GE(residuals.leverage.minCoeff(), 0) << rows;
      EXPECT_LT(residuals.leverage.maxCoeff(), 1 + 1e-12) << rows;
    }
  }
}

TEST(Regression, ARowThatFitsItselfAloneIsFinite) {
  Matrix values = normal_table(20, 2, 14);
  values.col(0).setZero();
  values(7, 0) = 1;  // who leaves this row out knows nothing of the slope
  const Residuals residuals = residuals_of(standardised(values), {1}, {0}, {});
  EXPECT_TRUE(residuals.left_out.allFinite());
  EXPECT_LT(residuals.left_out.cwiseAbs().maxCoeff(), 10);
  EXPECT_NEAR(residuals.leverage(7, 0), 1, 1e-6);
}

TEST(RegressionProperty, LeveragesAreSharesAndResidualsFinite) {
  EXPECT_TRUE(rc::check("whatever is discrete, repeated or constant in a table", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const auto rows = static_cast<Index>(2 + random.below(30));
    Matrix values(rows, 4);
    for (auto column : values.colwise()) {
      const std::uint32_t levels = 1 + random.below(6);
      const bool discrete = random.coin();
      for (double& cell : column) cell = discrete ? random.below(levels) : random.normal();
    }
    const Residuals residuals = residuals_of(standardised(values), {3}, {0, 1, 2}, {});
    RC_ASSERT(residuals.left_out.allFinite());
    RC_ASSERT(residuals.leverage.minCoeff() > 0);
    RC_ASSERT(residuals.leverage.maxCoeff() < 1 + 1e-12);
  }));
}

// ---- Units ----------------------------------------------------------------------------------------------------------

TEST(Standardised, HasMeanZeroAndVarianceOne) {
  Matrix values = normal_table(1000, 3, 15);
  values.col(1) = 3 + 1e-3 * values.col(1).array();
  values.col(2) = (values.col(2).array() > 1).cast<double>();
  const Matrix result = standardised(values);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(result.col(j).mean(), 0, 1e-7);
    EXPECT_NEAR(result.col(j).squaredNorm() / 1000, 1, 1e-6);
    for (Index i = 0; i < 1000; ++i) {
      ASSERT_EQ(result(i, j), static_cast<double>(static_cast<float>(result(i, j))));
      ASSERT_EQ(result(i, j) > result(0, j), values(i, j) > values(0, j));
    }
  }
}

TEST(StandardisedProperty, UnitsLeaveNoTrace) {
  long cells = 0, different = 0;
  EXPECT_TRUE(rc::check("factors leave nearly every bit as it was", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Matrix values = normal_table(50, 3, random.bits());
    values.col(2).array() += 10;
    Matrix scaled = values;
    for (auto column : scaled.colwise()) {
      column *= std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(600)) - 300);
    }
    const Matrix one = standardised(values), other = standardised(scaled);
    // Single precision ends at 6e-8 of a cell: where rounding goes the other way it is twice that.
    RC_ASSERT((one - other).cwiseAbs().maxCoeff() < 1e-6);
    cells += one.size();
    different += (one.array() != other.array()).count();
  }));
  EXPECT_LT(static_cast<double>(different), 1e-4 * static_cast<double>(cells));
}

TEST(StandardisedProperty, ConstantColumnsAreZero) {
  EXPECT_TRUE(rc::check("whatever the constant and the number of rows", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Matrix values = normal_table(static_cast<Index>(1 + random.below(300)), 2, 1);
    const double constant = random.coin() ? 0.1 * random.below(10) : random.uniform(-1e6, 1e6);
    values.col(0).setConstant(constant);
    RC_ASSERT(standardised(values).col(0).cwiseAbs().maxCoeff() == 0);
  }));
}

}  // namespace
}  // namespace fansite::causal
