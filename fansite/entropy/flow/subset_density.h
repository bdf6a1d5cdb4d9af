// SPDX-License-Identifier: Apache-2.0
//
// The density of every subset of the variables, from one network: what ensembles, searches, tests of pairs and
// calibration ask of it, whatever the network is.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/entropy/flow/shape.h"

namespace fansite::flow {

/// N×d values in single precision, column-major: one variable is contiguous.
using Table = Eigen::MatrixXf;

/// Cells by column, of somebody else's numbers: scores, NaN where absent, and the ends of intervals, equal to the score
/// where a cell is a number.
struct CellColumns {
  CellColumns(const Table& score) : score(&score) {}
  CellColumns(const Table& score, const Table& low, const Table& high, const std::vector<char>& coarse)
      : score(&score), low(&low), high(&high), coarse(&coarse) {}
  const Table* score;
  const Table* low = nullptr;
  const Table* high = nullptr;
  const std::vector<char>* coarse = nullptr;  ///< per column: it has intervals; null: none has

  bool is_coarse(int column) const { return coarse != nullptr && (*coarse)[static_cast<std::size_t>(column)] != 0; }
  Index rows() const { return score->rows(); }
  Index cols() const { return score->cols(); }
};

/// Cells of one column to be tried in place of the table's: option v of row i at (i, v).
struct TrialColumn {
  int variable = 0;
  Eigen::MatrixXf values;     ///< scores
  Eigen::MatrixXf low, high;  ///< of a column with intervals, else empty
};

/// Columns that are tried together: option v of each with option v of the others.
struct Trial {
  Trial(int variable, Eigen::MatrixXf values) { columns.push_back({variable, std::move(values), {}, {}}); }
  explicit Trial(std::vector<TrialColumn> columns) : columns(std::move(columns)) {}
  std::vector<TrialColumn> columns;

  Index options() const { return columns.front().values.cols(); }
};

/// log p(x_T | x_S) is asked for; both ascending, neither holds any of the other.
struct ConditionalSubset {
  Subset target, given;
};

class SubsetDensity {
 public:
  virtual ~SubsetDensity() = default;
  virtual int variables() const = 0;
  /// The largest subset that there is a density for.
  virtual int largest_subset() const = 0;

  /// out(i, s) = log p(x_S) of row i and subset s; the empty subset has log-density 0. A subset's column does not
  /// depend on which others are asked for with it or on other variables, nor a row's value on the other rows, bit for
  /// bit. An absent cell gives NaN.
  virtual Eigen::MatrixXf log_density(const CellColumns& rows, std::span<const Subset> subsets) const = 0;
  /// out(i, v) = log p(x_S) of row i with the v-th combination of the trials' options, the last trial's running
  /// fastest; the same bits as of a table that holds them. By default such a table is made, piece by piece; it knows
  /// of no intervals.
  virtual Eigen::MatrixXf log_density(const CellColumns& rows, const Subset& subset,
                                      std::span<const Trial> trials) const;

  /// out(i, q) = log p(x_T | x_S) of row i and question q; by default the difference of two densities.
  virtual Eigen::MatrixXf log_conditional(const CellColumns& rows, std::span<const ConditionalSubset> questions) const;
  /// The same of one question with trials, of the target's columns and of the given's.
  virtual Eigen::MatrixXf log_conditional(const CellColumns& rows, const ConditionalSubset& question,
                                          std::span<const Trial> trials) const;
};

/// Both of them, ascending.
Subset joined(const Subset& a, const Subset& b);

}  // namespace fansite::flow
