// SPDX-License-Identifier: Apache-2.0
//
// The sample covariance of a table, as scales and correlations: all that linear Gaussian entropies need.
#pragma once

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

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

/// Of a table whose cells may be missing, whose rows may have weights or belong to groups, and some of whose columns
/// may be context. A plain one's is the above, bit for bit.
///   missing   maximum likelihood by EM (incomplete.h); `rows` is the smallest number of rows that have both of a pair
///   weights   weighted; `rows` is the number of equal weights that would give as much, (Σw)² / Σw²
///   groups    `rows` is no more than the number of groups, which is on the safe side
///   row_worth `rows` is so many times less
///   context   what it tells linearly is taken out of all others, a nominal one's by its indicators, and a row for each
/// Context columns, and nominal ones of more than two levels, which have no scale, come out as constants.
Covariance covariance(const Dataset& data, const TableFacts& facts, Progress& progress);

}  // namespace fansite
