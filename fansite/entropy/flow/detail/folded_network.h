// SPDX-License-Identifier: Apache-2.0
//
// A trained network in the form densities are computed from: V folded into W2, so that a (rank, variable) pair costs 3k
// instead of L multiply-adds a hidden node. Weights are multiplied by log2 e: every e^q is then a 2^q'.
#pragma once

#include <span>
#include <vector>

#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/weights.h"

namespace fansite::flow {

struct FoldedNetwork {
  FoldedNetwork(const Weights& weights, const GaussianBase& base);
  /// The base alone, without a network.
  explicit FoldedNetwork(const GaussianBase& base);

  Shape shape;
  GaussianBase base;
  bool only_base = false;     ///< no network: the map of every variable is the identity
  Index pair = 0;             ///< floats of a (rank, variable) block: α·3k
  std::vector<float> w1;      ///< [rank][input][α]
  std::vector<float> b1;      ///< [rank][α]
  std::vector<float> g;       ///< [variable][rank][α][3k]
  std::vector<float> g0;      ///< [variable][3k]
  std::vector<Index> w1_row;  ///< where a rank's blocks start
  std::vector<Index> g_row;   ///< where a variable's blocks start

  const float* input(int rank, int variable) const {
    return w1.data() + w1_row[static_cast<std::size_t>(rank)] + variable * shape.blocks;
  }
  const float* block(int variable, int rank) const {
    return g.data() + g_row[static_cast<std::size_t>(variable)] + rank * pair;
  }
};

/// A UsageError unless this is the s-th of the subsets that a network of this shape has a density for.
void check_subset(const Shape& shape, std::span<const int> subset, std::size_t s);

}  // namespace fansite::flow
