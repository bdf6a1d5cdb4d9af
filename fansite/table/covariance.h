// SPDX-License-Identifier: Apache-2.0
//
// The sample covariance of a table, as scales and correlations: all that linear Gaussian entropies need.
#pragma once

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"

namespace fansite {

struct Covariance {
  Index rows = 0;      ///< N
  Vector mean;         ///< of each column
  Vector scale;        ///< standard deviation of each column, dividing by N − 1; exactly 0 for a constant column
  Matrix correlation;  ///< symmetric, diagonal exactly 1; a constant column correlates with nothing

  int variables() const { return static_cast<int>(scale.size()); }
};

/// In parallel over fixed tiles, so the bits do not depend on the number of threads. Cost N·d²/2 multiply-adds.
Covariance covariance(const MatrixView& values, Progress& progress);
Covariance covariance(const MatrixView& values);

}  // namespace fansite
