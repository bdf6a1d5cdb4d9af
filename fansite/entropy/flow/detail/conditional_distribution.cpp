// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/conditional_distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace fansite::flow {
namespace {

using Part = EnsembleDensity::Part;

Eigen::MatrixXf density_at(const EnsembleDensity& density, const std::vector<Judged>& judges, int variable,
                           std::span<const int> given, Index rows, const std::vector<TrialColumn>& options) {
  const Index count = options.front().values.cols();
  Eigen::MatrixXf result = Eigen::MatrixXf::Constant(rows, count, -std::numeric_limits<float>::infinity());
  const EnsembleDensity::Weights weights = density.weights(variable, given.size());
  for (const auto& [part, place, table] : judges) {
    if (place.empty() || (part->linear && !weights.has_linear)) continue;
    const float log_weight = part->linear ? weights.linear : weights.network;
    const ConditionalSubset question = {part->places({&variable, 1}), part->places(given)};
    std::vector<TrialColumn> columns;
    for (const TrialColumn& option : options) {
      TrialColumn& column = columns.emplace_back();
      column.variable = part->place[static_cast<std::size_t>(option.variable)];
      column.values = option.values(place, Eigen::all);
      if (option.low.size() == 0) continue;
      column.low = option.low(place, Eigen::all);
      column.high = option.high(place, Eigen::all);
    }
    const Trial trial(std::move(columns));
    const Eigen::MatrixXf log_conditional = part->density->log_conditional(table, question, {&trial, 1});
    for (Index g = 0; g < count; ++g) {
      for (Index i = 0; i < table.rows(); ++i) {
        float& sum = result(place[static_cast<std::size_t>(i)], g);  // ln Σ_k w_k p_k so far
        const float l = log_conditional(i, g) + log_weight;
        const float top = std::max(sum, l);
        sum = top + std::log(std::exp(sum - top) + std::exp(l - top));
      }
    }
    density.count(table.rows() * (count + 1));
  }
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = (result.row(i).array() - result.row(i).maxCoeff()).exp();
  return result;
}

// Numbers of a variable with one column. Under intervals there are numbers too: equal ends say so.
std::vector<TrialColumn> numbers(const EnsembleDensity& density, int variable, const Eigen::MatrixXf& points) {
  const bool coarse = density.cells().is_coarse(variable);
  const Eigen::MatrixXf none;
  return {{variable, points, coarse ? points : none, coarse ? points : none}};
}

// The distribution function: F(x_g) − F(x_0), times a factor.
Eigen::ArrayXf cumulative(const Eigen::MatrixXf& densities, Index row) {
  Eigen::ArrayXf sum = Eigen::ArrayXf::Zero(densities.cols());
  for (Index g = 1; g < sum.size(); ++g) sum[g] = sum[g - 1] + 0.5f * (densities(row, g) + densities(row, g - 1));
  return sum;
}

// Where in [0, 1] between two points a density that goes linearly from `left` to `right` has integrated to `area`.
float place_of(float area, float left, float right) {
  const float slope = right - left;
  // The root of left·s + slope·s²/2 = area, in the form that is exact for slope → 0.
  const float root = left + std::sqrt(std::max(0.0f, left * left + 2 * slope * area));
  return root > 0 ? std::clamp(2 * area / root, 0.0f, 1.0f) : 0.5f;
}

// Where a column's numbers are, and a share of that beyond either end. Under intervals they are standard normal.
std::pair<float, float> range_of(const EnsembleDensity& density, int variable, float margin) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float x : density.values().col(variable)) {
    if (std::isnan(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  constexpr float kNormal = 3.3f;  // holds 99.9 % of it
  if (density.cells().is_coarse(variable)) {
    low = std::min(low, -kNormal);
    high = std::max(high, kNormal);
  }
  const float more = margin * (high - low);
  return {low - more, high + more};
}

// The g-th of `count` evenly spaced points.
float spaced(float from, float to, Index g, Index count) {
  return from + (to - from) * static_cast<float>(g) / static_cast<float>(count - 1);
}

}  // namespace

std::vector<Judged> judged(const EnsembleDensity& density, std::span<const int> rows) {
  std::vector<int> place_of(static_cast<std::size_t>(density.rows()), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) place_of[static_cast<std::size_t>(rows[i])] = static_cast<int>(i);
  std::vector<Judged> result;
  for (const Part& part : density.parts()) {
    Judged of_part{&part, {}, {}};
    std::vector<int> kept;
    for (std::size_t i = 0; i < part.unseen.size(); ++i) {
      const int place = place_of[static_cast<std::size_t>(part.unseen[i])];
      if (place < 0) continue;
      of_part.place.push_back(place);
      kept.push_back(static_cast<int>(i));
    }
    of_part.table = take_rows(part.unseen_table, kept);
    result.push_back(std::move(of_part));
  }
  return result;
}

Eigen::RowVectorXf ConditionalDistribution::quantiles(Index row, int count) const {
  const Eigen::ArrayXf sum = cumulative(densities, row);
  const Index last = points.cols() - 1;
  const float width = points(row, 1) - points(row, 0);
  Eigen::RowVectorXf result(count);
  Index g = 1;
  for (int k = 0; k < count; ++k) {
    const float goal = (static_cast<float>(k) + 0.5f) / static_cast<float>(count) * sum[last];
    while (g < last && sum[g] < goal) ++g;
    result[k] = points(row, g - 1) + width * place_of(goal - sum[g - 1], densities(row, g - 1), densities(row, g));
  }
  return result;
}

float ConditionalDistribution::quantile(Index row, float probability) const {
  const Eigen::ArrayXf sum = cumulative(densities, row);
  const Index last = points.cols() - 1;
  const float goal = probability * sum[last];
  Index g = 1;
  while (g < last && sum[g] < goal) ++g;
  const float width = points(row, 1) - points(row, 0);
  return points(row, g - 1) + width * place_of(goal - sum[g - 1], densities(row, g - 1), densities(row, g));
}

double ConditionalDistribution::probability(Index row, float x) const {
  const Eigen::ArrayXf sum = cumulative(densities, row);
  const Index last = points.cols() - 1;
  if (std::isnan(sum[last])) return std::numeric_limits<double>::quiet_NaN();
  if (x <= points(row, 0)) return 0;
  if (x >= points(row, last)) return 1;
  Index g = 1;
  while (points(row, g) < x) ++g;
  const float left = densities(row, g - 1), right = densities(row, g);
  const float s = (x - points(row, g - 1)) / (points(row, g) - points(row, g - 1));
  const float area = sum[g - 1] + s * (left + 0.5f * s * (right - left));
  return static_cast<double>(area) / static_cast<double>(sum[last]);
}

Eigen::MatrixXf relative_densities(const EnsembleDensity& density, int variable, std::span<const int> given,
                                   std::span<const int> rows, const std::vector<TrialColumn>& options) {
  return density_at(density, judged(density, rows), variable, given, static_cast<Index>(rows.size()), options);
}

ConditionalDistribution conditional_distribution(const EnsembleDensity& density, int variable,
                                                 std::span<const int> given, std::span<const int> rows,
                                                 const DistributionGrid& grid) {
  const std::vector<Judged> judges = judged(density, rows);
  const auto count = static_cast<Index>(rows.size());
  const auto [low, high] = range_of(density, variable, grid.margin);
  Eigen::MatrixXf coarse(count, grid.coarse);
  for (Index g = 0; g < grid.coarse; ++g) coarse.col(g).setConstant(spaced(low, high, g, grid.coarse));
  const Eigen::MatrixXf densities =
      density_at(density, judges, variable, given, count, numbers(density, variable, coarse));
  ConditionalDistribution distribution;
  distribution.points.resize(count, grid.points);
  for (Index i = 0; i < count; ++i) {
    const Eigen::ArrayXf sum = cumulative(densities, i);
    const float all = sum[grid.coarse - 1];
    Index first = 0, last = grid.coarse - 1;
    while (first < grid.coarse - 2 && sum[first + 1] <= grid.tail * all) ++first;
    while (last > first + 1 && sum[last - 1] >= (1 - grid.tail) * all) --last;
    for (Index g = 0; g < grid.points; ++g)
      distribution.points(i, g) = spaced(coarse(i, first), coarse(i, last), g, grid.points);
  }
  distribution.densities =
      density_at(density, judges, variable, given, count, numbers(density, variable, distribution.points));
  return distribution;
}

}  // namespace fansite::flow
