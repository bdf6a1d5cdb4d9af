// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/dataset.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/base/text.h"
#include "fansite/table/csv.h"
#include "fansite/table/detail/gzip.h"
#include "fansite/table/npy.h"

namespace fansite {
namespace {

void require_finite(const Dataset& data, const char* operation) {
  for (int column = 0; column < data.variables(); ++column) {
    for (Index row = 0; row < data.rows(); ++row) {
      check_data(std::isfinite(data.values(row, column)),
                 "[{}] column '{}' has a missing or infinite cell at row {}. Drop or fill it first.", operation,
                 excerpt(data.names[static_cast<std::size_t>(column)]), row + 1);
    }
  }
}

}  // namespace

// ---- Names ----------------------------------------------------------------------------------------------------------

std::vector<std::string> default_names(int variables) {
  std::vector<std::string> names(static_cast<std::size_t>(std::max(variables, 0)));
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("x{}", i + 1);
  return names;
}

std::uint64_t hash_of(const Dataset& data) { return hash_of(data, hash_of(MatrixView(data.values))); }

std::uint64_t hash_of(const Dataset& data, std::uint64_t values_hash) {
  Hash hash;
  for (const std::string& name : data.names) hash.add(name);
  hash.add(values_hash);
  // A table of plain numbers has the hash that it had before columns had kinds.
  for (std::size_t j = 0; j < data.columns.size(); ++j) {
    const Column& column = data.columns[j];
    if (column == Column{}) continue;
    hash.add(std::uint64_t{j});
    hash.add(column.kind ? name(*column.kind) : "");
    hash.add(std::uint64_t{column.context});
    hash.add(std::uint64_t{column.levels.size()});
    for (const std::string& level : column.levels) hash.add(level);
  }
  if (data.weights.size() > 0) {
    hash.add("weights");
    for (const double weight : data.weights) hash.add(std::bit_cast<std::uint64_t>(weight));
  }
  if (!data.groups.empty()) {
    hash.add("groups");
    for (const int group : data.groups) hash.add(static_cast<std::uint64_t>(group));
  }
  if (data.row_worth != 1) {
    hash.add("row_worth");
    hash.add(std::bit_cast<std::uint64_t>(data.row_worth));
  }
  return hash.value();
}

int Dataset::index_of(std::string_view name) const { return column_called(name, names); }

int column_called(std::string_view name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string near = nearest_name(name, names);
  if (!near.empty()) {
    throw UsageError(fmt::format("[table] no column is called '{}'. Did you mean '{}'?", excerpt(name), excerpt(near)));
  }
  throw UsageError(
      fmt::format("[table] no column is called '{}'. The columns are {}.", excerpt(name), quoted_list(names)));
}

// ---- Files ----------------------------------------------------------------------------------------------------------

namespace {

Dataset from_array(NpyArray array, const std::string& where) {
  check_data(array.shape.size() == 2, "[load] {}: the array has one dimension. Save a 2-D array, rows by variables.",
             where);
  auto names = default_names(static_cast<int>(array.values.cols()));
  return {std::move(names), std::move(array.values)};
}

/// The text of a file, packed or not, whatever its name says.
Dataset load_text(const std::string& path, bool tabs, const LoadOptions& options) {
  constexpr std::size_t kBeginning = std::size_t{1} << 16;
  const std::string where = path == "-" ? "standard input" : path;
  const auto look = [&](std::string_view beginning) { check_beginning(beginning, where); };
  const FileView file(path, options.progress, [&](std::string_view beginning) {
    is_gzip(beginning) ? look(gunzip_beginning(beginning, kBeginning)) : look(beginning);
  });
  CsvOptions csv{.header = options.header, .separator = tabs ? '\t' : '\0', .text = options.text};
  csv.left_out = [&](const std::vector<std::string>& names) { return left_out(names, options.roles); };
  for (const auto& [name, kind] : options.roles.kinds) {
    if (kind == ColumnKind::nominal) csv.labels.push_back(name);
  }
  if (!options.roles.group.empty()) csv.labels.push_back(options.roles.group);
  if (!is_gzip(file.bytes())) return parse_csv(file.bytes(), where, csv);
  return parse_csv(gunzip(file.bytes(), where, look, options.progress), where, csv);
}

Dataset load_any(const std::string& path, const LoadOptions& options) {
  const std::string lower = lower_case(path);
  const std::string unpacked = lower.ends_with(".gz") ? lower.substr(0, lower.size() - 3) : lower;
  const bool tabs = unpacked.ends_with(".tsv");
  if (path == "-" || tabs || unpacked.ends_with(".csv") || unpacked.ends_with(".txt")) {
    return load_text(path, tabs, options);
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
      fmt::format("[load] '{}' has an unknown ending. Known are .csv, .tsv, .txt, .npy and .npz, .csv.gz and its "
                  "kin, and '-' for CSV on standard input.",
                  path));
}

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options) {
  Dataset data = chosen_columns(load_any(path, options), options.roles);
  if (options.missing == Missing::error) require_complete(data);
  if (options.missing == Missing::drop) data = drop_missing(std::move(data));
  return options.roles.empty() ? data : with_roles(std::move(data), options.roles);
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

// ---- Rows and columns -----------------------------------------------------------------------------------------------

std::vector<char> incomplete_rows(const MatrixView& values) {
  std::vector<char> incomplete(static_cast<std::size_t>(values.rows()), 0);
  for (Index column = 0; column < values.cols(); ++column) {
    for (Index row = 0; row < values.rows(); ++row) {
      if (std::isnan(values(row, column))) incomplete[static_cast<std::size_t>(row)] = 1;
    }
  }
  return incomplete;
}

Dataset take_rows(const Dataset& data, const std::vector<int>& rows) {
  Dataset result{data.names, Matrix(static_cast<Index>(rows.size()), data.variables()), data.dropped_rows};
  result.columns = data.columns;
  result.row_worth = data.row_worth;
  result.roles = data.roles;
  parallel_for(data.variables(),
               [&](std::ptrdiff_t column) { result.values.col(column) = data.values.col(column)(rows); });
  if (data.weights.size() > 0) {
    result.weights = data.weights(rows);
    if (!rows.empty()) result.weights /= result.weights.mean();
  }
  if (!data.groups.empty()) {
    for (const int row : rows) result.groups.push_back(data.groups[static_cast<std::size_t>(row)]);
  }
  return result;
}

Dataset take_columns(const Dataset& data, const std::vector<int>& columns) {
  Dataset result{{}, data.values(Eigen::all, columns), data.dropped_rows};
  for (const int column : columns) {
    result.names.push_back(data.names[static_cast<std::size_t>(column)]);
    if (!data.columns.empty()) result.columns.push_back(data.columns[static_cast<std::size_t>(column)]);
  }
  result.weights = data.weights;
  result.groups = data.groups;
  result.row_worth = data.row_worth;
  result.roles = data.roles;
  return result;
}

Dataset drop_missing(Dataset data) {
  const std::vector<char> incomplete = incomplete_rows(data.values);
  std::vector<int> kept;
  for (std::size_t row = 0; row < incomplete.size(); ++row) {
    if (incomplete[row] == 0) kept.push_back(static_cast<int>(row));
  }
  const auto dropped = static_cast<Index>(incomplete.size() - kept.size());
  if (dropped == 0) return data;
  check_data(!kept.empty(),
             "[drop_missing] every row has a missing cell. Fill them, or drop the columns that have most.");
  data = take_rows(data, kept);
  data.dropped_rows += dropped;
  return data;
}

void require_complete(const Dataset& data) {
  Index cells = 0, first = data.rows();
  std::vector<std::string> columns;
  for (int column = 0; column < data.variables(); ++column) {
    const auto absent = data.values.col(column).array().isNaN();
    const Index count = absent.count();
    if (count == 0) continue;
    cells += count;
    columns.push_back(data.names[static_cast<std::size_t>(column)]);
    for (Index row = 0; row < first; ++row) {
      if (absent(row)) first = row;
    }
  }
  check_data(cells == 0,
             "[load] {} missing cell{} in column{} {} (first at row {}): drop those rows with --missing drop, or fill "
             "them.",
             cells, cells == 1 ? "" : "s", columns.size() == 1 ? "" : "s", quoted_list(columns), first + 1);
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
