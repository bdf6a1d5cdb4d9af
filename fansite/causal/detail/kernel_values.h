// SPDX-License-Identifier: Apache-2.0
//
// Values of RBF kernels at landmarks, e^{−|x − m|²/2w²}, and which landmarks say something of their own.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite::causal {

/// Of each row of x at these rows, written column after column. In single precision within 1e-6 of the value.
void kernel_values(const Matrix& x, std::span<const int> landmarks, double width, float* values);
void kernel_values(const Matrix& x, std::span<const int> landmarks, double width, double* values);

/// Landmarks, the one that the others leave most of first, until they leave next to nothing of any or there are `most`
/// of them; and K = L Lᵀ of their kernels.
struct LandmarkFactor {
  std::vector<int> rows;
  Matrix lower;
};
LandmarkFactor chosen_landmarks(const Matrix& x, std::span<const int> landmarks, double width,
                                Index most = std::numeric_limits<Index>::max());

}  // namespace fansite::causal
