// SPDX-License-Identifier: Apache-2.0
//
// From weights of possible edges to a graph without cycles: what every method does that learns weights.
#pragma once

#include "fansite/base/matrix.h"

namespace fansite::causal {

/// Edges by descending weight, equal ones row by row, down to the threshold and including it; one that would close a
/// cycle is left out. A weight that is not a number counts as 0.
ByteMatrix to_dag(const Matrix& weights, double threshold);

}  // namespace fansite::causal
