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

/// A mixture of normal distributions, from C logits, means and scales before softplus + 1e-3.
template <class Real>
struct Mixture {
  using Array = Eigen::Array<Real, Eigen::Dynamic, 1>;
  Array weight, log_weight, mean, scale, raw;

  Mixture(const Real* head, Index components) {
    const Eigen::Map<const Array> logits(head, components);
    mean = Eigen::Map<const Array>(head + components, components);
    raw = Eigen::Map<const Array>(head + 2 * components, components);
    log_weight = logits - logits.maxCoeff();
    log_weight -= std::log(log_weight.exp().sum());
    weight = log_weight.exp();
    scale = raw.unaryExpr([](Real x) { return softplus(x) + static_cast<Real>(1e-3); });
  }

  /// ln of each part of the density at x.
  Array parts(Real x) const {
    return log_weight - scale.log() - ((x - mean) / scale).square() / 2 - static_cast<Real>(0.9189385332046727);
  }
  Real log_density(Real x) const {
    const Array l = parts(x);
    const Real top = l.maxCoeff();
    return top + std::log((l - top).exp().sum());
  }
  /// Of ln q(x), by the head, `times`, added.
  void add_gradient(Real x, Real times, Real* by_head) const {
    const Index c = mean.size();
    Array share = parts(x);
    share = (share - share.maxCoeff()).exp();
    share /= share.sum();
    const Array away = (x - mean) / scale;
    Eigen::Map<Array> to(by_head, 3 * c);
    to.head(c) += times * (share - weight);
    to.segment(c, c) += times * share * away / scale;
    to.tail(c) += times * share * (away.square() - 1) / scale * raw.unaryExpr([](Real r) { return sigmoid(r); });
  }
  /// So many samples, their components in the right shares (systematic sampling).
  void sample(Random& random, Index count, Real* to) const {
    const double offset = random.uniform();
    double below = static_cast<double>(weight[0]);
    Index component = 0;
    for (Index k = 0; k < count; ++k) {
      const double u = (static_cast<double>(k) + offset) / static_cast<double>(count);
      while (u > below && component + 1 < weight.size()) below += static_cast<double>(weight[++component]);
      to[k] = mean[component] + scale[component] * static_cast<Real>(random.normal());
    }
  }
};

}  // namespace fansite::neural
