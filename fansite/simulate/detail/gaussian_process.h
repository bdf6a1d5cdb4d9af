// SPDX-License-Identifier: Apache-2.0
//
// Random functions for simulated data: draws from a Gaussian process, the same bits on every machine.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/base/random.h"

namespace fansite {

/// f at N points, for f from the Gaussian process with mean 0 and covariance exp(−|x − x'|²/2); inputs[k][i] is
/// coordinate k of point i. The draw is f = L z from the pivoted Cholesky factor of the N×N covariance (largest
/// remaining variance first, ties to the first row), taken until no point has more than 1e-12 of its variance left,
/// which is a standard deviation of 1e-6. That costs N·rank²; smooth functions of few inputs have ranks far below N.
Vector draw_gaussian_process(const std::vector<const double*>& inputs, Index points, Key key, const Progress& progress);

}  // namespace fansite
