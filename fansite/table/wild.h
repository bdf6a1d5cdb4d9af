// SPDX-License-Identifier: Apache-2.0
//
// Wild values: few cells so far from all others of their column that they alone would decide what is found of it, such
// as a slip of the decimal point, or 999 for missing.
#pragma once

#include <vector>

#include "fansite/table/column.h"
#include "fansite/table/dataset.h"
#include "fansite/table/findings.h"

namespace fansite {

struct WildCell {
  int column = 0;
  Index row = 0;
  double times = 0;    ///< as far from the median as the furthest cell that is not wild
  double instead = 0;  ///< the median: what a slip hides is unknown, and the median is wrong by least
};

/// The wild cells of a column, by row. Ordered by their distance from the median, the first k cells are wild if
///   the k-th   is more than 20 robust standard deviations away (half the interquartile range / 0.6745; where half of
///              the cells are equal, the range of the middle 90 % / 3.29; where those are too, no cell is wild),
///   the gap    from the k-th to the next is a factor of 10 at least, and one that the tail of the other cells would
///              leave in one column of 10 000: if distances fall off as a power 1/ξ, as those of Cauchy and log-normal
///              columns nearly do, P(factor > f) is f^(−1/ξ). Hill's mean of ln(distance / smallest) over the outer
///              20th of the other cells is ξ,
///   k          is at most one cell in 200, or in a small table 3 of 150: what is more frequent is no slip.
/// The largest such k counts. None is wild in fewer than 20 cells; missing and infinite ones say nothing.
std::vector<WildCell> wild_cells(const Eigen::Ref<const Vector>& values);

/// Of all columns that are not nominal, by column.
std::vector<WildCell> wild_cells(const Dataset& data, const std::vector<ColumnKind>& kinds);

/// The sentence about them; there must be one.
Finding wild_finding(const Dataset& data, const std::vector<WildCell>& cells);

/// The values with each wild cell at its column's median, all others as they are: what is linear stays so. The furthest
/// other value instead would still be many noises away from what the rest of the row says, and has cost members.
Matrix tame_values(const Matrix& values, const std::vector<WildCell>& cells);

}  // namespace fansite
