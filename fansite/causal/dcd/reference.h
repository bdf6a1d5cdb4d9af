// SPDX-License-Identifier: Apache-2.0
//
// The networks of SDCD and FANSITE-DCD in plain loops and double precision, d×d×h weights and all, written to be read
// beside the paper: what the fast version is held to.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"

namespace fansite::causal {

/// Where a network's variance comes from.
enum class Variance {
  network,   ///< a second head: softplus(hidden · s + s0)
  unit,      ///< 1
  parameter  ///< softplus(s0), one number per variable
};
constexpr auto enum_names(Variance) {
  return std::to_array<EnumName<Variance>>(
      {{Variance::network, "network"}, {Variance::unit, "unit"}, {Variance::parameter, "parameter"}});
}

/// Of d networks, one per variable j, with h hidden units each:
///   hidden = sigmoid(Σ_i x_i W[i][j] + b[j]),  mean = hidden · m[j] + m0[j],  variance as above.
struct NetworkParameters {
  std::vector<Matrix> w;  ///< of each child j: d×h, row i the weights of parent i; 0 where the mask is
  Matrix b, m, s;         ///< d×h
  Vector m0, s0;          ///< d
};
NetworkParameters zero_networks(int variables, int hidden);

namespace reference {

inline constexpr double kLeastVariance = 1e-8;  ///< softplus may underflow, and the likelihood with it

struct Forward {
  std::vector<Matrix> hidden;  ///< of each child: rows×h
  Matrix mean, variance;       ///< rows×d
};
Forward forward(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind);

/// A[i][j] = ‖W[i][j] mask[i][j]‖₂.
Matrix adjacency(const NetworkParameters& p, const ByteMatrix& mask);

/// What is added to the likelihood.
struct Penalties {
  double l1 = 0;     ///< α Σ|W|
  double l2 = 0;     ///< β Σ p², over all parameters
  double gamma = 0;  ///< γ Σ G∘A
  Matrix slope;      ///< G, d×d; may be empty if γ = 0
};

struct Loss {
  double nll = 0;  ///< −log likelihood: summed over variables, mean over rows
  double l1 = 0, l2 = 0, dag = 0;
  double total() const { return nll + l1 + l2 + dag; }
};
Loss loss(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind,
          const Penalties& penalties);
/// Of the total, with G constant; |w| and ‖W‖ have slope 0 at 0, and so has the variance at its least.
NetworkParameters gradient(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind,
                           const Penalties& penalties);

/// β₁ = 0.9, β₂ = 0.999, ε = 1e-8, with bias correction.
class Adam {
 public:
  Adam(int variables, int hidden);
  void step(NetworkParameters& p, const NetworkParameters& gradient, double learning_rate);

 private:
  NetworkParameters mean_, square_;
  long steps_ = 0;
};

}  // namespace reference
}  // namespace fansite::causal
