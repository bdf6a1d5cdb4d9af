// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/causal/detail/kernel_features.h"

namespace fansite::causal {
namespace {

constexpr double kLeastOthers = 1e-6;  // of 1 − leverage: a row that fits itself alone says nothing
// Keeps for each target the fit with the least leave-one-out squares so far.
class BestFits {
 public:
  BestFits(const Matrix& left, const Vector& leverage)
      : best_{Matrix(left.rows(), left.cols()), Matrix(left.rows(), left.cols())},
        least_(static_cast<std::size_t>(left.cols()), std::numeric_limits<double>::infinity()) {
    offer(left, leverage);
  }

  void offer(const Matrix& left, const Vector& leverage) {
    const Vector others = (1 - leverage.array()).max(kLeastOthers).inverse();
    for (Index t = 0; t < left.cols(); ++t) {
      const Vector left_out = left.col(t).cwiseProduct(others);
      const double squares = left_out.squaredNorm();
      double& least = least_[static_cast<std::size_t>(t)];
      if (squares >= least) continue;
      least = squares;
      best_.left_out.col(t) = left_out;
      best_.leverage.col(t) = leverage;
    }
  }

  Residuals result() && { return std::move(best_); }

 private:
  Residuals best_;
  std::vector<double> least_;
};

}  // namespace

const Description& RegressionParams::description() {
  using P = RegressionParams;
  static const Description list =
      Describe<P>()
          .field("landmarks", &P::landmarks, "rows at which kernels are evaluated", at_least(1))
          .field("landmarks_per_parent", &P::landmarks_per_parent, "and so many more for each parent", at_least(0))
          .field("max_landmarks", &P::max_landmarks, "at most so many in all", at_least(1))
          .field("widths", &P::widths, "of the kernels, in standard deviations; the best is chosen", above(0))
          .field("ridges", &P::ridges, "noise over signal variance of the regressions; the best is chosen", above(0))
          .done();
  return list;
}

Matrix standardised(const MatrixView& values) {
  Matrix result = values.rowwise() - values.colwise().mean();
  for (Index j = 0; j < result.cols(); ++j) {
    if ((values.col(j).array() == values(0, j)).all()) {
      result.col(j).setZero();  // its mean may differ from it by rounding
      continue;
    }
    const double spread = std::sqrt(result.col(j).squaredNorm() / static_cast<double>(result.rows()));
    if (spread > 0) result.col(j) = (result.col(j) / spread).cast<float>().cast<double>();
  }
  return result;
}

Regression::Regression(Matrix values, RegressionParams params, Key key, std::vector<Matrix> as_parents)
    : values_(std::move(values)),
      params_(std::move(params)),
      as_parents_(std::move(as_parents)),
      order_(Random(key).permutation(static_cast<int>(values_.rows()))) {}

// The columns of the parents, in their order.
Matrix Regression::columns_of(std::span<const int> parents) const {
  const auto own = [&](int parent) -> const Matrix* {
    const bool coded = !as_parents_.empty() && as_parents_[static_cast<std::size_t>(parent)].size() > 0;
    return coded ? &as_parents_[static_cast<std::size_t>(parent)] : nullptr;
  };
  Index count = 0;
  for (const int parent : parents) count += own(parent) != nullptr ? own(parent)->cols() : 1;
  Matrix x(rows(), count);
  Index at = 0;
  for (const int parent : parents) {
    const Matrix* columns = own(parent);
    if (columns != nullptr) x.middleCols(at, columns->cols()) = *columns;
    if (columns == nullptr) x.col(at) = values_.col(parent);
    at += columns != nullptr ? columns->cols() : 1;
  }
  return x;
}

KernelFeatures Regression::features(std::span<const int> parents, const std::vector<int>& rows) const {
  const int count = static_cast<int>(parents.size());
  if (rows.empty()) return KernelFeatures(columns_of(parents), count, order_, params_);
  std::vector<int> place(order_.size(), -1), order;
  for (std::size_t i = 0; i < rows.size(); ++i) place[static_cast<std::size_t>(rows[i])] = static_cast<int>(i);
  for (const int row : order_) {
    if (place[static_cast<std::size_t>(row)] >= 0) order.push_back(place[static_cast<std::size_t>(row)]);
  }
  return KernelFeatures(columns_of(parents)(rows, Eigen::all), count, order, params_);
}

Residuals Regression::residuals(std::span<const int> targets, std::span<const int> parents,
                                const std::vector<int>& rows) const {
  const std::vector<int> wanted(targets.begin(), targets.end());
  const KernelFeatures features = this->features(parents, rows);
  const Matrix& basis = features.basis();
  const Vector basis_leverage = basis.rowwise().squaredNorm();
  Matrix y = rows.empty() ? Matrix(values_(Eigen::all, wanted)) : Matrix(values_(rows, wanted));
  take_out(basis, y);
  BestFits best(y, basis_leverage);
  if (!features.has_kernels()) return std::move(best).result();
  for (const double width : params_.widths) {
    const Matrix kernels = features.kernels(width);
    const Matrix products = gram(kernels);
    for (const double ridge : params_.ridges) {
      Matrix lower = products;
      lower.diagonal().array() += ridge;
      if (!factorise(lower)) continue;
      Matrix smoother = kernels;  // of the hat matrix Z Zᵀ
      solve_from_right(lower, smoother);
      Matrix left = y;
      take_out(smoother, left);
      best.offer(left, basis_leverage + smoother.rowwise().squaredNorm());
    }
  }
  return std::move(best).result();
}

}  // namespace fansite::causal
