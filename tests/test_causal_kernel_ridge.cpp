// SPDX-License-Identifier: Apache-2.0
//
// Single precision against double, all ridges at once against a factorisation for each, and kernels against their
// definition.
#include "fansite/causal/detail/kernel_ridge.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fansite/causal/detail/kernel_features.h"
#include "fansite/causal/detail/kernel_values.h"
#include "graph_examples.h"

namespace fansite::causal {
namespace {

Matrix two_parents(Index rows, std::uint64_t seed) {
  return standardised(table(rows, 4, seed, [](Random&, auto&& x) {
    x[2] = std::sin(2 * x[0]) + x[1] * x[1] + 0.5 * x[2];
    x[3] = x[0] + 0.3 * x[3];
  }));
}

struct Problem {
  explicit Problem(const Matrix& values, int marks)
      : order(static_cast<std::size_t>(marks)),
        features((std::iota(order.begin(), order.end(), 0), values.leftCols(2)), 2, order, exactly_these(marks)),
        leverage(features.basis().rowwise().squaredNorm()),
        y(values.rightCols(2)) {
    take_out(features.basis(), y);
  }
  static RegressionParams exactly_these(int marks) {
    RegressionParams params;
    params.landmarks = params.max_landmarks = marks;
    return params;
  }
  RidgeProblem operator()() const {
    return {features.x(), features.landmarks(), features.basis(), features.basis(), leverage, y, equal, alone};
  }

  std::vector<int> order;
  KernelFeatures features;
  Vector leverage;
  Matrix y;
  Vector equal;  // rows, without weights
  Blocks alone;  // each for itself
};

TEST(KernelRidge, IsThatOfEachRidgeAlone) {
  const Problem problem(two_parents(300, 1), 60);
  for (const double width : {0.5, 1.0, 2.0}) {
    const Matrix z = problem.features.kernels(width);
    for (const double ridge : {0.1, 3.0}) {
      const Matrix inverse =
          (z.transpose() * z + ridge * Matrix::Identity(z.cols(), z.cols())).llt().solve(z.transpose());
      const Vector leverage = problem.leverage + (z * inverse).diagonal();
      const Vector left_out = (problem.y - z * (inverse * problem.y)).col(0).array() / (1 - leverage.array());
      const RidgeFits fits = kernel_fits_in_double(problem(), width, std::vector{ridge});
      EXPECT_LT((fits.leverage.col(0) - leverage).cwiseAbs().maxCoeff(), 1e-8) << width << ' ' << ridge;
      EXPECT_LT((fits.left_out.col(0) - left_out).cwiseAbs().maxCoeff(), 1e-8) << width << ' ' << ridge;
      EXPECT_NEAR(fits.squares[0], left_out.squaredNorm(), 1e-6);
    }
  }
}

// ½ ln of the squares is what a score moves by: 3e-4 with OpenBLAS's kernels for AVX-512, 7e-4 with those for AVX2.
TEST(KernelRidge, SinglePrecisionIsEnough) {
  const Problem problem(two_parents(1500, 2), 150);
  const std::vector<double> ridges = {0.1, 0.3, 1, 3};
  std::array<double, 2> least_in_single = {1e9, 1e9}, least_in_double = {1e9, 1e9};
  for (const double width : {0.5, 1.0, 2.0}) {
    const RidgeFits one = kernel_fits_in_single(problem(), width, ridges),
                    other = kernel_fits_in_double(problem(), width, ridges);
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(0.5 * std::log(one.squares[t] / other.squares[t]), 0, 1e-3) << width;
      least_in_single[t] = std::min(least_in_single[t], one.squares[t]);
      least_in_double[t] = std::min(least_in_double[t], other.squares[t]);
    }
    EXPECT_LT((one.left_out - other.left_out).cwiseAbs().maxCoeff(), 0.05) << width;
    EXPECT_LT((one.leverage - other.leverage).cwiseAbs().maxCoeff(), 0.05) << width;
  }
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_NEAR(0.5 * std::log(least_in_single[t] / least_in_double[t]), 0, 1e-3) << t;
  }
}

TEST(KernelRidge, ATargetsBitsDoNotDependOnTheOthers) {
  for (const Index rows : {300, 800}) {
    const Matrix values = two_parents(rows, 3);
    const Problem both(values, 80);
    Problem first(values, 80);
    first.y.conservativeResize(Eigen::NoChange, 1);
    const RidgeFits two = kernel_fits(both(), 1, std::vector{0.1, 1.0}),
                    one = kernel_fits(first(), 1, std::vector{0.1, 1.0});
    EXPECT_EQ(Vector(two.left_out.col(0)), Vector(one.left_out.col(0)));
    EXPECT_EQ(Vector(two.leverage.col(0)), Vector(one.leverage.col(0)));
  }
}

TEST(KernelRidge, OfNoRidgesOrNoKernelsIsNothing) {
  const Problem problem(two_parents(50, 4), 20);
  EXPECT_TRUE(std::isinf(kernel_fits(problem(), 1, {}).squares[0]));
  EXPECT_TRUE(std::isfinite(linear_fits(problem()).squares[0]));
}

TEST(KernelValues, AreThoseOfTheDefinition) {
  const Matrix x = two_parents(700, 5).leftCols(3);
  const std::vector<int> marks = {3, 699, 0, 41};
  for (const double width : {0.05, 0.5, 2.0}) {
    Eigen::MatrixXf single(700, 4);
    Matrix whole(700, 4);
    kernel_values(x, marks, width, single.data());
    kernel_values(x, marks, width, whole.data());
    for (Index i = 0; i < 700; ++i) {
      for (Index m = 0; m < 4; ++m) {
        const double squares = (x.row(i) - x.row(marks[static_cast<std::size_t>(m)])).squaredNorm();
        const double expected = std::exp(-squares / (2 * width * width));
        ASSERT_NEAR(whole(i, m), expected, 1e-14);
        ASSERT_NEAR(static_cast<double>(single(i, m)), expected, 2e-6);
      }
    }
  }
}

TEST(KernelValues, LandmarksThatOthersTellArePassedOver) {
  Matrix x = two_parents(100, 6).leftCols(2);
  x.row(7) = x.row(3);  // the same point twice
  std::vector<int> marks(20);
  std::iota(marks.begin(), marks.end(), 0);
  const LandmarkFactor chosen = chosen_landmarks(x, marks, 0.1);
  EXPECT_EQ(chosen.rows.size(), 19u);
  EXPECT_LT(chosen_landmarks(x, marks, 5).rows.size(), 15u);  // of wide kernels a few tell all
  EXPECT_EQ(chosen_landmarks(x, marks, 0.5, 4).rows.size(), 4u);
  Matrix kernels(100, 19);
  kernel_values(x, chosen.rows, 0.1, kernels.data());
  const Matrix lower = chosen.lower.triangularView<Eigen::Lower>();
  EXPECT_LT((lower * lower.transpose() - kernels(chosen.rows, Eigen::all)).cwiseAbs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace fansite::causal
