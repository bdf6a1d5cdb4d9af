// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/linear_gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/special.h"
#include "fansite/causal/detail/kernel_features.h"
#include "fansite/entropy/linearity.h"

namespace fansite::causal {
namespace {

constexpr double kDetermined = 1e-10;     // of a parent's variance, of which single precision leaves 1e-14
constexpr double kLeastVariance = 1e-12;  // as of residuals of kernels: a relation without noise
constexpr double kLevel = 0.01;           // the share of linear Gaussian tables that may go to kernels for each test

}  // namespace

LinearGaussian::LinearGaussian(const Matrix& values, const GraphRows& rows)
    : rows_(std::max(rows.independent(values.rows()), 1.0)) {
  const SingleThreadedBlas one_thread;
  const auto all = static_cast<double>(std::max<Index>(values.rows(), 1));
  Matrix weighted;
  if (rows.weights.size() > 0) {
    means_ = values.transpose() * rows.weights / all;
    weighted = (values.rowwise() - means_.transpose()).array().colwise() * rows.weights.array().sqrt();
  }
  const Matrix lower = gram(rows.weights.size() > 0 ? weighted : values) / all;
  correlation_ = lower.selfadjointView<Eigen::Lower>();
}

// Cholesky's factor of the correlations of the parents, the child last.
LinearGaussian::Fit LinearGaussian::fit(int child, std::span<const int> parents, bool with_slopes) const {
  Fit result;
  const auto most = static_cast<Index>(parents.size());
  Matrix lower = Matrix::Zero(most + 1, most + 1);
  Index kept = 0;
  const auto add = [&](int variable) {  // its row of the factor; what is left of its variance
    double left = correlation_(variable, variable);
    for (Index c = 0; c < kept; ++c) {
      const int other = result.kept[static_cast<std::size_t>(c)];
      const double value =
          (correlation_(variable, other) - lower.row(kept).head(c).dot(lower.row(c).head(c))) / lower(c, c);
      lower(kept, c) = value;
      left -= value * value;
    }
    return left;
  };
  for (const int parent : parents) {
    const double left = add(parent);
    if (left <= kDetermined) continue;
    lower(kept, kept) = std::sqrt(left);
    result.kept.push_back(parent);
    ++kept;
  }
  result.variance = std::max(add(child), kLeastVariance);
  if (!with_slopes) return result;
  result.slopes = lower.row(kept).head(kept).transpose();  // β L = that row
  for (Index c = kept - 1; c >= 0; --c) {
    for (Index r = c + 1; r < kept; ++r) result.slopes[c] -= lower(r, c) * result.slopes[r];
    result.slopes[c] /= lower(c, c);
  }
  return result;
}

double LinearGaussian::entropy(int child, std::span<const int> parents) const {
  const double variance = fit(child, parents, false).variance;
  return 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * variance) + cost_of_learning(parents.size());
}

Vector LinearGaussian::surprisals(const Matrix& values, int child, std::span<const int> parents) const {
  const Fit found = fit(child, parents, true);
  const auto centred = [&](int column) -> Vector {
    if (means_.size() == 0) return values.col(column);
    return values.col(column).array() - means_[column];
  };
  Vector left = centred(child);
  for (std::size_t i = 0; i < found.kept.size(); ++i) {
    left -= found.slopes[static_cast<Index>(i)] * centred(found.kept[i]);
  }
  const double constant = 0.5 * std::log(2 * std::numbers::pi * found.variance) + cost_of_learning(parents.size());
  return constant + left.array().square() / (2 * found.variance);
}

LinearGaussianTest test_linear_gaussian(const MatrixView& values, const std::vector<std::vector<int>>& parents,
                                        Progress& progress) {
  LinearGaussianTest result;
  if (values.rows() < kFewestLinearRows) return result;
  const Dataset data{default_names(static_cast<int>(values.cols())), values};
  const TableFacts facts(data);
  const auto fatal = [](const Finding& finding) { return finding.fatal; };
  const auto levels = [](ColumnKind kind) { return kind != ColumnKind::continuous; };
  if (std::any_of(facts.findings.begin(), facts.findings.end(), fatal)) return result;
  if (std::any_of(facts.kinds.begin(), facts.kinds.end(), levels)) return result;
  const LinearityTest test = test_linearity(data, facts, parents, {}, progress);
  if (test.normality_target < 0) return result;  // nothing could be tested
  result.tested = true;
  result.p_value = std::min({1.0, test.p_value, test.normality_p_value});
  result.holds = test.p_value >= kLevel && test.normality_p_value >= kLevel;
  return result;
}

}  // namespace fansite::causal
