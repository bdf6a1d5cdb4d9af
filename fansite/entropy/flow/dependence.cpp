// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/dependence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/entropy/flow/detail/conditional_distribution.h"

namespace fansite::flow {
namespace {

using Part = EnsembleDensity::Part;

std::vector<int> with(std::span<const int> set, std::initializer_list<int> more) {
  std::vector<int> result(set.begin(), set.end());
  result.insert(result.end(), more);
  return result;
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
  // Quantiles no nearer the ends than 1/16 lose little by 0.4 % on either side.
  constexpr DistributionGrid kGrid = {.margin = 0.05f, .coarse = 17, .tail = 0.004f, .points = 17};
  std::vector<int> rows(static_cast<std::size_t>(density.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const ConditionalDistribution distribution = conditional_distribution(density, variable, given, rows, kGrid);
  Eigen::MatrixXf result(density.rows(), count);
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = distribution.quantiles(i, count);
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
  scores.networks = Eigen::ArrayXd::Zero(static_cast<Index>(density.parts().size()));
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
      scores.networks[static_cast<Index>(k)] += centred(f);
    }
    density.count(rows * (kVariants + kSide));
  }
  scores.rows = mixture.scores();
  return scores;
}

}  // namespace fansite::flow
