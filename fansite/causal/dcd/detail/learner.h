// SPDX-License-Identifier: Apache-2.0
//
// The networks of all variables in training, their weights only for allowed pairs: the fast version of
// differentiable_reference.h. Same bits for any number of threads.
//
// A step is two rounds. In the first, each child's network has its likelihood and gradient, and the power iterations of
// the acyclicity penalty run beside them; in the second, each child adds its penalties and moves. No two pieces of a
// round write the same place and nothing is reduced across threads.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fansite/causal/dcd/pairs.h"
#include "fansite/causal/dcd/reference.h"
#include "fansite/causal/dcd/spectral.h"

namespace fansite {
class Team;
}

namespace fansite::causal {

/// Rows of a table, each variable's values side by side.
struct Batch {
  const float* values = nullptr;  ///< variable j has values[j·stride ..], followed by zeros up to a whole step
  Index stride = 0;
  Index rows = 0;
};

/// A table cut into batches of `batch` rows; the last may be shorter.
class Batches {
 public:
  Batches(int variables, Index rows, Index batch);
  int count() const { return static_cast<int>((rows_ + batch_ - 1) / batch_); }
  Batch operator[](int i) const;
  /// Row k of the table gets column[order[k]] as its value of variable j.
  void fill(int j, const float* column, std::span<const int> order);

 private:
  Index variables_, rows_, batch_, stride_;
  hwy::AlignedFreeUniquePtr<float[]> values_;
};

class Learner {
 public:
  /// Parameters are 0. Without power iterations there is no acyclicity penalty. The team, if there is one, must live as
  /// long as this does.
  Learner(AllowedPairs pairs, int hidden, Variance variance, std::optional<int> power_iterations, Team* team = nullptr);

  const AllowedPairs& pairs() const { return pairs_; }
  Team* team() const { return team_; }

  /// −mean log likelihood over the rows, summed over the variables.
  double loss(const Batch& batch);

  struct Penalties {
    double l1 = 0, l2 = 0, gamma = 0;
  };
  /// One step of Adam on −log likelihood and penalties. Returns the former, before the step.
  double step(const Batch& batch, const Penalties& penalties, double learning_rate);
  /// The gradient that a step would follow, for tests; u and v of the penalty go on as in a step.
  NetworkParameters gradient(const Batch& batch, const Penalties& penalties);

  /// A of each pair: ‖W‖₂.
  const std::vector<double>& weights() const { return weights_; }
  const SpectralPenalty* penalty() const { return penalty_ ? &*penalty_ : nullptr; }

  /// One child's parameters, laid out as W [parent][h], b, m, s, m0, s0.
  std::span<float> child(int j);
  /// To be called after parameters were set: starts Adam and the penalty afresh.
  void begin();
  void set(const NetworkParameters& parameters);  ///< and begin()
  NetworkParameters parameters() const { return unpack(parameters_.get()); }

  /// All that changes in training.
  struct State {
    std::vector<float> parameters, mean, square;
    std::int64_t steps = 0;
    SpectralPenalty::State penalty;  ///< empty without one
  };
  State state() const;
  void restore(const State& state);
  /// Parameters alone, to be kept or shown.
  std::vector<float> kept() const { return {parameters_.get(), parameters_.get() + size_}; }
  void restore_parameters(const std::vector<float>& parameters);

 private:
  using Floats = hwy::AlignedFreeUniquePtr<float[]>;
  struct Piece {
    int first = 0, last = 0;
  };
  template <class Body>
  void for_each(int count, Body&& body);
  double forward(const Batch& batch, bool with_gradient);
  void add_penalties(int j, const Penalties& penalties);
  void measure(int j);
  NetworkParameters unpack(const float* values) const;

  AllowedPairs pairs_;
  int hidden_;
  Variance variance_;
  Team* team_;
  std::optional<SpectralPenalty> penalty_;
  std::vector<Index> block_;   // where each child's parameters begin, and the end
  std::vector<Piece> pieces_;  // children, in groups of similar cost
  Index size_ = 0;
  Floats parameters_, mean_, square_, gradient_;
  std::vector<double> weights_;
  std::vector<float> pull_;     // γ G / A of each pair
  std::vector<double> losses_;  // of each child
  std::int64_t steps_ = 0;
};

}  // namespace fansite::causal
