// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/detail/csv_cells.h"
#include "fansite/table/detail/csv_numbers.h"

namespace fansite {
namespace {

constexpr std::size_t kMostLevels = 50;         // of text that is not declared to be nominal
constexpr std::size_t kFewestIdentifiers = 20;  // labels up to which a short table may have one in every other row

bool is_number(std::string_view text) {
  double value;
  return csv::parse_number(text, value) || csv::parse_styled(text, {csv::Notation::decimal_comma}, value);
}

/// Numbers as text are not what their owner believes them to be.
void check_no_numbers(const std::string& name, const std::vector<std::string_view>& cells) {
  const auto numbers = std::count_if(cells.begin(), cells.end(), is_number);
  if (2 * static_cast<std::size_t>(numbers) < cells.size() || cells.empty()) return;
  const auto text = std::find_if_not(cells.begin(), cells.end(), is_number);
  check_data(
      text == cells.end(),
      "[table] column '{}' holds the text '{}' among numbers, all written as text. Correct it and turn the column "
      "into numbers, or use it as labels with --kind {}=nominal.",
      name, text == cells.end() ? "" : excerpt(*text), name);
  throw DataError(
      fmt::format("[table] column '{}' holds numbers written as text, such as '{}'. Turn it into numbers, or use it as "
                  "labels with --kind {}=nominal.",
                  name, excerpt(cells.front()), name));
}

}  // namespace

std::string why_no_levels(std::string_view column, bool first_column, const std::vector<std::string_view>& cells) {
  if (cells.empty()) return "";
  const std::string name = excerpt(column);
  const auto dates = static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), csv::is_date));
  if (2 * dates >= cells.size()) {
    return fmt::format(
        "column '{}' holds dates or times such as '{}'. Give a number, for example days since the first, or leave "
        "the column out (--drop {}); --kind {}=nominal uses them as labels.",
        name, excerpt(cells[0]), name, name);
  }
  std::vector<std::string_view> labels = cells;
  std::sort(labels.begin(), labels.end());
  const auto levels = static_cast<std::size_t>(std::unique(labels.begin(), labels.end()) - labels.begin());
  if (levels > kFewestIdentifiers && 2 * levels > cells.size()) {
    return fmt::format(
        "column '{}' looks like {} such as '{}': {} of {} cells are different. Leave it out with --drop {}, or "
        "--kind {}=nominal to use it all the same.",
        name, first_column ? "row names" : "identifiers or free text", excerpt(cells[0]), levels, cells.size(), name,
        name);
  }
  if (levels > kMostLevels) {
    return fmt::format(
        "column '{}' holds {} different texts such as '{}', more than {}. Merge the rare ones, --drop {} to leave the "
        "column out, or --kind {}=nominal to use it all the same.",
        name, levels, excerpt(cells[0]), kMostLevels, name, name);
  }
  return "";
}

void label_column(Dataset& data, int column, const std::vector<std::string>& labels, Labels origin) {
  const std::string name = excerpt(data.names.at(static_cast<std::size_t>(column)));
  std::vector<std::string_view> trimmed;
  for (const std::string& label : labels) {
    trimmed.push_back(csv::trimmed({label.data(), label.data() + label.size()}, ',').view());
    check_data(is_utf8(label) && label.find('\0') == std::string::npos,
               "[table] column '{}' holds '{}', which is not UTF-8 text.", name, excerpt(label));
  }
  auto values = data.values.col(column);
  std::vector<std::string_view> cells;
  std::map<std::string_view, double> level_of;
  for (double& value : values) {
    if (std::isnan(value)) continue;
    const std::string_view label = trimmed.at(static_cast<std::size_t>(value));
    if (label.empty()) {
      value = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    cells.push_back(label);
    level_of.emplace(label, 0);
  }
  if (origin == Labels::text) check_no_numbers(name, cells);
  if (origin != Labels::declared) {
    const std::string sentence = why_no_levels(data.names[static_cast<std::size_t>(column)], column == 0, cells);
    check_data(sentence.empty(), "[table] {}", sentence);
  }
  data.columns.resize(data.names.size());
  Column& about = data.columns[static_cast<std::size_t>(column)];
  about.kind = ColumnKind::nominal;
  about.levels.clear();
  for (auto& [label, level] : level_of) {
    level = static_cast<double>(about.levels.size());
    about.levels.emplace_back(label);
  }
  for (double& value : values) {
    if (!std::isnan(value)) value = level_of.at(trimmed[static_cast<std::size_t>(value)]);
  }
}

}  // namespace fansite
