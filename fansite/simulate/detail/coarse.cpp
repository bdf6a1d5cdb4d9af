// SPDX-License-Identifier: Apache-2.0
#include "fansite/simulate/detail/coarse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/table/dataset.h"

namespace fansite::coarse {
namespace {

constexpr double kContinuousShare = 0.30, kCountsShare = 0.25;  // of mixed tables; the rest are levels
constexpr int kFewestLevels = 2, kMostLevels = 5;
constexpr Index kLeastLevel = 10;                        // every level has one row in so many, at least
constexpr double kFewestZeros = 0.3, kMostZeros = 0.6;   // share of the rows
constexpr double kLowHighCount = 3, kHighHighCount = 5;  // the count that one row in twenty reaches
constexpr double kCompleteShare = 1.0 / 3;               // of the columns, where cells are missing by a column
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::uint64_t stream(Index i) { return static_cast<std::uint64_t>(i); }

// Rows by value; rows with the same value by `tie`, which has one number for each row.
std::vector<Index> ascending(const Eigen::Ref<const Vector>& values, const Vector& tie) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (values[a] != values[b]) return values[a] < values[b];
    return tie[a] != tie[b] ? tie[a] < tie[b] : a < b;
  });
  return order;
}

// 0, 1, …: thresholds at random quantiles of the sample, none of which leaves a level with too few rows.
void levels(Random& random, Eigen::Ref<Vector> column) {
  const Index rows = column.size();
  const auto wanted = kFewestLevels + static_cast<int>(random.below(kMostLevels - kFewestLevels + 1));
  const auto count = static_cast<std::size_t>(std::min<Index>(wanted, rows));
  // Uniform spacings of what is left when every level has its least share.
  const Index least = (rows + kLeastLevel - 1) / kLeastLevel;
  const auto left = static_cast<double>(rows - static_cast<Index>(count) * least);
  std::vector<double> cuts(count - 1);
  for (double& cut : cuts) cut = random.uniform();
  std::sort(cuts.begin(), cuts.end());
  const std::vector<Index> order = ascending(column, Vector::Zero(rows));
  std::size_t level = 0;
  for (Index rank = 0; rank < rows; ++rank) {
    while (level < cuts.size() &&
           rank >= static_cast<Index>(level + 1) * least + static_cast<Index>(cuts[level] * left)) {
      ++level;
    }
    column[order[static_cast<std::size_t>(rank)]] = static_cast<double>(level);
  }
}

// The rounded exponential of the normal score. Of the variable itself, heavy tails would give counts of thousands.
void counts(Random& random, Eigen::Ref<Vector> column) {
  const double zeros = normal_quantile(random.uniform(kFewestZeros, kMostZeros)), high = normal_quantile(0.95);
  // Rounding gives 0 below ½; the other point is the count that one row in twenty reaches.
  const double log_half = portable::log(0.5);
  const double log_high = portable::log(random.uniform(kLowHighCount, kHighHighCount));
  const double slope = (log_high - log_half) / (high - zeros);
  const Vector scores = normal_scores(column);
  for (Index i = 0; i < column.size(); ++i) {
    column[i] = std::floor(0.5 + portable::exp(log_half + slope * (scores[i] - zeros)));
  }
}

// In the rows where `other` has its largest values, twice as many as wanted, every second cell.
void remove_where_large(double share, Random& random, const Eigen::Ref<const Vector>& other,
                        Eigen::Ref<Vector> column) {
  const Index rows = column.size();
  Vector tie(rows);  // among equal values chance decides, so that what is missing depends on the other column alone
  for (Index i = 0; i < rows; ++i) tie[i] = random.uniform();
  const std::vector<Index> order = ascending(other, tie);
  const auto large = static_cast<Index>(std::llround(2 * share * static_cast<double>(rows)));
  for (Index rank = rows - large; rank < rows; ++rank) {
    if (random.coin()) column[order[static_cast<std::size_t>(rank)]] = kNaN;
  }
}

struct MeanAndDeviation {
  double mean, deviation;
};

// In plain order, so that the bits are the same on every machine.
MeanAndDeviation mean_and_deviation(const Eigen::Ref<const Vector>& values) {
  const auto rows = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / rows) * (value - sum / rows);
  return {sum / rows, std::sqrt(squares / rows)};
}

}  // namespace

std::vector<Kinds> draw_kinds(Kinds kinds, int nodes, Key key) {
  std::vector<Kinds> result(static_cast<std::size_t>(nodes), kinds);
  if (kinds != Kinds::mixed) return result;
  const std::vector<int> order = Random(key).permutation(nodes);
  const auto continuous = std::lround(kContinuousShare * nodes), counted = std::lround(kCountsShare * nodes);
  for (int i = 0; i < nodes; ++i) {
    result[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
        i < continuous ? Kinds::continuous : (i < continuous + counted ? Kinds::counts : Kinds::levels);
  }
  return result;
}

void add_noise(double share, Key key, Eigen::Ref<Vector> column) {
  if (share == 0) return;
  const double scale = mean_and_deviation(column).deviation * std::sqrt(share / (1 - share));
  Random random(key);
  for (double& value : column) value += scale * random.normal();
}

void apply(Kinds kind, Key key, Eigen::Ref<Vector> column) {
  Random random(key);
  if (kind == Kinds::levels) levels(random, column);
  if (kind == Kinds::counts) counts(random, column);
}

void replace(const Eigen::Ref<const Vector>& column, Eigen::Ref<Vector> variable) {
  const MeanAndDeviation from = mean_and_deviation(column), to = mean_and_deviation(variable);
  const double scale = from.deviation > 0 ? to.deviation / from.deviation : 0;
  for (Index i = 0; i < column.size(); ++i) variable[i] = to.mean + scale * (column[i] - from.mean);
}

void remove_cells(double share, MissingBy by, Key key, Matrix& table) {
  if (share == 0) return;
  const auto nodes = static_cast<int>(table.cols());
  const std::vector<int> order = Random(key.split(0)).permutation(nodes);
  const int complete = by == MissingBy::random ? 0 : std::max(1, static_cast<int>(std::lround(kCompleteShare * nodes)));
  parallel_for(nodes - complete, [&](std::ptrdiff_t i) {
    const int node = order[static_cast<std::size_t>(complete + i)];
    Random random(key.split(1).split(stream(node)));
    if (by == MissingBy::column) {
      const auto which = random.below(static_cast<std::uint32_t>(complete));
      remove_where_large(share, random, table.col(order[which]), table.col(node));
      return;
    }
    for (Index row = 0; row < table.rows(); ++row) {
      if (random.uniform() < share) table(row, node) = kNaN;
    }
  });
}

}  // namespace fansite::coarse
