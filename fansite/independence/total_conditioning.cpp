// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/total_conditioning.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "fansite/base/special.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/independence/fisher_z.h"

namespace fansite {

TotalConditioning total_conditioning(const Covariance& covariance, const std::vector<int>& variables, double ridge) {
  const auto count = static_cast<Index>(variables.size());
  const double freedom = static_cast<double>(covariance.rows) - static_cast<double>(count) - 1;
  TotalConditioning total;
  total.freedom = std::max(freedom, 1.0);
  Matrix correlation = covariance.correlation(variables, variables);
  Eigen::LLT<Matrix> factor(correlation);
  // A pivot is the share of a variable's variance that those before it do not determine.
  const auto singular = [&] {
    return factor.info() != Eigen::Success ||
           factor.matrixLLT().diagonal().array().square().minCoeff() <= GaussianEstimator::kDetermined;
  };
  total.shrunk = count > 0 && (freedom <= 0 || singular());
  if (total.shrunk) {
    correlation.diagonal().array() += ridge;
    factor.compute(correlation);
  }
  const Matrix precision = factor.solve(Matrix::Identity(count, count));
  total.correlation = Matrix::Identity(count, count);
  total.p_value = Matrix::Zero(count, count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double r = -precision(i, j) / std::sqrt(precision(i, i) * precision(j, j));
      total.correlation(i, j) = total.correlation(j, i) = r;
      total.p_value(i, j) = total.p_value(j, i) = fisher_z_p_value(r, total.freedom);
    }
  }
  return total;
}

double total_conditioning_threshold(int variables, double rows, double alpha) {
  return std::tanh(-normal_quantile(alpha / 2) / std::sqrt(rows - variables - 1));
}

}  // namespace fansite
