// SPDX-License-Identifier: Apache-2.0
//
// The network of one child on rows: squared error and gradient, in double precision, vectorised over rows (Highway,
// run-time dispatch).
#pragma once

#include "fansite/base/matrix.h"

namespace fansite::causal::kernel {

/// Rows come in steps of this many, two vectors of 8 doubles; the last step is filled up with zeros.
inline constexpr Index kErrorRowStep = 16;
/// Rows of a block: ten hidden units on them take 20 KB and stay in the first-level cache.
inline constexpr Index kErrorRows = 256;
/// From one variable's rows of a block to the next one's: 33 cache lines, an odd number, so that variables do not crowd
/// the same places of a cache.
inline constexpr Index kErrorStride = kErrorRows + 8;

/// One child on one block of rows.
struct ErrorChild {
  int variable = 0;                ///< whose values are predicted
  Index inputs = 0;                ///< variables, all of which may be parents
  int hidden = 0;                  ///< units
  const double* values = nullptr;  ///< variable i has values[i·kErrorStride ..], aligned, zeros up to a whole step
  Index rows = 0;
  const double* parameters = nullptr;  ///< W [input][hidden], b [hidden], v [hidden], c
  double* gradient = nullptr;          ///< laid out alike, added to; null: the error alone
  double* scratch = nullptr;           ///< error_scratch(hidden) doubles, aligned
};
inline Index error_scratch(int hidden) { return (hidden + 1) * kErrorRows; }

/// ½ Σ_n (x̂_n − x_n)², and its gradient.
double half_squared_error(const ErrorChild& child);

}  // namespace fansite::causal::kernel
