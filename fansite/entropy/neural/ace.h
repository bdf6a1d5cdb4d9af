// SPDX-License-Identifier: Apache-2.0
//
// ACE, arbitrary conditional distributions with energy (Strauss and Oliva, NeurIPS 2021). A proposal network sees a
// subset's values and which they are, and gives every other variable a mixture of normal distributions q and a context;
// an energy network says with that context how likely a value is:
//   log p(x_t | x_S) = −E(x_t) − ln( 1/K Σ_k e^−E(x_k) / q(x_k) ),  x_k ~ q.
// The logarithm of a mean over K samples is too small on average, so densities are too large and entropies too low: by
// about half the variance of the samples' weights, over K. Densities of sets are by the chain rule.
#pragma once

#include <memory>

#include "fansite/entropy/neural/network.h"

namespace fansite::neural {

struct AceShape {
  int variables = 0;
  int hidden = 512, blocks = 4;                ///< of the proposal network
  int components = 10, context = 64;           ///< what it gives each variable
  int energy_hidden = 128, energy_blocks = 4;  ///< of the energy network
  int samples = 20;                            ///< K
  int energy_terms = 0;  ///< variables of each row that the energy's loss is a sum over, drawn at random; 0: all
  double warm_up = 0;    ///< steps before the energy counts
  double dropout = 0;

  bool operator==(const AceShape&) const = default;
};

template <class Real>
struct AceNetworks;

template <class Real>
class Ace final : public SubsetNetwork<Real> {
 public:
  explicit Ace(const AceShape& shape);
  ~Ace() override;

  int variables() const override;
  std::size_t size() const override;
  Draws draws() const override { return Draws::conditions; }
  void start(Key key, std::span<Real> parameters) const override;
  /// −(log q + α · energy's log p), over the variables that a row has outside of its subset.
  double loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
              std::span<Real> gradient) const override;
  std::unique_ptr<const flow::SubsetDensity> density(std::span<const Real> parameters) const override;

 private:
  struct Step;
  std::shared_ptr<const AceNetworks<Real>> networks_;
};

}  // namespace fansite::neural
