// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/row_dependence.h"

#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "fansite/base/hash.h"
#include "fansite/base/text.h"
#include "fansite/table/near_copies.h"
#include "fansite/table/scores.h"

namespace fansite {
namespace {

constexpr Index kLags = 10;
constexpr Index kFewestRows = 40;          // below, ten lags tell nothing
constexpr Index kMostLagged = 2000;        // rows that all lags are looked at of; of more, every so many
constexpr Index kMostSummed = 50;          // columns
constexpr Index kMostRows = 20'000;        // looked at, from the first on
constexpr std::size_t kMostColumns = 300;  // evenly spread
constexpr Index kFewestBlocks = 10;        // to leave out one after another
constexpr double kLevel = 1e-3;            // of chance, over all columns
constexpr double kMissing = 1e308;         // stands for NaN, which equals nothing
// Blocks cost power: ten to twenty of them see the strongest relations only. They are worth it where rows are so alike
// that independent columns seem surely related, with five rows for one fact and more.
constexpr double kSevere = 5;
constexpr Index kFewRows = 100;
// The mean of a series that wanders is its own, so autocorrelations come out too small. By as many independent rows the
// sum over lags is off, in simulated walks and slow series of 90 to 2000 rows.
constexpr double kLostByWandering = 3;
constexpr double kTypical = 0.5, kWorst = 0.9;  // of pairs of columns; those of walks differ much
constexpr double kGone = 0.1;                   // an autocorrelation that no longer matters: its square is 0.01

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The tail of χ² with ten degrees of freedom: e^{−x/2} Σ_{i<5} (x/2)^i / i!.
double chi_square_10_tail(double x) {
  const double half = x / 2;
  double term = 1, sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += term;
    term *= half / (i + 1);
  }
  return std::exp(-half) * sum;
}

// What all others leave over of each column. The penalty is a hundredth and the share of noise in the covariance.
Matrix left_over(const Matrix& scores) {
  const auto n = static_cast<double>(scores.rows()), d = static_cast<double>(scores.cols());
  Matrix covariance = scores.transpose() * scores / n;
  covariance.diagonal().array() += 0.01 + d / n;
  const Matrix precision = covariance.llt().solve(Matrix::Identity(scores.cols(), scores.cols()));
  return scores * precision * precision.diagonal().cwiseInverse().asDiagonal();
}

// Lags × columns.
Matrix autocorrelations(const Matrix& columns, Index lags) {
  const Index n = columns.rows();
  const Matrix centred = columns.rowwise() - columns.colwise().mean();
  Matrix result = Matrix::Zero(lags, columns.cols());
  for (Index j = 0; j < columns.cols(); ++j) {
    const auto x = centred.col(j);
    const double variance = x.squaredNorm();
    if (!(variance > 0)) continue;
    for (Index k = 1; k <= lags; ++k) result(k - 1, j) = x.head(n - k).dot(x.tail(n - k)) / variance;
  }
  return result;
}

// Columns whose means over eleven stretches of rows differ beyond chance, and which share of the median one's variance
// that is. Scores have variance 1, so Σ n m² is χ² with ten degrees of freedom if nothing changes, and up to
// `inflation` times that where neighbouring rows are alike.
void find_shifts(const ColumnScores& columns, RowDependence& result) {
  const Index n = columns.scores.rows();
  const auto d = static_cast<double>(columns.owner.size());
  std::vector<double> shares;
  for (Index j = 0; j < columns.scores.cols(); ++j) {
    double squares = 0;
    for (Index stretch = 0; stretch <= kLags; ++stretch) {
      const Index from = stretch * n / (kLags + 1), to = (stretch + 1) * n / (kLags + 1);
      const double cells = columns.there.col(j).segment(from, to - from).sum();
      const double sum = columns.scores.col(j).segment(from, to - from).sum();
      if (cells > 0) squares += sum * sum / cells;
    }
    if (d * chi_square_10_tail(squares / result.inflation) > kLevel) continue;
    shares.push_back(std::max(squares - kLags, 0.0) / columns.there.col(j).sum());
    const int column = columns.owner[static_cast<std::size_t>(j)];
    if (result.shifting.empty() || result.shifting.back() != column) result.shifting.push_back(column);
  }
  if (shares.size() < 2 || 2 * shares.size() < columns.owner.size()) result.shifting.clear();
  if (!result.shifting.empty()) result.shift = median(std::move(shares));
}

// Whether the steps between the values differ by less than three fifths of their mean: those between measurements in
// order, which are exponential where these are uniform, differ by as much as it, and by more in other distributions.
bool is_regular(const std::map<double, Index>& rows_of) {
  constexpr double kSpread = 0.6;
  const auto steps = static_cast<double>(rows_of.size() - 1);
  const double mean = (rows_of.rbegin()->first / steps) - (rows_of.begin()->first / steps);
  double squares = 0, before = rows_of.begin()->first;
  for (const auto& [value, rows] : rows_of) {
    if (value != before) squares += ((value - before) / mean - 1) * ((value - before) / mean - 1);
    before = value;
  }
  return std::sqrt(squares / steps) < kSpread;
}

// Whether values are evenly spaced and each as frequent as the others, the last ones apart, or no two are the same and
// they are about evenly spaced: a clock, not a measurement.
bool counts_time(const std::map<double, Index>& rows_of, Index cells) {
  if (rows_of.size() < 10) return false;
  if (static_cast<Index>(rows_of.size()) == cells && cells >= kFewestRows) return is_regular(rows_of);
  const double step = std::next(rows_of.begin())->first - rows_of.begin()->first;
  const Index usual = std::next(rows_of.begin())->second;
  double before = rows_of.begin()->first - step;
  for (const auto& [value, rows] : rows_of) {
    if (std::abs(value - before - step) > 1e-9 * std::abs(step)) return false;
    if (rows != usual && value != rows_of.begin()->first && value != rows_of.rbegin()->first) return false;
    before = value;
  }
  return true;
}

// Whether the rows go up or down by a column, or its equal values lie together.
bool is_sorted_by(const Eigen::Ref<const Vector>& values) {
  std::map<double, Index> rows_of;
  Index ups = 0, downs = 0, cells = 0;
  double before = std::numeric_limits<double>::quiet_NaN();
  for (const double value : values) {
    if (std::isnan(value)) continue;
    ++rows_of[value];
    ++cells;
    ups += value > before ? 1 : 0;
    downs += value < before ? 1 : 0;
    before = value;
  }
  const auto levels = static_cast<Index>(rows_of.size());
  if (levels < 2 || counts_time(rows_of, cells)) return false;
  const bool together = ups + downs == levels - 1 && levels <= values.size() / 2;
  return together || ups == 0 || downs == 0;
}

// The first column that takes part and the rows are sorted by; −1: none.
int column_sorted_by(const Dataset& data, const TableFacts& facts) {
  for (int j = 0; j < data.variables(); ++j) {
    if (facts.takes_part[static_cast<std::size_t>(j)] != 0 && is_sorted_by(data.values.col(j))) return j;
  }
  return -1;
}

// How many pairs of rows would be equal by chance if half of the columns, those with the most values, were independent.
double equal_by_chance(const Dataset& data, const TableFacts& facts) {
  const auto n = static_cast<double>(data.rows());
  std::vector<double> shares;  // of pairs that agree in a column
  for (const int j : facts.columns_of_content()) {
    std::unordered_map<double, double> rows_of;
    for (const double value : data.values.col(j)) rows_of[std::isnan(value) ? kMissing : value + 0.0] += 1;
    double pairs = 0;
    for (const auto& [value, rows] : rows_of) pairs += rows * (rows - 1);
    shares.push_back(pairs / (n * std::max(n - 1, 1.0)));
  }
  std::sort(shares.begin(), shares.end());
  double expected = n * (n - 1) / 2;
  for (std::size_t k = 0; k < std::max<std::size_t>((shares.size() + 1) / 2, 2) && k < shares.size(); ++k) {
    expected *= shares[k];
  }
  return expected;
}

void find_copies(const Dataset& data, const TableFacts& facts, RowDependence& result) {
  const std::vector<int> columns = facts.columns_of_content();
  const auto same = [&](Index a, Index b) {
    for (const int j : columns) {
      const double x = data.values(a, j), y = data.values(b, j);
      if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
    }
    return true;
  };
  std::unordered_map<std::uint64_t, std::vector<Index>> rows_of_hash;
  std::vector<int> first(static_cast<std::size_t>(data.rows()));
  std::unordered_map<Index, double> copies_of;
  double equal = 0;  // pairs of rows
  std::vector<std::uint64_t> hashes(first.size(), 0);
  for (const int j : columns) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const double x = data.values(static_cast<Index>(i), j) + 0.0;  // −0 and 0 are equal
      hashes[i] = hashes[i] * 0x9E3779B97F4A7C15u + (std::isnan(x) ? 1 : std::bit_cast<std::uint64_t>(x));
      hashes[i] ^= hashes[i] >> 29;
    }
  }
  for (Index i = 0; i < data.rows(); ++i) {
    std::vector<Index>& candidates = rows_of_hash[hashes[static_cast<std::size_t>(i)]];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](Index row) { return same(row, i); });
    const bool fresh = found == candidates.end();
    first[static_cast<std::size_t>(i)] = static_cast<int>(fresh ? i : *found);
    if (fresh) candidates.push_back(i);
    if (!fresh) equal += ++copies_of[*found];
    result.copies += fresh ? 0 : 1;
  }
  if (equal == 0 || equal <= 1 + 10 * equal_by_chance(data, facts)) result.copies = 0;
  if (result.copies > 0) result.first_of = std::move(first);
}

// Of the rows that are no copies; copies of a near copy go with it.
void find_near_copies(const Dataset& data, const TableFacts& facts, std::vector<Index>& rows, RowDependence& result) {
  const NearCopies near = near_copies(data, facts, rows);
  if (near.count == 0) return;
  result.near_copies = near.count;
  result.near = near.distance;
  if (result.first_of.empty()) {
    result.first_of = near.first_of;
  } else {
    for (int& first : result.first_of) first = near.first_of[static_cast<std::size_t>(first)];
  }
  std::erase_if(rows, [&](Index row) { return near.first_of[static_cast<std::size_t>(row)] != row; });
}

// Of 1 + 2 Σ a_k b_k over the lags there are, of all pairs of columns that are not of one variable: this share has
// less.
double pair_inflation(const Matrix& correlations, const std::vector<int>& owner, double share) {
  const Matrix sums = correlations.transpose() * correlations;
  std::vector<double> inflations;
  for (Index i = 0; i < sums.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (owner[static_cast<std::size_t>(i)] != owner[static_cast<std::size_t>(j)]) {
        inflations.push_back(1 + 2 * sums(i, j));
      }
    }
  }
  if (inflations.empty()) return 1;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(inflations.size()));
  std::nth_element(inflations.begin(), inflations.begin() + place, inflations.end());
  return inflations[static_cast<std::size_t>(place)];
}

// The same over all lags, for series that remember long: ten lags of a walk see a third of what it repeats. Of long
// tables every so many rows are looked at, which tell all that matters of a long memory: the sum over their lags stands
// for the lags between.
double inflation_of_all_lags(const Matrix& series, const std::vector<int>& owner, double share) {
  const Index n = series.rows(), step = (n + kMostLagged - 1) / kMostLagged;
  const Index apart = (series.cols() + kMostSummed - 1) / kMostSummed;
  std::vector<Index> rows, columns;
  std::vector<int> owners;
  for (Index i = 0; i < n; i += step) rows.push_back(i);
  for (Index j = 0; j < series.cols(); j += apart) {
    columns.push_back(j);
    owners.push_back(owner[static_cast<std::size_t>(j)]);
  }
  const Matrix some = series(rows, columns);
  return 1 + static_cast<double>(step) * (pair_inflation(autocorrelations(some, some.rows() - 1), owners, share) - 1);
}

}  // namespace

RowDependence row_dependence(const Dataset& data, const TableFacts& facts) {
  RowDependence result;
  result.rows = data.rows();
  if (std::count(facts.takes_part.begin(), facts.takes_part.end(), 1) < 2) return result;
  find_copies(data, facts, result);
  // Copies side by side would be dependence along the rows once more.
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    if (result.first_of.empty() || result.first_of[static_cast<std::size_t>(i)] == i) rows.push_back(i);
  }
  find_near_copies(data, facts, rows, result);
  if (static_cast<Index>(rows.size()) > kMostRows) rows.resize(static_cast<std::size_t>(kMostRows));
  const auto n = static_cast<Index>(rows.size());
  if (n < kFewestRows) return result;
  const ColumnScores columns = column_scores(data, facts, rows, kMostColumns);
  const std::vector<int>& owner = columns.owner;
  const Matrix left = left_over(columns.scores);
  const Matrix correlations = autocorrelations(left, std::max(kLags, n / kFewestBlocks));

  const auto d = static_cast<double>(owner.size());
  std::vector<Index> along;
  for (Index j = 0; j < correlations.cols(); ++j) {
    const double squares = static_cast<double>(n) * correlations.col(j).head(kLags).squaredNorm();
    if (d * chi_square_10_tail(squares) > kLevel) continue;
    along.push_back(j);
    const int column = owner[static_cast<std::size_t>(j)];
    if (result.columns.empty() || result.columns.back() != column) result.columns.push_back(column);
  }
  const double inflation = pair_inflation(correlations.topRows(kLags), owner, kTypical);
  if (2 * along.size() < owner.size() || inflation <= RowDependence::kInflation) {
    if (column_sorted_by(data, facts) < 0) find_shifts(columns, result);
    return result;
  }
  result.sorted_by = column_sorted_by(data, facts);
  std::vector<double> at_lag;
  for (Index k = 0; k < correlations.rows(); ++k) {
    std::vector<double> sizes;
    for (const Index j : along) sizes.push_back(std::abs(correlations(k, j)));
    at_lag.push_back(median(std::move(sizes)));
    if (at_lag.back() < kGone) break;
  }
  result.correlation = at_lag.front();
  result.inflation = std::max(
      {inflation, inflation_of_all_lags(left, owner, kTypical),
       1 + 2 * std::accumulate(at_lag.begin(), at_lag.end(), 0.0, [](double s, double r) { return s + r * r; })});
  // Other walks explain a walk, by chance, so what they leave over looks better than it is: where it is bad all the
  // same, and where rows are too few to tell, the columns themselves count.
  if (result.inflation > kSevere || n < kFewRows) {
    result.inflation = std::max(result.inflation, inflation_of_all_lags(columns.scores, owner, kWorst));
  }
  if (result.sorted_by < 0 && result.inflation > kSevere) {
    result.block = std::clamp<Index>(2 * static_cast<Index>(at_lag.size()), 2, std::max<Index>(n / kFewestBlocks, 2));
    result.wanders = result.worth_of_block() < 1;
    if (result.wanders) {
      const double known = std::max(result.effective_rows() - kLostByWandering, 1.0);
      result.inflation *= result.effective_rows() / known;
    }
  } else if (result.sorted_by < 0) {
    find_shifts(columns, result);
  }
  return result;
}

double RowDependence::worth_of_block() const {
  const double blocks = std::ceil(static_cast<double>(rows) / static_cast<double>(block));
  return std::min(1.0, effective_rows() / blocks);
}

std::vector<std::string> RowDependence::sentences(const std::vector<std::string>& names) const {
  std::vector<std::string> result;
  const auto name = [&](int column) { return excerpt(names[static_cast<std::size_t>(column)]); };
  if (copies > 0) {
    result.push_back(
        fmt::format("[rows] {} of {} rows repeat an earlier one in every cell: copies count once.", copies, rows));
  }
  if (near_copies > 0) {
    result.push_back(
        fmt::format("[rows] {} of {} rows nearly repeat an earlier one (each cell within {:.1g} of its column's "
                    "spread): they count once.",
                    near_copies, rows, near));
  }
  if (sorted_by >= 0) {
    result.push_back(
        fmt::format("[rows] neighbouring rows are alike, in {} columns beyond what the others tell, but the table is "
                    "sorted by '{}', "
                    "so it cannot be seen whether rows depend on each other; if they do, p-values are too small: "
                    "--group or --block.",
                    columns.size(), name(sorted_by)));
  } else if (inflation > 1) {
    result.push_back(fmt::format(
        "[rows] neighbouring rows are alike (correlation {:.2f} in what other columns leave over, {} columns): these "
        "{} rows are worth about {:.0f} independent ones{}.",
        correlation, columns.size(), rows, std::max(effective_rows(), 1.0),
        wanders ? "; far ones are alike too, so differences from row to row would tell more" : ""));
  }
  if (!shifting.empty()) {
    result.push_back(fmt::format(
        "[rows] the means of {} columns change along the rows, by {:.0f} % of their variance (median): batches or a "
        "drift "
        "that no column tells of may be behind what relates them; a column that does, as --context, takes that out.",
        shifting.size(), 100 * shift));
  }
  return result;
}

RowDependence in_order(const RowDependence& rows, const ContentOrder& order) {
  RowDependence ordered = rows;
  ordered.place_of = order.rows;
  const std::vector<int> place = inverse(order.columns);
  for (int& column : ordered.columns) column = place[static_cast<std::size_t>(column)];
  std::sort(ordered.columns.begin(), ordered.columns.end());
  for (int& column : ordered.shifting) column = place[static_cast<std::size_t>(column)];
  std::sort(ordered.shifting.begin(), ordered.shifting.end());
  if (rows.sorted_by >= 0) ordered.sorted_by = place[static_cast<std::size_t>(rows.sorted_by)];
  return ordered;
}

std::vector<int> groups_of(const RowDependence& rows, Index block) {
  if (block <= 1 && rows.first_of.empty()) return {};
  std::vector<int> groups;
  std::map<Index, int> number_of;
  for (Index i = 0; i < rows.rows; ++i) {
    const Index place = rows.place_of.empty() ? i : rows.place_of[static_cast<std::size_t>(i)];
    const Index first = rows.first_of.empty() ? place : rows.first_of[static_cast<std::size_t>(place)];
    const auto next = static_cast<int>(number_of.size());
    groups.push_back(number_of.emplace(first / std::max<Index>(block, 1), next).first->second);
  }
  return groups;
}

}  // namespace fansite
