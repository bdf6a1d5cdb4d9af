// SPDX-License-Identifier: Apache-2.0
//
// Kernel ridge regression of one width with every ridge at once. With features Z, inner products ZᵀZ = Q T Qᵀ, T
// tridiagonal, and U = Z Q, the fit by ridge r is U (T + r)⁻¹ Uᵀ y and row i's own weight in it u_i (T + r)⁻¹ u_iᵀ: one
// reduction and one product serve all ridges and all targets, and what is left costs a few operations a cell.
#pragma once

#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/causal/graph_rows.h"

namespace fansite::causal {

/// From so many rows on, single precision. Rounding, divided by the least pivots of a wide kernel's factor, is noise in
/// its features: up to 5e-4 nat of a score, mostly a tenth of that, where the choice of landmarks makes 1e-3. Of fewer
/// rows double costs little.
inline constexpr Index kFewestRowsInSingle = 500;

/// What regressions on the same parents are made of.
struct RidgeProblem {
  const Matrix& x;                 ///< columns of the parents
  std::span<const int> landmarks;  ///< rows
  const Matrix& basis;             ///< orthonormal: what is linear, and hardly penalised
  const Matrix& lines;             ///< the same, each column by the root of the share of it that is taken: mostly 1
  const Vector& line_leverage;     ///< its rows' squared lengths
  const Matrix& y;                 ///< targets, less what the lines explain
  const Vector& root_weights;      ///< of the rows, which basis and y have been multiplied by; empty: 1
  const Blocks& blocks;            ///< rows that are left out together
};

/// For each target the residuals of fits without the row, or its block, of the ridge with the least squares of them.
/// The bits of one target do not depend on which others there are.
struct RidgeFits {
  Matrix left_out, leverage;    ///< rows × targets
  std::vector<double> squares;  ///< of left_out
};

/// A row that fits itself alone says nothing: the least of 1 − leverage.
inline constexpr double kLeastOthers = 1e-6;

/// By the basis alone.
RidgeFits linear_fits(const RidgeProblem& problem);
/// Beside the basis a kernel of this width.
RidgeFits kernel_fits(const RidgeProblem& problem, double width, std::span<const double> ridges);
/// The same in a precision of one's choice, to compare.
RidgeFits kernel_fits_in_single(const RidgeProblem& problem, double width, std::span<const double> ridges);
RidgeFits kernel_fits_in_double(const RidgeProblem& problem, double width, std::span<const double> ridges);

}  // namespace fansite::causal
