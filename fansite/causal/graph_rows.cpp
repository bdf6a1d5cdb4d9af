// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/graph_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>

#include "fansite/base/hash.h"

namespace fansite::causal {

GraphRows GraphRows::of_rows(const std::vector<int>& rows) const {
  GraphRows result{{}, {}, worth};
  if (weights.size() > 0) {
    result.weights = weights(rows);
    if (!rows.empty()) result.weights /= result.weights.mean();
  }
  std::map<int, int> number;
  for (const int row : rows) {
    if (groups.empty()) break;
    const int group = groups[static_cast<std::size_t>(row)];
    result.groups.push_back(number.emplace(group, static_cast<int>(number.size())).first->second);
  }
  return result;
}

Blocks GraphRows::blocks() const {
  std::map<int, std::vector<int>> rows_of;
  for (std::size_t row = 0; row < groups.size(); ++row) rows_of[groups[row]].push_back(static_cast<int>(row));
  Blocks result;
  for (auto& [group, rows] : rows_of) {
    if (rows.size() > 1) result.push_back(std::move(rows));
  }
  return result;
}

std::vector<int> GraphRows::first_of_each_group() const {
  std::vector<int> result;
  std::set<int> seen;
  for (std::size_t row = 0; row < groups.size(); ++row) {
    if (seen.insert(groups[row]).second) result.push_back(static_cast<int>(row));
  }
  return result;
}

double GraphRows::independent(Index rows) const {
  const Index all = std::max(weights.size(), std::ssize(groups));
  if (all == 0) return worth * static_cast<double>(rows);
  const double share = static_cast<double>(rows) / static_cast<double>(all);
  // Kish 1965, of what is independent. A unit that weighs more than others makes the mean its own: Σ² / Σ of squares.
  const Vector of_unit = by_unit(weights.size() > 0 ? weights : Vector::Ones(all));
  return worth * share * of_unit.sum() * of_unit.sum() / of_unit.squaredNorm();
}

Vector GraphRows::by_unit(const Vector& values) const {
  if (groups.empty()) return values;
  Vector sums = Vector::Zero(*std::max_element(groups.begin(), groups.end()) + 1);
  for (Index i = 0; i < values.size(); ++i) sums[groups[static_cast<std::size_t>(i)]] += values[i];
  return sums;
}

std::string GraphRows::identity() const {
  if (plain()) return "";
  Hash hash;
  for (const double weight : weights) hash.add(std::bit_cast<std::uint64_t>(weight));
  hash.add("groups");
  for (const int group : groups) hash.add(static_cast<std::uint64_t>(group));
  return fmt::format(", rows {:016x} worth {}", hash.value(), worth);
}

}  // namespace fansite::causal
