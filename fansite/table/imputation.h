// SPDX-License-Identifier: Apache-2.0
//
// Tables with their missing cells drawn, where no model of the table is at hand.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "fansite/table/column.h"

namespace fansite {

/// The table so many times, each time with its missing cells drawn given the present ones of their row. Columns are
/// normal scores with the moments of incomplete_moments; draws go back to the quantiles of their column. Levels without
/// order are drawn first, by Bayes's rule with the same covariance at every level and means of its own. Right for what
/// is monotone; of other relations with the missing cell it keeps the linear part alone. Present cells stay as they
/// are.
/// `kinds`: of each column; empty: all are numbers.
std::vector<Matrix> impute(const MatrixView& values, const std::vector<ColumnKind>& kinds, int draws, Key key);

}  // namespace fansite
