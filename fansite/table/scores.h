// SPDX-License-Identifier: Apache-2.0
//
// Normal scores of a table's columns side by side, for checks that look at all pairs of them without any model.
#pragma once

#include <vector>

#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

struct ColumnScores {
  Matrix scores;           ///< mean 0 and variance 1 over the cells that there are, 0 in the others
  Matrix there;            ///< 1 where there is a cell, else 0
  std::vector<int> owner;  ///< of each, the table's column that it stands for
};

/// Of the columns that take part in these rows, nominal ones by their indicators: at most so many columns of the table,
/// evenly spread.
ColumnScores column_scores(const Dataset& data, const TableFacts& facts, const std::vector<Index>& rows,
                           std::size_t most_columns);

/// Mean 0 and variance 1 under weights of the rows, 0 where there is no cell, times their roots, so that inner products
/// are weighted sums; all 0 for what does not vary.
Vector standardised(const Vector& values, const Vector& weights);

}  // namespace fansite
