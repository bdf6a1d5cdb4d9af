// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/calibration.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/special.h"
#include "fansite/entropy/flow/detail/conditional_distribution.h"

namespace fansite::flow {
namespace {

// Tails matter here, and so does a row whose distribution reaches beyond the column's largest value; 65 points between
// the ±4.5 standard deviations of a normal distribution err by 4e-4.
constexpr DistributionGrid kGrid = {.margin = 0.25f, .coarse = 33, .tail = 1e-5f, .points = 65};
constexpr double kLeast = 1e-6;

// Rows of the table, evenly spread, each in its first version.
std::vector<int> spread_evenly(const EnsembleDensity& density, Index most) {
  const std::vector<int>& row_of = density.row_of();
  std::vector<int> first;
  for (Index i = 0; i < density.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (row_of.empty() || i == 0 || row_of[at] != row_of[at - 1]) first.push_back(static_cast<int>(i));
  }
  const auto rows = static_cast<Index>(first.size());
  const Index count = std::min(rows, most);
  std::vector<int> result;
  for (Index i = 0; i < count; ++i) result.push_back(first[static_cast<std::size_t>(i * rows / count)]);
  return result;
}

// The largest distance between the distribution function of sorted u and the uniform one.
double distance_from_uniform(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  double largest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto below = static_cast<double>(i);
    largest = std::max({largest, sorted[i] - below / n, (below + 1) / n - sorted[i]});
  }
  return largest;
}

}  // namespace

TargetCalibration summary(int target, std::vector<double> u, int bins) {
  TargetCalibration result;
  result.target = target;
  result.pit.assign(static_cast<std::size_t>(bins), 0);
  const auto n = static_cast<double>(u.size());
  Vector latent(static_cast<Index>(u.size()));
  for (std::size_t i = 0; i < u.size(); ++i) {
    const int bin = std::min(static_cast<int>(u[i] * bins), bins - 1);
    result.pit[static_cast<std::size_t>(bin)] += 1 / n;
    latent[static_cast<Index>(i)] = normal_quantile(std::clamp(u[i], kLeast, 1 - kLeast));
  }
  if (u.empty()) return result;  // no row has all cells
  result.latent_mean = latent.mean();
  const Eigen::ArrayXd centred = latent.array() - result.latent_mean;
  const double variance = centred.square().mean();
  result.latent_sd = std::sqrt(variance);
  if (variance > 0) {
    result.latent_skewness = centred.cube().mean() / (variance * result.latent_sd);
    result.latent_kurtosis = centred.square().square().mean() / (variance * variance) - 3;
  }
  std::sort(u.begin(), u.end());
  result.ks = distance_from_uniform(u);
  const double root = std::sqrt(n);
  result.p_value = kolmogorov_tail((root + 0.12 + 0.11 / root) * result.ks);
  return result;
}

Calibration calibration(const EnsembleDensity& density, std::span<const EntropyQuery> queries,
                        const CalibrationParams& params, Progress& progress) {
  check(params.max_rows >= 1, "[calibration] {} rows; use 1 or more", params.max_rows);
  check(params.bins >= 1, "[calibration] {} bins; use 1 or more", params.bins);
  const std::vector<int> rows = spread_evenly(density, params.max_rows);
  Calibration result;
  result.rows = static_cast<Index>(rows.size());
  result.bins = params.bins;
  result.targets.resize(queries.size());
  progress.begin("calibrating", static_cast<long>(queries.size()));
  parallel_for(static_cast<Index>(queries.size()), [&](Index q) {
    throw_if_interrupted(progress);
    const auto& [target, given] = queries[static_cast<std::size_t>(q)];
    const ConditionalDistribution distribution = conditional_distribution(density, target, given, rows, kGrid);
    std::vector<double> u;
    Random random(Key{}.split(static_cast<std::uint64_t>(target)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double place = random.uniform();  // in an interval: a random place (randomised PIT)
      const auto probability = [&](const Table& cells) {
        return distribution.probability(static_cast<Index>(i), cells(rows[i], target));
      };
      const CellTable& cells = density.cells();
      double p = probability(cells.score);
      if (cells.is_coarse(target)) {
        const double low = probability(cells.low);
        p = low + place * (probability(cells.high) - low);
      }
      const bool present = !std::isnan(cells.score(rows[i], target)) && !density.drawn(rows[i], target);
      if (!std::isnan(p) && present) u.push_back(p);
    }
    result.targets[static_cast<std::size_t>(q)] = summary(target, std::move(u), params.bins);
    progress.advance(1);
  });
  result.pit.assign(static_cast<std::size_t>(params.bins), 0);
  for (const TargetCalibration& target : result.targets) {
    for (std::size_t b = 0; b < result.pit.size(); ++b) {
      result.pit[b] += target.pit[b] / static_cast<double>(result.targets.size());
    }
  }
  return result;
}

}  // namespace fansite::flow
