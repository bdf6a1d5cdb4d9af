// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/cells.h"

#include <algorithm>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

CellTable cells_of(const std::vector<ColumnTransform>& transforms, const MatrixView& values) {
  CellTable cells;
  const auto has_intervals = [](const ColumnTransform& t) { return t.has_intervals(); };
  if (std::none_of(transforms.begin(), transforms.end(), has_intervals)) {
    cells.score = apply_transforms(transforms, values).cast<float>();
    return cells;
  }
  check(static_cast<std::size_t>(values.cols()) == transforms.size(), "[flow] a table of {} columns for the maps of {}",
        values.cols(), transforms.size());
  cells.score.resize(values.rows(), values.cols());
  cells.low = cells.high = cells.score;
  for (const ColumnTransform& transform : transforms) cells.coarse.push_back(transform.has_intervals() ? 1 : 0);
  parallel_for(values.cols(), [&](std::ptrdiff_t j) {
    for (Index i = 0; i < values.rows(); ++i) {
      const Cell cell = transforms[static_cast<std::size_t>(j)].cell(values(i, j));
      cells.score(i, j) = static_cast<float>(cell.score);
      cells.low(i, j) = static_cast<float>(cell.low);
      cells.high(i, j) = static_cast<float>(cell.high);
    }
  });
  return cells;
}

Cell implied_zero(const ColumnTransform& indicator) {
  Cell cell = indicator.cell(0);
  cell.low = -kOpenEnd;
  cell.high = kOpenEnd;
  return cell;
}

CellTable cells_of(const Ensemble& ensemble, const MatrixView& values) {
  std::vector<std::vector<int>> factors;
  for (const Factor& factor : ensemble.factors) factors.push_back(factor.columns);
  return cells_of(ensemble.transforms, factors, values);
}

CellTable cells_of(const std::vector<ColumnTransform>& transforms, const std::vector<std::vector<int>>& factors,
                   const MatrixView& values) {
  CellTable cells = cells_of(transforms, values);
  for (const std::vector<int>& columns : factors) {
    for (Index row = 0; row < values.rows(); ++row) {
      bool implied = false;
      for (const int column : columns) {
        if (implied && cells.is_coarse(column)) {
          const Cell cell = implied_zero(transforms[static_cast<std::size_t>(column)]);
          cells.score(row, column) = static_cast<float>(cell.score);
          cells.low(row, column) = static_cast<float>(cell.low);
          cells.high(row, column) = static_cast<float>(cell.high);
        }
        implied = implied || values(row, column) == 1.0;
      }
    }
  }
  return cells;
}

CellTable in_order(const CellTable& cells, const std::vector<int>& order) {
  CellTable result;
  result.score = cells.score(Eigen::all, order);
  if (!cells.has_intervals()) return result;
  result.low = cells.low(Eigen::all, order);
  result.high = cells.high(Eigen::all, order);
  for (const int column : order) result.coarse.push_back(cells.coarse[static_cast<std::size_t>(column)]);
  return result;
}

CellTable take_rows(const CellTable& cells, std::span<const int> rows) {
  const std::vector<int> kept(rows.begin(), rows.end());
  CellTable result;
  result.score = cells.score(kept, Eigen::all);
  if (!cells.has_intervals()) return result;
  result.low = cells.low(kept, Eigen::all);
  result.high = cells.high(kept, Eigen::all);
  result.coarse = cells.coarse;
  return result;
}

RowCellTable::RowCellTable(const CellTable& cells, const std::vector<ColumnTransform>& transforms,
                           const std::vector<int>& order)
    : score(cells.score(Eigen::all, order)) {
  if (!cells.has_intervals()) return;
  low = cells.low(Eigen::all, order);
  high = cells.high(Eigen::all, order);
  reliability.resize(static_cast<Index>(order.size()));
  for (std::size_t place = 0; place < order.size(); ++place) {
    reliability[static_cast<Index>(place)] = transforms[static_cast<std::size_t>(order[place])].reliability();
  }
}

RowCells RowCellTable::view(const Vector* weights, std::vector<int> variables) const {
  RowCells cells = low.size() > 0 ? RowCells(score, low, high) : RowCells(score);
  cells.reliability = reliability;
  cells.weights = weights;
  cells.variables = std::move(variables);
  return cells;
}

}  // namespace fansite::flow
