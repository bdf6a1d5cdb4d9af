// SPDX-License-Identifier: Apache-2.0
//
// How much the rows of a graph's table tell: they may have weights, and may depend on each other.
#pragma once

#include <string>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/table/dataset.h"

namespace fansite::causal {

/// Rows that depend on each other, two or more, by their places.
using Blocks = std::vector<std::vector<int>>;

struct GraphRows {
  Vector weights = {};           ///< one per row, positive, mean 1; empty: all the same
  std::vector<int> groups = {};  ///< one per row: those of a group may depend on each other; empty: none do
  double worth = 1;              ///< independent rows that one, or a group, is worth

  static GraphRows of_table(const Dataset& data) { return {data.weights, data.groups, data.row_worth}; }

  /// All count alike, and each for itself.
  bool plain() const { return weights.size() == 0 && groups.empty() && worth == 1; }
  /// Of these rows alone.
  GraphRows of_rows(const std::vector<int>& rows) const;
  /// Groups of more than one row.
  Blocks blocks() const;
  /// The first row of each group, ascending; empty where there are none.
  std::vector<int> first_of_each_group() const;
  /// How many equal, independent rows tell as much as so many of these.
  double independent(Index rows) const;
  /// Sums over groups, or the values where there are none.
  Vector by_unit(const Vector& values) const;
  /// What answers depend on, in words; "" if plain.
  std::string identity() const;
};

}  // namespace fansite::causal
