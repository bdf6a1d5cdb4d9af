// SPDX-License-Identifier: Apache-2.0
//
// Log-determinant and matrix exponential: known values, gradients, 0 exactly without a cycle and above 0 with one.
#include "fansite/causal/neural/acyclicity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix m(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) {
    Index j = 0;
    for (const double value : row) m(i, j++) = value;
    ++i;
  }
  return m;
}

Matrix some_weights(Random& random, Index d, double largest) {
  Matrix a(d, d);
  for (double& value : a.reshaped()) value = random.below(3) == 0 ? 0 : random.uniform(0, largest);
  return a;
}

double radius(const Matrix& a) { return Eigen::EigenSolver<Matrix>(a, false).eigenvalues().cwiseAbs().maxCoeff(); }

TEST(LogDet, HasTheSpecifiedValues) {
  const auto h = log_det_acyclicity(matrix({{0, 0.3}, {0.2, 0}}), 1);
  ASSERT_TRUE(h);
  EXPECT_NEAR(h->value, 0.061875, 1e-6);
  EXPECT_TRUE(h->gradient.isApprox(matrix({{1.06383, 0.212766}, {0.319149, 1.06383}}), 1e-5)) << h->gradient;
}

TEST(Exponential, OfATwoCycleIsAHyperbolicCosine) {
  const Acyclicity h = exponential_acyclicity(matrix({{0, 0.3}, {0.2, 0}}));
  EXPECT_NEAR(h.value, 2 * std::cosh(std::sqrt(0.06)) - 2, 1e-15);
  EXPECT_NEAR(h.gradient(0, 0), std::cosh(std::sqrt(0.06)), 1e-15);
  EXPECT_NEAR(h.gradient(1, 0), 0.3 * std::sinh(std::sqrt(0.06)) / std::sqrt(0.06), 1e-15);
}

// Large weights need halvings; the eigenvalues of a symmetric matrix give the trace in another way.
TEST(Exponential, OfLargeWeights) {
  Random random(Key{4});
  for (const double largest : {0.01, 0.5, 3.0}) {
    Matrix a = some_weights(random, 7, largest);
    a = (a + a.transpose()).eval() / 2;
    const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues();
    const double expected = values.array().unaryExpr([](double x) { return std::expm1(x); }).sum();
    EXPECT_NEAR(exponential_acyclicity(a).value, expected, 1e-12 * std::abs(expected) + 1e-14);
  }
}

// In blocks, as larger graphs are factorised, and in plain loops.
TEST(LogDet, AgreesWithTheDeterminant) {
  Random random(Key{5});
  for (const Index d : {1, 2, 5, 23, 24, 25, 60, 101}) {
    const Matrix a = some_weights(random, d, 0.7 / static_cast<double>(d));
    for (const double s : {1.0, 0.8}) {
      const auto h = log_det_acyclicity(a, s);
      ASSERT_TRUE(h) << d;
      const Matrix m = s * Matrix::Identity(d, d) - a;
      EXPECT_NEAR(h->value, -std::log(m.determinant()) + static_cast<double>(d) * std::log(s), 1e-11);
      EXPECT_TRUE(h->gradient.isApprox(m.inverse().transpose(), 1e-10));
    }
  }
}

TEST(Acyclicity, GradientsAreThoseOfCentralDifferences) {
  Random random(Key{6});
  const Index d = 6;
  const Matrix a = some_weights(random, d, 0.25);
  const Acyclicity determinant = log_det_acyclicity(a, 0.9).value(), exponential = exponential_acyclicity(a);
  for (Index place = 0; place < d * d; ++place) {
    Matrix up = a, down = a;
    up.data()[place] += 1e-5;
    down.data()[place] -= 1e-5;
    EXPECT_NEAR((log_det_acyclicity(up, 0.9)->value - log_det_acyclicity(down, 0.9)->value) / 2e-5,
                determinant.gradient.data()[place], 1e-6);
    EXPECT_NEAR((exponential_acyclicity(up).value - exponential_acyclicity(down).value) / 2e-5,
                exponential.gradient.data()[place], 1e-6);
  }
}

// The domain: all eigenvalues smaller than s. The sign of the determinant alone would not tell, nor that of h.
TEST(LogDet, OutsideTheDomainIsNothing) {
  EXPECT_FALSE(log_det_acyclicity(matrix({{0, 2}, {2, 0}}), 1));
  EXPECT_FALSE(log_det_acyclicity(matrix({{2, 0}, {0, 2}}), 1));  // the determinant is 1
  EXPECT_FALSE(log_det_acyclicity(matrix({{1, 0}, {0, 0}}), 1));
  EXPECT_FALSE(log_det_acyclicity(matrix({{std::nan(""), 0}, {0, 0}}), 1));
  EXPECT_TRUE(log_det_acyclicity(matrix({{0, 100}, {0, 0}}), 1));
  EXPECT_TRUE(rc::check("any weights", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Index d = 1 + random.below(40);
    const Matrix a = some_weights(random, d, random.uniform(0, 4 / static_cast<double>(d)));
    const double s = random.uniform(0.5, 1), r = radius(a);
    RC_PRE(std::abs(r - s) > 1e-8);
    RC_ASSERT(log_det_acyclicity(a, s).has_value() == (r < s));
  }));
}

TEST(Acyclicity, IsZeroExactlyWithoutACycleAndAboveWithOne) {
  EXPECT_TRUE(rc::check("any graph", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 2 + static_cast<int>(random.below(50));
    const std::vector<int> order = random.permutation(d);
    Matrix a = Matrix::Zero(d, d);
    for (int i = 0; i < d; ++i) {
      for (int j = i + 1; j < d; ++j) {
        if (random.below(3) == 0)
          a(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]) = random.uniform(0.1, 3);
      }
    }
    RC_ASSERT(log_det_acyclicity(a, 1)->value == 0);
    RC_ASSERT(log_det_acyclicity(a, 0.7)->value == 0);
    RC_ASSERT(exponential_acyclicity(a).value == 0);
    // One edge back along the order, so light that the cycle stays inside the domain.
    const int from = order.back(), to = order.front();
    a(to, from) += 0.1;
    a(from, to) = 1e-6;
    const auto cyclic = log_det_acyclicity(a / radius(a) / 2, 1);
    RC_ASSERT(cyclic && cyclic->value > 0);
    RC_ASSERT(exponential_acyclicity(a).value > 0);
  }));
}

TEST(Acyclicity, OfNothingIsNothing) {
  EXPECT_EQ(log_det_acyclicity(Matrix(0, 0), 1)->value, 0);
  EXPECT_EQ(exponential_acyclicity(Matrix(0, 0)).value, 0);
  EXPECT_FALSE(std::isfinite(exponential_acyclicity(Matrix::Constant(2, 2, HUGE_VAL)).value));
  EXPECT_THROW(log_det_acyclicity(Matrix(2, 3), 1), UsageError);
  EXPECT_THROW(exponential_acyclicity(Matrix(2, 3)), UsageError);
}

}  // namespace
}  // namespace fansite::causal
