// SPDX-License-Identifier: Apache-2.0
#include "fansite/data.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "fansite/error.h"
#include "fansite/io/csv.h"
#include "fansite/io/file.h"
#include "fansite/io/npy.h"
#include "fansite/io/text.h"
#include "fansite/parallel.h"
#include "fansite/special.h"

namespace fansite {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// Insertions, deletions, replacements and swaps of neighbours that turn a into b; stops counting above `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::min_element(now.begin(), now.end()) > limit) return limit + 1;
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

// ---- Sentences ------------------------------------------------------------------------------------------------------

/// 'a', 'b', 'c', 'd', 'e' and 12 more
std::string list_names(const Dataset& data, const std::vector<int>& columns, std::size_t first = 0) {
  constexpr std::size_t kShown = 5;
  std::string list;
  for (std::size_t i = first; i < columns.size() && i < first + kShown; ++i) {
    if (i > first) list += ", ";
    list += fmt::format("'{}'", excerpt(data.names[static_cast<std::size_t>(columns[i])]));
  }
  if (columns.size() > first + kShown) list += fmt::format(" and {} more", columns.size() - first - kShown);
  return list;
}

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

void require_finite(const Dataset& data, const char* operation) {
  for (int column = 0; column < data.variables(); ++column) {
    for (Index row = 0; row < data.rows(); ++row) {
      check_data(std::isfinite(data.values(row, column)),
                 "[{}] column '{}' has a missing or infinite cell at row {}. Drop or fill it first.", operation,
                 excerpt(data.names[static_cast<std::size_t>(column)]), row + 1);
    }
  }
}

/// The rows given, in that order.
Dataset take_rows(const Dataset& data, const std::vector<int>& rows) {
  return {data.names, data.values(rows, Eigen::all), data.dropped_rows};
}

}  // namespace

// ---- Names ----------------------------------------------------------------------------------------------------------

std::vector<std::string> default_names(int variables) {
  std::vector<std::string> names(static_cast<std::size_t>(std::max(variables, 0)));
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("x{}", i + 1);
  return names;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong; case never counts. One or two letters leave no room for a guess.
  const std::string wanted = lower_case(name);
  std::size_t limit = wanted.size() / 3;
  std::string nearest;
  bool found = false;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower_case(candidate), limit);
    if (distance > limit || (found && distance == limit)) continue;
    nearest = candidate;
    limit = distance;
    found = true;
  }
  return nearest;
}

namespace {

// FNV-1a, a number at a time, with a fold so that high bits reach low ones.
class Hash {
 public:
  void add(std::uint64_t number) {
    state_ = (state_ ^ number) * 0x100000001b3u;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace

std::uint64_t hash_of(const MatrixView& values) {
  Hash hash;
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) hash.add(std::bit_cast<std::uint64_t>(values(i, j)));
  }
  return hash.value();
}

std::uint64_t hash_of(const Dataset& data) {
  Hash hash;
  for (const std::string& name : data.names) hash.add(name);
  hash.add(hash_of(MatrixView(data.values)));
  return hash.value();
}

std::uint64_t hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

int Dataset::index_of(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string near = nearest_name(name, names);
  if (!near.empty()) {
    throw UsageError(
        fmt::format("[index_of] no column is called '{}'. Did you mean '{}'?", excerpt(name), excerpt(near)));
  }
  std::vector<int> all(names.size());
  std::iota(all.begin(), all.end(), 0);
  throw UsageError(
      fmt::format("[index_of] no column is called '{}'. The columns are {}.", excerpt(name), list_names(*this, all)));
}

// ---- Files ----------------------------------------------------------------------------------------------------------

namespace {

Dataset from_array(NpyArray array, const std::string& where) {
  check_data(array.shape.size() == 2, "[load] {}: the array has one dimension. Save a 2-D array, rows by variables.",
             where);
  auto names = default_names(static_cast<int>(array.values.cols()));
  return {std::move(names), std::move(array.values)};
}

Dataset load_any(const std::string& path, const LoadOptions& options) {
  const std::string lower = lower_case(path);
  const bool tabs = lower.ends_with(".tsv");
  if (path == "-" || tabs || lower.ends_with(".csv") || lower.ends_with(".txt")) {
    const FileView file(path, options.progress);
    return parse_csv(file.bytes(), path == "-" ? "standard input" : path,
                     {.header = options.header, .separator = tabs ? '\t' : '\0'});
  }
  if (lower.ends_with(".npy")) {
    const FileView file(path, options.progress);
    return from_array(parse_npy(file.bytes(), path), path);
  }
  if (lower.ends_with(".npz")) {
    const FileView file(path, options.progress);
    const NpzFile archive(file.bytes(), path);
    const std::string name = archive.data_name();
    return from_array(archive.read(name), fmt::format("{}, array '{}'", path, excerpt(name)));
  }
  throw UsageError(
      fmt::format("[load] '{}' has an unknown ending. Known are .csv, .tsv, .txt, .npy and .npz, and '-' for CSV on "
                  "standard input.",
                  path));
}

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options) {
  Dataset data = load_any(path, options);
  return options.drop_missing ? drop_missing(std::move(data)) : data;
}

void save(const Dataset& data, const std::string& path) {
  const std::string lower = lower_case(path);
  const bool npy = lower.ends_with(".npy"), tabs = lower.ends_with(".tsv");
  check(npy || tabs || lower.ends_with(".csv"), "[save] '{}' has an unknown ending. Known are .csv, .tsv and .npy.",
        path);
  OutputFile file(path);
  if (npy) {
    write_npy(data.values, file);
  } else {
    write_csv(data, file, tabs ? '\t' : ',');
  }
  file.commit();
}

Dataset drop_missing(Dataset data) {
  std::vector<char> complete(static_cast<std::size_t>(data.rows()), 1);
  for (int column = 0; column < data.variables(); ++column) {
    for (Index row = 0; row < data.rows(); ++row) {
      if (std::isnan(data.values(row, column))) complete[static_cast<std::size_t>(row)] = 0;
    }
  }
  const Index kept = std::count(complete.begin(), complete.end(), 1);
  if (kept == data.rows()) return data;
  check_data(kept > 0, "[drop_missing] every row has a missing cell. Fill them, or drop the columns that have most.");
  Matrix values(kept, data.variables());
  parallel_for(data.variables(), [&](std::ptrdiff_t column) {
    double* out = values.col(column).data();
    for (Index row = 0; row < data.rows(); ++row) {
      if (complete[static_cast<std::size_t>(row)] != 0) *out++ = data.values(row, column);
    }
  });
  data.dropped_rows += data.rows() - kept;
  data.values = std::move(values);
  return data;
}

// ---- Inspection -----------------------------------------------------------------------------------------------------

namespace {

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

/// Each column joins the group of the first earlier column it is nearly a linear function of. Exact copies are reported
/// already and stand aside.
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

// ---- Transforms -----------------------------------------------------------------------------------------------------

Dataset standardise(const Dataset& data) {
  require_finite(data, "standardise");
  Dataset result = data;
  parallel_for(data.variables(), [&](std::ptrdiff_t column) {
    auto cells = result.values.col(column);
    if (cells.size() == 0) return;
    if ((cells.array() == cells[0]).all()) {  // a rounded mean would leave noise
      cells.setZero();
      return;
    }
    // Squares of values beyond 2^±500 leave the range of double; a power of two brings them back without rounding.
    int exponent = 0;
    std::frexp(cells.cwiseAbs().maxCoeff(), &exponent);
    if (std::abs(exponent) > 500) cells = cells.unaryExpr([&](double value) { return std::ldexp(value, -exponent); });
    cells.array() -= cells.mean();
    cells /= std::sqrt(cells.squaredNorm() / static_cast<double>(cells.size()));
  });
  return result;
}

Vector normal_scores(const Eigen::Ref<const Vector>& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
  Vector scores(values.size());
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    // Ranks first+1 … last share their mean, less the half of the formula.
    const double rank = static_cast<double>(first + last) / 2;
    const double score = normal_quantile(rank / static_cast<double>(values.size()));
    for (std::size_t i = first; i < last; ++i) scores[order[i]] = score;
  }
  return scores;
}

Dataset rank_gaussianise(const Dataset& data) {
  require_finite(data, "rank_gaussianise");
  Dataset result = data;
  parallel_for(data.variables(),
               [&](std::ptrdiff_t column) { result.values.col(column) = normal_scores(data.values.col(column)); });
  return result;
}

std::pair<Dataset, Dataset> split(const Dataset& data, double share, Key key) {
  check(share > 0 && share < 1, "[split] a share of {} was asked for. Give one between 0 and 1.", share);
  check(data.rows() >= 2 && data.rows() <= std::numeric_limits<int>::max(),
        "[split] a table of {} rows cannot be split. Give one of at least 2.", data.rows());
  const std::vector<int> order = Random(key).permutation(static_cast<int>(data.rows()));
  const auto wanted = static_cast<Index>(std::llround(share * static_cast<double>(data.rows())));
  const auto middle = order.begin() + std::clamp<Index>(wanted, 1, data.rows() - 1);
  return {take_rows(data, {order.begin(), middle}), take_rows(data, {middle, order.end()})};
}

}  // namespace fansite
