// SPDX-License-Identifier: Apache-2.0
//
// Residual blocks of dense layers: h + B relu(A relu(h) + a) + b, one after the other.
#pragma once

#include <vector>

#include "fansite/base/random.h"
#include "fansite/entropy/neural/products.h"

namespace fansite::neural {

template <class Real>
class Residual {
 public:
  /// `dropout`: the share of the inner units that a training step leaves out.
  Residual(Index width, Index blocks, double dropout = 0) : width_(width), blocks_(blocks), dropout_(dropout) {}

  /// Of each block: A [width][width], a, B [width][width], b.
  Index size() const { return blocks_ * block_size(); }
  void start(Random& random, Real* parameters) const;

  struct Trace {
    std::vector<Rows<Real>> outer, inner;  // of each block: relu(h), and relu(A relu(h) + a) after dropout
    bool dropped = false;
    Rows<Real> top;  // relu of what came out
  };
  /// In place; `trace`: for the way back, and in any case the relu of what comes out; `keep`: all of the way back is
  /// wanted; `random`: leaves units out.
  void forward(const Real* parameters, Rows<Real>& h, Trace& trace, bool keep, Random* random = nullptr) const;
  /// From the loss by what came out to that by what went in, in place; adds to the gradient.
  void backward(const Real* parameters, const Trace& trace, Rows<Real>& by_h, Real* gradient) const;

 private:
  Index block_size() const { return 2 * (width_ * width_ + width_); }

  Index width_, blocks_;
  double dropout_;
};

/// Weights [outputs][inputs] uniform within √(6 / (inputs + outputs)) (Glorot and Bengio, 2010).
template <class Real>
void start_dense(Random& random, Index outputs, Index inputs, Real* weights);

}  // namespace fansite::neural
