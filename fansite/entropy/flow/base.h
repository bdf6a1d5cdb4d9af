// SPDX-License-Identifier: Apache-2.0
//
// A linear Gaussian model under the flow. The flow then describes what is not linear or not Gaussian: it gets, instead
// of x_j, the innovation u_j = (x_j − E[x_j | earlier x_S]) / σ_j of the Gaussian with the data's mean and covariance.
// Linear Gaussian data are exact before the first step; with no base it is the paper's model.
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
  GaussianBase(const RowTable& data, std::span<const int> rows);

  bool empty() const { return mean_.size() == 0; }
  const Vector& mean() const { return mean_; }
  const Matrix& covariance() const { return covariance_; }
  bool operator==(const GaussianBase& other) const;

  /// The Cholesky factor of a subset's covariance one variable at a time: row p, of p+1 numbers, from the rows before
  /// it, which lie `stride` apart. u_p = (x_p − mean_p − Σ_q<p row[q] u_q) / row[p].
  void factor_row(std::span<const int> subset, int p, double* rows, Index stride) const;

  /// The innovations of a row's subset; returns Σ ln σ_j. `scratch` is the caller's, to be reused.
  double innovations(std::span<const int> subset, const float* values, float* out, std::vector<double>& scratch) const;

 private:
  Vector mean_;
  Matrix covariance_;
};

}  // namespace fansite::flow
