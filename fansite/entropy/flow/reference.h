// SPDX-License-Identifier: Apache-2.0
//
// FANS in plain loops and double precision, written to be read beside the paper: what the fast versions are held to.
#pragma once

#include <span>
#include <vector>

#include "fansite/entropy/flow/parameters.h"
#include "fansite/table/transform.h"

namespace fansite::flow::reference {

/// log p(x_S) of one row x of all d cells; only those of the subset are read. An interval's term is the log probability
/// ln(Φ(z(high)) − Φ(z(low))); as a condition it is its score. None of the subset is absent.
double log_density(const Parameters& parameters, std::span<const Cell> row, std::span<const int> subset);
/// The same of numbers.
double log_density(const Parameters& parameters, std::span<const double> row, std::span<const int> subset);

struct Gradient {
  double loss = 0;      ///< −mean log p(x_S) over the rows, each with its own subset
  Parameters gradient;  ///< of the loss
};
Gradient gradient(const Parameters& parameters, const MatrixView& rows, std::span<const Subset> subsets);
Gradient gradient(const Parameters& parameters, std::span<const std::vector<Cell>> rows,
                  std::span<const Subset> subsets);

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
