// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/adam.h"

#include <cassert>
#include <cmath>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/matrix.h"

namespace fansite {
namespace {

template <class Real>
using View = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;
template <class Real>
using ConstView = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;

}  // namespace

template <class Real>
Adam<Real>::Adam(std::size_t size, const AdamRates& rates) : rates_(rates) {
  state_.mean.assign(size, 0);
  state_.square.assign(size, 0);
  if (rates.largest) state_.largest.assign(size, 0);
}

template <class Real>
void Adam<Real>::step(std::span<Real> parameters, std::span<const Real> gradient, double rate) {
  assert(parameters.size() == state_.mean.size() && gradient.size() == state_.mean.size());
  const auto size = static_cast<Index>(parameters.size());
  const auto steps = static_cast<double>(++state_.steps);
  const auto b1 = static_cast<Real>(rates_.beta1), b2 = static_cast<Real>(rates_.beta2);
  const auto scale = static_cast<Real>(rate / (1 - std::pow(rates_.beta1, steps)));
  const auto root = static_cast<Real>(1 / std::sqrt(1 - std::pow(rates_.beta2, steps)));
  const auto epsilon = static_cast<Real>(rates_.epsilon);

  View<Real> p(parameters.data(), size), mean(state_.mean.data(), size), square(state_.square.data(), size);
  const ConstView<Real> g(gradient.data(), size);
  mean = b1 * mean + (1 - b1) * g;
  square = b2 * square + (1 - b2) * g.square();
  if (rates_.largest) {
    View<Real> largest(state_.largest.data(), size);
    largest = largest.max(square);
    p -= scale * mean / (largest.sqrt() * root + epsilon);
  } else {
    p -= scale * mean / (square.sqrt() * root + epsilon);
  }
}

template <class Real>
void Adam<Real>::restore(State state) {
  const std::size_t size = state_.mean.size();
  check(state.mean.size() == size && state.square.size() == size && state.largest.size() == state_.largest.size(),
        "[adam] the state is of {} parameters, not of {}", state.mean.size(), size);
  state_ = std::move(state);
}

template <class Real>
double clip_norm(std::span<Real> gradient, double largest) {
  View<Real> g(gradient.data(), static_cast<Index>(gradient.size()));
  const double norm = std::sqrt(g.template cast<double>().square().sum());
  if (std::isfinite(norm) && norm > largest) g *= static_cast<Real>(largest / norm);
  return norm;
}

template class Adam<float>;
template class Adam<double>;
template double clip_norm(std::span<float>, double);
template double clip_norm(std::span<double>, double);

}  // namespace fansite
