// SPDX-License-Identifier: Apache-2.0
//
// The two networks of ACE: where their parameters lie, and the energy network there and back.
#pragma once

#include <span>

#include "fansite/entropy/neural/ace.h"
#include "fansite/entropy/neural/residual.h"

namespace fansite::neural {

/// Parameters are, one after the other: the proposal's input layer and blocks; its output layer, the mixtures of all
/// variables and then their contexts, which are only computed where an energy is asked for; the energy's first layer,
/// for the value, each variable and the context, its blocks and its last layer.
template <class Real>
struct AceNetworks {
  AceShape shape;
  Index d, hidden, head, context, wide;  ///< head: outputs that are a variable's mixture; wide: hidden of the energy
  Residual<Real> blocks, energy_blocks;
  Index in = 0, in_bias, first_block, mixtures, contexts, mixture_bias, context_bias;
  Index value, one_hot, from_context, energy_bias, first_energy_block, last, last_bias, size;

  explicit AceNetworks(const AceShape& shape);
  void start(Key key, Real* parameters) const;

  using RowVector = Eigen::Array<Real, 1, Eigen::Dynamic>;
  Eigen::Map<const Rows<Real>> matrix(const Real* p, Index at, Index rows, Index cols) const {
    return {p + at, rows, cols};
  }
  Eigen::Map<const RowVector> vector(const Real* p, Index at, Index count) const { return {p + at, count}; }
  /// A variable's part of the output layer: [head][hidden] and [context][hidden].
  Eigen::Map<const Rows<Real>> mixture_of(const Real* p, Index variable) const {
    return matrix(p, mixtures + variable * head * hidden, head, hidden);
  }
  Eigen::Map<const Rows<Real>> context_of(const Real* p, Index variable) const {
    return matrix(p, contexts + variable * context * hidden, context, hidden);
  }

  /// What variables and contexts say to the energy's first layer, a row for each.
  Rows<Real> energy_base(const Real* p, const RowsView<Real>& contexts, std::span<const int> variables) const;

  struct EnergyTrace {
    Rows<Real> values;
    typename Residual<Real>::Trace blocks;
    Rows<Real> raw;  // before softplus and clip
  };
  /// Energies of several values of each row of `base`; `keep`: the way back is wanted; `random`: leaves units out.
  Rows<Real> energies(const Real* p, const Rows<Real>& base, const Rows<Real>& values, EnergyTrace& trace, bool keep,
                      Random* random) const;
  /// From the loss by energies to that by `base`; adds to `g`, the gradient by the parameters from `value` on.
  Rows<Real> energies_back(const Real* p, const EnergyTrace& trace, const Rows<Real>& by_energy, Real* g) const;
};

}  // namespace fansite::neural
