// SPDX-License-Identifier: Apache-2.0
//
// The regressor of DAT-Moral and DAT (Amin and Wilson, ICML 2024): Linear → Dropout → ReLU → BatchNorm, repeated, and a
// last Linear. A batch norm has one mean, one variance, one scale and one shift for the whole layer, over units and
// rows. Dropout and the batch's own statistics are in force always, also when the networks are scored.
//
// As published many such networks stand side by side in one tensor. They share nothing, so here each is a value of its
// own, and whoever has many runs them in parallel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"

namespace fansite::causal {

struct NetworkShape {
  int inputs = 1;              ///< 1 or more
  int width = 200;             ///< units of each hidden layer
  int layers = 3;              ///< linear ones, the last included; 2 or more
  int outputs = 2;             ///< mean and variance
  double first_dropout = 0.1;  ///< share of the first layer's units that are set to 0
  double dropout = 0.5;        ///< and of each later hidden layer's

  int hidden_layers() const { return layers - 1; }
  int fan_in(int layer) const { return layer == 0 ? inputs : width; }
  int fan_out(int layer) const { return layer == layers - 1 ? outputs : width; }
  double dropout_of(int layer) const { return layer == 0 ? first_dropout : dropout; }
  /// Where a layer's parameters begin: weights (fan-out × fan-in, by columns), biases, and of hidden layers scale and
  /// shift.
  std::size_t offset(int layer) const;
  std::size_t parameters() const { return offset(layers); }
  /// Of one forward and one backward pass over so many rows: 2 each for the values, the inputs' and the weights'
  /// gradients.
  double operations(int rows) const { return 6.0 * rows * static_cast<double>(parameters()); }
};

/// Which units are kept, drawn in the order in which the network's values lie: by units, then rows. The share is exact
/// to 2⁻¹⁶, from 8 random bits for each unit and 8 more for one in 256, since drawing takes a good part of a step.
class DropoutMask {
 public:
  explicit DropoutMask(double dropout);
  /// A unit is kept if its byte is at least this …
  std::uint8_t kept_from() const { return std::max<std::uint8_t>(high_, 1); }
  /// … and scaled so that the mean stays.
  double scale() const { return 65536.0 / (65536.0 - (256 * high_ + low_)); }
  void draw(Random& random, std::span<std::uint8_t> bytes) const;

 private:
  std::uint8_t high_, low_;  // of 2¹⁶ times the share
};

/// Uniform within ±1/√fan-in, weights and biases; scales 1, shifts 0.
template <class Real>
void initialise(const NetworkShape& shape, Random& random, std::span<Real> parameters);

template <class Real>  // float, or double for tests
class DropoutNetwork {
 public:
  using Values = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;  ///< variables or units × rows of the table
  using View = Eigen::Ref<const Values>;

  DropoutNetwork(const NetworkShape& shape, int rows);

  const NetworkShape& shape() const { return shape_; }
  std::span<Real> parameters() { return parameters_; }
  std::span<const Real> parameters() const { return parameters_; }
  /// Of the last pass if that was one to the parameters.
  std::span<Real> gradient() { return gradient_; }
  /// Width × inputs.
  Eigen::Map<const Values> first_weights() const;

  /// Outputs × rows. `inputs` must stay until the backward passes are done.
  const Values& forward(View inputs, Random& masks);
  /// Of a loss whose derivatives by the outputs are given: into gradient().
  void backward_to_parameters(View by_outputs) { backward(by_outputs, true, false); }
  /// Its derivatives by the inputs.
  const Values& backward_to_inputs(View by_outputs) {
    backward(by_outputs, false, true);
    return by_inputs_;
  }

 private:
  // What a hidden layer leaves for the backward pass: its values y before the norm, which makes a·y + c of them.
  struct Hidden {
    Values y;
    double mean = 0, inverse = 0;  // of y, and 1/√(variance + ε)
    Real a = 0, c = 0;
  };
  void backward(View by_outputs, bool to_parameters, bool to_inputs);
  void backward_of_norm(int layer, const Hidden& hidden);

  NetworkShape shape_;
  int rows_;
  std::vector<Real> parameters_, gradient_;
  std::vector<Hidden> hidden_;
  const Real* inputs_ = nullptr;
  Index inputs_stride_ = 0;
  Values outputs_, by_units_, by_units_below_, by_inputs_;
  std::vector<std::uint8_t> kept_;
  std::vector<Real> sums_;  // of each unit over rows: two of them
};

extern template class DropoutNetwork<float>;
extern template class DropoutNetwork<double>;

}  // namespace fansite::causal
