// SPDX-License-Identifier: Apache-2.0
//
// Densities of many subsets over many rows: plain arrays, all on the device. A thread has several rows of one subset; a
// subset's weights are copied next to the threads once for all of a block's rows.
#pragma once

#include <cstdint>

namespace fansite::cuda {

/// A network with V folded into W2, as flow::FoldedNetwork has it. Exponents are to base 2.
struct DeviceFolded {
  const float *w1 = nullptr, *b1 = nullptr, *g = nullptr, *g0 = nullptr;
  int variables = 0, blocks = 0, ranks = 0;
};

/// A linear Gaussian model under the network; no mean: none.
struct DeviceBase {
  const double *mean = nullptr, *covariance = nullptr;
  const double* reliability = nullptr;  ///< null: all are 1
};

/// Subsets one after the other, and how each member's innovation follows from those before it: u = scale·x + shift +
/// Σ_q coefficient_q·u_q. Of a column with intervals what is predicted is not the score but the normal variable under
/// it, by the same coefficients times a factor.
struct DeviceSubsets {
  const int* start = nullptr;                        ///< [subset + 1] of its members
  const short *variable = nullptr, *rank = nullptr;  ///< of each member; a subset's last has rank −1
  // With a base, filled by launch_factors:
  const long long* factor_start = nullptr;                         ///< [subset] of its m(m+1)/2 entries
  double* factor = nullptr;                                        ///< the Cholesky factor of its covariance
  float* coefficients = nullptr;                                   ///< like the factor
  float *scale = nullptr, *shift = nullptr, *log_scale = nullptr;  ///< per member; ln σ
  float *coarse_factor = nullptr, *coarse_scale = nullptr, *coarse_shift = nullptr,
        *coarse_log_scale = nullptr;  ///< of a column with intervals
};

/// Columns of cells: [column][rows]. A column is one of the table or, with trials, one of the options of a variable.
struct DeviceCells {
  const float *score = nullptr, *low = nullptr, *high = nullptr;  ///< no ends: all are numbers
  const std::uint8_t* coarse = nullptr;                           ///< [column] it has intervals
  int rows = 0;
};

/// Combinations of options, the last trial's running fastest; trial k has options[k] of them.
inline constexpr int kMostTrials = 4;
struct DeviceTrials {
  int count = 0;
  int options[kMostTrials] = {};
  int combinations = 1;
  const int* trial = nullptr;          ///< [member of the subset]: which trial's it is, −1: the table's
  const DeviceCells* cells = nullptr;  ///< [member]: its options, [option][rows]; meaningless for the table's
};

struct DensityRequest {
  DeviceFolded network;
  DeviceBase base;
  DeviceSubsets subsets;
  DeviceCells table;
  DeviceTrials trials;       ///< of the only subset
  int first = 0, count = 0;  ///< subsets
  int longest = 0;           ///< members of the longest of them
  float term_constant = 0;   ///< of each member
  float* out = nullptr;      ///< [subset − first][row], or [combination][row]
};

/// Hidden nodes of each rank that the kernel is made for.
bool has_density_kernel(int blocks);
/// Whether a block of threads has room for subsets of so many members.
bool can_compute_densities(int blocks, int longest);
/// What subsets need of a base; both return a cudaError_t.
int launch_factors(const DensityRequest& request, void* stream);
int launch_densities(const DensityRequest& request, void* stream);

}  // namespace fansite::cuda
