// SPDX-License-Identifier: Apache-2.0
#include "fansite/flow/dependence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fansite::flow {
namespace {

constexpr Index kPoints = 17;  // of the grids that find where a conditional density lies

using Part = EnsembleDensity::Part;

std::vector<int> with(std::span<const int> set, std::initializer_list<int> more) {
  std::vector<int> result(set.begin(), set.end());
  result.insert(result.end(), more);
  return result;
}

// p(points(i, g) | given) of the mixture, in units of the largest of each row: a row's densities may all be too large
// or too small for a float.
Eigen::MatrixXf density_at(const EnsembleDensity& density, int variable, std::span<const int> given,
                           const Eigen::MatrixXf& points) {
  Eigen::MatrixXf result =
      Eigen::MatrixXf::Constant(points.rows(), points.cols(), -std::numeric_limits<float>::infinity());
  for (const Part& part : density.parts()) {
    const auto rows = static_cast<Index>(part.unseen.size());
    const std::vector<Subset> before = {part.places(given)};
    const Subset both = part.places(with(given, {variable}));
    const Trial trial = {part.place[static_cast<std::size_t>(variable)], points(part.unseen, Eigen::all)};
    const Eigen::MatrixXf log_before = part.density.log_density(part.unseen_table, before);
    const Eigen::MatrixXf log_both = part.density.log_density(part.unseen_table, both, {&trial, 1});
    for (Index g = 0; g < points.cols(); ++g) {
      for (Index i = 0; i < rows; ++i) {
        float& sum = result(part.unseen[static_cast<std::size_t>(i)], g);  // ln Σ_k p_k so far
        const float l = log_both(i, g) - log_before(i, 0);
        const float top = std::max(sum, l);
        sum = top + std::log(std::exp(sum - top) + std::exp(l - top));
      }
    }
    density.count(rows * (points.cols() + 1));
  }
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = (result.row(i).array() - result.row(i).maxCoeff()).exp();
  return result;
}

// The distribution function of a density given at evenly spaced points, linear between: F(x_g) − F(x_0), times a
// factor.
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

// Of one row: f at every node of the target and of the other variable, the own value last; the other's runs fastest.
constexpr Index kSide = kNodes + 1, kVariants = kSide * kSide;
using Variants = std::array<float, static_cast<std::size_t>(kVariants)>;

// f at the row's own values, less what a function of either variable alone would be.
double centred(const Variants& f) {
  const auto at = [&](Index t, Index z) { return double{f[static_cast<std::size_t>(t * kSide + z)]}; };
  double over_target = 0, over_other = 0, over_both = 0;
  for (Index q = 0; q < kNodes; ++q) {
    over_target += at(q, kNodes);
    over_other += at(kNodes, q);
    for (Index r = 0; r < kNodes; ++r) over_both += at(q, r);
  }
  return at(kNodes, kNodes) - over_target / kNodes - over_other / kNodes + over_both / double{kNodes * kNodes};
}

// ln Σ_k e^{f_k} of every row and variant: the largest f_k so far, and the sum in units of its exponential. (The number
// of judges is the same for all variants of a row and cancels.)
class Mixture {
 public:
  explicit Mixture(Index rows) : largest_(static_cast<std::size_t>(rows)), sum_(static_cast<std::size_t>(rows)) {
    for (Variants& row : largest_) row.fill(-std::numeric_limits<float>::infinity());
    for (Variants& row : sum_) row.fill(0.0f);
  }

  void add(int row, const Variants& f) {
    Variants& largest = largest_[static_cast<std::size_t>(row)];
    Variants& sum = sum_[static_cast<std::size_t>(row)];
    for (std::size_t v = 0; v < f.size(); ++v) {
      sum[v] = f[v] > largest[v] ? sum[v] * std::exp(largest[v] - f[v]) + 1 : sum[v] + std::exp(f[v] - largest[v]);
      largest[v] = std::max(largest[v], f[v]);
    }
  }

  Eigen::ArrayXf scores() const {
    Eigen::ArrayXf result(static_cast<Index>(sum_.size()));
    for (std::size_t row = 0; row < sum_.size(); ++row) {
      Variants f;
      for (std::size_t v = 0; v < f.size(); ++v) f[v] = largest_[row][v] + std::log(sum_[row][v]);
      result[static_cast<Index>(row)] = static_cast<float>(centred(f));
    }
    return result;
  }

 private:
  std::vector<Variants> largest_, sum_;
};

}  // namespace

Eigen::MatrixXf conditional_quantiles(const EnsembleDensity& density, int variable, std::span<const int> given,
                                      int count) {
  const auto column = density.values().col(variable);
  const float margin = 0.05f * (column.maxCoeff() - column.minCoeff());
  const float low = column.minCoeff() - margin, high = column.maxCoeff() + margin;
  // First over the column's whole range, then between the points that hold all but 0.4 % on either side.
  Eigen::MatrixXf points(density.rows(), kPoints);
  for (Index g = 0; g < kPoints; ++g) {
    points.col(g).setConstant(low + (high - low) * static_cast<float>(g) / (kPoints - 1));
  }
  constexpr float kTail = 0.004f;
  Eigen::MatrixXf densities = density_at(density, variable, given, points);
  for (Index i = 0; i < points.rows(); ++i) {
    const Eigen::ArrayXf sum = cumulative(densities, i);
    const float all = sum[kPoints - 1];
    Index first = 0, last = kPoints - 1;
    while (first < kPoints - 2 && sum[first + 1] <= kTail * all) ++first;
    while (last > first + 1 && sum[last - 1] >= (1 - kTail) * all) --last;
    const float from = points(i, first), to = points(i, last);
    for (Index g = 0; g < kPoints; ++g) points(i, g) = from + (to - from) * static_cast<float>(g) / (kPoints - 1);
  }
  densities = density_at(density, variable, given, points);
  Eigen::MatrixXf result(points.rows(), count);
  for (Index i = 0; i < points.rows(); ++i) {
    const Eigen::ArrayXf sum = cumulative(densities, i);
    const float width = points(i, 1) - points(i, 0);
    Index g = 1;
    for (int k = 0; k < count; ++k) {
      const float goal = (static_cast<float>(k) + 0.5f) / static_cast<float>(count) * sum[kPoints - 1];
      while (g < kPoints - 1 && sum[g] < goal) ++g;
      result(i, k) = points(i, g - 1) + width * place_of(goal - sum[g - 1], densities(i, g - 1), densities(i, g));
    }
  }
  return result;
}

DependenceScores dependence_scores(const EnsembleDensity& density, int target, int other, std::span<const int> given) {
  // Every node, then the rows' own values.
  const auto values_to_try = [&](int variable) {
    Eigen::MatrixXf values(density.rows(), kSide);
    values.leftCols(kNodes) = conditional_quantiles(density, variable, given, kNodes);
    values.col(kNodes) = density.values().col(variable);
    return values;
  };
  const Eigen::MatrixXf target_values = values_to_try(target), other_values = values_to_try(other);
  DependenceScores scores;
  scores.members = Eigen::ArrayXd::Zero(static_cast<Index>(density.parts().size()));
  Mixture mixture(density.rows());
  for (std::size_t k = 0; k < density.parts().size(); ++k) {
    const Part& part = density.parts()[k];
    const auto rows = static_cast<Index>(part.unseen.size());
    const auto trial_of = [&](int variable, const Eigen::MatrixXf& values) {
      return Trial{part.place[static_cast<std::size_t>(variable)], values(part.unseen, Eigen::all)};
    };
    const std::array<Trial, 2> trials = {trial_of(target, target_values), trial_of(other, other_values)};
    const Eigen::MatrixXf both =
        part.density.log_density(part.unseen_table, part.places(with(given, {target, other})), trials);
    const Eigen::MatrixXf without =
        part.density.log_density(part.unseen_table, part.places(with(given, {other})), {&trials[1], 1});
    for (Index i = 0; i < rows; ++i) {
      Variants f;
      for (Index v = 0; v < kVariants; ++v) f[static_cast<std::size_t>(v)] = both(i, v) - without(i, v % kSide);
      mixture.add(part.unseen[static_cast<std::size_t>(i)], f);
      scores.members[static_cast<Index>(k)] += centred(f);
    }
    density.count(rows * (kVariants + kSide));
  }
  scores.rows = mixture.scores();
  return scores;
}

}  // namespace fansite::flow
