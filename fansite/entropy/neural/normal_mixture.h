// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of normal distributions as a network gives them: density, its gradient, samples.
#pragma once

#include <algorithm>
#include <cmath>

#include "fansite/base/random.h"
#include "fansite/entropy/neural/products.h"

namespace fansite::neural {

template <class Real>
Real softplus(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::abs(x)));
}
template <class Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}

/// A mixture of normal distributions, from C logits, means and scales before softplus + 1e-3. One after the other is
/// read into the same object, which a step does some ten thousand times.
template <class Real>
class Mixture {
 public:
  explicit Mixture(Index components)
      : weight_(components),
        log_factor_(components),
        mean_(components),
        scale_(components),
        slope_(components),
        away_(components),
        share_(components) {}
  Mixture(const Real* head, Index components) : Mixture(components) { read(head); }

  void read(const Real* head) {
    const Index c = mean_.size();
    weight_ = Eigen::Map<const Array>(head, c);
    mean_ = Eigen::Map<const Array>(head + c, c);
    share_ = Eigen::Map<const Array>(head + 2 * c, c);
    away_ = (-share_.abs()).exp();
    scale_ = share_.max(Real{0}) + away_.log1p() + static_cast<Real>(1e-3);
    slope_ = (share_ < 0).select(away_, Real{1}) / (1 + away_);
    weight_ -= weight_.maxCoeff();
    log_factor_ = weight_ - scale_.log();
    weight_ = weight_.exp();
    const Real sum = weight_.sum();
    weight_ /= sum;
    log_factor_ -= std::log(sum) + static_cast<Real>(0.9189385332046727);
  }
  Real log_density(Real x) {
    away_ = (x - mean_) / scale_;
    share_ = log_factor_ - away_.square() / 2;
    const Real top = share_.maxCoeff();
    share_ = (share_ - top).exp();
    total_ = share_.sum();
    return top + std::log(total_);
  }
  /// Of ln q at the x that was asked last, by the head, `times`, added.
  void add_gradient(Real times, Real* by_head) {
    const Index c = mean_.size();
    Eigen::Map<Array> to(by_head, 3 * c);
    to.head(c) += times * (share_ / total_ - weight_);
    share_ *= times / total_ / scale_;
    to.segment(c, c) += share_ * away_;
    to.tail(c) += share_ * (away_.square() - 1) * slope_;
  }
  /// So many samples, their components in the right shares (systematic sampling).
  void sample(Random& random, Index count, Real* to) const {
    const double offset = random.uniform();
    double below = static_cast<double>(weight_[0]);
    Index component = 0;
    for (Index k = 0; k < count; ++k) {
      const double u = (static_cast<double>(k) + offset) / static_cast<double>(count);
      while (u > below && component + 1 < weight_.size()) below += static_cast<double>(weight_[++component]);
      to[k] = mean_[component] + scale_[component] * static_cast<Real>(random.normal());
    }
  }

 private:
  using Array = Eigen::Array<Real, Eigen::Dynamic, 1>;
  // Arrays of one's own are aligned: what vectors of a processor compute of them does not depend on where they lie.
  Array weight_, log_factor_, mean_, scale_, slope_;  // slope: of the scale by what it is the softplus of
  Array away_, share_;                                // at the x that was asked last
  Real total_ = 1;
};

}  // namespace fansite::neural
