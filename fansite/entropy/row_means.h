// SPDX-License-Identifier: Apache-2.0
//
// Means over the rows of a table, with their standard errors: rows may have weights, may belong to groups that are not
// independent, and may lack the cells that a value is made of (NaN).
#pragma once

#include <vector>

#include "fansite/entropy/entropy.h"
#include "fansite/table/dataset.h"

namespace fansite {

class RowMeans {
 public:
  explicit RowMeans(const Dataset& data);
  /// Of versions of the table's rows: row_of[i] is the row that i is a version of. Those of one row stand side
  /// by side, are one draw together, and count as much as it does.
  RowMeans(const Dataset& data, const std::vector<int>& row_of);

  /// Of these rows, or versions, alone.
  RowMeans of_rows(const std::vector<int>& rows) const;

  /// The weighted mean of the values that there are. Groups count as one draw each: the standard error is that of sums
  /// over groups (cluster-robust).
  EntropyEstimate mean(const Eigen::ArrayXd& values) const;
  /// One number for each group, or row without groups: the weighted sum over its rows, 0 for those without a value.
  /// Sums of independent things, for tests.
  Eigen::ArrayXf by_unit(const Eigen::ArrayXf& values) const;
  Index units() const { return units_; }
  /// What the standard deviation of a sum over rows is times that of independent ones.
  double inflation() const { return inflation_; }

 private:
  Vector weights_;
  std::vector<int> row_of_;  // empty: each is a row of its own
  std::vector<int> groups_;
  Index units_ = 0;
  double inflation_ = 1;
};

}  // namespace fansite
