// SPDX-License-Identifier: Apache-2.0
//
// The trace of the conditional covariance operator: how much of a target a set leaves over in a space of smooth
// functions (Fukumizu, Bach and Jordan 2009). With G the centred kernel matrices of N rows,
//   J(S) = ε Tr(G_T (G_S + N ε I)⁻¹),  J(∅) = Tr(G_T) / N,
// computed from low-rank factors G ≈ F Fᵀ in N r² instead of N³ steps.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

struct KernelFactor {
  Matrix columns;       ///< F, rows × rank, each column centred
  double left_out = 0;  ///< share of the kernel matrix's trace that the rank does not hold
};

/// Of the Gaussian kernel exp(−‖x − x'‖² / 2σ²) of these columns, by incomplete Cholesky with pivots (Bach and Jordan
/// 2002), up to this rank or until what is left out is nothing.
KernelFactor gaussian_factor(const MatrixView& columns, double sigma_squared, int rank);

/// The median of squared distances between rows: of all pairs of up to 300 rows, evenly spread.
double median_squared_distance(const MatrixView& columns);

/// J from the factors of target and set; an empty set has no columns.
double conditional_trace(const Matrix& target, const Matrix& set, double eps);

/// The same of several targets with the linear kernel, a centred column each.
Vector conditional_traces(const Matrix& targets, const Matrix& set, double eps);

}  // namespace fansite
