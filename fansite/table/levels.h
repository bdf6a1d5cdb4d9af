// SPDX-License-Identifier: Apache-2.0
//
// Columns of a few values, or without an order, are discrete in equations: levels, not numbers.
#pragma once

#include <optional>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/table/column.h"

namespace fansite {

/// The levels of a column, put into groups of at least 5 rows, 10 of them at most: an equation says in which group a
/// row is, and the shares inside a group say the rest, p(level | parents) = p(group | parents) · p(level | group). Of
/// fewer rows nothing can be learnt, and each would fit itself.
struct Levels {
  bool ordered = false;
  std::vector<double> values;  ///< the levels, ascending
  std::vector<int> group_of;   ///< per level. Ordered: ascending; else those with most rows first, so that the numbers
                               ///< that stand for levels leave no trace
  std::vector<double> within;  ///< per level: −ln of its share in its group
  int groups = 0;

  /// Of the level that is nearest.
  std::size_t level(double value) const;
  int group(double value) const { return group_of[level(value)]; }
};

/// Nothing for columns that are numbers: those that are neither nominal nor ordered with at most 10 distinct values,
/// and constants. Missing cells (NaN) do not count.
std::optional<Levels> levels_of(const Eigen::Ref<const Vector>& column, ColumnKind kind);

/// One column for each group, c where the row is in it and else 0: how a parent without order enters equations. Two
/// rows drawn at random differ by 2 in mean squared distance, 2c² P(groups differ) = 2, as those of a number of
/// variance 1 do.
Matrix indicators(const std::vector<int>& groups, int count);

}  // namespace fansite
