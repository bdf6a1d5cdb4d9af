// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/kernel_score.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace fansite {

KernelFactor gaussian_factor(const MatrixView& columns, double sigma_squared, int rank) {
  constexpr double kNothing = 1e-8;  // of the trace
  const Index rows = columns.rows();
  const Index most = std::min<Index>(rank, rows);
  Matrix factor(rows, most);
  Vector left = Vector::Ones(rows);  // the diagonal of what the factor does not hold yet
  Index count = 0;
  for (; count < most && left.sum() > kNothing * static_cast<double>(rows); ++count) {
    Index pivot = 0;
    const double largest = left.maxCoeff(&pivot);
    Vector column = (columns.rowwise() - columns.row(pivot)).rowwise().squaredNorm();
    column = (column.array() / (-2 * sigma_squared)).exp();
    column.noalias() -= factor.leftCols(count) * factor.row(pivot).head(count).transpose();
    factor.col(count) = column / std::sqrt(largest);
    left = (left.array() - factor.col(count).array().square()).max(0.0);
    left(pivot) = 0;
  }
  KernelFactor result;
  result.columns = factor.leftCols(count);
  result.columns.rowwise() -= result.columns.colwise().mean().eval();
  result.left_out = std::max(left.sum(), 0.0) / static_cast<double>(rows);
  return result;
}

double median_squared_distance(const MatrixView& columns) {
  constexpr Index kRows = 300;
  const Index count = std::min(columns.rows(), kRows);
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(count * (count - 1) / 2));
  const auto row = [&](Index i) { return columns.row(i * columns.rows() / count); };
  for (Index i = 0; i < count; ++i) {
    for (Index j = i + 1; j < count; ++j) distances.push_back((row(i) - row(j)).squaredNorm());
  }
  if (distances.empty()) return 1;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

Vector conditional_traces(const Matrix& targets, const Matrix& set, double eps) {
  const auto rows = static_cast<double>(targets.rows());
  Vector result = targets.colwise().squaredNorm().transpose() / rows;
  if (set.cols() == 0) return result;
  // (G + NεI)⁻¹ = (I − F (NεI + FᵀF)⁻¹ Fᵀ) / Nε
  Matrix inner = set.transpose() * set;
  inner.diagonal().array() += rows * eps;
  const Matrix told = inner.llt().matrixL().solve(set.transpose() * targets);
  return result - told.colwise().squaredNorm().transpose() / rows;
}

double conditional_trace(const Matrix& target, const Matrix& set, double eps) {
  return conditional_traces(target, set, eps).sum();
}

}  // namespace fansite
