// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/regression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/detail/kernel_features.h"
#include "fansite/causal/detail/kernel_ridge.h"

namespace fansite::causal {
namespace {

// Where blocks of rows are left out, lines and levels have a little ridge: what only one block shows of them (a level
// that occurs nowhere else) the others say nothing of, and without it the block's own fit would count as theirs.
constexpr double kBlockRidge = 0.01;  // noise over signal variance

// Of an orthonormal basis that begins with the constant.
Matrix lines_of(const Matrix& basis, bool in_blocks) {
  if (!in_blocks) return basis;
  Matrix lines = basis;
  const auto rows = static_cast<double>(basis.rows());
  lines.rightCols(basis.cols() - 1) *= std::sqrt(rows / (rows + kBlockRidge));
  return lines;
}

// The better of two fits of each target; of equals the first.
void keep_better(RidgeFits& best, RidgeFits&& other) {
  for (std::size_t t = 0; t < best.squares.size(); ++t) {
    if (other.squares[t] >= best.squares[t]) continue;
    best.squares[t] = other.squares[t];
    best.left_out.col(static_cast<Index>(t)) = other.left_out.col(static_cast<Index>(t));
    best.leverage.col(static_cast<Index>(t)) = other.leverage.col(static_cast<Index>(t));
  }
}

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

Regression::Regression(Matrix values, RegressionParams params, Key key, std::vector<Matrix> as_parents,
                       GraphRows counts)
    : values_(std::move(values)),
      params_(std::move(params)),
      as_parents_(std::move(as_parents)),
      counts_(std::move(counts)),
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
  return features(parents, rows, {});
}

KernelFeatures Regression::features(std::span<const int> parents, const std::vector<int>& rows,
                                    const Vector& root_weights) const {
  const int count = static_cast<int>(parents.size());
  if (rows.empty()) return KernelFeatures(columns_of(parents), count, order_, params_, root_weights);
  std::vector<int> place(order_.size(), -1), order;
  for (std::size_t i = 0; i < rows.size(); ++i) place[static_cast<std::size_t>(rows[i])] = static_cast<int>(i);
  for (const int row : order_) {
    if (place[static_cast<std::size_t>(row)] >= 0) order.push_back(place[static_cast<std::size_t>(row)]);
  }
  return KernelFeatures(columns_of(parents)(rows, Eigen::all), count, order, params_, root_weights);
}

Residuals Regression::residuals(std::span<const int> targets, std::span<const int> parents,
                                const std::vector<int>& rows) const {
  const std::vector<int> wanted(targets.begin(), targets.end());
  const GraphRows counts = rows.empty() || counts_.plain() ? counts_ : counts_.of_rows(rows);
  const Vector root_weights = counts.weights.cwiseSqrt();
  const Blocks blocks = counts.blocks();
  const KernelFeatures features = this->features(parents, rows, root_weights);
  const Matrix lines = lines_of(features.basis(), !blocks.empty());
  const Vector line_leverage = lines.rowwise().squaredNorm();
  Matrix y = rows.empty() ? Matrix(values_(Eigen::all, wanted)) : Matrix(values_(rows, wanted));
  for (auto column : y.colwise()) {  // one by one, so that its bits do not depend on the others
    if (root_weights.size() > 0) column.array() *= root_weights.array();
    column -= lines * (lines.transpose() * column).eval();
  }
  const RidgeProblem problem{
      features.x(), features.landmarks(), features.basis(), lines, line_leverage, y, root_weights, blocks};
  RidgeFits best = linear_fits(problem);
  if (features.has_kernels()) {
    const SingleThreadedBlas one_thread_each;
    std::vector<RidgeFits> of_width(params_.widths.size());
    parallel_for(static_cast<std::ptrdiff_t>(of_width.size()), [&](std::ptrdiff_t w) {
      const auto at = static_cast<std::size_t>(w);
      of_width[at] = kernel_fits(problem, params_.widths[at], params_.ridges);
    });
    for (RidgeFits& fits : of_width) keep_better(best, std::move(fits));
  }
  if (root_weights.size() > 0) best.left_out.array().colwise() /= root_weights.array();
  return {std::move(best.left_out), std::move(best.leverage)};
}

}  // namespace fansite::causal
