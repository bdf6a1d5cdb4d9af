// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/incomplete.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "fansite/base/parallel.h"

namespace fansite {
namespace {

constexpr Index kMostForEm = 200;
constexpr int kMostRounds = 100;
constexpr double kSettled = 1e-6;  // of a correlation, from one round to the next
constexpr double kRidge = 1e-8;    // of a variance: collinear columns can be conditioned on

struct Pattern {
  std::vector<int> held, absent;
  std::vector<int> rows;
};

std::vector<Pattern> patterns_of(const MatrixView& values) {
  std::map<std::vector<bool>, Pattern> by_mask;
  for (Index row = 0; row < values.rows(); ++row) {
    std::vector<bool> mask(static_cast<std::size_t>(values.cols()));
    for (Index j = 0; j < values.cols(); ++j) mask[static_cast<std::size_t>(j)] = std::isnan(values(row, j));
    Pattern& pattern = by_mask[mask];
    if (pattern.rows.empty()) {
      for (int j = 0; j < static_cast<int>(values.cols()); ++j) {
        (mask[static_cast<std::size_t>(j)] ? pattern.absent : pattern.held).push_back(j);
      }
    }
    pattern.rows.push_back(static_cast<int>(row));
  }
  std::vector<Pattern> patterns;
  for (auto& [mask, pattern] : by_mask) patterns.push_back(std::move(pattern));
  return patterns;
}

// Means and variances of the cells there are, covariances over the rows that have both.
std::pair<Vector, Matrix> moments_of_pairs(const MatrixView& values, const Vector& weights) {
  const Index d = values.cols();
  Matrix filled = values;
  Matrix held(values.rows(), d);
  Vector mean = Vector::Zero(d);
  for (Index j = 0; j < d; ++j) {
    double sum = 0, count = 0;
    for (Index i = 0; i < values.rows(); ++i) {
      held(i, j) = std::isnan(values(i, j)) ? 0.0 : 1.0;
      if (held(i, j) == 0) continue;
      sum += weights[i] * values(i, j);
      count += weights[i];
    }
    mean[j] = count > 0 ? sum / count : 0.0;
    for (Index i = 0; i < values.rows(); ++i) filled(i, j) = held(i, j) > 0 ? values(i, j) - mean[j] : 0.0;
  }
  const Matrix products = filled.transpose() * weights.asDiagonal() * filled;
  const Matrix counts = held.transpose() * weights.asDiagonal() * held;
  return {mean, products.cwiseQuotient(counts.unaryExpr([](double n) { return n > 0 ? n : 1.0; }))};
}

// Negative eigenvalues of the correlations go to 0, and the diagonal back to 1.
void make_positive(Matrix& covariance) {
  const Vector scale = covariance.diagonal().cwiseSqrt();
  const Vector inverse = scale.unaryExpr([](double s) { return s > 0 ? 1 / s : 0.0; });
  Matrix correlation = inverse.asDiagonal() * covariance * inverse.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(correlation);
  if (solver.eigenvalues().minCoeff() >= kRidge) return;
  const Vector values = solver.eigenvalues().cwiseMax(kRidge);
  correlation = solver.eigenvectors() * values.asDiagonal() * solver.eigenvectors().transpose();
  const Vector back = scale.cwiseQuotient(correlation.diagonal().cwiseSqrt());
  covariance = back.asDiagonal() * correlation * back.asDiagonal();
}

// One round: the rows' expected values and products given what they have, added up by pattern.
void add_expected(const MatrixView& values, const Pattern& pattern, const Vector& all_weights, const Vector& mean,
                  const Matrix& covariance, Vector& sum, Matrix& products) {
  const Vector weights = all_weights(pattern.rows);
  Matrix rows = values(pattern.rows, Eigen::all);
  if (!pattern.absent.empty() && !pattern.held.empty()) {
    Matrix of_held = covariance(pattern.held, pattern.held);
    of_held.diagonal() *= 1 + kRidge;
    const Matrix across = covariance(pattern.held, pattern.absent);
    const Matrix coefficients = of_held.ldlt().solve(across);
    const Matrix centred = rows(Eigen::all, pattern.held).rowwise() - mean(pattern.held).transpose();
    rows(Eigen::all, pattern.absent) = (centred * coefficients).rowwise() + mean(pattern.absent).transpose();
    products(pattern.absent, pattern.absent) +=
        weights.sum() * (covariance(pattern.absent, pattern.absent) - across.transpose() * coefficients);
  } else if (pattern.held.empty()) {
    return;  // an empty row says nothing
  }
  sum += rows.transpose() * weights;
  products += rows.transpose() * weights.asDiagonal() * rows;
}

}  // namespace

Matrix rows_with_both(const MatrixView& values) {
  const Matrix held = values.unaryExpr([](double x) { return std::isnan(x) ? 0.0 : 1.0; });
  return held.transpose() * held;
}

std::pair<Vector, Matrix> incomplete_moments(const MatrixView& values, const Vector& given_weights) {
  const Vector weights = given_weights.size() > 0 ? given_weights : Vector(Vector::Ones(values.rows()));
  auto [mean, covariance] = moments_of_pairs(values, weights);
  make_positive(covariance);
  const std::vector<Pattern> patterns = patterns_of(values);
  double rows = 0;
  for (const Pattern& pattern : patterns) {
    if (!pattern.held.empty()) rows += weights(pattern.rows).sum();
  }
  if (values.cols() > kMostForEm || rows == 0) return {mean, covariance};
  constexpr std::ptrdiff_t kPieces = 16;  // fixed, so that sums do not depend on the threads
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Vector> sums(kPieces, Vector::Zero(values.cols()));
    std::vector<Matrix> products(kPieces, Matrix::Zero(values.cols(), values.cols()));
    parallel_for(kPieces, [&](std::ptrdiff_t piece) {
      const auto at = static_cast<std::size_t>(piece);
      for (std::size_t p = at; p < patterns.size(); p += kPieces) {
        add_expected(values, patterns[p], weights, mean, covariance, sums[at], products[at]);
      }
    });
    Vector sum = sums.front();
    Matrix product = products.front();
    for (std::size_t piece = 1; piece < kPieces; ++piece) {
      sum += sums[piece];
      product += products[piece];
    }
    const Vector scale = covariance.diagonal().cwiseSqrt().cwiseMax(1e-300);
    mean = sum / rows;
    const Matrix next = product / rows - mean * mean.transpose();
    const Matrix change = scale.cwiseInverse().asDiagonal() * (next - covariance) * scale.cwiseInverse().asDiagonal();
    covariance = next;
    if (change.cwiseAbs().maxCoeff() < kSettled) break;
  }
  return {mean, covariance};
}

}  // namespace fansite
