// SPDX-License-Identifier: Apache-2.0
//
// The density of many subsets over many rows, what the search asks of a trained network. Vectorised over rows, threads
// over subsets and blocks of rows; what subsets share, a prefix of their variables, is computed once. So ask for many
// subsets at a time.
#pragma once

#include <memory>
#include <span>

#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/weights.h"

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

/// A trained network in the form densities are computed from: V folded into W2, so that a (rank, variable) pair costs
/// 3k instead of L multiply-adds a hidden node.
class Density {
 public:
  explicit Density(const Weights& weights, const GaussianBase& base = {});
  /// The base alone, without a network.
  explicit Density(const GaussianBase& base);
  ~Density();
  Density(Density&&) noexcept;
  Density& operator=(Density&&) noexcept;

  const Shape& shape() const;
  /// The largest subset this network has a density for: R+1.
  int largest_subset() const { return shape().ranks + 1; }

  /// out(i, s) = log p(x_S) of row i and subset s, to 1e-5 or so; the empty subset has log-density 0. A subset's column
  /// does not depend on which others are asked for with it or on other variables, nor a row's value on the other rows,
  /// bit for bit. Any outlier has a finite density, and an absent
  /// cell gives NaN.
  void log_density(const CellColumns& rows, std::span<const Subset> subsets, Eigen::Ref<Eigen::MatrixXf> out) const;
  Eigen::MatrixXf log_density(const CellColumns& rows, std::span<const Subset> subsets) const;
  /// out(i, v) = log p(x_S) of row i with the v-th combination of the trials' options, the last trial's running
  /// fastest; the same bits as of a table that holds them. What lies before a variable in the network's order is not
  /// computed again for each of its values, so m² combinations of two cost a third of m² rows or so.
  Eigen::MatrixXf log_density(const CellColumns& rows, const Subset& subset, std::span<const Trial> trials) const;

 private:
  struct Folded;
  std::unique_ptr<Folded> folded_;
};

}  // namespace fansite::flow
