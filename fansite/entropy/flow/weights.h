// SPDX-License-Identifier: Apache-2.0
//
// A network's parameters in single precision, packed for the kernels: what an output variable j and a hidden rank r
// have to do with each other is one contiguous block, and pairs that no subset can use do not exist.
#pragma once

#include <vector>

#include "fansite/entropy/flow/parameters.h"

namespace fansite::flow {

/// Where each parameter lies, in floats from the start. Everything is padded to whole vectors; the padding is zero and
/// stays zero, because its gradients are.
///
/// Hidden nodes of a rank come in groups of 6 (the paper's α), in hidden values and W1 padded to 8. Outputs come in
/// chunks of 16; up to 4 left over (L = 20) are a quad. A block of W2 is, for each group, [chunk][6][16] and then, with
/// a quad, 8 places of 4 floats, of which node b has place kQuadPlaces[b]: the order in which a 16-lane sum over
/// outputs folds up without further shuffles.
struct Layout {
  static constexpr int kGroup = 6, kGroupStride = 8, kChunk = 16, kQuad = 4, kQuadBlock = 32;
  static constexpr int kQuadPlaces[kGroup] = {0, 2, 1, 3, 4, 6};

  Layout() = default;
  explicit Layout(const Shape& shape);

  Shape shape;
  int groups = 0;
  int chunks = 0;
  bool quad = false;
  Index hidden_stride = 0;  ///< floats for the hidden nodes of one rank: 8·groups
  Index output_stride = 0;  ///< floats for the outputs of one variable: 16·(chunks + quad)
  Index group_block = 0;    ///< floats of a W2 block for one group
  Index w2_block = 0;       ///< floats of a whole W2 block
  Index w1 = 0, s1 = 0, b1 = 0, w2 = 0, s2 = 0, b2 = 0, v = 0, c = 0;  ///< where each tensor starts
  Index size = 0;
  std::vector<Index> w1_rows;    ///< per rank: where its W1 blocks start; W1 block i is hidden_stride floats
  std::vector<Index> w2_blocks;  ///< per variable: where its W2 blocks start; block r is w2_block floats

  /// Variables that can feed a node of rank r: 0..inputs(r)−1.
  int inputs(int rank) const { return rank + shape.variables - shape.ranks; }
  /// Ranks that can feed an output of variable j: 0..fan_in(j)−1.
  int fan_in(int variable) const { return variable < shape.ranks ? variable : shape.ranks; }

  // The place of one number, for packing and tests; kernels walk the blocks.
  Index hidden_at(int block) const { return Index{block / kGroup} * kGroupStride + block % kGroup; }
  Index output_at(int output) const { return output; }  ///< chunks, then the quad, lie one after the other
  Index w1_at(int block, int rank, int variable) const;
  Index w2_at(int variable, int output, int block, int rank) const;
};

/// The packed parameters of one network.
struct Weights {
  Layout layout;
  std::vector<float> values;  ///< layout.size floats

  const Shape& shape() const { return layout.shape; }
};

/// Entries that no subset can use are left out.
Weights pack(const Parameters& parameters);
/// Entries that were left out are 0.
Parameters unpack(const Weights& weights);
/// The same for any values laid out like weights: gradients, Adam's moments.
Parameters unpack(const Layout& layout, const float* values);

}  // namespace fansite::flow
