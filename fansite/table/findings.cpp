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
#include "fansite/table/missingness.h"

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
  Index first_infinite = -1;
  bool empty = true;         // no cell at all
  bool constant = true;      // among the cells that are there
  bool counts_rows = false;  // each cell is one more than that before
  std::uint64_t hash = 0;
};

ColumnFacts facts_of(const Matrix& values, Index column) {
  ColumnFacts facts;
  const auto cells = values.col(column);
  double first = 0;
  facts.counts_rows = cells.size() > 1;
  for (Index row = 0; row < cells.size(); ++row) {
    double value = cells[row] + 0.0;  // −0 and 0 are equal and must hash alike
    if (std::isinf(value) && facts.infinite++ == 0) facts.first_infinite = row;
    if (std::isnan(value)) {
      ++facts.missing;
      value = std::numeric_limits<double>::quiet_NaN();  // all are alike
    } else if (facts.empty) {
      facts.empty = false;
      first = value;
    } else if (value != first) {
      facts.constant = false;
    }
    if (row > 0 && !(value == cells[row - 1] + 1 && value == std::floor(value))) facts.counts_rows = false;
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

/// "12 %", "0.3 %", "less than 0.1 %".
std::string percent(double share) {
  if (share < 0.001) return "less than 0.1 %";
  return share < 0.0995 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

void find_missing(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  auto columns = columns_where(facts, [](const ColumnFacts& f) { return f.missing > 0 && !f.empty; });
  if (columns.empty()) return;
  const auto missing = [&](int column) { return facts[static_cast<std::size_t>(column)].missing; };
  std::vector<int> most = columns;
  std::stable_sort(most.begin(), most.end(), [&](int a, int b) { return missing(a) > missing(b); });
  constexpr std::size_t kShown = 3;
  std::string shares;
  for (std::size_t i = 0; i < std::min(kShown, most.size()); ++i) {
    shares += fmt::format("{}'{}' {}{}", i == 0 ? "" : ", ", excerpt(data.names[static_cast<std::size_t>(most[i])]),
                          i == 0 ? "lacks " : "",
                          percent(static_cast<double>(missing(most[i])) / static_cast<double>(data.rows())));
    if (i == 0) shares += " of its cells";
  }
  if (most.size() > kShown) {
    shares += fmt::format(" and {} more column{} less", most.size() - kShown, plural(most.size() - kShown));
  }
  const std::vector<char> incomplete = incomplete_rows(data.values(Eigen::all, columns));
  findings.push_back({Finding::Kind::missing, columns,
                      fmt::format("[load] {}: {} of {} rows have a missing cell.", shares,
                                  std::count(incomplete.begin(), incomplete.end(), 1), data.rows())});
}

void find_missing_depends(const Dataset& data, std::vector<Finding>& findings) {
  const std::vector<MissingDependence> found = missing_dependences(data);
  if (found.empty()) return;
  Finding finding{Finding::Kind::missing_depends, {}, "[load] "};
  for (std::size_t i = 0; i < found.size(); ++i) {
    finding.columns.push_back(found[i].column);
    if (i < 2) finding.message += (i == 0 ? "" : ", ") + to_text(data, found[i], i > 0);
  }
  if (found.size() > 2) {
    finding.message += fmt::format(" and {} more column{} depend{} on others", found.size() - 2,
                                   plural(found.size() - 2), found.size() == 3 ? "s" : "");
  }
  finding.message += ": answers hold only if being missing does not depend on the missing values themselves.";
  findings.push_back(std::move(finding));
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
  if (data.rows() == 0) return;
  const auto empty = columns_where(facts, [](const ColumnFacts& f) { return f.empty; });
  if (!empty.empty()) {
    const bool one = empty.size() == 1;
    findings.push_back(
        {Finding::Kind::constant, empty,
         fmt::format("[load] column{} {} {} no cells: {} left out and belong{} to no boundary.", plural(empty.size()),
                     list_names(data, empty), one ? "has" : "have", one ? "it is" : "they are", one ? "s" : "")});
  }
  const auto columns = columns_where(facts, [](const ColumnFacts& f) { return f.constant && !f.empty; });
  if (columns.empty()) return;
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
    if (fact.constant) continue;
    auto& candidates = groups_of_hash[fact.hash];
    const auto same = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t group) {
      const auto a = data.values.col(groups[group][0]).array(), b = data.values.col(column).array();
      return (a == b || (a.isNaN() && b.isNaN())).all();
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

// Whether the values are whole numbers, all different, and so close together that measurements would have repeated
// some: of n drawn from a range of R, n²/2R pairs would be equal, and more if they were drawn from anything but all
// alike.
bool numbers_things(const Eigen::Ref<const Vector>& values) {
  constexpr double kWouldRepeat = 10;
  const auto n = static_cast<double>(values.size());
  if (values.hasNaN() || n < kWouldRepeat) return false;
  if (!(n * n / 2 > kWouldRepeat * (values.maxCoeff() - values.minCoeff() + 1))) return false;
  std::vector<double> cells(values.begin(), values.end());
  if (!std::all_of(cells.begin(), cells.end(), [](double value) { return value == std::floor(value); })) return false;
  std::sort(cells.begin(), cells.end());
  return std::adjacent_find(cells.begin(), cells.end()) == cells.end();
}

void find_identifiers(const Dataset& data, const std::vector<ColumnFacts>& facts, std::vector<Finding>& findings) {
  for (const int column : columns_where(facts, [](const ColumnFacts& f) { return f.counts_rows; })) {
    const std::string name = excerpt(data.names[static_cast<std::size_t>(column)]);
    findings.push_back({Finding::Kind::identifier,
                        {column},
                        fmt::format("[load] '{}' counts the rows ({}, {}, …): if it is only a row number, remove the "
                                    "column; if it is time, it may stay.",
                                    name, data.values(0, column), data.values(1, column))});
  }
  for (int column = 0; column < data.variables(); ++column) {
    const auto cells = data.values.col(column);
    if (facts[static_cast<std::size_t>(column)].counts_rows || !numbers_things(cells)) continue;
    findings.push_back({Finding::Kind::identifier,
                        {column},
                        fmt::format("[load] '{}' holds {} whole numbers from {} to {}, all different: if they only "
                                    "number the rows, leave the column out (--drop); if they are ranks or time, it may "
                                    "stay.",
                                    excerpt(data.names[static_cast<std::size_t>(column)]), cells.size(),
                                    cells.minCoeff(), cells.maxCoeff())});
  }
}

bool is_number(const std::string& name) {
  double value;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
  return code != std::errc::invalid_argument && end == name.data() + name.size();
}

/// Names such as 4 or 13 are plain identifiers; when all are numbers and one is no whole number, they are a row of
/// data. So they are if, beside such numbers, every column of labels has one of its labels for a name.
void find_numeric_header(const Dataset& data, std::vector<Finding>& findings) {
  bool whole = true;
  for (std::size_t j = 0; j < data.names.size(); ++j) {
    const std::string& name = data.names[j];
    const std::vector<std::string> none;
    const auto& levels = data.columns.empty() ? none : data.columns[j].levels;
    if (std::find(levels.begin(), levels.end(), name) != levels.end()) continue;
    if (!levels.empty() || !is_number(name)) return;
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
  if (!findings.empty()) find_missing_depends(data, findings);
  find_non_finite(data, facts, findings);
  find_few_rows(data, findings);
  find_constants(data, facts, findings);
  find_duplicates(data, facts, findings);
  find_identifiers(data, facts, findings);
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
