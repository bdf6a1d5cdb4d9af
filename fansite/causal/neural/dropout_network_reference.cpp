// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/dropout_network_reference.h"

#include <cmath>
#include <vector>

namespace fansite::causal::reference {
namespace {

// Linear: values(k, row) = Σ_i W(k, i)·below(i, row) + b(k).
Matrix linear(const double* weights, Index fan_out, const Matrix& below) {
  const Index fan_in = below.rows();
  Matrix values(fan_out, below.cols());
  for (Index row = 0; row < below.cols(); ++row) {
    for (Index k = 0; k < fan_out; ++k) {
      double sum = weights[fan_out * fan_in + k];
      for (Index i = 0; i < fan_in; ++i) sum += weights[fan_out * i + k] * below(i, row);
      values(k, row) = sum;
    }
  }
  return values;
}

void drop_out(double dropout, Random& masks, Matrix& values) {
  const DropoutMask mask(dropout);
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(values.size()));
  mask.draw(masks, kept);
  for (Index at = 0; at < values.size(); ++at) {
    values(at) *= kept[static_cast<std::size_t>(at)] >= mask.kept_from() ? mask.scale() : 0;
  }
}

void normalise(double scale, double shift, Matrix& values) {
  constexpr double kEpsilon = 1e-5;
  double mean = 0, variance = 0;
  for (Index at = 0; at < values.size(); ++at) mean += values(at) / static_cast<double>(values.size());
  for (Index at = 0; at < values.size(); ++at) {
    variance += (values(at) - mean) * (values(at) - mean) / static_cast<double>(values.size());
  }
  for (Index at = 0; at < values.size(); ++at) {
    values(at) = scale * (values(at) - mean) / std::sqrt(variance + kEpsilon) + shift;
  }
}

}  // namespace

Matrix forward(const NetworkShape& shape, std::span<const double> parameters, const Matrix& inputs, Random& masks) {
  Matrix values = inputs;
  for (int layer = 0; layer < shape.layers; ++layer) {
    const Index fan_in = shape.fan_in(layer), fan_out = shape.fan_out(layer);
    const double* const weights = parameters.data() + shape.offset(layer);
    values = linear(weights, fan_out, values);
    if (layer == shape.layers - 1) break;
    drop_out(shape.dropout_of(layer), masks, values);
    for (Index at = 0; at < values.size(); ++at) values(at) = values(at) > 0 ? values(at) : 0;
    normalise(weights[fan_out * (fan_in + 1)], weights[fan_out * (fan_in + 1) + 1], values);
  }
  return values;
}

}  // namespace fansite::causal::reference
