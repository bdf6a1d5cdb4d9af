// SPDX-License-Identifier: Apache-2.0
//
// DAT's test of one ordered pair (i, j): does x_i tell anything of x_j given some of i's Markov boundary? Which of it
// is learnt: each member is mixed with noise, ψ·x + (1 − ψ)·noise, and ψ seeks the mixture in which x_i tells least.
//   network 1 predicts mean and variance of x_j from the mixture, and leaves the residual r
//   network 2 predicts r from the mixture and x_i
//   L1 = mean |r|², L2 = mean |r − network 2|²; L1 − L2 is what x_i explains
// Even steps change ψ to make L1 − L2 small, odd ones the networks to make L1 + L2 small.
#pragma once

#include <vector>

#include "fansite/base/progress.h"
#include "fansite/base/random.h"
#include "fansite/causal/neural/dropout_network.h"
#include "fansite/causal/neural/regressor_params.h"
#include "fansite/causal/neural/row_batches.h"

namespace fansite::causal {

/// Noise with heavier tails than Laplace's: ∓ln(2·min(u, 1 − u) + 1e-10), raised to the power 1.1 where it is beyond
/// ±1.
double heavy_laplace(double uniform);

/// One batch of rows: the boundary's members with a noise of their own (members × rows), x_i and x_j.
template <class Real>
struct PairBatch {
  typename DropoutNetwork<Real>::Values members, noise;
  Eigen::Matrix<Real, 1, Eigen::Dynamic> x, y;
};

template <class Real>  // float, or double for tests
class PairNetworks {
 public:
  using Values = typename DropoutNetwork<Real>::Values;

  /// The shape is that of network 1, one input for each member; network 2 has one more. ψ is 1/2.
  PairNetworks(const NetworkShape& shape, int rows);

  DropoutNetwork<Real>& first() { return first_; }
  DropoutNetwork<Real>& second() { return second_; }
  std::span<Real> logits() { return logits_; }
  std::vector<double> psi() const;  ///< 1 / (1 + e^−logit)

  struct Losses {
    double first = 0, second = 0;
  };
  Losses forward(const PairBatch<Real>& batch, Random& first_masks, Random& second_masks);
  /// Derivatives of L1 − L2 by the logits, through the residual too. Its variance part r₂ = e² − g takes e² as given.
  std::span<const Real> backward_to_logits(const PairBatch<Real>& batch);
  /// Derivatives of L1 + L2, with r in L2 as given: the networks' gradients.
  void backward_to_networks();

 private:
  DropoutNetwork<Real> first_, second_;
  std::vector<Real> logits_, by_logits_;
  Values inputs_;  // the mixture, and x_i below it
  Values residual_, second_outputs_;
};

extern template class PairNetworks<float>;
extern template class PairNetworks<double>;

/// Who is tested. Members are i's boundary without j; −1 stands for a variable that is always 0.
struct OrderedPair {
  int i = 0, j = 0;
  std::vector<int> members;
};

/// L1 − L2 after training, the mean over further batches, and then ψ of each member. Of all steps a share
/// steps : scoring trains. Empty if time runs out first.
std::vector<double> test_pair(const RowBatches& table, const OrderedPair& pair, const RegressorParams& params,
                              int scoring, int steps, Key key, Progress& progress);

}  // namespace fansite::causal
