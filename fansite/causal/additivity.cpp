// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/additivity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/table/dataset.h"

namespace fansite::causal {
namespace {

constexpr double kLevel = 0.01;
constexpr double kSuspicion = 0.05;  // which costs no more than a second test

// Correlations up to this, 1 % of the variance, are no departure that matters: what little a regression smooths away
// shows by that much in tables whose noise does add (at most 0.14 in 16 of them), and post-nonlinear ones have 0.33 to
// 0.43.
constexpr double kHarmless = 0.1, kHarmful = 0.43;

struct Sign {
  double z = 0;
  int parent = -1;
  double rows = 0;  // independent ones
  int tested = 0;
};

// Where levels of discrete parents may have noise of their own sizes, in units of each one's.
void by_group(Vector& sizes, const std::vector<int>& groups) {
  std::map<int, std::pair<double, double>> sums;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto& [sum, count] = sums[groups[i]];
    sum += sizes[static_cast<Index>(i)];
    ++count;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& [sum, count] = sums[groups[i]];
    if (sum > 0) sizes[static_cast<Index>(i)] *= count / sum;
  }
}

// So that inner products are weighted, of what has mean 0.
Vector weighted(const Vector& scores, const Vector& weights) {
  if (weights.size() == 0) return scores;
  const double mean = scores.dot(weights) / weights.sum();
  return (scores.array() - mean) * weights.array().sqrt();
}

// The size of what is left of a child, as normal scores, against g and g² − 1 of each parent's normal scores g:
// z-scores of the correlations. Residuals are scaled to the variance that leaving rows out has not touched, (1 − h)·σ².
Sign strongest_sign(const Equations& equations, int child, const std::vector<int>& parents) {
  const Regression& regression = equations.regression();
  const std::vector<int>& rows = equations.present(child);
  const auto is_discrete = [&](int parent) { return equations.discrete(parent); };
  const auto discrete = std::count_if(parents.begin(), parents.end(), is_discrete);
  Sign sign;
  if (equations.discrete(child) || discrete == static_cast<std::ptrdiff_t>(parents.size())) return sign;
  const Residuals left = regression.residuals(std::span(&child, 1), parents, rows);
  Vector sizes = left.left_out.col(0).array().abs() * (1 - left.leverage.col(0).array()).max(0).sqrt();
  if (discrete > 0) by_group(sizes, equations.groups_of(child, parents));
  const Vector& of_table = equations.counts().weights;
  const Vector weights = of_table.size() == 0 || rows.empty() ? of_table : Vector(of_table(rows));
  const Vector size = weighted(normal_scores(sizes), weights);
  const double n = std::sqrt(equations.independent(size.size()));
  sign.rows = equations.independent(size.size());
  for (const int parent : parents) {
    if (is_discrete(parent)) continue;
    ++sign.tested;
    const auto column = regression.values().col(parent);
    const Vector g = normal_scores(rows.empty() ? Vector(column) : Vector(column(rows)));
    const Vector bulge = g.array().square() - g.squaredNorm() / static_cast<double>(g.size());
    for (const Vector& other : {weighted(g, weights), weighted(bulge, weights)}) {
      const double z = std::abs(n * size.dot(other) / (size.norm() * other.norm()));
      if (z > sign.z) {
        sign.z = z;
        sign.parent = parent;
      }
    }
  }
  return sign;
}

}  // namespace

AdditivityTest test_additivity(const Equations& equations, const std::vector<std::vector<int>>& parents,
                               const Progress& progress) {
  std::vector<Sign> strongest(parents.size());
  const SingleThreadedBlas one_thread_each;
  parallel_for(static_cast<Index>(parents.size()), [&](Index j) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(j);
    if (!parents[at].empty()) strongest[at] = strongest_sign(equations, static_cast<int>(j), parents[at]);
  });
  AdditivityTest test;
  std::size_t edges = 0;
  double largest = 0;
  double rows = equations.independent(equations.rows());
  for (std::size_t j = 0; j < parents.size(); ++j) {
    edges += parents[j].size();
    test.tested += strongest[j].tested;
    if (strongest[j].z <= largest) continue;
    largest = strongest[j].z;
    rows = strongest[j].rows;
    test.child = static_cast<int>(j);
    test.parent = strongest[j].parent;
  }
  const double root = std::sqrt(rows);
  test.correlation = largest / root;
  const auto p_value = [&](double z, double mean) {
    return test.tested == 0 ? 1.0 : best_of(normal_tail(z - mean) + normal_tail(z + mean), 2 * test.tested);
  };
  test.p_value = p_value(largest, kHarmless * root);
  // What could not refuse noise that plainly does not add has nothing to say for it.
  const double could_be = std::min(test.p_value, p_value(kHarmful * root, kHarmless * root));
  test.applicable = edges == 0 || could_be <= kLevel;
  test.additive = test.applicable && test.p_value > kLevel;
  test.suspicious = p_value(largest, 0) <= kSuspicion;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    const double mean = kHarmless * std::sqrt(strongest[j].rows);
    const double own = normal_tail(strongest[j].z - mean) + normal_tail(strongest[j].z + mean);
    if (strongest[j].tested > 0 && best_of(own, 2 * test.tested) <= kLevel) test.refused.push_back(static_cast<int>(j));
  }
  return test;
}

}  // namespace fansite::causal
