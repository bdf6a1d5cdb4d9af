// SPDX-License-Identifier: Apache-2.0
//
// A linear Gaussian model under the flow. The flow then describes what is not linear or not Gaussian: it gets, instead
// of x_j, the innovation u_j = (x_j − E[x_j | earlier x_S]) / σ_j of the Gaussian with the data's mean and covariance.
// Linear Gaussian data are exact before the first step; with no base it is the paper's model.
//
// Of a column with intervals the data's scores are a coarse version of a standard normal variable, which is what is
// predicted: with a reliability ρ, cov(score, x_S) = ρ cov(normal variable, x_S). By itself each level has its share.
#pragma once

#include <span>

#include "fansite/base/matrix.h"
#include "fansite/entropy/flow/batch.h"

namespace fansite::flow {

class GaussianBase {
 public:
  GaussianBase() = default;  ///< none: innovations are the values
  GaussianBase(Vector mean, Matrix covariance);
  /// Mean and covariance of these rows, the correlations shrunk by as much as they are noise: little with many rows,
  /// and always by a prior worth one row, which makes collinear columns and more columns than rows safe.
  /// Absent cells are allowed for (EM).
  GaussianBase(const RowTable& data, std::span<const int> rows);

  bool empty() const { return mean_.size() == 0; }
  const Vector& mean() const { return mean_; }
  const Matrix& covariance() const { return covariance_; }
  bool operator==(const GaussianBase& other) const;
  /// One per variable, 1 for a column of numbers; empty: all are 1.
  void set_reliability(Vector reliability) { reliability_ = std::move(reliability); }
  const Vector& reliability() const { return reliability_; }

  /// The Cholesky factor of a subset's covariance one variable at a time: row p, of p+1 numbers, from the rows before
  /// it, which lie `stride` apart. u_p = (x_p − mean_p − Σ_q<p row[q] u_q) / row[p].
  void factor_row(std::span<const int> subset, int p, double* rows, Index stride) const;

  /// How variable j at place p is predicted, from its row of the factor:
  /// u = (x − shift − factor · Σ_q<p row[q] u_q) / scale.
  struct Prediction {
    double factor = 1, shift = 0, scale = 1;
  };
  Prediction prediction(int variable, const double* row, int p) const;

  /// The innovations of a row's subset; returns Σ ln σ_j. `scratch` is the caller's, to be reused.
  double innovations(std::span<const int> subset, const float* values, float* out, std::vector<double>& scratch) const;
  /// The same of cells, with the ends of intervals; σ counts for numbers only.
  double innovations(std::span<const int> subset, const CellRow& cells, float* out, float* low, float* high,
                     std::vector<double>& scratch) const;

 private:
  Vector mean_;
  Matrix covariance_;
  Vector reliability_;
};

}  // namespace fansite::flow
