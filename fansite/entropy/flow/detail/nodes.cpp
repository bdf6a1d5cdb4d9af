// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/nodes.h"

#include <algorithm>

#include "fansite/entropy/flow/dependence.h"
#include "fansite/entropy/flow/detail/conditional_distribution.h"

namespace fansite::flow {
namespace {

constexpr Index kMostLevels = 20;  // of a column of numbers, to be drawn as levels

TrialColumn empty_column(const EnsembleDensity& density, int column, Index rows, Index options) {
  TrialColumn result;
  result.variable = column;
  result.values.resize(rows, options);
  if (density.cells().is_coarse(column)) result.low = result.high = result.values;
  return result;
}

void set(TrialColumn& column, Index option, const Cell& cell) {
  column.values.col(option).setConstant(static_cast<float>(cell.score));
  if (column.low.size() == 0) return;
  column.low.col(option).setConstant(static_cast<float>(cell.low));
  column.high.col(option).setConstant(static_cast<float>(cell.high));
}

void set_own(const EnsembleDensity& density, std::span<const int> rows, TrialColumn& column, Index option) {
  const auto take = [&](const Table& from, Eigen::MatrixXf& to) {
    for (std::size_t i = 0; i < rows.size(); ++i) to(static_cast<Index>(i), option) = from(rows[i], column.variable);
  };
  take(density.cells().score, column.values);
  if (column.low.size() == 0) return;
  take(density.cells().low, column.low);
  take(density.cells().high, column.high);
}

// Whether every value of the column is an interval, so that its distinct values are levels.
bool has_levels(const ColumnTransform& transform) {
  if (!transform.has_intervals()) return false;
  for (std::size_t i = 0; i < transform.x.size(); ++i) {
    if (transform.low[i] >= transform.high[i]) return false;
  }
  return true;
}

// The cells of every level, in so many rows: of a factor level 0 has no indicator.
std::vector<TrialColumn> levels_of(const EnsembleDensity& density, const std::vector<int>& columns, Index rows,
                                   Index levels) {
  std::vector<TrialColumn> result;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnTransform& transform = density.transforms()[static_cast<std::size_t>(columns[c])];
    TrialColumn& column = result.emplace_back(empty_column(density, columns[c], rows, levels));
    for (Index level = 0; level < levels; ++level) {
      if (columns.size() == 1) {
        set(column, level, transform.cell(transform.x[static_cast<std::size_t>(level)]));
        continue;
      }
      const auto own = static_cast<Index>(c) + 1;
      const bool implied = level > 0 && level < own;
      set(column, level, implied ? implied_zero(transform) : transform.cell(level == own ? 1.0 : 0.0));
    }
  }
  return result;
}

Nodes level_nodes(const EnsembleDensity& density, int variable, std::span<const int> given, std::span<const int> rows,
                  Index levels) {
  Nodes nodes;
  nodes.columns = levels_of(density, density.columns(variable), static_cast<Index>(rows.size()), levels);
  nodes.weights = relative_densities(density, variable, given, rows, nodes.columns);
  for (TrialColumn& column : nodes.columns) {
    column.values.conservativeResize(Eigen::NoChange, levels + 1);
    if (column.low.size() > 0) column.low.conservativeResize(Eigen::NoChange, levels + 1);
    if (column.high.size() > 0) column.high.conservativeResize(Eigen::NoChange, levels + 1);
    set_own(density, rows, column, levels);
  }
  const Eigen::VectorXf sums = nodes.weights.rowwise().sum();
  nodes.weights.array().colwise() /= sums.array();
  return nodes;
}

// The interval that a number falls into, or the number.
Cell cell_at(const ColumnTransform& transform, double x) {
  const auto above = std::lower_bound(transform.high.begin(), transform.high.end(), x);
  const auto at = static_cast<std::size_t>(above - transform.high.begin());
  const bool inside = above != transform.high.end() && transform.low[at] < x && transform.low[at] < transform.high[at];
  return inside ? Cell{transform.z[at], transform.low[at], transform.high[at]} : Cell{x, x, x};
}

// Of the variable, if what it can be is a list; else 0.
Index levels_of(const EnsembleDensity& density, int variable, Index most) {
  const std::vector<int>& columns = density.columns(variable);
  if (columns.size() > 1) return static_cast<Index>(columns.size()) + 1;
  const ColumnTransform& transform = density.transforms()[static_cast<std::size_t>(columns.front())];
  const auto levels = static_cast<Index>(transform.x.size());
  return has_levels(transform) && levels <= most ? levels : 0;
}

}  // namespace

std::vector<TrialColumn> drawn_cells(const EnsembleDensity& density, int variable, std::span<const int> given,
                                     std::span<const int> rows, std::span<const float> uniforms) {
  const auto count = static_cast<Index>(rows.size());
  const std::vector<int>& columns = density.columns(variable);
  std::vector<TrialColumn> result;
  for (const int column : columns) result.push_back(empty_column(density, column, count, 1));
  if (const Index levels = levels_of(density, variable, kMostLevels)) {
    const std::vector<TrialColumn> options = levels_of(density, columns, count, levels);
    const Eigen::MatrixXf weights = relative_densities(density, variable, given, rows, options);
    for (Index i = 0; i < count; ++i) {
      float left = uniforms[static_cast<std::size_t>(i)] * weights.row(i).sum();
      Index level = 0;
      while (level + 1 < levels && (left -= weights(i, level)) > 0) ++level;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        result[c].values(i, 0) = options[c].values(i, level);
        if (result[c].low.size() == 0) continue;
        result[c].low(i, 0) = options[c].low(i, level);
        result[c].high(i, 0) = options[c].high(i, level);
      }
    }
    return result;
  }
  constexpr DistributionGrid kGrid = {.margin = 0.05f, .coarse = 17, .tail = 0.002f, .points = 25};
  const ConditionalDistribution distribution = conditional_distribution(density, variable, given, rows, kGrid);
  const ColumnTransform& transform = density.transforms()[static_cast<std::size_t>(columns.front())];
  TrialColumn& column = result.front();
  for (Index i = 0; i < count; ++i) {
    const float x = distribution.quantile(i, uniforms[static_cast<std::size_t>(i)]);
    const Cell cell = column.low.size() > 0 ? cell_at(transform, static_cast<double>(x)) : Cell{double{x}, 0, 0};
    column.values(i, 0) = static_cast<float>(cell.score);
    if (column.low.size() == 0) continue;
    column.low(i, 0) = static_cast<float>(cell.low);
    column.high(i, 0) = static_cast<float>(cell.high);
  }
  return result;
}

Nodes nodes_of(const EnsembleDensity& density, int variable, std::span<const int> given, std::span<const int> rows,
               int most) {
  if (const Index levels = levels_of(density, variable, most)) {
    return level_nodes(density, variable, given, rows, levels);
  }
  const auto count = static_cast<Index>(rows.size());
  Nodes nodes;
  nodes.weights = Eigen::MatrixXf::Constant(count, most, 1.0f / static_cast<float>(most));
  TrialColumn column = empty_column(density, variable, count, most + 1);
  column.values.leftCols(most) = conditional_quantiles(density, variable, given, rows, most);
  if (column.low.size() > 0) {
    const ColumnTransform& transform = density.transforms()[static_cast<std::size_t>(variable)];
    for (Index k = 0; k < most; ++k) {
      for (Index i = 0; i < count; ++i) {
        const Cell cell = cell_at(transform, static_cast<double>(column.values(i, k)));
        column.values(i, k) = static_cast<float>(cell.score);
        column.low(i, k) = static_cast<float>(cell.low);
        column.high(i, k) = static_cast<float>(cell.high);
      }
    }
  }
  set_own(density, rows, column, most);
  nodes.columns = {std::move(column)};
  return nodes;
}

}  // namespace fansite::flow
