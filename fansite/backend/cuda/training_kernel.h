// SPDX-License-Identifier: Apache-2.0
//
// Training steps of many networks, a thread block for each. Plain arrays: what is between training.cpp, which speaks of
// flows, and the kernel.
//
// Of a block's 32 warps four draw the next batch while the others work on the present one. No two threads write the
// same place and every sum has a fixed order, so the same steps give the same bits.
#pragma once

#include <cstdint>

namespace fansite::cuda {

/// A term in a list that is sorted by variable or rank.
struct alignas(8) SortedTerm {
  int term, row;
};

/// A batch on the device. A term is one variable of one row's subset; terms of a row lie together.
struct DeviceBatch {
  int* row_start;          ///< [batch + 1] first term of each row
  short* variable;         ///< per term
  short* rank;             ///< per term; −1 for the last of a row
  short* row;              ///< per term
  int *first, *end;        ///< per term: the terms of its row
  int* output_row;         ///< per term: where the blocks of W2 of its variable start
  float* value;            ///< per term
  float* innovation;       ///< per term: what the flow maps
  float *low, *high;       ///< per term: the ends of an interval likewise; equal: a number
  std::uint8_t* position;  ///< [row][variable] place of the term in its row, kNone if there is none
  std::uint8_t* at_rank;   ///< [row][rank] the same of the term with that rank
  SortedTerm *by_variable, *by_rank;
  int *variable_start, *rank_start;  ///< of each key's terms in these lists
  double* log_scale;                 ///< [row] Σ ln σ of the base
};
inline constexpr int kNone = 255;

/// One network: all pointers are the device's.
struct DeviceNetwork {
  float *weights, *mean, *square, *gradient;  ///< TrainingShape::size floats each, in its layout
  const float *score, *low, *high;            ///< [row][column] of the table; no ends: all cells are numbers
  const double *base_mean, *base_covariance;  ///< null: no base
  const double* reliability;                  ///< null: all are 1
  const int* first_column;                    ///< [drawn + 1] of each variable; null: every one is one column
  double noise;                               ///< added to numbers
  DeviceBatch batch[2];
  std::uint32_t* words;                   ///< [TrainingShape::words] of the step's stream
  int *drawn_at, *drawn;                  ///< [row] where its words start; how many variables are drawn
  int* noise_at;                          ///< [row] where the words of its noise start
  double* factor;                         ///< of the base, for each warp that draws, if subsets are large
  float *hidden, *back;                   ///< [term][hidden stride]: h, and the gradient by what ELU is taken of
  float *sums, *outputs;                  ///< [term][L]: Σ W2 h, and o
  float *sum_gradient, *output_gradient;  ///< [term][L]: by them
  float* head;                            ///< [term][3k]: the gradient by q

  const int* rows;                   ///< [step][batch]
  const float *rate, *square_scale;  ///< [step]
  double* losses;                    ///< [step]
  int* taken;                        ///< steps that were taken
  unsigned long long subset_key;
  long long first_step;
  int steps;
};

/// What all networks of a launch share. The layout: W2 [variable][rank][α][L], W1 [rank][variable][α], s1, b1
/// [rank][α], s2, b2 [variable][L], V [3k][L], c [3k], each from a multiple of 4 on. L is padded; what pads is and
/// stays zero.
struct TrainingShape {
  int variables, blocks, ranks, outputs;
  int batch, most_terms;  ///< rows of a batch; terms of a row, at most
  bool leaf;              ///< kind of subsets
  int drawn, max_size;    ///< variables that subsets are drawn of, and how many at most
  int most_columns;       ///< of a subset
  bool absent;            ///< some cells are
  float clip;
  int w1, s1, b1, s2, b2, v, c, size;     ///< where each tensor starts (W2 at 0); size is a multiple of 4
  int words;                              ///< of a step's stream that are made at once
  const int *output_pairs, *input_pairs;  ///< on the device: variable << 16 | rank, and rank << 16 | variable
  int output_pair_count, input_pair_count;
};

inline constexpr int kSigmoids = 4, kMostOutputs = 32, kMostVariables = 1024;
inline constexpr int kThreads = 1024, kProducers = 128, kWorkers = kThreads - kProducers;

/// Hidden nodes of each rank that the kernel is made for: 6, 12, 24.
bool has_training_kernel(int blocks);
/// The L that it is made for: 16, 20 or 32, for as many at most.
int padded_outputs(int outputs);
/// Terms of a row whose base is computed without memory of its own.
inline constexpr int kSmallFactor = 32;
/// Launches the next steps of so many networks; returns a cudaError_t.
int launch_training(const TrainingShape& shape, const DeviceNetwork* networks, int count, void* stream);

}  // namespace fansite::cuda
