// SPDX-License-Identifier: Apache-2.0
//
// FANS in plain loops and double precision, written to be read beside the paper: what the fast versions are held to.
#pragma once

#include <span>

#include "fansite/entropy/flow/parameters.h"

namespace fansite::flow::reference {

/// log p(x_S) of one row x of all d values; only those of the subset are read.
double log_density(const Parameters& parameters, std::span<const double> row, std::span<const int> subset);

struct Gradient {
  double loss = 0;      ///< −mean log p(x_S) over the rows, each with its own subset
  Parameters gradient;  ///< of the loss
};
Gradient gradient(const Parameters& parameters, const MatrixView& rows, std::span<const Subset> subsets);

/// Adam as the paper trains: the gradient's norm over all tensors clipped, then β₁ = 0.9, β₂ = 0.999, ε = 1e-8 with
/// bias correction.
class Adam {
 public:
  explicit Adam(const Shape& shape);
  /// One step; returns the norm before the clip.
  double step(Parameters& parameters, const Parameters& gradient, double learning_rate, double clip);

 private:
  Parameters mean_, square_;
  long steps_ = 0;
};

}  // namespace fansite::flow::reference
