// SPDX-License-Identifier: Apache-2.0
//
// The loss of a network on a batch, its gradient, and Adam's step: the fast version of reference.h. Same bits for any
// number of threads.
#pragma once

#include <functional>
#include <memory>

#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/weights.h"

namespace fansite {
class Team;
}

namespace fansite::flow {

/// What Adam multiplies by in its step-th step, counted from 1: learning rate / (1 − β₁ᵗ), and 1 / (1 − β₂ᵗ).
struct AdamRates {
  float rate = 0, square_scale = 1;
};
AdamRates adam_rates(double learning_rate, std::int64_t step);

/// A network in training: weights, Adam's moments, the gradient of the last batch.
class Learner {
 public:
  /// The team, if there is one, must live as long as this does.
  explicit Learner(const Weights& weights, Team* team = nullptr);
  ~Learner();
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;

  const Layout& layout() const;

  /// −mean log p(x_S) over the batch's rows.
  double loss(const Batch& batch);
  /// The same, and its gradient. With a team, one of its threads calls `aside` while the others work.
  double gradient(const Batch& batch, const std::function<void()>& aside = {});
  /// √Σ gradient² of the last batch, before any clip.
  double gradient_norm() const;
  /// Moves the weights by the last gradient, its norm clipped; the gradient is spent by it.
  void adam(double learning_rate, double clip);

  /// What training can be continued from: three arrays of layout().size floats, and the number of steps taken.
  struct State {
    std::vector<float> weights, mean, square;
    std::int64_t steps = 0;
  };
  State state() const;
  std::int64_t steps() const;
  void restore(const State& state);
  Weights weights() const;
  Parameters gradient_parameters() const;  ///< for tests

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace fansite::flow
