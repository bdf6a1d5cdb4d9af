// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/detail/ace_networks.h"

#include <algorithm>

#include "fansite/entropy/neural/normal_mixture.h"
#include "fansite/entropy/neural/units.h"

namespace fansite::neural {
namespace {

constexpr double kMostEnergy = 30;

}  // namespace

template <class Real>
AceNetworks<Real>::AceNetworks(const AceShape& s)
    : shape(s),
      d(s.variables),
      hidden(s.hidden),
      head(3 * s.components),
      context(s.context),
      wide(s.energy_hidden),
      blocks(s.hidden, s.blocks, s.dropout),
      energy_blocks(s.energy_hidden, s.energy_blocks, s.dropout) {
  in_bias = in + hidden * 2 * d;
  first_block = in_bias + hidden;
  mixtures = first_block + blocks.size();
  contexts = mixtures + d * head * hidden;
  mixture_bias = contexts + d * context * hidden;
  context_bias = mixture_bias + d * head;
  value = context_bias + d * context;
  one_hot = value + wide;
  from_context = one_hot + d * wide;  // a row of `wide` for each variable
  energy_bias = from_context + wide * context;
  first_energy_block = energy_bias + wide;
  last = first_energy_block + energy_blocks.size();
  last_bias = last + wide;
  size = last_bias + 1;
}

template <class Real>
void AceNetworks<Real>::start(Key key, Real* p) const {
  Random random(key);
  std::fill_n(p, size, Real{0});  // biases
  start_dense(random, hidden, 2 * d, p + in);
  blocks.start(random, p + first_block);
  start_dense(random, d * (head + context), hidden, p + mixtures);
  start_dense(random, 1 + d + context, wide, p + value);  // of value, variables and context
  energy_blocks.start(random, p + first_energy_block);
  start_dense(random, 1, wide, p + last);
}

template <class Real>
Rows<Real> AceNetworks<Real>::energy_base(const Real* p, const RowsView<Real>& told,
                                          std::span<const int> variables) const {
  Rows<Real> base(told.rows(), wide);
  times_transposed<Real>(told, matrix(p, from_context, wide, context), base);
  for (Index t = 0; t < base.rows(); ++t) {
    base.row(t).array() +=
        vector(p, energy_bias, wide) + vector(p, one_hot + Index{variables[static_cast<std::size_t>(t)]} * wide, wide);
  }
  return base;
}

template <class Real>
Rows<Real> AceNetworks<Real>::energies(const Real* p, const Rows<Real>& base, const Rows<Real>& values,
                                       EnergyTrace& trace, bool keep, Random* random) const {
  const Index terms = values.rows(), count = values.cols();
  Rows<Real> h(terms * count, wide);
  const auto weight = vector(p, value, wide);
  for (Index t = 0; t < terms; ++t) {
    for (Index k = 0; k < count; ++k) h.row(t * count + k) = base.row(t).array() + weight * values(t, k);
  }
  energy_blocks.forward(p + first_energy_block, h, trace.blocks, keep, random);
  const auto to_last = vector(p, last, wide);
  trace.raw.resize(terms, count);
  Rows<Real> result(terms, count);
  for (Index i = 0; i < result.size(); ++i) {
    const Real raw = (trace.blocks.top.row(i).array() * to_last).sum() + p[last_bias];
    trace.raw.data()[i] = raw;
    result.data()[i] = std::min(softplus(raw), static_cast<Real>(kMostEnergy));
  }
  if (keep) trace.values = values;
  return result;
}

template <class Real>
Rows<Real> AceNetworks<Real>::energies_back(const Real* p, const EnergyTrace& trace, const Rows<Real>& by_energy,
                                            Real* g) const {
  const Index terms = by_energy.rows(), count = by_energy.cols();
  const Rows<Real>& top = trace.blocks.top;
  Rows<Real> by_h(terms * count, wide);
  const auto to_last = vector(p, last, wide);
  Eigen::Map<RowVector> by_last(g + (last - value), wide);
  for (Index i = 0; i < by_h.rows(); ++i) {
    const Real raw = trace.raw.data()[i];
    const Real by_raw = softplus(raw) < static_cast<Real>(kMostEnergy) ? by_energy.data()[i] * sigmoid(raw) : Real{0};
    by_last += by_raw * top.row(i).array();
    g[last_bias - value] += by_raw;
    by_h.row(i) = by_raw * to_last;
  }
  back_through_relu(top, by_h);
  energy_blocks.backward(p + first_energy_block, trace.blocks, by_h, g + (first_energy_block - value));
  Rows<Real> by_base = Rows<Real>::Zero(terms, wide);
  Eigen::Map<RowVector> by_value(g, wide);
  for (Index t = 0; t < terms; ++t) {
    for (Index k = 0; k < count; ++k) {
      by_base.row(t) += by_h.row(t * count + k);
      by_value += by_h.row(t * count + k).array() * trace.values(t, k);
    }
  }
  return by_base;
}

template struct AceNetworks<float>;
template struct AceNetworks<double>;

}  // namespace fansite::neural
