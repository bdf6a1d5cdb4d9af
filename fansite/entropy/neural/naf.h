// SPDX-License-Identifier: Apache-2.0
//
// NAF, a neural autoregressive flow (Huang, Krueger, Lacoste and Courville, ICML 2018), as the paper's authors mask it
// for subsets of the variables: a masked network (MADE) of one hidden layer sees the subset's values, zeros elsewhere,
// and gives each variable of the subset an increasing map to a standard normal one. Unlike FANS it cannot tell a
// variable that is left out from one that is zero.
#pragma once

#include <memory>

#include "fansite/entropy/flow/shape.h"
#include "fansite/entropy/neural/network.h"

namespace fansite::neural {

/// 6 hidden units of each rank 0..d−2; a unit of rank r sees variables 0..r, and variable i is told by the units of
/// ranks below i. Rows of the output weights are divided by their length, masked entries counted, then masked.
/// Parameters: W1 [hidden][d], s1, b1 [hidden], W2 [d·L][hidden], s2, b2 [d·L], V [3k][L], c [3k].
template <class Real>
class Naf final : public SubsetNetwork<Real> {
 public:
  /// Full: ranks = variables − 1.
  explicit Naf(const flow::Shape& shape);

  int variables() const override { return shape_.variables; }
  std::size_t size() const override;
  /// With the weights of maps from an empty context, which their code has and never uses.
  std::int64_t published_size() const override;
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
  flow::Shape shape_;
};

/// Trainable numbers of NAF and FANS as published: h·d + 4h + d·L·h + 4·d·L + 3k(L+1).
std::int64_t published_size(const flow::Shape& shape);

}  // namespace fansite::neural
