// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/near_copies.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "fansite/table/robust_scale.h"

namespace fansite {
namespace {

constexpr Index kFewestRows = 20, kMostRows = 20'000, kCompared = 1000;
constexpr std::size_t kMostColumns = 100;  // evenly spread
constexpr double kFarthest = 0.05;         // of near copies, in robust standard deviations
constexpr double kGap = 10, kRareTable = 1e-4;
constexpr double kBeyond = 2;      // as far as those compared, the others may be
constexpr double kLevelApart = 1;  // and what is farther apart counts as that
constexpr double kBounded = 30;    // so that no wild cell has all the say in sums

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Cells in robust standard deviations from their median; where most are equal they are levels, whose numbers are whole
// multiples of kLevelApart. A missing cell is one more level.
Vector scaled(const Eigen::Ref<const Vector>& values, bool nominal) {
  std::vector<double> cells;
  for (const double value : values) {
    if (!std::isnan(value)) cells.push_back(value / 2);
  }
  if (cells.empty()) return Vector::Zero(values.size());
  const double median = quantile(cells, 0.5), scale = robust_scale(cells);
  const bool levels = nominal || !(scale > 0);
  if (levels) {
    std::sort(cells.begin(), cells.end());
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  }
  constexpr double kNoCell = 2 * kBounded;
  return values.unaryExpr([&](double value) {
    if (std::isnan(value)) return kNoCell;
    if (!levels) return std::clamp((value / 2 - median) / scale, -kBounded, kBounded);
    return kLevelApart * static_cast<double>(std::lower_bound(cells.begin(), cells.end(), value / 2) - cells.begin());
  });
}

// The rows by the sum of their columns: what is near in every column lies side by side.
class Ordered {
 public:
  explicit Ordered(const Matrix& columns) : cells_(columns.rows(), columns.cols()), place_(sorted(columns)) {
    for (Index i = 0; i < cells_.rows(); ++i) cells_.row(i) = columns.row(place_[static_cast<std::size_t>(i)]);
    sums_ = cells_.rowwise().sum();
  }

  Index rows() const { return cells_.rows(); }
  Index row(Index k) const { return place_[static_cast<std::size_t>(k)]; }
  double agree(Index column, double within, Index from, Index to) const;

  /// Calls visit(i, j, distance) for the pairs among these rows that are at most so far apart.
  template <class Visit>
  void near_pairs(Index from, Index to, double within, Visit&& visit) const {
    const double reach = within * static_cast<double>(cells_.cols()) * (1 + 1e-9);
    for (Index i = from; i < to; ++i) {
      for (Index j = i + 1; j < to && sums_[j] - sums_[i] <= reach; ++j) {
        double distance = 0;
        for (Index c = 0; c < cells_.cols() && distance <= within; ++c) {
          distance = std::max(distance, std::abs(cells_(i, c) - cells_(j, c)));
        }
        if (distance <= within) visit(i, j, distance);
      }
    }
  }

 private:
  static std::vector<Index> sorted(const Matrix& columns) {
    const Vector sums = columns.rowwise().sum();
    std::vector<Index> place(static_cast<std::size_t>(columns.rows()));
    std::iota(place.begin(), place.end(), Index{0});
    std::stable_sort(place.begin(), place.end(), [&](Index a, Index b) { return sums[a] < sums[b]; });
    return place;
  }

  RowMajor cells_;
  std::vector<Index> place_;
  Vector sums_;
};

// The share of the pairs among these rows that are so near in one column.
double Ordered::agree(Index column, double within, Index from, Index to) const {
  std::vector<double> cells(static_cast<std::size_t>(to - from));
  for (Index i = from; i < to; ++i) cells[static_cast<std::size_t>(i - from)] = cells_(i, column);
  std::sort(cells.begin(), cells.end());
  double pairs = 0;
  for (std::size_t i = 0, first = 0; i < cells.size(); ++i) {
    while (cells[i] - cells[first] > within) ++first;
    pairs += static_cast<double>(i - first);
  }
  const auto n = static_cast<double>(cells.size());
  return pairs / (n * (n - 1) / 2);
}

std::vector<int> spread(const std::vector<int>& columns) {
  const std::size_t step = (columns.size() + kMostColumns - 1) / kMostColumns;
  std::vector<int> some;
  for (std::size_t k = 0; k < columns.size(); k += step) some.push_back(columns[k]);
  return some;
}

struct Nearest {
  double distance = 0;  // of the farthest near pair
  std::size_t pairs = 0;
};

// How many of the nearest pairs lie before a gap that chance does not leave, the last such gap.
std::optional<Nearest> before_gap(std::vector<double> distances) {
  std::sort(distances.begin(), distances.end());
  for (std::size_t k = distances.size(); k > 0; --k) {
    const double distance = distances[k - 1];
    if (!(distance > 0)) return std::nullopt;
    if (distance > kFarthest) continue;
    const double next = k < distances.size() ? distances[k] : kGap * kFarthest;  // none is that near
    if (next / distance >= std::max(kGap, std::pow(kRareTable, -1 / static_cast<double>(k)))) {
      return Nearest{distance, k};
    }
  }
  return std::nullopt;
}

// How many pairs of independent values in half of the columns would be so near.
double expected_pairs(const Ordered& rows, Index columns, double within, Index from, Index to) {
  std::vector<double> shares;
  for (Index c = 0; c < columns; ++c) shares.push_back(rows.agree(c, within, from, to));
  std::sort(shares.begin(), shares.end());
  const std::size_t half = std::max<std::size_t>((shares.size() + 1) / 2, 2);
  const auto n = static_cast<double>(to - from);
  double expected = n * (n - 1) / 2;
  for (std::size_t k = 0; k < half && k < shares.size(); ++k) expected *= shares[k];
  return expected;
}

// Rows joined by near pairs are one, called by the smallest.
NearCopies joined(const Ordered& ordered, const std::vector<Index>& rows, Index all, double distance) {
  NearCopies result;
  result.distance = distance;
  result.first_of.resize(static_cast<std::size_t>(all));
  std::iota(result.first_of.begin(), result.first_of.end(), 0);
  auto& first = result.first_of;
  const auto leader = [&](Index row) {
    auto at = static_cast<std::size_t>(row);
    while (first[at] != static_cast<int>(at))
      at = static_cast<std::size_t>(first[at] = first[static_cast<std::size_t>(first[at])]);
    return at;
  };
  ordered.near_pairs(0, ordered.rows(), distance, [&](Index i, Index j, double) {
    const std::size_t a = leader(rows[static_cast<std::size_t>(ordered.row(i))]);
    const std::size_t b = leader(rows[static_cast<std::size_t>(ordered.row(j))]);
    first[std::max(a, b)] = static_cast<int>(std::min(a, b));
  });
  for (Index row = 0; row < all; ++row) {
    const std::size_t own = leader(row);
    first[static_cast<std::size_t>(row)] = static_cast<int>(own);
    result.count += static_cast<Index>(own) != row ? 1 : 0;
  }
  return result;
}

}  // namespace

NearCopies near_copies(const Dataset& data, const TableFacts& facts, const std::vector<Index>& rows) {
  const auto n = static_cast<Index>(rows.size());
  if (n < kFewestRows || n > kMostRows) return {};
  const std::vector<int> part = spread(facts.columns_of_content());
  if (part.size() < 2) return {};
  Matrix columns(n, static_cast<Index>(part.size()));
  for (std::size_t k = 0; k < part.size(); ++k) {
    const Vector values = data.values(rows, part[k]);
    columns.col(static_cast<Index>(k)) =
        scaled(values, facts.kinds[static_cast<std::size_t>(part[k])] == ColumnKind::nominal);
  }
  const Ordered ordered(columns);
  const Index compared = std::min(n, kCompared), from = (n - compared) / 2, to = from + compared;
  std::vector<double> distances;
  ordered.near_pairs(from, to, kGap * kFarthest, [&](Index, Index, double distance) { distances.push_back(distance); });
  const std::optional<Nearest> near = before_gap(std::move(distances));
  if (!near) return {};
  const double expected = expected_pairs(ordered, columns.cols(), near->distance, from, to);
  if (static_cast<double>(near->pairs) <= 1 + 10 * expected) return {};
  return joined(ordered, rows, data.rows(), kBeyond * near->distance);
}

}  // namespace fansite
