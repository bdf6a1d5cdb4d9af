// SPDX-License-Identifier: Apache-2.0
//
// Rows that nearly repeat another: a measurement read twice, a row copied and rounded, or noise added to a few rows to
// make many. They are no new facts, just as exact copies are none.
#pragma once

#include <vector>

#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

struct NearCopies {
  Index count = 0;                 ///< rows that nearly repeat an earlier one
  double distance = 0;             ///< in every column at most so many robust standard deviations apart
  std::vector<int> first_of = {};  ///< per row the earliest one that it repeats, or itself; empty without any
};

/// Of these rows, none of which repeats another exactly. The distance of two rows is the largest over columns, in
/// robust standard deviations; other levels, and a missing cell beside a number, are 1 apart. Near copies are the k
/// nearest pairs if
///   there is a gap: the next pair is 10 times as far, and 10⁴^(1/k) times. Distances of points that lie on a line, or
///                   on anything of more dimensions, leave the gap f behind the k-th with a chance of f^(−k) at most;
///   they are more   than ten times as many as there would be if half of the columns, those that agree least, were
///                   independent, so that levels and tight clusters do not pass for copies;
///   they are near:  a twentieth of a standard deviation at most.
/// The 1000 rows in the middle of the sum of all columns are compared, where copies lie side by side, and 100 columns
/// at most; all rows are then joined that are twice as far apart at most. Nothing is found in fewer than 20 rows, or
/// looked for in more than 20,000.
NearCopies near_copies(const Dataset& data, const TableFacts& facts, const std::vector<Index>& rows);

}  // namespace fansite
