// SPDX-License-Identifier: Apache-2.0
//
// BNAF, a block neural autoregressive flow (De Cao, Titov and Aziz, UAI 2019), masked for subsets of the variables. A
// network of blocks, one for each pair of a variable and an earlier one; blocks on the diagonal are positive, so that
// each variable's output increases in it. What is left out is masked after every layer.
#pragma once

#include <memory>

#include "fansite/entropy/neural/network.h"

namespace fansite::neural {

struct BnafShape {
  int variables = 0;
  int width = 10;  ///< hidden units of each variable
  int layers = 1;  ///< hidden layers, with tanh after each
  int flows = 1;   ///< one after the other; all but the last are gated: σ(γ) f(x) + (1 − σ(γ)) x

  bool operator==(const BnafShape&) const = default;
};

/// A layer is e^g v / ‖v‖ row by row, v = e^W in diagonal blocks, W below them, 0 above. Parameters of each: W
/// [out][in], g [out], bias [out]; of each flow but the last its gate γ behind them.
template <class Real>
class Bnaf final : public SubsetNetwork<Real> {
 public:
  explicit Bnaf(const BnafShape& shape);
  ~Bnaf() override;

  int variables() const override;
  std::size_t size() const override;
  void start(Key key, std::span<Real> parameters) const override;
  double loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
              std::span<Real> gradient) const override;
  std::unique_ptr<const flow::SubsetDensity> density(std::span<const Real> parameters) const override;

  /// z and ln dz/dx of the variables of a subset, from one row of all values, in plain loops: what the rest is held to.
  struct Mapped {
    std::vector<double> z, log_slope;
  };
  Mapped reference(std::span<const Real> parameters, std::span<const double> row, const flow::Subset& subset) const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
};

}  // namespace fansite::neural
