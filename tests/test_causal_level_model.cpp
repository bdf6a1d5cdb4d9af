// SPDX-License-Identifier: Apache-2.0
//
// Gradients and curvatures against central differences, and leaving rows out against doing so.
#include "fansite/causal/detail/level_model.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "fansite/base/random.h"

namespace fansite::causal {
namespace {

constexpr Index kRows = 60, kFeatures = 3;

Matrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix result(rows, columns);
  for (double& cell : result.reshaped()) cell = random.normal();
  return result;
}

std::vector<int> groups_of(const Matrix& features, int count, std::uint64_t seed) {
  Random random(Key{seed});
  std::vector<int> groups;
  for (Index i = 0; i < features.rows(); ++i) {
    const double u = 1 / (1 + std::exp(-features(i, 0) - random.normal()));
    groups.push_back(std::min(static_cast<int>(u * count), count - 1));
  }
  return groups;
}

std::vector<std::unique_ptr<LevelModel>> models(const Matrix& features) {
  std::vector<std::unique_ptr<LevelModel>> result;
  for (const int count : {2, 3, 5}) {
    result.push_back(ordered_model(groups_of(features, count, 2), count));
    result.push_back(nominal_model(groups_of(features, count, 2), count));
  }
  return result;
}

Vector somewhere(const LevelModel& model) {
  Vector parameters = Vector::Zero(model.intercepts() + model.coefficients(kFeatures));
  parameters.head(model.intercepts()) = model.intercepts_of_shares();
  parameters += 0.1 * random_matrix(parameters.size(), 1, 3);
  return parameters;
}

TEST(LevelModel, WithoutCoefficientsEveryGroupHasItsShare) {
  const Matrix features = random_matrix(kRows, kFeatures, 1);
  for (const int count : {2, 3, 5}) {
    const std::vector<int> groups = groups_of(features, count, 2);
    double expected = 0;
    for (int k = 0; k < count; ++k) {
      const auto rows = static_cast<double>(std::count(groups.begin(), groups.end(), k));
      if (rows > 0) expected -= rows * std::log(rows / kRows);
    }
    for (const auto& model : {ordered_model(groups, count), nominal_model(groups, count)}) {
      Vector parameters = Vector::Zero(model->intercepts() + model->coefficients(kFeatures));
      parameters.head(model->intercepts()) = model->intercepts_of_shares();
      EXPECT_NEAR(model->loss(features, parameters), expected, 1e-9 * expected) << count;
    }
  }
}

TEST(LevelModel, DerivativesAreThoseOfCentralDifferences) {
  const Matrix features = random_matrix(kRows, kFeatures, 1);
  constexpr double kStep = 1e-5;
  for (const auto& model : models(features)) {
    const Vector at = somewhere(*model);
    const LevelModel::Derivatives exact = model->derivatives(features, at);
    for (Index p = 0; p < at.size(); ++p) {
      Vector more = at, less = at;
      more[p] += kStep;
      less[p] -= kStep;
      const double slope = (model->loss(features, more) - model->loss(features, less)) / (2 * kStep);
      EXPECT_NEAR(exact.gradient[p], slope, 1e-6 * (1 + std::abs(slope))) << p;
      const Vector curve =
          (model->derivatives(features, more).gradient - model->derivatives(features, less).gradient) / (2 * kStep);
      for (Index q = p; q < at.size(); ++q) {
        EXPECT_NEAR(exact.hessian(q, p), curve[q], 1e-6 * (1 + std::abs(curve[q]))) << p << " " << q;
      }
    }
  }
}

/// Coefficients with a ridge of 1, by Newton's method; intercepts stay.
Vector fitted(const LevelModel& model, const Matrix& features, Vector parameters) {
  const Index count = model.coefficients(features.cols());
  for (int step = 0; step < 50; ++step) {
    const LevelModel::Derivatives at = model.derivatives(features, parameters);
    Matrix hessian = at.hessian.bottomRightCorner(count, count).selfadjointView<Eigen::Lower>();
    hessian.diagonal().array() += 1;
    parameters.tail(count) -= hessian.llt().solve(at.gradient.tail(count) + parameters.tail(count));
  }
  return parameters;
}

TEST(LevelModel, ARowLeftOutIsAlmostWhatFittingWithoutItGives) {
  const Matrix features = random_matrix(kRows, kFeatures, 1);
  for (const int count : {2, 3}) {
    const std::vector<int> groups = groups_of(features, count, 2);
    for (const bool ordered : {true, false}) {
      const auto make = [&](std::vector<int> of_rows) {
        return ordered ? ordered_model(std::move(of_rows), count) : nominal_model(std::move(of_rows), count);
      };
      const auto model = make(groups);
      Vector start = Vector::Zero(model->intercepts() + model->coefficients(kFeatures));
      start.head(model->intercepts()) = model->intercepts_of_shares();
      const Vector all = fitted(*model, features, start);
      Matrix hessian = model->derivatives(features, all).hessian;
      hessian.diagonal().tail(model->coefficients(kFeatures)).array() += 1;
      const Vector found = model->left_out(features, all, hessian);
      for (const int row : {0, 7, 31}) {
        std::vector<int> others, groups_of_others;
        for (int i = 0; i < kRows; ++i) {
          if (i == row) continue;
          others.push_back(i);
          groups_of_others.push_back(groups[static_cast<std::size_t>(i)]);
        }
        const Vector without = fitted(*make(groups_of_others), features(others, Eigen::all), all);
        const double exact = make({groups[static_cast<std::size_t>(row)]})->loss(features.row(row), without);
        EXPECT_NEAR(found[row], exact, 0.01) << count << ordered << row;
      }
    }
  }
}

}  // namespace
}  // namespace fansite::causal
