// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/residual_entropy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

namespace fansite::causal {
namespace {

constexpr double kLeastSpread = 1e-6;
constexpr double kLeastShare = 0.05;       // of the quartiles' spread in that of nearly all values; Cauchy's has 0.11
constexpr std::size_t kFewestInGroup = 8;  // rows that a distribution of their own is learnt from

double weighted_mean(const Eigen::Ref<const Vector>& values, const Vector& weights) {
  return weights.size() > 0 ? values.dot(weights) / weights.sum() : values.mean();
}

Vector gaussian_surprisals(const Eigen::Ref<const Vector>& e, const Vector& weights) {
  const double mean = weighted_mean(e, weights);
  const double variance =
      std::max(weighted_mean((e.array() - mean).square().matrix(), weights), kLeastSpread * kLeastSpread);
  return 0.5 * std::log(2 * std::numbers::pi * variance) + (e.array() - mean).square() / (2 * variance);
}

// Each under the mean and variance of the others: groups are small, and their own values would flatter them.
Vector left_out_gaussian_surprisals(const Eigen::Ref<const Vector>& e, const GraphRows& counts, double least_spread) {
  const Vector w = counts.weights.size() > 0 ? counts.weights : Vector(Vector::Ones(e.size()));
  const Vector wx = w.cwiseProduct(e), wx2 = wx.cwiseProduct(e);
  Vector own = w, own_sum = wx, own_squares = wx2;  // of the row, or of its block
  for (const std::vector<int>& block : counts.blocks()) {
    own(block).setConstant(w(block).sum());
    own_sum(block).setConstant(wx(block).sum());
    own_squares(block).setConstant(wx2(block).sum());
  }
  const double all = w.sum(), sum = w.dot(e), squares = w.dot(e.cwiseAbs2());
  Vector result(e.size());
  for (Index i = 0; i < e.size(); ++i) {
    const double others = all - own[i];
    const double mean = (sum - own_sum[i]) / others;
    const double variance = std::max((squares - own_squares[i]) / others - mean * mean, least_spread * least_spread);
    result[i] = 0.5 * std::log(2 * std::numbers::pi * variance) + (e[i] - mean) * (e[i] - mean) / (2 * variance);
  }
  return result;
}

// The median, and the spreads that a normal distribution with the same quartiles or the same 1st and 99th percentiles
// would have.
struct Spread {
  double middle, quartiles, wide;
};

Spread spread_of(std::vector<double> values) {
  const auto at = [&](double share) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const double low = at(0.25), middle = at(0.5), high = at(0.75);
  return {middle, (high - low) / 1.349, (at(0.99) - at(0.01)) / 4.653};
}

// A density on a grid: linear binning, then a Gaussian kernel.
class GridDensity {
 public:
  GridDensity(const Vector& points, const Vector& weights, double bandwidth)
      : step_(bandwidth / kStepsPerBandwidth), low_(points.minCoeff() - kReach * bandwidth) {
    const double range = points.maxCoeff() + kReach * bandwidth - low_;
    cells_ = static_cast<std::size_t>(range / step_) + 2;
    for (std::ptrdiff_t k = 0; k <= kReachOnGrid; ++k) {
      const double z = static_cast<double>(k) / kStepsPerBandwidth;
      kernel_.push_back(std::exp(-0.5 * z * z) / (std::sqrt(2 * std::numbers::pi) * bandwidth));
    }
    values_ = sums(points, weights);
  }

  /// Σ of the kernels of all points but x itself, which is one of them and has this weight.
  double of_others(double x, double weight) const {
    const auto [cell, share] = place_of(x);
    // Its mass lies on two cells and is read from both.
    const double own = ((1 - share) * (1 - share) + share * share) * kernel_[0] + 2 * share * (1 - share) * kernel_[1];
    return std::max(at(values_, x) - weight * own, 0.0);
  }
  /// Σ of the kernels of all points but these, which are some of them, at each of these.
  Vector of_others(const Vector& points, const Vector& weights) const {
    const std::vector<double> own = sums(points, weights);
    return points.unaryExpr([&](double x) { return std::max(at(values_, x) - at(own, x), 0.0); });
  }

 private:
  static constexpr double kStepsPerBandwidth = 6;
  static constexpr double kReach = 4;  // bandwidths
  static constexpr std::ptrdiff_t kReachOnGrid = static_cast<std::ptrdiff_t>(kReach * kStepsPerBandwidth);

  std::pair<std::size_t, double> place_of(double x) const {
    const double place = (x - low_) / step_;
    const double cell = std::floor(place);
    return {static_cast<std::size_t>(cell), place - cell};
  }

  // Σ of the kernels of the points, at every cell.
  std::vector<double> sums(const Vector& points, const Vector& weights) const {
    std::vector<double> mass(cells_, 0.0), result(cells_, 0.0);
    for (Index i = 0; i < points.size(); ++i) {
      const auto [cell, share] = place_of(points[i]);
      const double weight = weights.size() > 0 ? weights[i] : 1.0;
      mass[cell] += weight * (1 - share);
      mass[cell + 1] += weight * share;
    }
    for (std::size_t c = 0; c < cells_; ++c) {
      if (mass[c] == 0) continue;
      const auto here = static_cast<std::ptrdiff_t>(c);
      const auto first = std::max<std::ptrdiff_t>(0, here - kReachOnGrid);
      const auto last = std::min(static_cast<std::ptrdiff_t>(cells_) - 1, here + kReachOnGrid);
      for (std::ptrdiff_t k = first; k <= last; ++k) {
        result[static_cast<std::size_t>(k)] += mass[c] * kernel_[static_cast<std::size_t>(std::abs(k - here))];
      }
    }
    return result;
  }

  double at(const std::vector<double>& values, double x) const {
    const auto [cell, share] = place_of(x);
    return (1 - share) * values[cell] + share * values[cell + 1];
  }

  double step_, low_;
  std::size_t cells_ = 0;
  std::vector<double> kernel_, values_;
};

// Kernel estimate of v = asinh(e/2σ), which is nearly linear in the bulk and logarithmic in the tails, so that one
// bandwidth serves both; p(e) = p(v) / (2σ cosh v).
Vector kernel_surprisals(const Eigen::Ref<const Vector>& e, const GraphRows& counts) {
  const Vector& weights = counts.weights;
  const double n = weights.size() > 0 ? weights.sum() : static_cast<double>(e.size());
  const auto [middle, quartiles, wide] = spread_of({e.begin(), e.end()});
  const double deviation = std::sqrt((e.array() - e.mean()).square().mean());
  // Of discrete residuals the quartiles may coincide, or differ by the little that a regression on noise moves them;
  // entropies must not hang on that.
  const double scale = 2 * std::max(wide > 0 ? std::max(quartiles, kLeastShare * wide) : deviation, kLeastSpread);
  const Vector v = ((e.array() - middle) / scale).unaryExpr([](double x) { return std::asinh(x); });
  const double spread = std::sqrt((v.array() - v.mean()).square().mean());
  const double narrow = std::clamp(spread_of({v.begin(), v.end()}).quartiles, kLeastShare * spread, spread);
  const double bandwidth = 0.9 * std::max(narrow, 1e-3) * std::pow(n, -0.2);  // Silverman 1986
  const GridDensity density(v, weights, bandwidth);
  // A point far from all others has some density still: that of a wide distribution with a small weight.
  constexpr double kShare = 0.02;
  Vector by_others(e.size()), others(e.size());
  for (Index i = 0; i < e.size(); ++i) {
    const double weight = weights.size() > 0 ? weights[i] : 1.0;
    by_others[i] = density.of_others(v[i], weight);
    others[i] = n - weight;
  }
  for (const std::vector<int>& block : counts.blocks()) {
    const Vector of_block = weights.size() > 0 ? Vector(weights(block)) : Vector();
    const double weight = weights.size() > 0 ? of_block.sum() : static_cast<double>(block.size());
    if (weight >= n) continue;  // there are no others
    by_others(block) = density.of_others(Vector(v(block)), of_block);
    others(block).setConstant(n - weight);
  }
  Vector result(e.size());
  for (Index i = 0; i < e.size(); ++i) {
    const double tail = 0.5 * std::exp(-std::abs(v[i]));
    const double p = (1 - kShare) * by_others[i] / others[i] + kShare * tail;
    result[i] = -std::log(p) + std::log(scale * std::cosh(v[i]));
  }
  return result;
}

}  // namespace

Vector surprisals(const Eigen::Ref<const Vector>& residuals, NoiseDistribution distribution, const Vector& weights) {
  if (distribution == NoiseDistribution::gaussian || residuals.size() < 3) {
    return gaussian_surprisals(residuals, weights);
  }
  return kernel_surprisals(residuals, {weights});
}

Vector surprisals(const Eigen::Ref<const Vector>& residuals, NoiseDistribution distribution,
                  const std::vector<int>& groups, const GraphRows& counts) {
  const Vector& weights = counts.weights;
  const Vector pooled = surprisals(residuals, distribution, weights);
  std::map<int, std::vector<int>> rows_of;
  for (std::size_t i = 0; i < groups.size(); ++i) rows_of[groups[i]].push_back(static_cast<int>(i));
  if (rows_of.size() < 2) return pooled;
  const double spread = std::sqrt((residuals.array() - residuals.mean()).square().mean());
  Vector own = pooled, rows = Vector::Zero(pooled.size());
  for (const auto& [group, members] : rows_of) {
    if (members.size() < kFewestInGroup) continue;
    const GraphRows of_group = counts.of_rows(members);  // of mean weight 1
    const Vector e = residuals(members);
    Vector found, others = Vector::Constant(e.size(), static_cast<double>(members.size()));
    if (distribution == NoiseDistribution::gaussian) {
      found = left_out_gaussian_surprisals(e, of_group, std::max(kLeastShare * spread, kLeastSpread));
    } else {
      // All rows are a mixture of the groups, so p_group ≤ p_all / share: where values repeat, an estimate from a few
      // rows that happen to be equal would know no bound.
      const double rows_of_group = weights.size() > 0 ? weights(members).sum() : static_cast<double>(members.size());
      const double log_share = std::log(rows_of_group / static_cast<double>(groups.size()));
      found = kernel_surprisals(e, of_group).cwiseMax((pooled(members).array() + log_share).matrix());
    }
    for (const std::vector<int>& block : of_group.blocks()) {
      others(block).setConstant(static_cast<double>(members.size() - block.size()));
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto at = static_cast<Index>(i);
      if (others[at] < static_cast<double>(kFewestInGroup)) continue;  // what other blocks do not show is not known
      own[members[i]] = found[at];
      rows[members[i]] = others[at];
    }
  }
  Vector best = pooled;
  for (const double rows_of_all : {500.0, 50.0, 5.0}) {
    const Eigen::ArrayXd weight = rows.array() / (rows.array() + rows_of_all);
    const Vector mixed = -(weight * (-own.array()).exp() + (1 - weight) * (-pooled.array()).exp()).log();
    if (weighted_mean(mixed, weights) < weighted_mean(best, weights)) best = mixed;
  }
  return best;
}

}  // namespace fansite::causal
