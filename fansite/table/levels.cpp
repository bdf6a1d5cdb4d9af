// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace fansite {
namespace {

constexpr std::size_t kMostOrdered = 10, kMostGroups = 10;
constexpr Index kFewestRows = 5;

struct Count {
  Index rows = 0, first = 0;  // row that has it
};

// Neighbours together, until they have enough rows; what is left over joins the last.
std::vector<int> group_neighbours(const std::vector<Count>& counts) {
  std::vector<int> group_of(counts.size());
  int group = 0;
  Index rows = 0, before = 0;
  for (std::size_t level = 0; level < counts.size(); ++level) {
    if (rows >= kFewestRows) {
      ++group;
      before = rows;
      rows = 0;
    }
    group_of[level] = group;
    rows += counts[level].rows;
  }
  if (rows < kFewestRows && before > 0) std::replace(group_of.begin(), group_of.end(), group, group - 1);
  return group_of;
}

// Those with most rows each on its own, the others together; of levels with as many, the one that comes first.
std::vector<int> group_by_rows(const std::vector<Count>& counts) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return counts[a].rows != counts[b].rows ? counts[a].rows > counts[b].rows : counts[a].first < counts[b].first;
  });
  const auto frequent = static_cast<std::size_t>(
      std::count_if(counts.begin(), counts.end(), [](const Count& c) { return c.rows >= kFewestRows; }));
  std::size_t alone = counts.size() <= kMostGroups ? frequent : std::min(frequent, kMostGroups - 1);
  Index others = 0;
  for (std::size_t place = alone; place < order.size(); ++place) others += counts[order[place]].rows;
  if (alone > 0 && others < kFewestRows) --alone;  // they join the last
  std::vector<int> group_of(counts.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    group_of[order[place]] = static_cast<int>(std::min(place, alone));
  }
  return group_of;
}

}  // namespace

std::size_t Levels::level(double value) const {
  const auto after = std::lower_bound(values.begin(), values.end(), value);
  if (after == values.begin()) return 0;
  const auto place = static_cast<std::size_t>(after - values.begin());
  if (after == values.end()) return place - 1;
  return *after - value <= value - values[place - 1] ? place : place - 1;
}

std::optional<Levels> levels_of(const Eigen::Ref<const Vector>& column, ColumnKind kind) {
  if (kind != ColumnKind::nominal && kind != ColumnKind::ordered) return std::nullopt;
  std::map<double, Count> found;
  for (Index row = 0; row < column.size(); ++row) {
    if (std::isnan(column[row])) continue;
    const auto [place, is_new] = found.try_emplace(column[row] + 0.0, Count{0, row});  // −0 and 0 are equal
    ++place->second.rows;
    if (is_new && kind == ColumnKind::ordered && found.size() > kMostOrdered) return std::nullopt;
  }
  if (found.size() < 2) return std::nullopt;
  Levels levels;
  levels.ordered = kind == ColumnKind::ordered;
  std::vector<Count> counts;
  for (const auto& [value, count] : found) {
    levels.values.push_back(value);
    counts.push_back(count);
  }
  levels.group_of = levels.ordered ? group_neighbours(counts) : group_by_rows(counts);
  levels.groups = *std::max_element(levels.group_of.begin(), levels.group_of.end()) + 1;
  std::vector<Index> rows(static_cast<std::size_t>(levels.groups), 0);
  for (std::size_t level = 0; level < counts.size(); ++level) {
    rows[static_cast<std::size_t>(levels.group_of[level])] += counts[level].rows;
  }
  for (std::size_t level = 0; level < counts.size(); ++level) {
    const Index of_group = rows[static_cast<std::size_t>(levels.group_of[level])];
    levels.within.push_back(std::log(static_cast<double>(of_group) / static_cast<double>(counts[level].rows)));
  }
  return levels;
}

Matrix indicators(const std::vector<int>& groups, int count) {
  Matrix result = Matrix::Zero(static_cast<Index>(groups.size()), count);
  for (std::size_t row = 0; row < groups.size(); ++row) result(static_cast<Index>(row), groups[row]) = 1;
  const Vector shares = result.colwise().mean();
  const double differ = 1 - shares.squaredNorm();
  return differ > 0 ? Matrix(result / std::sqrt(differ)) : Matrix(Matrix::Zero(result.rows(), 1));
}

}  // namespace fansite
