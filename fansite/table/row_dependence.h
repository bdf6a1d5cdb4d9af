// SPDX-License-Identifier: Apache-2.0
//
// Are rows independent? Every p-value supposes it. Rows in the order of time or place often are not, and copies never
// are; both are found here, with how many independent rows the table is worth.
#pragma once

#include <string>
#include <vector>

#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

/// Dependence along the order of rows is looked for in what all other columns leave over of each (ridge regression of
/// normal scores), at the lags 1 to 10. Two independent columns with autocorrelations a_k and b_k seem related as if
/// there were 1 + 2 Σ a_k b_k times fewer rows (Bartlett 1935). So rows are dependent if that is above kInflation for
/// the median pair of columns, and half of the columns are autocorrelated beyond chance (Ljung and Box); how much they
/// repeat is then summed over all lags, of the columns themselves too where it is much or rows are few. A table that
/// is merely sorted by one of its columns is not called dependent: whatever goes along its rows may be that column's
/// doing, and whether rows depend on each other beyond it cannot be seen.
///
/// Batches and drift are another matter: rows may be independent given the batch, and each column tells what the others
/// tell of it. So the means of each column over eleven stretches of rows are compared (χ² with ten degrees of freedom);
/// if they differ in half of the columns, whatever changes along the rows is a common cause that the table lacks.
struct RowDependence {
  static constexpr double kInflation = 1.25;

  Index rows = 0;
  Index copies = 0;  ///< rows that repeat an earlier one in every cell, row numbers apart, if far more than by chance
  Index near_copies = 0;           ///< of the others, those that nearly repeat one (near_copies.h)
  double near = 0;                 ///< how nearly, in robust standard deviations of each column
  double inflation = 1;            ///< of the variance of a measure of relation, for the median pair
  double correlation = 0;          ///< of neighbouring rows in what is left of the median autocorrelated column
  Index block = 1;                 ///< so many in a row are to count as one, where few are independent; 1: not so
  bool wanders = false;            ///< blocks are alike too, as those of random walks are
  int sorted_by = -1;              ///< the column that the rows are sorted by, or whose equal values lie together
  std::vector<int> columns = {};   ///< that are autocorrelated beyond chance
  std::vector<int> shifting = {};  ///< whose means change along the rows, if half of them do and rows are not in blocks
  double shift = 0;                ///< the share of their variance between stretches of rows, of the median one
  std::vector<int> first_of = {};  ///< per row the earlier one that it repeats, or itself; empty without copies
  /// Where the table was put in another order since (content_order.h): per row its place in the one that this is about.
  std::vector<int> place_of = {};

  bool dependent() const { return block > 1; }
  /// How many independent rows one that is no copy is worth; 1 where that cannot be seen, in sorted tables.
  double worth() const { return sorted_by >= 0 ? 1.0 : 1 / inflation; }
  /// How many independent rows a block is worth: one, or less where blocks are alike too.
  double worth_of_block() const;
  /// How many independent rows would tell as much.
  double effective_rows() const { return static_cast<double>(rows - copies - near_copies) / inflation; }
  /// A sentence each about copies and dependence; none if there is neither.
  std::vector<std::string> sentences(const std::vector<std::string>& names) const;
};

RowDependence row_dependence(const Dataset& data, const TableFacts& facts);
/// The same for the table in another order.
RowDependence in_order(const RowDependence& rows, const ContentOrder& order);

/// Numbers of the groups in which rows may depend on each other: blocks of so many in a row, with a row's copies in
/// the block of the first of them. Empty if every row is a group of its own.
std::vector<int> groups_of(const RowDependence& rows, Index block);

}  // namespace fansite
