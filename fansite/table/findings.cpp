// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/findings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "fansite/base/detail/work_count.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

// Of the columns from the first on.
std::string list_names(const Dataset& data, const std::vector<int>& columns, std::size_t first = 0) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < columns.size(); ++i)
    names.push_back(data.names[static_cast<std::size_t>(columns[i])]);
  return quoted_list(names);
}

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

struct ColumnFacts {
  Index missing = 0, infinite = 0;
  Index first_missing = -1, first_infinite = -1;
  bool constant = true;
  std::uint64_t hash = 0;
};

ColumnFacts facts_of(const Matrix& values, Index column) {
  ColumnFacts facts;
  const auto cells = values.col(column);
  for (Index row = 0; row < cells.size(); ++row) {
    const double value = cells[row] + 0.0;  // −0 and 0 are equal and must hash alike
    if (std::isnan(value) && facts.missing++ == 0) facts.first_missing = row;
    if (std::isinf(value) && facts.infinite++ == 0) facts.first_infinite = row;
    if (value != cells[0]) facts.constant = false;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    facts.hash = (facts.hash ^ bits) * 0x9E3779B97F4A7C15u;
    facts.hash ^= facts.hash >> 29;
  }
  return facts;
}

/// Collects one finding about all columns for which `belongs` holds.
template <class Predicate>
std::vector<int> columns_where(const std::vector<ColumnFacts>& facts, Predicate&& belongs) {
  std::vector<int> columns;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (belongs(facts[i])) columns.push_back(static_cast<int>(i));
  }
  return columns;
}

void find_missing(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  const auto columns = columns_where(facts, [](const ColumnFacts& f) { return f.missing > 0; });
  if (columns.empty()) return;
  Index cells = 0, first = std::numeric_limits<Index>::max();
  for (const int column : columns) {
    cells += facts[static_cast<std::size_t>(column)].missing;
    first = std::min(first, facts[static_cast<std::size_t>(column)].first_missing);
  }
  findings.push_back(
      {Finding::Kind::missing, columns,
       fmt::format("[load] {} missing cell{} in column{} {} (first at row {}): drop those rows with --missing "
                   "drop, or fill them.",
                   cells, plural(static_cast<std::size_t>(cells)), plural(columns.size()), list_names(data, columns),
                   first + 1),
       true});
}

void find_non_finite(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  const auto columns = columns_where(facts, [](const ColumnFacts& f) { return f.infinite > 0; });
  if (columns.empty()) return;
  findings.push_back(
      {Finding::Kind::non_finite, columns,
       fmt::format("[load] infinite values in column{} {} (first in '{}' at row {}): replace or remove them.",
                   plural(columns.size()), list_names(data, columns),
                   excerpt(data.names[static_cast<std::size_t>(columns[0])]),
                   facts[static_cast<std::size_t>(columns[0])].first_infinite + 1),
       true});
}

void find_few_rows(const Dataset& data, std::vector<Finding>& findings) {
  constexpr Index kFewest = 8;  // below this no estimate has a standard error worth the name
  if (data.rows() < kFewest) {
    const auto dropped = data.dropped_rows == 0 ? "" : fmt::format(" are left after dropping {}", data.dropped_rows);
    findings.push_back({Finding::Kind::few_rows,
                        {},
                        fmt::format("[load] {} row{}{}: at least {} are needed, so add data.", data.rows(),
                                    plural(static_cast<std::size_t>(data.rows())), dropped, kFewest),
                        true});
  } else if (data.variables() > data.rows()) {
    findings.push_back(
        {Finding::Kind::few_rows,
         {},
         fmt::format("[load] more columns ({}) than rows ({}): only strong dependences can be found; fewer "
                     "columns or more rows would help.",
                     data.variables(), data.rows())});
  }
}

void find_constants(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  const auto columns = columns_where(facts, [](const ColumnFacts& f) { return f.constant; });
  if (columns.empty() || data.rows() == 0) return;
  const bool one = columns.size() == 1;
  findings.push_back(
      {Finding::Kind::constant, columns,
       fmt::format("[load] column{} {} {} constant: {} left out and belong{} to no boundary.", plural(columns.size()),
                   list_names(data, columns), one ? "is" : "are", one ? "it is" : "they are", one ? "s" : "")});
}

/// Groups of equal columns, each led by its first. Hashes find candidates, comparison decides.
void find_duplicates(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> groups_of_hash;
  std::vector<std::vector<int>> groups;
  for (int column = 0; column < data.variables(); ++column) {
    const ColumnFacts& fact = facts[static_cast<std::size_t>(column)];
    if (fact.constant || fact.missing > 0) continue;
    auto& candidates = groups_of_hash[fact.hash];
    const auto same = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t group) {
      return data.values.col(groups[group][0]) == data.values.col(column);
    });
    if (same == candidates.end()) {
      candidates.push_back(groups.size());
      groups.push_back({column});
    } else {
      groups[*same].push_back(column);
    }
  }
  for (const auto& group : groups) {
    if (group.size() == 1) continue;
    const bool one = group.size() == 2;
    findings.push_back(
        {Finding::Kind::duplicate, group,
         fmt::format("[load] {} {} of '{}': the data cannot tell them apart, so they share one boundary; keep one.",
                     list_names(data, group, 1), one ? "is a copy" : "are copies",
                     excerpt(data.names[static_cast<std::size_t>(group[0])]))});
  }
}

/// Names such as 4 or 13 are plain identifiers; when all are numbers and one is no whole number, they are a row of
/// data.
void find_numeric_header(const Dataset& data, std::vector<Finding>& findings) {
  bool whole = true;
  for (const std::string& name : data.names) {
    double value;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (code == std::errc::invalid_argument || end != name.data() + name.size()) return;
    whole = whole && name.find_first_not_of("0123456789") == std::string::npos;
  }
  if (whole) return;
  findings.push_back({Finding::Kind::numeric_header,
                      {},
                      "[load] the first row looks like data: if the file has no names, use --no-header."});
}

}  // namespace

std::vector<Finding> inspect(const Dataset& data) {
  ++detail::work_count.inspections;
  const auto columns = static_cast<std::size_t>(data.variables());
  check(data.names.size() == columns, "[inspect] {} names for {} columns. Give one per column.", data.names.size(),
        columns);
  std::vector<ColumnFacts> facts(columns);
  parallel_for(data.variables(),
               [&](std::ptrdiff_t column) { facts[static_cast<std::size_t>(column)] = facts_of(data.values, column); });

  std::vector<Finding> findings;
  find_missing(data, facts, findings);
  find_non_finite(data, facts, findings);
  find_few_rows(data, findings);
  find_constants(data, facts, findings);
  find_duplicates(data, facts, findings);
  if (columns > 0) find_numeric_header(data, findings);
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) { return finding.fatal; });
  return findings;
}

std::vector<Finding> near_duplicates(const Dataset& data, const Matrix& correlation, const std::vector<Finding>& known,
                                     double threshold) {
  const int columns = data.variables();
  std::vector<char> is_copy(static_cast<std::size_t>(columns), 0);
  for (const Finding& finding : known) {
    if (finding.kind != Finding::Kind::duplicate) continue;
    for (std::size_t i = 1; i < finding.columns.size(); ++i) is_copy[static_cast<std::size_t>(finding.columns[i])] = 1;
  }
  check(correlation.rows() == columns && correlation.cols() == columns,
        "[inspect] the correlation matrix is {} × {} for {} columns. Give that of this table.", correlation.rows(),
        correlation.cols(), columns);
  // Each column joins the group of the first earlier column it is nearly a linear function of. Exact copies are
  // reported already and stand aside.
  std::vector<int> leader(static_cast<std::size_t>(columns));
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(columns));
  for (int column = 0; column < columns; ++column) {
    leader[static_cast<std::size_t>(column)] = column;
    if (is_copy[static_cast<std::size_t>(column)] != 0) continue;
    for (int earlier = 0; earlier < column; ++earlier) {
      if (is_copy[static_cast<std::size_t>(earlier)] != 0 || !(std::abs(correlation(earlier, column)) >= threshold))
        continue;
      leader[static_cast<std::size_t>(column)] = leader[static_cast<std::size_t>(earlier)];
      break;
    }
    groups[static_cast<std::size_t>(leader[static_cast<std::size_t>(column)])].push_back(column);
  }
  std::vector<Finding> findings;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const bool one = group.size() == 2;
    findings.push_back(
        {Finding::Kind::near_duplicate, group,
         fmt::format("[load] {} {} of '{}' (|correlation| at least {}): the data can hardly tell them apart, "
                     "so keep one.",
                     list_names(data, group, 1), one ? "is almost a linear copy" : "are almost linear copies",
                     excerpt(data.names[static_cast<std::size_t>(group[0])]), threshold)});
  }
  return findings;
}

std::vector<int> copies(const std::vector<Finding>& findings, int columns) {
  std::vector<int> copy_of(static_cast<std::size_t>(columns), -1);
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::duplicate) continue;
    for (std::size_t i = 1; i < finding.columns.size(); ++i) {
      copy_of[static_cast<std::size_t>(finding.columns[i])] = finding.columns.front();
    }
  }
  return copy_of;
}

void throw_if_fatal(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.fatal) throw DataError(finding.message);
  }
}

}  // namespace fansite
