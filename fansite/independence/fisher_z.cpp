// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/fisher_z.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/special.h"
#include "fansite/independence/detail/conditioning.h"

namespace fansite {
namespace {

using detail::Conditioning;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = 1 - 1e-12;  // of |r|: its atanh stays finite

std::vector<int> sorted(std::span<const int> set) {
  std::vector<int> result(set.begin(), set.end());
  std::sort(result.begin(), result.end());
  return result;
}

// Symmetric in the two, bit for bit.
double correlation_left(const Matrix& correlation, int a, const std::vector<double>& of_a, int b,
                        const std::vector<double>& of_b) {
  const double variance_a = Conditioning::left(correlation(a, a), of_a, of_a);
  const double variance_b = Conditioning::left(correlation(b, b), of_b, of_b);
  if (std::min(variance_a, variance_b) <= Conditioning::kDetermined) return kUndefined;
  const double r = Conditioning::left(correlation(a, b), of_a, of_b) / std::sqrt(variance_a * variance_b);
  return std::clamp(r, -kLargest, kLargest);
}

}  // namespace

double fisher_z_p_value(double correlation, double freedom) {
  return 2 * normal_tail(std::sqrt(freedom) * std::abs(std::atanh(std::clamp(correlation, -kLargest, kLargest))));
}

FisherZ::FisherZ(std::shared_ptr<const Covariance> covariance, bool legacy_onesided)
    : covariance_(std::move(covariance)), legacy_onesided_(legacy_onesided) {}

double FisherZ::partial_correlation(int a, int b, std::span<const int> given) const {
  const Conditioning set(covariance_->correlation, sorted(given));
  if (set.singular()) return kUndefined;
  return correlation_left(covariance_->correlation, a, set.loadings(a), b, set.loadings(b));
}

IndependenceVerdict FisherZ::verdict(double r, std::size_t given) const {
  const double freedom = static_cast<double>(covariance_->rows) - static_cast<double>(given) - 3;
  if (std::isnan(r) || freedom <= 0) return {kUndefined, std::isnan(r) ? 0.0 : std::abs(r)};
  const double p_value =
      legacy_onesided_ ? normal_tail(-std::sqrt(freedom) * std::atanh(r)) : fisher_z_p_value(r, freedom);
  return {p_value, std::abs(r)};
}

IndependenceVerdict FisherZ::test(int a, int b, std::span<const int> given) const {
  return known_.get(known_.key(a, b, given), [&] { return verdict(partial_correlation(a, b, given), given.size()); });
}

// Nothing is remembered: to look an answer up takes as long as to find it when the factor is shared.
std::vector<IndependenceVerdict> FisherZ::test_each(int target, std::span<const int> candidates,
                                                    std::span<const int> given) const {
  const Matrix& correlation = covariance_->correlation;
  const Conditioning set(correlation, sorted(given));
  if (set.singular()) return std::vector<IndependenceVerdict>(candidates.size(), verdict(kUndefined, given.size()));
  const std::vector<double> of_target = set.loadings(target);
  std::vector<IndependenceVerdict> verdicts;
  verdicts.reserve(candidates.size());
  for (const int candidate : candidates) {
    const double r = correlation_left(correlation, target, of_target, candidate, set.loadings(candidate));
    verdicts.push_back(verdict(r, given.size()));
  }
  return verdicts;
}

}  // namespace fansite
