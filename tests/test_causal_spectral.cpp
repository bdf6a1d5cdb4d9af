// SPDX-License-Identifier: Apache-2.0
//
// The acyclicity penalty: values worked out by hand or with another program, and the sparse version against a dense
// one.
#include "fansite/causal/dcd/spectral.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

ByteMatrix complete(int variables) { return ByteMatrix::Ones(variables, variables); }

std::vector<double> values_of(const AllowedPairs& pairs, const Matrix& weights) {
  std::vector<double> values;
  for (std::size_t e = 0; e < pairs.parent.size(); ++e) values.push_back(weights(pairs.parent[e], pairs.child[e]));
  return values;
}

Matrix slopes(const SpectralPenalty& penalty, int variables) {
  Matrix slopes(variables, variables);
  for (int i = 0; i < variables; ++i) {
    for (int j = 0; j < variables; ++j) slopes(i, j) = penalty.slope(i, j);
  }
  return slopes;
}

// The definition, with a dense matrix.
struct Dense {
  explicit Dense(Index d) : u(Vector::Constant(d, 1 / std::sqrt(static_cast<double>(d)))), v(u) {}

  double update(const Matrix& a, int iterations) {
    const Matrix m = a.array() + 1e-6;
    for (int i = 0; i < iterations; ++i) {
      u = (m.transpose() * u).normalized();
      v = (m * v).normalized();
    }
    g = u * v.transpose() / (u.dot(v) + 1e-6);
    return g.cwiseProduct(a).sum();
  }
  Vector u, v;
  Matrix g;
};

// ---- Known values ---------------------------------------------------------------------------------------------------

class KnownPenalty : public testing::Test {
 protected:
  // Of a fresh penalty's first and second update.
  void expect(const Matrix& weights, double first, double second, const Matrix& first_slopes, double tolerance) {
    const int d = static_cast<int>(weights.rows());
    const AllowedPairs pairs(complete(d));
    SpectralPenalty penalty(pairs, 15);
    penalty.update(values_of(pairs, weights));
    EXPECT_NEAR(penalty.value(), first, 1e-6);
    EXPECT_LT((slopes(penalty, d) - first_slopes).cwiseAbs().maxCoeff(), tolerance) << slopes(penalty, d);
    penalty.update(values_of(pairs, weights));
    EXPECT_NEAR(penalty.value(), second, 1e-6);
  }
};

TEST_F(KnownPenalty, OfAThreeCycle) {
  Matrix a = Matrix::Zero(3, 3);
  a(0, 1) = a(1, 2) = a(2, 0) = 0.5;
  expect(a, 0.5, 0.5, Matrix::Constant(3, 3, 1.0 / 3), 1e-6);
}

// A pure two-cycle is periodic: u and v do not converge, and the value is not the spectral radius 0.5.
TEST_F(KnownPenalty, OfATwoCycle) {
  Matrix a(2, 2), g(2, 2);
  a << 0, 1, 0.25, 0;
  g << 0.499999, 0.125006, 1.9999, 0.499999;
  expect(a, 0.624981, 0.624966, g, 1e-5);
}

// A chain has spectral radius 0. The slope is large where an edge would close the longest cycle.
TEST_F(KnownPenalty, OfAChain) {
  Matrix a = Matrix::Zero(3, 3), g(3, 3);
  a(0, 1) = a(1, 2) = 1;
  g << 0.260883, 0.043483, 0.003954, 2.869108, 0.478217, 0.043483, 17.213484, 2.869108, 0.260883;
  expect(a, 0.086967, 0.046547, g, 1e-6);
}

TEST_F(KnownPenalty, OfPositiveWeights) {
  Matrix a(3, 3);
  a << 0, 0.8, 0.1, 0.3, 0, 0.5, 0.2, 0.4, 0;
  const AllowedPairs pairs(complete(3));
  SpectralPenalty penalty(pairs, 15);
  penalty.update(values_of(pairs, a));
  EXPECT_NEAR(penalty.value(), 0.762053, 2e-6);
  EXPECT_NEAR(penalty.slope(0, 0), 0.296585, 2e-6);
  EXPECT_NEAR(penalty.slope(0, 1), 0.256222, 2e-6);
  EXPECT_NEAR(penalty.slope(0, 2), 0.212293, 2e-6);
}

// ---- Properties -----------------------------------------------------------------------------------------------------

Matrix random_weights(Random& random, const ByteMatrix& mask) {
  Matrix weights = Matrix::Zero(mask.rows(), mask.cols());
  for (Index i = 0; i < mask.rows(); ++i) {
    for (Index j = 0; j < mask.cols(); ++j) {
      if (i != j && mask(i, j) != 0) weights(i, j) = random.uniform(0, 2);
    }
  }
  return weights;
}

ByteMatrix random_mask(Random& random, int variables, double density) {
  ByteMatrix mask(variables, variables);
  for (unsigned char& entry : mask.reshaped()) entry = random.uniform() < density;
  return mask;
}

TEST(SpectralPenalty, EqualsTheDenseOne) {
  EXPECT_TRUE(rc::check("any mask, several updates with weights that change", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 1 + static_cast<int>(random.below(12)), iterations = static_cast<int>(random.below(20));
    const ByteMatrix mask = random_mask(random, d, random.uniform());
    const AllowedPairs pairs(mask);
    SpectralPenalty penalty(pairs, iterations);
    Dense dense(d);
    for (int update = 0; update < 3; ++update) {
      const Matrix weights = random_weights(random, mask);
      const double expected = dense.update(weights, iterations);
      penalty.update(values_of(pairs, weights));
      RC_ASSERT(std::abs(penalty.value() - expected) <= 1e-9 * (1 + std::abs(expected)));
      RC_ASSERT((slopes(penalty, d) - dense.g).cwiseAbs().maxCoeff() <= 1e-9 * dense.g.maxCoeff());
    }
  }));
}

TEST(SpectralPenalty, ConvergesToTheSpectralRadius) {
  Random random(Key{1});
  for (const int d : {3, 5, 20}) {
    const Matrix weights = random_weights(random, complete(d));
    const AllowedPairs pairs(complete(d));
    SpectralPenalty penalty(pairs, 100);
    for (int i = 0; i < 5; ++i) penalty.update(values_of(pairs, weights));
    EXPECT_NEAR(penalty.value() / weights.eigenvalues().cwiseAbs().maxCoeff(), 1, 1e-5) << d;
  }
}

TEST(SpectralPenalty, WeightsOfZeroChangeNothing) {
  const AllowedPairs pairs(complete(4));
  SpectralPenalty penalty(pairs, 15);
  penalty.update(std::vector<double>(12, 0.0));
  for (const double x : penalty.state().left) EXPECT_NEAR(x, 0.5, 1e-14);
  for (const double x : penalty.state().right) EXPECT_NEAR(x, 0.5, 1e-14);
  EXPECT_NEAR(penalty.slope(1, 2), 0.25, 1e-6);
  EXPECT_EQ(penalty.value(), 0);
}

TEST(SpectralPenalty, WhatIsNotFiniteCountsAsZero) {
  Random random(Key{2});
  const AllowedPairs pairs(complete(5));
  std::vector<double> weights = values_of(pairs, random_weights(random, complete(5))), absurd = weights;
  absurd[3] = std::numeric_limits<double>::quiet_NaN();
  absurd[7] = std::numeric_limits<double>::infinity();
  weights[3] = weights[7] = 0;
  SpectralPenalty a(pairs, 15), b(pairs, 15);
  a.update(weights);
  b.update(absurd);
  EXPECT_EQ(a.state(), b.state());
  EXPECT_EQ(a.value(), b.value());
  EXPECT_GT(a.value(), 0);
}

TEST(SpectralPenalty, GoesOnFromItsState) {
  Random random(Key{3});
  const AllowedPairs pairs(complete(6));
  const auto first = values_of(pairs, random_weights(random, complete(6)));
  const auto second = values_of(pairs, random_weights(random, complete(6)));
  SpectralPenalty whole(pairs, 3), resumed(pairs, 3), fresh(pairs, 3);
  whole.update(first);
  resumed.restore(whole.state());
  for (SpectralPenalty* penalty : {&whole, &resumed, &fresh}) penalty->update(second);
  EXPECT_EQ(whole.state(), resumed.state());
  EXPECT_EQ(whole.slope(1, 4), resumed.slope(1, 4));
  EXPECT_NE(whole.state(), fresh.state());
}

TEST(SpectralPenalty, RefusesWhatMakesNoSense) {
  const AllowedPairs pairs(complete(3));
  EXPECT_THAT(message_of<UsageError>([&] { SpectralPenalty(pairs, -1); }), HasSubstr("-1 power iterations"));
  EXPECT_THAT(message_of<UsageError>([&] {
                SpectralPenalty(pairs, 1).restore({{1, 2}, {1, 2}});
              }),
              HasSubstr("2 variables, not 3"));
}

// ---- Pairs ----------------------------------------------------------------------------------------------------------

TEST(AllowedPairs, AreTheMaskWithoutItsDiagonal) {
  EXPECT_TRUE(rc::check("any mask", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = static_cast<int>(random.below(10));
    ByteMatrix mask = random_mask(random, d, random.uniform());
    const AllowedPairs pairs(mask);
    mask.diagonal().setZero();
    RC_ASSERT(pairs.mask() == mask);
    RC_ASSERT(static_cast<int>(pairs.start.size()) == d + 1);
    for (int j = 0; j < d; ++j) {
      RC_ASSERT(pairs.parents(j) == (mask.col(j).array() != 0).count());
      for (Index e = pairs.start[static_cast<std::size_t>(j)]; e < pairs.start[static_cast<std::size_t>(j) + 1]; ++e)
        RC_ASSERT(pairs.child[static_cast<std::size_t>(e)] == j);
    }
    const Matrix weights = random_weights(random, mask);
    RC_ASSERT(pairs.spread(values_of(pairs, weights)) == weights);
  }));
  EXPECT_THAT(message_of<UsageError>([] { AllowedPairs(ByteMatrix::Ones(2, 3)); }), HasSubstr("must be square"));
}

TEST(AllowedPairs, CyclesAreThoseOfTheGraphAboveTheThreshold) {
  int cyclic = 0, acyclic = 0;
  EXPECT_TRUE(rc::check("any weights", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 1 + static_cast<int>(random.below(10));
    const ByteMatrix mask = random_mask(random, d, 0.5);
    const AllowedPairs pairs(mask);
    Matrix weights = random_weights(random, mask);
    for (double& weight : weights.reshaped()) {
      if (random.below(20) == 0 && weight > 0) weight = random.coin() ? 1.0 : std::nan("");
    }
    const double threshold = random.coin() ? 1.0 : random.uniform(0, 2);  // a weight at the threshold is not above it
    const ByteMatrix graph = (weights.array() > threshold).cast<unsigned char>();
    const bool expected = find_cycle(graph).empty();
    RC_ASSERT(acyclic_above(pairs, values_of(pairs, weights), threshold) == expected);
    ++(expected ? acyclic : cyclic);
  }));
  EXPECT_GT(cyclic, 20);
  EXPECT_GT(acyclic, 20);
}

}  // namespace
}  // namespace fansite::causal
