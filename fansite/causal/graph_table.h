// SPDX-License-Identifier: Apache-2.0
//
// The table that a graph is sought in: numbers, levels and missing cells.
#pragma once

#include <string>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/causal/graph_rows.h"
#include "fansite/table/column.h"

namespace fansite::causal {

struct GraphTable {
  MatrixView values;                   ///< NaN: a missing cell; nominal columns hold the numbers of their levels
  std::vector<ColumnKind> kinds = {};  ///< per column; empty: all are numbers
  /// The table with its missing cells drawn from their distribution given the others, several times. Empty, and cells
  /// are missing: drawn by impute().
  std::vector<Matrix> draws = {};
  /// Columns that every equation is conditioned on: parents of all that is linked to anything, and in no graph found.
  std::vector<int> context = {};
  GraphRows rows = {};  ///< how much they tell

  ColumnKind kind(Index column) const {
    return kinds.empty() ? ColumnKind::continuous : kinds[static_cast<std::size_t>(column)];
  }
  bool has_missing() const { return values.hasNaN(); }
  /// A UsageError for kinds of another number of columns, and for draws that are no such table.
  void check() const;
  /// What scores depend on beside the values, in words; "" if that is nothing. `draws`: how many impute() makes.
  std::string identity(int draws) const;
};

}  // namespace fansite::causal
