// SPDX-License-Identifier: Apache-2.0
//
// Gaussian entropies: the kernel against plain loops, the search state against determinants, the p-values against their
// distribution.
#include "fansite/entropy/gaussian.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/entropy/detail/gaussian_kernel.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

// ½ (1 + ln 2π + ln det Σ_{TS}/det Σ_S), straight from the formula.
double entropy_by_determinants(const Covariance& c, int target, std::vector<int> given) {
  const auto log_determinant = [&](const std::vector<int>& set) {
    const auto k = static_cast<Index>(set.size());
    Matrix part(k, k);
    for (Index i = 0; i < k; ++i) {
      for (Index j = 0; j < k; ++j) {
        const int a = set[static_cast<std::size_t>(i)], b = set[static_cast<std::size_t>(j)];
        part(i, j) = c.correlation(a, b) * c.scale(a) * c.scale(b);
      }
    }
    return k == 0 ? 0.0 : std::log(part.determinant());
  };
  const double without = log_determinant(given);
  given.push_back(target);
  return 0.5 * (1 + std::log(2 * M_PI) + log_determinant(given) - without);
}

std::vector<char> all_candidates(int d) { return std::vector<char>(static_cast<std::size_t>(d), 1); }

Candidate best_of(Frontier& frontier) {
  const int slot = 0;
  Candidate best;
  frontier.find_best(std::span(&slot, 1), std::span(&best, 1));
  return best;
}

// ---- Kernel ---------------------------------------------------------------------------------------------------------

template <class Real>
struct SweepData {
  std::vector<Real> factor, variance, covariance, correlation, loadings;
  kernel::Sweep<Real> sweep;

  SweepData(std::ptrdiff_t blocks, std::ptrdiff_t size, std::uint64_t seed) {
    Random random(Key{seed});
    const auto columns = static_cast<std::size_t>(blocks * kernel::kBlock);
    const std::ptrdiff_t capacity = size + 3;
    factor.resize(columns * static_cast<std::size_t>(capacity));
    for (auto& x : factor) x = static_cast<Real>(random.uniform(-0.1, 0.1));
    for (std::size_t j = 0; j < columns; ++j) {
      const bool candidate = random.uniform() < 0.8;
      variance.push_back(candidate ? static_cast<Real>(random.uniform(0.1, 1)) : std::numeric_limits<Real>::infinity());
      covariance.push_back(candidate ? static_cast<Real>(random.uniform(-0.3, 0.3)) : Real{0});
      correlation.push_back(static_cast<Real>(random.uniform(-0.5, 0.5)));
    }
    for (std::ptrdiff_t i = 0; i < size; ++i) loadings.push_back(static_cast<Real>(random.uniform(-0.5, 0.5)));
    sweep.blocks = blocks;
    sweep.capacity = capacity;
    sweep.size = size;
    sweep.inverse_sd = static_cast<Real>(1.1);
    sweep.target_loading = static_cast<Real>(0.2);
    sweep.determined = static_cast<Real>(0.02);
    sweep.factor = factor.data();
    sweep.variance = variance.data();
    sweep.covariance = covariance.data();
    sweep.correlation = correlation.data();
    sweep.loadings = loadings.data();
  }
};

template <class Real>
void expect_equal_to_reference(double tolerance) {
  EXPECT_TRUE(rc::check("any shape", [=] {
    const std::ptrdiff_t blocks = *rc::gen::inRange<std::ptrdiff_t>(1, 5);
    const std::ptrdiff_t size = *rc::gen::inRange<std::ptrdiff_t>(0, 40);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    SweepData<Real> fast(blocks, size, seed);
    SweepData<double> plain(blocks, size, seed);
    const auto result = kernel::condition(fast.sweep);
    const auto expected = kernel::condition_reference(plain.sweep);
    RC_ASSERT(std::abs(result.best - expected.best) <= tolerance * (1 + expected.best));
    if (tolerance < 1e-9) RC_ASSERT(result.column == expected.column);
    RC_ASSERT(std::abs(result.smallest_variance - expected.smallest_variance) <= tolerance);
    for (std::size_t j = 0; j < plain.variance.size(); ++j) {
      RC_ASSERT(std::isinf(fast.variance[j]) == std::isinf(plain.variance[j]));
      if (std::isinf(plain.variance[j])) continue;
      RC_ASSERT(std::abs(static_cast<double>(fast.variance[j]) - plain.variance[j]) <= tolerance);
      RC_ASSERT(std::abs(static_cast<double>(fast.covariance[j]) - plain.covariance[j]) <= tolerance);
    }
    for (std::size_t i = 0; i < plain.factor.size(); ++i) {
      RC_ASSERT(std::abs(static_cast<double>(fast.factor[i]) - plain.factor[i]) <= tolerance);
    }
  }));
}

TEST(GaussianKernel, DoubleEqualsTheReference) { expect_equal_to_reference<double>(1e-12); }
TEST(GaussianKernel, FloatEqualsTheReference) { expect_equal_to_reference<float>(2e-5); }

// ---- Entropies ------------------------------------------------------------------------------------------------------

TEST(Gaussian, EntropyEqualsTheDeterminants) {
  const Simulation simulation = simulate_linear(12, 2, 400, 1);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  Random random(Key{1});
  for (int i = 0; i < 100; ++i) {
    auto order = random.permutation(12);
    order.resize(random.below(11) + 1);
    const int target = order.back();
    order.pop_back();
    EXPECT_NEAR(estimator.conditional_entropy({target, order}).value,
                entropy_by_determinants(estimator.covariance(), target, order), 1e-9);
  }
}

TEST(Gaussian, EntropyOfOneColumnIsThatOfItsVariance) {
  Matrix values(5, 1);
  values << 1, 2, 3, 4, 5;  // variance 2.5
  const GaussianEstimator estimator(covariance(values));
  EXPECT_NEAR(estimator.conditional_entropy({0, {}}).value, 0.5 * (1 + std::log(2 * M_PI * 2.5)), 1e-12);
}

TEST(Gaussian, ConditioningNeverRaisesEntropyAndTheChainRuleHolds) {
  const Simulation simulation = simulate_linear(8, 2, 100, 2);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  const auto h = [&](int t, const std::vector<int>& s) { return estimator.conditional_entropy({t, s}).value; };
  EXPECT_TRUE(rc::check("H(T|S) ≥ H(T|S,z), H(a)+H(b|a) = H(b)+H(a|b)", [&] {
    const auto order = Random(Key{*rc::gen::arbitrary<std::uint64_t>()}).permutation(8);
    const std::vector<int> given(order.begin() + 2, order.begin() + 2 + *rc::gen::inRange(0, 6));
    const int a = order[0], b = order[1];
    auto with_a = given, with_b = given;
    with_a.push_back(a);
    with_b.push_back(b);
    RC_ASSERT(h(b, with_a) <= h(b, given) + 1e-12);
    RC_ASSERT(std::abs(h(a, given) + h(b, with_a) - h(b, given) - h(a, with_b)) < 1e-9);
  }));
}

TEST(Gaussian, StandardErrorsMatchTheSpreadOverSamples) {
  std::vector<double> entropies, gains, entropy_errors, gain_errors;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(Key{seed});
    Matrix values(200, 2);
    for (Index i = 0; i < 200; ++i) {
      values(i, 0) = random.normal();
      values(i, 1) = values(i, 0) + random.normal();
    }
    const GaussianEstimator estimator(covariance(values));
    const auto h = estimator.conditional_entropy({1, {0}});
    entropies.push_back(h.value);
    entropy_errors.push_back(h.standard_error);
    const int target = 1;
    const auto frontier = estimator.open(std::span(&target, 1), all_candidates(2), NoProgress());
    const Candidate best = best_of(*frontier);
    gains.push_back(best.gain);
    gain_errors.push_back(best.standard_error);
  }
  const auto spread = [](const std::vector<double>& x) {
    double mean = 0, square = 0;
    for (const double v : x) mean += v / static_cast<double>(x.size());
    for (const double v : x) square += (v - mean) * (v - mean) / static_cast<double>(x.size() - 1);
    return std::pair(mean, std::sqrt(square));
  };
  EXPECT_NEAR(spread(entropy_errors).first / spread(entropies).second, 1.0, 0.1);
  EXPECT_NEAR(spread(gain_errors).first / spread(gains).second, 1.0, 0.1);
}

// ---- Search state ---------------------------------------------------------------------------------------------------

TEST(Gaussian, EveryStepOfGrowingIsTheBestByDeterminants) {
  for (const double degree : {1.0, 4.0}) {  // 4: variances explode, single precision does not do
    const int d = 25;
    const Simulation simulation = simulate_linear(d, degree, 500, 3);
    const GaussianEstimator estimator(covariance(simulation.data.values));
    for (int target = 0; target < d; target += 4) {
      const auto frontier = estimator.open(std::span(&target, 1), all_candidates(d), NoProgress());
      for (int step = 0; step < 10; ++step) {
        const Candidate best = best_of(*frontier);
        const auto members = frontier->members(0);
        const double current = entropy_by_determinants(estimator.covariance(), target, members);
        double largest = -1;
        for (int z = 0; z < d; ++z) {
          if (z == target || std::find(members.begin(), members.end(), z) != members.end()) continue;
          auto with = members;
          with.push_back(z);
          largest = std::max(largest, current - entropy_by_determinants(estimator.covariance(), target, with));
        }
        ASSERT_NEAR(best.gain, largest, 1e-4 * (1 + largest)) << "degree " << degree << " target " << target;
        frontier->add(0, best.variable);
      }
    }
  }
}

TEST(Gaussian, LossesEqualTheDeterminantsThroughRemovals) {
  const int d = 20;
  const Simulation simulation = simulate_linear(d, 3, 500, 4);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  const int target = 5;
  const auto frontier = estimator.open(std::span(&target, 1), all_candidates(d), NoProgress());
  for (const int z : {3, 11, 0, 17, 8, 2, 14}) frontier->add(0, z);
  for (const int removed : {17, 3, 14, 0}) {
    const auto members = frontier->members(0);
    const double all = entropy_by_determinants(estimator.covariance(), target, members);
    const auto losses = frontier->losses(0);
    ASSERT_EQ(losses.size(), members.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      auto rest = members;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(m));
      EXPECT_EQ(losses[m].variable, members[m]);
      EXPECT_NEAR(losses[m].gain, entropy_by_determinants(estimator.covariance(), target, rest) - all, 1e-8);
    }
    frontier->remove(0, removed);
  }
  EXPECT_EQ(frontier->members(0), (std::vector<int>{11, 8, 2}));
  // A set that shrank can grow again.
  const Candidate next = best_of(*frontier);
  frontier->add(0, next.variable);
  EXPECT_NEAR(frontier->losses(0).back().gain, next.gain, 1e-4);
  EXPECT_THROW(frontier->remove(0, 19), UsageError);

  const auto gains = frontier->gains(0);
  std::vector<int> before;
  for (const Candidate& gain : gains) {
    const double h = entropy_by_determinants(estimator.covariance(), target, before);
    before.push_back(gain.variable);
    EXPECT_NEAR(gain.gain, h - entropy_by_determinants(estimator.covariance(), target, before), 1e-9);
  }
  frontier->drop_last(0, 2);
  EXPECT_EQ(frontier->members(0), (std::vector<int>{11, 8}));
  EXPECT_NE(best_of(*frontier).variable, -1);
}

// x1 and x2 of variance 1e8 hide what is left of the target, of variance 1; a useless variable must stay useless. The
// explicit inverse of the members' correlations would give it a loss of 0.02 here.
TEST(Gaussian, LossesSurviveExplodingVariances) {
  Random random(Key{5});
  const Index n = 2000;
  Matrix values(n, 40);
  for (Index i = 0; i < n; ++i) {
    values(i, 0) = random.normal();
    for (Index j = 1; j < 30; ++j)
      values(i, j) = 2.0 * values(i, j - 1) + (j > 1 ? 1.5 * values(i, j - 2) : 0.0) + random.normal();
    for (Index j = 30; j < 40; ++j) values(i, j) = random.normal();
  }
  const GaussianEstimator estimator(covariance(values));
  const int target = 25;
  const auto frontier = estimator.open(std::span(&target, 1), all_candidates(40), NoProgress());
  for (const int z : {24, 26, 23, 27, 22, 28, 21, 29, 30, 31, 32, 33, 34, 35}) frontier->add(0, z);
  for (const Candidate& loss : frontier->losses(0)) {
    if (loss.variable >= 30) {
      EXPECT_LT(loss.gain, 0.006) << loss.variable;  // χ²₁/2N: 0.006 is p = 1e-6
    }
  }
}

TEST(Gaussian, DeterminedColumnsAreSafe) {
  Random random(Key{6});
  Matrix values(200, 6);
  for (Index i = 0; i < 200; ++i) {
    values(i, 0) = random.normal();
    values(i, 1) = random.normal();
    values(i, 2) = values(i, 0) + values(i, 1);  // collinear
    values(i, 3) = 2 * values(i, 0) - 1;         // affine copy
    values(i, 4) = 7;                            // constant
    values(i, 5) = values(i, 0) + random.normal();
  }
  const GaussianEstimator estimator(covariance(values));
  for (int target = 0; target < 6; ++target) {
    const auto frontier = estimator.open(std::span(&target, 1), all_candidates(6), NoProgress());
    for (Candidate best = best_of(*frontier); best.variable >= 0; best = best_of(*frontier)) {
      EXPECT_TRUE(std::isfinite(best.gain));
      EXPECT_NE(best.variable, 4);
      EXPECT_NE(best.variable, target);
      frontier->add(0, best.variable);
      for (const Candidate& loss : frontier->losses(0)) EXPECT_TRUE(std::isfinite(loss.gain));
    }
    EXPECT_LE(frontier->members(0).size(), 3u);
  }
  EXPECT_FALSE(estimator.informative(4));
  EXPECT_EQ(estimator.conditional_entropy({2, {0, 1}}).value, -INFINITY);
  EXPECT_EQ(estimator.conditional_entropy({4, {}}).value, -INFINITY);
  EXPECT_NEAR(estimator.conditional_entropy({5, {0, 3}}).value, estimator.conditional_entropy({5, {0}}).value, 1e-9);
}

TEST(Gaussian, MoreColumnsThanRowsStopsWhereTheRowsEnd) {
  Random random(Key{7});
  Matrix values(20, 50);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
  const GaussianEstimator estimator(covariance(values));
  EXPECT_EQ(estimator.largest_set(), 17);
  const int target = 0;
  const auto frontier = estimator.open(std::span(&target, 1), all_candidates(50), NoProgress());
  for (int step = 0; step < 17; ++step) {
    const Candidate best = best_of(*frontier);
    ASSERT_GE(best.variable, 0);
    EXPECT_TRUE(std::isfinite(best.gain));
    frontier->add(0, best.variable);
  }
}

// ---- p-values -------------------------------------------------------------------------------------------------------

TEST(Gaussian, PValueOfAGainIsThatOfThePartialCorrelation) {
  // spec/baselines.md 0.1: r = 0.096561, N = 100, one conditioned on: Fisher-z gives 0.3426; the exact t test is close.
  Matrix values(100, 2);
  Random random(Key{8});
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
  const GaussianEstimator estimator(covariance(values));
  const double gain = -0.5 * std::log1p(-0.096561 * 0.096561);
  EXPECT_NEAR(estimator.p_value(gain, 1), 0.3426, 0.001);
  EXPECT_EQ(estimator.p_value(0.0, 1), 1.0);
  EXPECT_EQ(estimator.p_value(1.0, 98), 1.0);  // no degree of freedom left
}

TEST(Gaussian, PValuesAreUniformWithoutAnyRelation) {
  int below_tenth = 0, pairs_below_tenth = 0;
  constexpr int kTables = 2000;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    Random random(Key{seed});
    Matrix values(30, 4);  // few rows: the exact distribution, not the limit
    for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
    const GaussianEstimator estimator(covariance(values));
    const double gain =
        estimator.conditional_entropy({0, {1, 2}}).value - estimator.conditional_entropy({0, {1, 2, 3}}).value;
    below_tenth += estimator.p_value(gain, 2) < 0.1;
    const PairQuery query{0, 3, {1, 2}, {2}, true};
    pairs_below_tenth += estimator.pair_evidence(query).p_value < 0.1;
  }
  const double tolerance = 4 * std::sqrt(0.1 * 0.9 * kTables);
  EXPECT_NEAR(below_tenth, 0.1 * kTables, tolerance);
  EXPECT_NEAR(pairs_below_tenth, 0.1 * kTables, 1.5 * tolerance);  // the tests differ in degrees of freedom
}

// x → a → b ← y. Without the edge a → b, {x} and {y} are the boundaries and both tests are uniform, and so is their
// combination. With it, MB(a) = {x, b, y} and MB(b) = {a, y}: the child's test is the stronger one, and the combination
// is as strong without knowing which is the child.
TEST(Gaussian, TwoTestsAreCalibratedAndAsStrongAsTheBetterOne) {
  const auto shares_below = [](double effect, double level, const std::vector<int>& given_a) {
    std::array<double, 3> below{};
    constexpr int kTables = 1500;
    for (std::uint64_t seed = 0; seed < kTables; ++seed) {
      Random random(Key{seed});
      Matrix values(300, 4);
      for (Index i = 0; i < 300; ++i) {
        const double x = random.normal(), y = random.normal();
        const double a = x + random.normal();
        values.row(i) << a, effect * a + y + random.normal(), x, y;
      }
      const GaussianEstimator estimator(covariance(values));
      const PairQuery both{0, 1, given_a, {3}, true}, from_a{0, 1, given_a, {}, false}, from_b{1, 0, {3}, {}, false};
      std::size_t k = 0;
      for (const PairQuery& query : {both, from_a, from_b}) {
        below[k++] += (estimator.pair_evidence(query).p_value < level) / double{kTables};
      }
    }
    return below;
  };
  for (const double share : shares_below(0.0, 0.05, {2})) EXPECT_NEAR(share, 0.05, 4 * std::sqrt(0.05 * 0.95 / 1500));
  const auto [both, from_a, from_b] = shares_below(0.15, 0.01, {2, 3});
  EXPECT_GT(from_b, from_a + 0.1);
  EXPECT_GT(both, from_b - 0.03);
}

}  // namespace
}  // namespace fansite
