// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

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
  for (std::size_t j = 0; j < copy_of.size(); ++j) {
    if (copy_of[j] >= 0) takes_part[j] = 0;
  }
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::constant) continue;
    for (const int column : finding.columns) takes_part[static_cast<std::size_t>(column)] = 0;
  }
}

NominalLevels nominal_levels(const Dataset& data, int column) {
  std::map<double, Index> rows;
  for (const double value : data.values.col(column)) {
    if (!std::isnan(value)) ++rows[value];
  }
  NominalLevels result;
  result.column = column;
  for (const auto& [value, count] : rows) result.values.push_back(value);
  const auto most =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != rows.end()) {
    std::erase(result.values, most->first);
    result.values.insert(result.values.begin(), most->first);
  }
  for (const double value : result.values) {
    const auto& labels =
        data.columns.empty() ? std::vector<std::string>() : data.columns[static_cast<std::size_t>(column)].levels;
    const bool labelled = value >= 0 && value < static_cast<double>(labels.size());
    result.labels.push_back(labelled ? labels[static_cast<std::size_t>(value)] : fmt::format("{}", value));
  }
  return result;
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
      const double value = levels.values[level];
      add(indicator_name(table.names[at], levels.labels[level]), table.values.col(j).unaryExpr([&](double x) {
        return std::isnan(x) ? x : x == value ? 1.0 : 0.0;
      }),
          ColumnKind::ordered);
    }
  }
  check_data(!columns.empty(), "[flow] every column is constant; there is nothing to learn");
  data.values.resize(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) data.values.col(static_cast<Index>(j)) = columns[j];
  data.weights = table.weights;
  data.groups = table.groups;
  values_hash = all ? facts.values_hash : hash_of(MatrixView(data.values));
}

}  // namespace fansite
