// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/learner.h"
#include "fansite/entropy/flow/reference.h"
#include "tests/golden.h"
#include "tests/properties.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

RowTable correlated_table(Index rows, int columns, Key key) {
  Random random(key);
  Matrix mixing(columns, columns), noise(rows, columns);
  for (Index i = 0; i < mixing.size(); ++i) mixing.data()[i] = random.normal();
  for (Index i = 0; i < noise.size(); ++i) noise.data()[i] = random.normal();
  return (noise * mixing).cast<float>();
}

std::vector<int> all(Index rows) {
  std::vector<int> result(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int>(i);
  return result;
}

// ln of the normal density with the base's mean and covariance.
double log_normal_density(const GaussianBase& base, const Subset& subset, const float* values) {
  const Matrix covariance = base.covariance()(subset, subset);
  Vector centred(static_cast<Index>(subset.size()));
  for (std::size_t p = 0; p < subset.size(); ++p) {
    centred[static_cast<Index>(p)] = static_cast<double>(values[subset[p]]) - base.mean()[subset[p]];
  }
  const double square = centred.dot(covariance.inverse() * centred);
  return -0.5 * (square + std::log(covariance.determinant()) +
                 static_cast<double>(subset.size()) * std::log(2 * std::numbers::pi));
}

TEST(GaussianBase, InnovationsGiveTheNormalDensity) {
  const RowTable table = correlated_table(500, 7, Key{1});
  const GaussianBase base(table, all(500));
  Random random(Key{2});
  std::vector<double> scratch;
  for (int trial = 0; trial < 50; ++trial) {
    const Subset subset = random.subset(7, 1 + static_cast<int>(random.below(7)));
    const float* row = table.row(trial).data();
    std::vector<float> u(subset.size());
    const double log_scale = base.innovations(subset, row, u.data(), scratch);
    double density = -log_scale;
    for (const float v : u)
      density -= 0.5 * static_cast<double>(v) * static_cast<double>(v) + 0.5 * std::log(2 * std::numbers::pi);
    EXPECT_NEAR(density, log_normal_density(base, subset, row), 1e-4 * (1 + std::abs(density)));
  }
}

TEST(GaussianBase, IsThatOfTheRowsShrunk) {
  const RowTable table = correlated_table(40, 3, Key{3});
  const std::vector<int> rows = {1, 4, 9, 16, 25, 36, 7};
  const GaussianBase base(table, rows);
  const Matrix values = table(rows, Eigen::all).cast<double>();
  const Matrix centred = values.rowwise() - values.colwise().mean();
  const Matrix covariance = centred.transpose() * centred / 7;
  EXPECT_LT((base.mean() - values.colwise().mean().transpose()).norm(), 1e-12);
  EXPECT_LT((base.covariance().diagonal() - covariance.diagonal()).norm(), 1e-12);
  const double shrunk = base.covariance()(0, 2) / covariance(0, 2);
  EXPECT_LE(shrunk, 7.0 / 8 + 1e-12);
  EXPECT_GE(shrunk, 0);
}

TEST(GaussianBase, SurvivesCollinearAndConstantColumnsAndFewRows) {
  RowTable table = correlated_table(6, 20, Key{4});
  table.col(3) = table.col(2);
  table.col(5).setConstant(2);
  const GaussianBase base(table, all(6));
  Subset everything;
  for (int j = 0; j < 20; ++j) everything.push_back(j);
  std::vector<float> u(20);
  std::vector<double> scratch;
  for (Index row = 0; row < 6; ++row) {
    EXPECT_TRUE(std::isfinite(base.innovations(everything, table.row(row).data(), u.data(), scratch)));
    for (const float v : u) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST(GaussianBase, NoneGivesTheValues) {
  const GaussianBase none;
  const float row[] = {1.5f, -2.0f, 3.0f};
  float u[2];
  std::vector<double> scratch;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.innovations(Subset{0, 2}, row, u, scratch), 0);
  EXPECT_EQ(u[0], 1.5f);
  EXPECT_EQ(u[1], 3.0f);
}

TEST(GaussianBase, RefusesWhatIsNoCovariance) {
  EXPECT_THROW(GaussianBase(Vector::Zero(2), Matrix::Identity(3, 3)), UsageError);
  EXPECT_THROW(GaussianBase(Vector::Zero(2), Matrix::Zero(2, 2)), UsageError);
  EXPECT_THROW(GaussianBase(Vector::Constant(2, NAN), Matrix::Identity(2, 2)), UsageError);
}

// With a base the learner's loss is that of the densities, and both are the reference's term by term: the flow of the
// innovations, whose hidden nodes still see the values, less ln σ.
TEST(GaussianBase, LearnerAndDensityAgree) {
  EXPECT_TRUE(rc::check([] {
    Random random(Key{*rc::gen::arbitrary<std::uint32_t>()});
    const Shape shape = random_shape(random, 12);
    const Parameters parameters = random_parameters(shape, random, 0.3);
    const RowTable table = correlated_table(60, shape.variables, Key{5});
    const GaussianBase base(table, all(60));
    const Weights weights = pack(parameters);
    Batch batch(shape, &base);
    std::vector<Subset> subsets;
    for (Index row = 0; row < 8; ++row) {
      subsets.push_back(random_subset(random, shape, 1));
      batch.add(subsets.back(), table.row(row).data());
    }
    batch.finish();
    const Eigen::MatrixXf densities = Density(weights, base).log_density(Table(table.topRows(8)), subsets);
    const double mean = -densities.diagonal().cast<double>().mean();
    RC_ASSERT(std::abs(Learner(weights).loss(batch) - mean) < 1e-4 * (1 + std::abs(mean)));
  }));
}

TEST(GaussianBase, InitialFlowIsTheNormalDensity) {
  const RowTable table = correlated_table(1000, 5, Key{6});
  const GaussianBase base(table, all(1000));
  const Density density(pack(initial_parameters(paper_shape(5), Key{7})), base);
  const std::vector<Subset> subsets = {{0}, {1, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}};
  const Table rows = table.topRows(50);
  const Eigen::MatrixXf out = density.log_density(rows, subsets);
  for (Index s = 0; s < 4; ++s) {
    for (Index row = 0; row < 50; ++row) {
      const double exact = log_normal_density(base, subsets[static_cast<std::size_t>(s)], table.row(row).data());
      EXPECT_NEAR(static_cast<double>(out(row, s)), exact, 0.05) << "row " << row << " subset " << s;
    }
  }
}

}  // namespace
}  // namespace fansite::flow
