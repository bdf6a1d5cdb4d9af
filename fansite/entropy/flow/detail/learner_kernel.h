// SPDX-License-Identifier: Apache-2.0
//
// Forward, backward and Adam for a batch in which every row has its own subset, vectorised (Highway, run-time
// dispatch). Only the (rank, variable) pairs that a row selects carry work.
//
// A step is four rounds of pieces. Within a round no two pieces write the same place, so any thread may run any piece
// and nothing is reduced across threads:
//   hidden forward    pieces of rows                     h of their terms
//   outputs           pieces of variables                o, the loss and its gradient by o; the gradients of W2, s2, b2
//   hidden backward   pieces of ranks                    the gradients of W1, s1, b1
//   Adam              pieces of parameters
#pragma once

#include <hwy/aligned_allocator.h>

#include <new>
#include <vector>

#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/weights.h"

namespace fansite::flow::kernel {

/// Everything a step reads and writes. Terms index hidden values and outputs.
struct Step {
  const Layout* layout = nullptr;
  const Batch* batch = nullptr;
  const float* weights = nullptr;
  const float* mixing = nullptr;  ///< V transposed: [output, padded to fours][3k padded to whole vectors]
  float* gradient =
      nullptr;              ///< of the loss, laid out like the weights, that of W2 to be 0 before; null: the loss alone
  float* hidden = nullptr;  ///< [term][hidden_stride], and one vector of room behind
  float* outputs = nullptr;          ///< [term][output_stride]: sums over hidden nodes, then o
  float* output_gradient = nullptr;  ///< [term][output_stride]: by o, times s2
  float row_weight = 0;              ///< of a row in the loss: 1 / rows
};

/// Floats that start on a cache line, for scratch that grows.
class Scratch {
 public:
  float* get(Index count) {
    if (count > size_) {
      floats_ = hwy::AllocateAligned<float>(static_cast<std::size_t>(count));
      if (!floats_) throw std::bad_alloc();
      size_ = count;
    }
    return floats_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<float[]> floats_;
  Index size_ = 0;
};

/// What a piece of output variables leaves for the sums over pieces, and its scratch.
struct OutputPiece {
  double loss = 0;                     ///< −Σ log p over the piece's terms, times the row weight
  double square = 0;                   ///< Σ gradient² of its part of W2, s2 and b2
  std::vector<float> mixing_gradient;  ///< of V, transposed and padded to fours of outputs, and of c behind it

  Scratch values;  // o: [term of the piece][output_stride]
  Scratch head;    // q, then its gradient: [term of the piece][3k padded]
};

int mixing_stride(const Layout& layout);   ///< 3k padded to whole vectors
int mixing_outputs(const Layout& layout);  ///< L padded to a multiple of 4

void hidden_forward(const Step& step, int first_row, int last_row);
void outputs(const Step& step, int first_variable, int last_variable, OutputPiece& piece);
/// Returns Σ gradient² of the ranks' part of W1, s1 and b1.
double hidden_backward(const Step& step, int first_rank, int last_rank);

struct AdamStep {
  float* weights = nullptr;
  float* gradient = nullptr;  ///< set to 0, for the next step to add to
  float* mean = nullptr;
  float* square = nullptr;
  float gradient_scale = 1;  ///< of the clip
  float rate = 0;            ///< learning rate / (1 − β₁ᵗ)
  float square_scale = 1;    ///< 1 / (1 − β₂ᵗ)
};
inline constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
/// Parameters first..last−1, whole vectors of 16.
void adam(const AdamStep& step, Index first, Index last);

}  // namespace fansite::flow::kernel
