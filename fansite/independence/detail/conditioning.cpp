// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/detail/conditioning.h"

#include <cmath>

namespace fansite::detail {

Conditioning::Conditioning(const Matrix& correlation, std::span<const int> given, bool leave_out_redundant)
    : correlation_(correlation) {
  for (const int variable : given) {
    std::vector<double> row = loadings(variable);
    const double variance = left(correlation(variable, variable), row, row);
    if (variance <= kDetermined) {
      if (leave_out_redundant) continue;
      singular_ = true;
      return;
    }
    row.push_back(std::sqrt(variance));
    given_.push_back(variable);
    factor_.push_back(std::move(row));
  }
}

std::vector<double> Conditioning::loadings(int variable) const {
  std::vector<double> u;
  u.reserve(factor_.size() + 1);
  for (std::size_t i = 0; i < factor_.size(); ++i) {
    double value = correlation_(given_[i], variable);
    for (std::size_t k = 0; k < i; ++k) value -= factor_[i][k] * u[k];
    u.push_back(value / factor_[i][i]);
  }
  return u;
}

double Conditioning::left(double correlation, const std::vector<double>& u, const std::vector<double>& v) {
  for (std::size_t k = 0; k < u.size(); ++k) correlation -= u[k] * v[k];
  return correlation;
}

}  // namespace fansite::detail
