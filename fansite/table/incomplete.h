// SPDX-License-Identifier: Apache-2.0
//
// Means and covariances of a table with missing cells, without filling any of them in.
#pragma once

#include <utility>

#include "fansite/base/matrix.h"

namespace fansite {

/// Maximum likelihood under a normal distribution, dividing by N, by EM over the patterns of missing cells; every row
/// helps, by its weight if rows have one. Right if what is missing does not depend on the missing values given the
/// others of its row. Beyond 200 columns, where EM costs N·d³, the moments of each pair over the rows that have both,
/// moved to the nearest positive definite matrix with the same variances. A column without any cell has mean 0,
/// variance 0.
std::pair<Vector, Matrix> incomplete_moments(const MatrixView& values, const Vector& weights = {});

/// The number of rows that have both cells of each pair, and on the diagonal each column's.
Matrix rows_with_both(const MatrixView& values);

}  // namespace fansite
