// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/gaussian_bic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fansite/independence/detail/conditioning.h"

namespace fansite {

GaussianBic::GaussianBic(std::shared_ptr<const Covariance> covariance) : covariance_(std::move(covariance)) {}

double GaussianBic::compute(int variable, std::span<const int> parents) const {
  using detail::Conditioning;
  std::vector<int> sorted(parents.begin(), parents.end());
  std::sort(sorted.begin(), sorted.end());
  const Conditioning set(covariance_->correlation, sorted, true);
  const std::vector<double> u = set.loadings(variable);
  const double share = std::max(Conditioning::left(1, u, u), Conditioning::kDetermined);
  const double scale = covariance_->scale(variable);
  const double variance = share * (scale > 0 ? scale * scale : 1);
  const auto rows = static_cast<double>(covariance_->rows);
  return -0.5 * rows * std::log(variance) - 0.5 * std::log(rows) * static_cast<double>(parents.size());
}

double GaussianBic::score(int variable, std::span<const int> parents) const {
  return known_.get(known_.key(variable, parents), [&] { return compute(variable, parents); });
}

}  // namespace fansite
