// SPDX-License-Identifier: Apache-2.0
//
// A table as flows see it: every cell a number, an interval or absent, on the scale of normal scores.
#pragma once

#include <span>
#include <vector>

#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/table/transform.h"

namespace fansite::flow {

struct Ensemble;

struct CellTable {
  Table score;               ///< NaN where a cell is absent
  Table low, high;           ///< ends of intervals, equal to the score where a cell is a number; empty: all are
  std::vector<char> coarse;  ///< per column: it has intervals; empty likewise

  Index rows() const { return score.rows(); }
  bool has_intervals() const { return low.size() > 0; }
  bool is_coarse(int column) const { return has_intervals() && coarse[static_cast<std::size_t>(column)] != 0; }
  operator CellColumns() const { return has_intervals() ? CellColumns(score, low, high, coarse) : CellColumns(score); }
};

CellTable cells_of(const std::vector<ColumnTransform>& transforms, const MatrixView& values);
/// In an ensemble's columns. Where an indicator of a factor is 1, those after it are 0 of necessity, which tells
/// nothing: their cells are implied_zero. The probabilities of the levels are then those of one choice after another,
/// and sum to 1.
CellTable cells_of(const Ensemble& ensemble, const MatrixView& values);
/// The same; `factors`: the columns of each.
CellTable cells_of(const std::vector<ColumnTransform>& transforms, const std::vector<std::vector<int>>& factors,
                   const MatrixView& values);
/// The score of 0, and the whole line as its interval.
Cell implied_zero(const ColumnTransform& indicator);
/// The columns in another order.
CellTable in_order(const CellTable& cells, const std::vector<int>& order);
CellTable take_rows(const CellTable& cells, std::span<const int> rows);

/// The same by rows, for training.
struct RowCellTable {
  RowTable score, low, high;
  Vector reliability;

  explicit RowCellTable(const CellTable& cells, const std::vector<ColumnTransform>& transforms,
                        const std::vector<int>& order);
  RowCells view(const Vector* weights, std::vector<int> variables = {}) const;
};

}  // namespace fansite::flow
