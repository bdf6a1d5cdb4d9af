// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "fansite/base/error.h"

namespace fansite {

TableFacts::TableFacts(const Dataset& data)
    : values_hash(hash_of(MatrixView(data.values))),
      findings(inspect(data)),
      copy_of(copies(findings, data.variables())),
      takes_part(copy_of.size(), 1) {
  hash = hash_of(data, values_hash);
  for (int j = 0; j < data.variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool declared = !data.columns.empty() && data.columns[at].kind.has_value();
    kinds.push_back(declared ? *data.columns[at].kind : recognised_kind(data.values.col(j)));
  }
  wild = wild_cells(data, kinds);
  if (!wild.empty()) findings.push_back(wild_finding(data, wild));
  for (std::size_t j = 0; j < copy_of.size(); ++j) {
    if (copy_of[j] >= 0) takes_part[j] = 0;
  }
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::constant) continue;
    for (const int column : finding.columns) takes_part[static_cast<std::size_t>(column)] = 0;
  }
}

TableFacts::TableFacts(const TableFacts& facts, const Dataset& ordered, const ContentOrder& order)
    : values_hash(hash_of(MatrixView(ordered.values))), findings(facts.findings), wild(facts.wild) {
  hash = hash_of(ordered, values_hash);
  const std::vector<int> column = inverse(order.columns), row = inverse(order.rows);
  for (Finding& finding : findings) {
    for (int& j : finding.columns) j = column[static_cast<std::size_t>(j)];
  }
  for (WildCell& cell : wild) {
    cell.column = column[static_cast<std::size_t>(cell.column)];
    cell.row = row[static_cast<std::size_t>(cell.row)];
  }
  std::sort(wild.begin(), wild.end(),
            [](const WildCell& x, const WildCell& y) { return std::tie(x.column, x.row) < std::tie(y.column, y.row); });
  for (const int j : order.columns) {
    const auto at = static_cast<std::size_t>(j);
    kinds.push_back(facts.kinds[at]);
    copy_of.push_back(facts.copy_of[at] < 0 ? -1 : column[static_cast<std::size_t>(facts.copy_of[at])]);
    takes_part.push_back(facts.takes_part[at]);
  }
}

std::vector<int> TableFacts::columns_of_content() const {
  std::vector<char> of_content = takes_part;
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::identifier) continue;
    for (const int column : finding.columns) of_content[static_cast<std::size_t>(column)] = 0;
  }
  std::vector<int> columns;
  for (std::size_t j = 0; j < of_content.size(); ++j) {
    if (of_content[j] != 0) columns.push_back(static_cast<int>(j));
  }
  return columns;
}

NominalLevels nominal_levels(const Dataset& data, int column) {
  std::map<double, Index> rows;
  for (const double value : data.values.col(column)) {
    if (!std::isnan(value)) ++rows[value];
  }
  std::vector<double> by_rows;  // the most frequent first
  for (const auto& [value, count] : rows) by_rows.push_back(value);
  std::stable_sort(by_rows.begin(), by_rows.end(), [&](double a, double b) { return rows[a] > rows[b]; });
  const auto rare = std::find_if(by_rows.begin(), by_rows.end(),
                                 [&](double value) { return rows[value] < NominalLevels::kFewestRows; });
  std::size_t own = std::min(static_cast<std::size_t>(rare - by_rows.begin()), NominalLevels::kMostLevels);
  own = std::max<std::size_t>(own, 1);                  // the first is what all others are compared with
  if (by_rows.size() <= own + 1) own = by_rows.size();  // one alone is as well called by its name
  NominalLevels result;
  result.column = column;
  for (std::size_t k = own; k < by_rows.size(); ++k) result.pooled.push_back(static_cast<int>(rows[by_rows[k]]));
  by_rows.resize(own);
  if (!by_rows.empty()) std::sort(by_rows.begin() + 1, by_rows.end());
  result.values = std::move(by_rows);
  for (const double value : result.values) result.labels.push_back(level_label(data, column, value));
  if (!result.pooled.empty()) {
    result.values.push_back(std::numeric_limits<double>::quiet_NaN());
    result.labels.emplace_back(NominalLevels::kOther);
  }
  return result;
}

int NominalLevels::level_of(double value) const {
  if (std::isnan(value)) return -1;
  const auto found = std::find(values.begin(), values.end(), value);
  const auto place = static_cast<int>(found - values.begin());
  return pooled.empty() && found == values.end() ? -1 : std::min(place, static_cast<int>(values.size()) - 1);
}

Vector NominalLevels::indicator(const Vector& column_values, std::size_t level) const {
  return column_values.unaryExpr([&](double x) {
    const int own = level_of(x);
    return own < 0 ? std::numeric_limits<double>::quiet_NaN() : own == static_cast<int>(level) ? 1.0 : 0.0;
  });
}

std::string level_label(const Dataset& data, int column, double value) {
  const auto& labels =
      data.columns.empty() ? std::vector<std::string>() : data.columns[static_cast<std::size_t>(column)].levels;
  const bool labelled = value >= 0 && value < static_cast<double>(labels.size());
  return labelled ? labels[static_cast<std::size_t>(value)] : fmt::format("{}", value);
}

std::string indicator_name(const std::string& column, const std::string& level) {
  return fmt::format("{}={}", column, level);
}

LearnableTable::LearnableTable(const Dataset& table, const TableFacts& facts) {
  std::vector<Vector> columns;
  bool all = true;
  for (int j = 0; j < table.variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (facts.takes_part[at] == 0) {
      all = false;
      continue;
    }
    const auto add = [&](const std::string& name, Vector values, ColumnKind kind) {
      data.names.push_back(name);
      data.columns.push_back({.kind = kind, .context = !table.columns.empty() && table.columns[at].context});
      columns.push_back(std::move(values));
    };
    if (facts.kinds[at] != ColumnKind::nominal) {
      add(table.names[at], table.values.col(j), facts.kinds[at]);
      continue;
    }
    all = false;
    NominalLevels& levels = nominal.emplace_back(nominal_levels(table, j));
    for (std::size_t level = 1; level < levels.values.size(); ++level) {
      levels.indicators.push_back(static_cast<int>(columns.size()));
      add(indicator_name(table.names[at], levels.labels[level]), levels.indicator(table.values.col(j), level),
          ColumnKind::ordered);
    }
  }
  check_data(!columns.empty(), "[train] every column is constant; there is nothing to learn");
  data.values.resize(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) data.values.col(static_cast<Index>(j)) = columns[j];
  data.weights = table.weights;
  data.groups = table.groups;
  values_hash = all ? facts.values_hash : hash_of(MatrixView(data.values));
}

}  // namespace fansite
