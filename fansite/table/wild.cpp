// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/wild.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/robust_scale.h"

namespace fansite {
namespace {

constexpr std::size_t kFewestCells = 20;
constexpr double kScales = 20, kFactor = 10, kRareColumn = 1e-4;

// Halves of the cells that are there: differences of halves cannot overflow.
struct Halves {
  std::vector<Index> rows;
  std::vector<double> values;
};

Halves halves_of(const Eigen::Ref<const Vector>& values) {
  Halves result;
  for (Index row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row])) continue;
    result.rows.push_back(row);
    result.values.push_back(values[row] / 2);
  }
  return result;
}

std::size_t most_wild(std::size_t cells) {
  return std::max({std::size_t{1}, std::min<std::size_t>(3, cells / 50), cells / 200});
}

// Hill's mean over the outer cells behind the first `wild`; `distances` descend. What is nearer than the scale is in no
// tail, and may be 0.
double tail_index(const std::vector<double>& distances, std::size_t wild, double scale) {
  const std::size_t outer = std::max<std::size_t>(10, (distances.size() - wild) / 20);
  const double smallest = std::log(std::max(distances[wild + outer - 1], scale));
  double sum = 0;
  for (std::size_t i = wild; i < wild + outer; ++i) sum += std::log(std::max(distances[i], scale)) - smallest;
  return sum / static_cast<double>(outer);
}

// How many of the distances, which descend, are wild.
std::size_t count_wild(const std::vector<double>& distances, double scale) {
  for (std::size_t k = most_wild(distances.size()); k > 0; --k) {
    if (!(distances[k - 1] / kScales > scale)) continue;
    const double gap = std::log(distances[k - 1]) - std::log(std::max(distances[k], scale));
    const double tail = -std::log(kRareColumn) * tail_index(distances, k, scale);
    if (gap > std::max(std::log(kFactor), tail)) return k;
  }
  return 0;
}

std::string in_words(double times) {
  return times < 1000 ? fmt::format("{:.0f}", times) : fmt::format("{:.1g}", times);
}

}  // namespace

std::vector<WildCell> wild_cells(const Eigen::Ref<const Vector>& values) {
  const Halves halves = halves_of(values);
  if (halves.values.size() < kFewestCells) return {};
  std::vector<double> ordered = halves.values;
  const double median = quantile(ordered, 0.5), scale = robust_scale(ordered);
  if (!(scale > 0)) return {};
  std::vector<double> distances;
  for (const double half : halves.values) distances.push_back(std::abs(half - median));
  if (!(*std::max_element(distances.begin(), distances.end()) / kScales > scale))
    return {};  // as in nearly all columns

  std::vector<double> descending = distances;
  std::sort(descending.begin(), descending.end(), std::greater<>());
  const std::size_t count = count_wild(descending, scale);
  if (count == 0) return {};
  const double furthest = descending[count];
  std::vector<WildCell> cells;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] <= furthest) continue;
    const double times = std::min(distances[i] / std::max(furthest, scale), std::numeric_limits<double>::max());
    cells.push_back({0, halves.rows[i], times, 2 * median});
  }
  return cells;
}

std::vector<WildCell> wild_cells(const Dataset& data, const std::vector<ColumnKind>& kinds) {
  std::vector<std::vector<WildCell>> of_column(kinds.size());
  parallel_for(data.variables(), [&](std::ptrdiff_t j) {
    const auto at = static_cast<std::size_t>(j);
    if (kinds[at] != ColumnKind::nominal) of_column[at] = wild_cells(data.values.col(j));
  });
  std::vector<WildCell> all;
  for (std::size_t j = 0; j < of_column.size(); ++j) {
    for (WildCell& cell : of_column[j]) {
      cell.column = static_cast<int>(j);
      all.push_back(cell);
    }
  }
  return all;
}

Finding wild_finding(const Dataset& data, const std::vector<WildCell>& cells) {
  constexpr std::size_t kShown = 3;
  Finding finding{Finding::Kind::wild, {}, ""};
  std::string places;
  double times = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const WildCell& cell = cells[i];
    if (finding.columns.empty() || finding.columns.back() != cell.column) finding.columns.push_back(cell.column);
    times = std::min(times, cell.times);
    if (i >= kShown) continue;
    places += fmt::format("{}'{}' in row {} ({:.4g})", i == 0 ? "" : ", ",
                          excerpt(data.names[static_cast<std::size_t>(cell.column)]), cell.row + 1,
                          data.values(cell.row, cell.column));
  }
  const bool one = cells.size() == 1;
  if (cells.size() > kShown) places += fmt::format(" and {} more", cells.size() - kShown);
  finding.message = fmt::format(
      "[load] the cell{} of {} {} {} times as far from the median as any other of the column{}: {}? So that {} not "
      "decide alone, linear relations and graphs are sought with the median in {} place. If {} wrong, leave {} empty; "
      "if not, --estimator flow goes by ranks and takes {} as {}.",
      one ? "" : "s", places, one ? "is" : "are at least", in_words(times), one ? "" : "s",
      one ? "a slip, or a code for missing" : "slips, or codes for missing", one ? "it does" : "they do",
      one ? "its" : "their", one ? "it is" : "they are", one ? "the cell" : "the cells", one ? "it" : "them",
      one ? "it is" : "they are");
  return finding;
}

Matrix tame_values(const Matrix& values, const std::vector<WildCell>& cells) {
  Matrix tame = values;
  for (const WildCell& cell : cells) tame(cell.row, cell.column) = cell.instead;
  return tame;
}

}  // namespace fansite
