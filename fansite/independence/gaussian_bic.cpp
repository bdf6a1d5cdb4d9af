// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/gaussian_bic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fansite/independence/detail/conditioning.h"

namespace fansite {

using detail::Conditioning;

namespace {

Conditioning given(const Covariance& covariance, std::span<const int> parents) {
  std::vector<int> sorted(parents.begin(), parents.end());
  std::sort(sorted.begin(), sorted.end());
  return Conditioning(covariance.correlation, sorted, true);
}

}  // namespace

GaussianBic::GaussianBic(std::shared_ptr<const Covariance> covariance) : covariance_(std::move(covariance)) {}

// `share` of its variance is left.
double GaussianBic::of_share(int variable, double share, std::size_t parents) const {
  const double scale = covariance_->scale(variable);
  const double variance = std::max(share, Conditioning::kDetermined) * (scale > 0 ? scale * scale : 1);
  const auto rows = static_cast<double>(covariance_->rows);
  return -0.5 * rows * std::log(variance) - 0.5 * std::log(rows) * static_cast<double>(parents);
}

double GaussianBic::compute(int variable, std::span<const int> parents) const {
  const std::vector<double> u = given(*covariance_, parents).loadings(variable);
  return of_share(variable, Conditioning::left(1, u, u), parents.size());
}

double GaussianBic::score(int variable, std::span<const int> parents) const {
  return known_.get(known_.key(variable, parents), [&] { return compute(variable, parents); });
}

std::vector<double> GaussianBic::score_each(int variable, std::span<const int> parents,
                                            std::span<const int> candidates) const {
  const Conditioning set = given(*covariance_, parents);
  const std::vector<double> u = set.loadings(variable);
  const double share = Conditioning::left(1, u, u);
  std::vector<double> scores;
  scores.reserve(candidates.size());
  for (const int candidate : candidates) {
    const std::vector<double> v = set.loadings(candidate);
    const double own = Conditioning::left(1, v, v);
    const double common = Conditioning::left(covariance_->correlation(variable, candidate), u, v);
    // A candidate that the parents determine tells nothing more.
    const double told = own > Conditioning::kDetermined ? common * common / own : 0;
    scores.push_back(of_share(variable, share - told, parents.size() + 1));
  }
  return scores;
}

}  // namespace fansite
