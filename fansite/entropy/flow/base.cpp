// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/base.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>

#include "fansite/base/error.h"
#include "fansite/table/incomplete.h"

namespace fansite::flow {
namespace {

constexpr double kSmallest = 1e-6;  // share of a column's variance that always remains, whatever is given
// The same of the normal variable under a coarse column: less cannot be told from its levels.
constexpr double kSmallestCoarse = 0.02;

}  // namespace

GaussianBase::GaussianBase(Vector mean, Matrix covariance)
    : mean_(std::move(mean)), covariance_(std::move(covariance)) {
  check(covariance_.rows() == mean_.size() && covariance_.cols() == mean_.size(),
        "[flow] a {}×{} covariance for {} means", covariance_.rows(), covariance_.cols(), mean_.size());
  check(mean_.allFinite() && covariance_.allFinite() && (covariance_.diagonal().array() > 0).all(),
        "[flow] a covariance needs finite entries and positive variances");
}

GaussianBase::GaussianBase(const RowTable& data, std::span<const int> rows) {
  const auto n = static_cast<double>(rows.size());
  const Matrix values = data(std::vector<int>(rows.begin(), rows.end()), Eigen::all).cast<double>();
  if (values.hasNaN()) {
    std::tie(mean_, covariance_) = incomplete_moments(values);
  } else {
    mean_ = values.colwise().mean();
    const Matrix centred = values.rowwise() - mean_.transpose();
    covariance_ = centred.transpose() * centred / n;
  }
  Vector scale = covariance_.diagonal().cwiseSqrt();
  for (double& v : scale) v = v > 0 ? v : 1.0;  // a column that is constant in these rows
  const Vector inverse = scale.cwiseInverse();
  Matrix correlation = inverse.asDiagonal() * covariance_ * inverse.asDiagonal();
  correlation.diagonal().setZero();
  // The variance of a correlation r is (1−r²)²/N; the shrinkage with the least expected squared error is the sum of
  // these variances over the sum of the r² (Schäfer and Strimmer 2005). At least a prior worth one row.
  const Eigen::ArrayXXd squares = correlation.array().square();
  const auto pairs = static_cast<double>(correlation.size() - correlation.rows());
  const double noise =
      ((1 - squares).square().sum() - static_cast<double>(correlation.rows())) / n;  // without the diagonal
  const double signal = squares.sum();
  const double shrinkage = pairs > 0 ? std::clamp(noise / std::max(signal, 1e-300), 1 / (n + 1), 1.0) : 0.0;
  correlation *= 1 - shrinkage;
  correlation.diagonal().setOnes();
  covariance_ = scale.asDiagonal() * correlation * scale.asDiagonal();
}

bool GaussianBase::operator==(const GaussianBase& other) const {
  return mean_.size() == other.mean_.size() && mean_ == other.mean_ && covariance_ == other.covariance_;
}

void GaussianBase::factor_row(std::span<const int> subset, int p, double* rows, Index stride) const {
  const int j = subset[static_cast<std::size_t>(p)];
  const double* covariance = covariance_.col(j).data();
  double* row = rows + p * stride;
  double remaining = covariance[j];
  for (int q = 0; q < p; ++q) {
    const double* earlier = rows + q * stride;
    double sum = covariance[subset[static_cast<std::size_t>(q)]];
    for (int k = 0; k < q; ++k) sum -= row[k] * earlier[k];
    row[q] = sum / earlier[q];
    remaining -= row[q] * row[q];
  }
  row[p] = std::sqrt(std::max(remaining, kSmallest * covariance[j]));
}

GaussianBase::Prediction GaussianBase::prediction(int variable, const double* row, int p) const {
  if (reliability_.size() == 0 || reliability_[variable] >= 1) return {1, mean_[variable], row[p]};
  const double factor = 1 / reliability_[variable];
  double rest = 1;
  for (int q = 0; q < p; ++q) rest -= factor * row[q] * factor * row[q];
  if (rest >= kSmallestCoarse) return {factor, 0, std::sqrt(rest)};
  // Two coarse columns vary together more than normal ones: no farther than what remains allows.
  return {factor * std::sqrt((1 - kSmallestCoarse) / (1 - rest)), 0, std::sqrt(kSmallestCoarse)};
}

double GaussianBase::innovations(std::span<const int> subset, const CellRow& cells, float* out, float* low, float* high,
                                 std::vector<double>& scratch) const {
  const int size = static_cast<int>(subset.size());
  const Index stride = size + 1;
  if (scratch.size() < static_cast<std::size_t>(stride * (size + 1)))
    scratch.resize(static_cast<std::size_t>(stride * (size + 1)));
  double* rows = scratch.data();
  double* innovation = rows + size * stride;
  double log_scale = 0;
  for (int p = 0; p < size; ++p) {
    const int j = subset[static_cast<std::size_t>(p)];
    if (empty()) {
      out[p] = cells.score[j];
      low[p] = cells.low[j];
      high[p] = cells.high[j];
      continue;
    }
    factor_row(subset, p, rows, stride);
    const double* row = rows + p * stride;
    double sum = 0;
    for (int q = 0; q < p; ++q) sum += row[q] * innovation[q];
    innovation[p] = (static_cast<double>(cells.score[j]) - mean_[j] - sum) / row[p];
    const Prediction to = prediction(j, row, p);
    const auto mapped = [&](float x) {
      return static_cast<float>((static_cast<double>(x) - to.shift - to.factor * sum) / to.scale);
    };
    const bool interval = cells.low[j] < cells.high[j];
    out[p] = mapped(cells.score[j]);
    low[p] = interval ? mapped(cells.low[j]) : out[p];
    high[p] = interval ? mapped(cells.high[j]) : out[p];
    if (!interval) log_scale += std::log(to.scale);
  }
  return log_scale;
}

double GaussianBase::innovations(std::span<const int> subset, const float* values, float* out,
                                 std::vector<double>& scratch) const {
  const int size = static_cast<int>(subset.size());
  if (empty()) {
    for (int p = 0; p < size; ++p) out[p] = values[subset[static_cast<std::size_t>(p)]];
    return 0;
  }
  const Index stride = size + 1;  // the innovations lie behind the factor's rows
  if (scratch.size() < static_cast<std::size_t>(stride * (size + 1)))
    scratch.resize(static_cast<std::size_t>(stride * (size + 1)));
  double* rows = scratch.data();
  double* innovation = rows + size * stride;
  double log_scale = 1;
  double logs = 0;
  for (int p = 0; p < size; ++p) {
    factor_row(subset, p, rows, stride);
    const double* row = rows + p * stride;
    const int j = subset[static_cast<std::size_t>(p)];
    double sum = static_cast<double>(values[j]) - mean_[j];
    for (int q = 0; q < p; ++q) sum -= row[q] * innovation[q];
    innovation[p] = sum / row[p];
    out[p] = static_cast<float>(innovation[p]);
    log_scale *= row[p];
    if (log_scale < 1e-100 || log_scale > 1e100) {
      logs += std::log(log_scale);
      log_scale = 1;
    }
  }
  return logs + std::log(log_scale);
}

}  // namespace fansite::flow
