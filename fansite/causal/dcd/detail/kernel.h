// SPDX-License-Identifier: Apache-2.0
//
// The network of one child on a batch: loss, gradient, penalties and Adam, vectorised over rows (Highway, run-time
// dispatch).
//
// A child's parameters lie together, so that whoever owns the child shares nothing with others:
//   W [parent][h], b [h], m [h], s [h], m0, s0, then zeros up to a multiple of 16.
#pragma once

#include <algorithm>

#include "fansite/causal/dcd/reference.h"

namespace fansite::causal::kernel {

/// Rows come in steps of this many, two vectors of 16; the last step is filled up with zeros.
inline constexpr Index kRowStep = 32;
/// Rows in flight: ten hidden units on them take 10 KB and stay in the first-level cache.
inline constexpr Index kRows = 256;
/// Parameters of a child are padded to a multiple of this.
inline constexpr Index kChunk = 16;

/// Floats of a child. A vector that begins inside W ends inside the child's own floats, even with one hidden unit.
inline Index child_size(Index parents, int hidden) {
  const Index used = std::max((parents + 3) * hidden + 2, parents * hidden + kChunk);
  return (used + kChunk - 1) / kChunk * kChunk;
}

struct Child {
  int variable = 0;
  const int* parents = nullptr;
  Index parent_count = 0;
  int hidden = 0;
  Variance variance = Variance::network;
  const float* values = nullptr;  ///< variable i has values[i·stride ..], aligned and padded to kRowStep with zeros
  Index stride = 0;
  Index rows = 0;
  const float* parameters = nullptr;
  float* gradient = nullptr;  ///< of the loss; null: the loss alone
  float* scratch = nullptr;   ///< scratch_size(hidden) floats, aligned
};
inline Index scratch_size(int hidden) { return (hidden + 2) * kRows; }

/// −mean log likelihood of the child's values over the rows.
double likelihood(const Child& child);

/// Adds to the gradient what the penalties have: l1·sign(W) + (2·l2 + pull)·W, where `pull` is one number per parent,
/// and 2·l2·p for the parameters behind W.
struct PenaltyStep {
  Index parent_count = 0;
  int hidden = 0;
  const float* parameters = nullptr;
  float* gradient = nullptr;
  float l1 = 0, l2 = 0;
  const float* pull = nullptr;  ///< γ G / A, or null for none
};
void add_penalties(const PenaltyStep& step);

struct AdamStep {
  Index count = 0;  ///< a multiple of kChunk
  float* parameters = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  float rate = 0;          ///< learning rate / (1 − β₁ᵗ)
  float square_scale = 1;  ///< 1 / (1 − β₂ᵗ)
};
inline constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
void adam(const AdamStep& step);

/// ‖W[parent]‖₂ of each parent.
void norms(const float* weights, Index parent_count, int hidden, double* to);

}  // namespace fansite::causal::kernel
