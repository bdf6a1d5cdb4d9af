// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/additivity.h"

#include <cmath>

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
constexpr double kHarmless = 0.1;

}  // namespace

// The size of what is left of a child, as normal scores, against g and g² − 1 of each parent's normal scores g:
// z-scores of the correlations. Residuals are scaled to the variance that leaving rows out has not touched, (1 − h)·σ².
AdditivityTest test_additivity(const Regression& regression, const std::vector<std::vector<int>>& parents,
                               const Progress& progress) {
  struct Sign {
    double z = 0;
    int parent = -1;
  };
  std::vector<Sign> strongest(parents.size());
  const SingleThreadedBlas one_thread_each;
  parallel_for(static_cast<Index>(parents.size()), [&](Index j) {
    throw_if_interrupted(progress);
    const std::vector<int>& of_j = parents[static_cast<std::size_t>(j)];
    if (of_j.empty()) return;
    const int child = static_cast<int>(j);
    const Residuals left = regression.residuals(std::span(&child, 1), of_j);
    const Vector sizes = left.left_out.col(0).array().abs() * (1 - left.leverage.col(0).array()).max(0).sqrt();
    const Vector size = normal_scores(sizes);
    const double n = std::sqrt(static_cast<double>(size.size()));
    for (const int parent : of_j) {
      const Vector g = normal_scores(regression.values().col(parent));
      const Vector bulge = g.array().square() - g.squaredNorm() / static_cast<double>(g.size());
      for (const Vector* other : {&g, &bulge}) {
        const double z = std::abs(n * size.dot(*other) / (size.norm() * other->norm()));
        if (z > strongest[static_cast<std::size_t>(j)].z) strongest[static_cast<std::size_t>(j)] = {z, parent};
      }
    }
  });
  AdditivityTest test;
  int tested = 0;
  double largest = 0;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    tested += 2 * static_cast<int>(parents[j].size());
    if (strongest[j].z <= largest) continue;
    largest = strongest[j].z;
    test.child = static_cast<int>(j);
    test.parent = strongest[j].parent;
  }
  const double root = std::sqrt(static_cast<double>(regression.rows()));
  test.correlation = largest / root;
  const auto p_value = [&](double mean) {  // of the z-score
    return tested == 0 ? 1.0 : best_of(normal_tail(largest - mean) + normal_tail(largest + mean), tested);
  };
  test.p_value = p_value(kHarmless * root);
  test.additive = test.p_value > kLevel;
  test.suspicious = p_value(0) <= kSuspicion;
  return test;
}

}  // namespace fansite::causal
