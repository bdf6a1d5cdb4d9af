// SPDX-License-Identifier: Apache-2.0
//
// Functions of a weighted graph that are 0 if and only if it has no cycle, with their gradients. A ≥ 0 throughout, and
// all sums are of terms of one sign: of a graph without cycles the value is 0 to the last bit.
#pragma once

#include <optional>

#include "fansite/base/matrix.h"

namespace fansite::causal {

struct Acyclicity {
  double value = 0;
  Matrix gradient;  ///< by A
};

/// DAGMA's h(A) = −ln det(sI − A) + d ln s, with gradient (sI − A)⁻ᵀ ≥ 0 (Bello et al. 2022). Nothing unless sI − A is
/// an M-matrix, that is, unless all eigenvalues of A are smaller than s: h means nothing elsewhere.
std::optional<Acyclicity> log_det_acyclicity(const Matrix& a, double s);

/// NOTEARS' h(A) = tr e^A − d, with gradient (e^A)ᵀ (Zheng et al. 2018).
Acyclicity exponential_acyclicity(const Matrix& a);

}  // namespace fansite::causal
