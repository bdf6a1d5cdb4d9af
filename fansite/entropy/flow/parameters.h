// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a FANS network as the paper writes them, in double precision: what the reference computes with and
// what tests compare. Training and densities use the packed single-precision Weights (weights.h).
#pragma once

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "fansite/entropy/flow/shape.h"

namespace fansite::flow {

/// Hidden node (block b, rank r) is row b·R + r; output ℓ of variable j is row j·L + ℓ.
struct Parameters {
  Shape shape;
  Matrix w1;  ///< (α·R)×d, input → hidden
  Vector s1;  ///< scale of each hidden node
  Vector b1;  ///< bias of each hidden node
  Matrix w2;  ///< (d·L)×(α·R), hidden → outputs
  Vector s2;  ///< scale of each output
  Vector b2;  ///< bias of each output
  Matrix v;   ///< 3k×L, from outputs to the sigmoids' slopes a, shifts b and weights w; shared by all variables
  Vector c;   ///< 3k
};

/// All zero.
Parameters zero_parameters(const Shape& shape);

inline constexpr double kInitialSize = 0.001;  ///< of W1, W2 and V

/// The paper's: W1, W2 ~ N(0, 0.001²); s1, b1, s2, b2 ~ U(−1, 1); V ~ U(−0.001, 0.001); c = ln(e^(1−1e-6) − 1) for the
/// slopes, so that they start at 1, and 0 elsewhere.
Parameters initial_parameters(const Shape& shape, Key key);

}  // namespace fansite::flow
