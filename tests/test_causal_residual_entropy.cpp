// SPDX-License-Identifier: Apache-2.0
//
// Surprisals of samples whose distribution is known, against a plain kernel estimate, and of samples that are odd.
#include "fansite/causal/residual_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite::causal {
namespace {

constexpr double kPi = std::numbers::pi;

struct Distribution {
  std::string name;
  std::function<double(Random&)> draw;
  std::function<double(double)> surprisal;  ///< −ln p
  double entropy;
};

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> distributions = {
      {"normal", [](Random& r) { return r.normal(); }, [](double x) { return 0.5 * std::log(2 * kPi) + 0.5 * x * x; },
       0.5 * std::log(2 * kPi * std::numbers::e)},
      {"uniform", [](Random& r) { return r.uniform(); }, [](double) { return 0.0; }, 0},
      {"Laplace", [](Random& r) { return r.laplace(); }, [](double x) { return std::numbers::ln2 + std::abs(x); },
       1 + std::numbers::ln2},
      {"exponential", [](Random& r) { return r.exponential(); }, [](double x) { return x; }, 1},
      // Student's with 2 degrees of freedom, whose variance is infinite, by its quantiles.
      {"Student 2",
       [](Random& r) {
         const double u = r.uniform();
         return (2 * u - 1) / std::sqrt(2 * u * (1 - u));
       },
       [](double x) { return 1.5 * std::log(2 + x * x); }, 1.960279},
      {"Cauchy", [](Random& r) { return std::tan(kPi * (r.uniform() - 0.5)); },
       [](double x) { return std::log(kPi * (1 + x * x)); }, std::log(4 * kPi)},
  };
  return distributions;
}

Vector drawn(const Distribution& distribution, Index rows, std::uint64_t seed) {
  Random random(Key{seed});
  Vector e(rows);
  for (double& x : e) x = distribution.draw(random);
  return e;
}

Vector normals(Index rows, std::uint64_t seed) { return drawn(distributions()[0], rows, seed); }

/// By how much the estimate is more surprised than the distribution itself, on average over the sample.
double regret(const Distribution& distribution, const Vector& e) {
  return surprisals(e, NoiseDistribution::any).mean() - e.unaryExpr(distribution.surprisal).mean();
}

// ---- Known distributions --------------------------------------------------------------------------------------------

// Of 2000: the true surprisals' own mean has a standard error of 0.016 (normal) to 0.04 (Cauchy); the estimate costs
// 0.01 nat more, at edges 0.06 to 0.09.
TEST(Surprisals, AverageToTheEntropy) {
  for (const Distribution& distribution : distributions()) {
    const double tolerance = distribution.name == "normal" || distribution.name == "Laplace" ? 0.07 : 0.13;
    for (const std::uint64_t seed : {1, 2, 3}) {
      EXPECT_NEAR(surprisals(drawn(distribution, 2000, seed), NoiseDistribution::any).mean(), distribution.entropy,
                  tolerance)
          << distribution.name;
    }
  }
}

// Against the distribution's own surprisal of the same sample, which takes the sampling error out.
TEST(Surprisals, CostLittleMoreThanThoseOfTheDistribution) {
  for (const Distribution& distribution : distributions()) {
    const bool edged =
        distribution.name == "uniform" || distribution.name == "exponential";  // a density that jumps is harder
    for (const std::uint64_t seed : {1, 2, 3}) {
      const double cost = regret(distribution, drawn(distribution, 2000, seed));
      EXPECT_LT(cost, edged ? 0.1 : 0.02) << distribution.name;
      EXPECT_GT(cost, -0.01) << distribution.name;
    }
  }
}

// A density that had seen the point would be less surprised than the distribution: by 0.04 nat for 100 normal ones.
TEST(Surprisals, AreNotBelowThoseOfTheDistributionOnAverage) {
  for (const Distribution& distribution : distributions()) {
    for (const Index rows : {30, 100, 300}) {
      double mean = 0, squares = 0;
      constexpr int kSamples = 60;
      for (std::uint64_t seed = 1; seed <= kSamples; ++seed) {
        const double cost = regret(distribution, drawn(distribution, rows, 100 + seed));
        mean += cost / kSamples;
        squares += cost * cost / kSamples;
      }
      const double error = std::sqrt((squares - mean * mean) / kSamples);
      EXPECT_GT(mean, -2 * error) << distribution.name << ' ' << rows;
      EXPECT_LT(mean, 0.25) << distribution.name << ' ' << rows;
    }
  }
}

TEST(Surprisals, TellDistributionsOfTheSameSpreadApart) {
  // Entropies of variance 1: normal 1.42, Laplace 1.35, uniform 1.24; by a normal distribution all the same.
  const Vector uniform = std::sqrt(12.0) * drawn(distributions()[1], 1000, 1),
               laplace = drawn(distributions()[2], 1000, 1) / std::sqrt(2);
  const Vector normal = normals(1000, 1);
  const auto by = [](const Vector& e, NoiseDistribution distribution) {
    const double spread = std::sqrt((e.array() - e.mean()).square().mean());
    return surprisals(e, distribution).mean() - std::log(spread);
  };
  EXPECT_LT(by(uniform, NoiseDistribution::any), by(normal, NoiseDistribution::any) - 0.08);
  EXPECT_LT(by(laplace, NoiseDistribution::any), by(normal, NoiseDistribution::any) - 0.03);
  EXPECT_NEAR(by(uniform, NoiseDistribution::gaussian), by(normal, NoiseDistribution::gaussian), 1e-9);
  EXPECT_NEAR(by(laplace, NoiseDistribution::gaussian), by(normal, NoiseDistribution::gaussian), 1e-9);
}

// ---- A plain kernel estimate ----------------------------------------------------------------------------------------

double spread_of(const Vector& x) { return std::sqrt((x.array() - x.mean()).square().mean()); }

double quartile_spread(const Vector& x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](std::size_t quarters) { return sorted[quarters * (sorted.size() - 1) / 4]; };
  return (at(3) - at(1)) / 1.349;
}

/// Every point against every other, no grid.
Vector plain_surprisals(const Vector& e) {
  const auto n = static_cast<double>(e.size());
  std::vector<double> sorted(e.begin(), e.end());
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[(sorted.size() - 1) / 2], scale = 2 * quartile_spread(e);
  const Vector v = ((e.array() - middle) / scale).unaryExpr([](double x) { return std::asinh(x); });
  const double bandwidth = 0.9 * std::min(spread_of(v), quartile_spread(v)) * std::pow(n, -0.2);
  Vector result(e.size());
  for (Index i = 0; i < e.size(); ++i) {
    double density = 0;
    for (Index k = 0; k < e.size(); ++k) {
      const double z = (v[i] - v[k]) / bandwidth;
      if (k != i) density += std::exp(-0.5 * z * z) / (std::sqrt(2 * kPi) * bandwidth) / (n - 1);
    }
    const double p = 0.98 * density + 0.02 * 0.5 * std::exp(-std::abs(v[i]));
    result[i] = -std::log(p * std::abs(1 / std::sqrt(scale * scale + (e[i] - middle) * (e[i] - middle))));
  }
  return result;
}

// Six grid steps a bandwidth: linear binning and reading widen the kernel's variance by 1/3 of a squared step, 1 %; the
// density of a smooth distribution moves by that share of its curvature. Points on their own feel it most.
TEST(Surprisals, AreThoseOfAPlainKernelEstimate) {
  for (const Distribution& distribution : distributions()) {
    for (const Index rows : {20, 301, 1000}) {
      const Vector e = drawn(distribution, rows, 7);
      const Vector found = surprisals(e, NoiseDistribution::any), plain = plain_surprisals(e);
      EXPECT_NEAR(found.mean(), plain.mean(), 0.004) << distribution.name << ' ' << rows;
      EXPECT_LT((found - plain).cwiseAbs().maxCoeff(), 0.05) << distribution.name << ' ' << rows;
    }
  }
}

// ---- Units and order ------------------------------------------------------------------------------------------------

TEST(SurprisalsProperty, ScalingAddsItsLogarithm) {
  EXPECT_TRUE(rc::check("to each, of either distribution; a shift adds nothing", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Distribution& distribution =
        distributions()[random.below(static_cast<std::uint32_t>(distributions().size()))];
    const Vector e = drawn(distribution, static_cast<Index>(3 + random.below(200)), random.bits());
    const double factor = std::exp(random.uniform(-6, 6)), shift = random.uniform(-100, 100);
    for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
      const Vector before = surprisals(e, noise);
      const Vector scaled = surprisals(factor * e, noise);
      RC_ASSERT((scaled.array() - before.array() - std::log(factor)).abs().maxCoeff() < 1e-8);
      RC_ASSERT((surprisals(e.array() + shift, noise) - before).cwiseAbs().maxCoeff() < 1e-8);
    }
  }));
}

TEST(SurprisalsProperty, OrderDoesNotMatter) {
  EXPECT_TRUE(rc::check("each residual keeps its own", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Distribution& distribution =
        distributions()[random.below(static_cast<std::uint32_t>(distributions().size()))];
    const auto rows = static_cast<int>(2 + random.below(200));
    const Vector e = drawn(distribution, rows, random.bits());
    const std::vector<int> order = random.permutation(rows);
    for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
      const Vector expected = surprisals(e, noise)(order);
      RC_ASSERT((surprisals(e(order), noise) - expected).cwiseAbs().maxCoeff() < 1e-9);
    }
  }));
}

TEST(Surprisals, PointsFarOutAreMoreSurprising) {
  Vector e = normals(500, 8);
  e[0] = 0;
  e[1] = 4;
  e[2] = 50;
  e[3] = 1e9;
  const Vector found = surprisals(e, NoiseDistribution::any);
  for (int i = 0; i < 3; ++i) EXPECT_GT(found[i + 1], found[i] + 1);
  EXPECT_LT(found[3], 60);  // the distribution's tails fall like 1/e², not like those of a normal one
}

// ---- The normal distribution ----------------------------------------------------------------------------------------

TEST(GaussianSurprisals, AreTheFormula) {
  const Vector e = 3 * normals(100, 9).array() + 1;
  const double mean = e.mean(), variance = (e.array() - mean).square().sum() / 100;
  const Vector found = surprisals(e, NoiseDistribution::gaussian);
  for (Index i = 0; i < e.size(); ++i) {
    const double density = std::exp(-(e[i] - mean) * (e[i] - mean) / (2 * variance)) / std::sqrt(2 * kPi * variance);
    EXPECT_NEAR(found[i], -std::log(density), 1e-12);
  }
  EXPECT_NEAR(found.mean(), 0.5 * std::log(2 * kPi * std::numbers::e * variance), 1e-12);
}

// ---- Odd samples ----------------------------------------------------------------------------------------------------

TEST(Surprisals, OfConstantsAreThoseOfADistributionOneMillionthWide) {
  for (const Index rows : {1, 2, 3, 10, 1000}) {
    for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
      const Vector found = surprisals(Vector::Constant(rows, 0.1), noise);
      EXPECT_TRUE(found.allFinite()) << rows;
      // ln 1e-6 = −13.8; the kernel is narrower still.
      EXPECT_LT(found.maxCoeff(), -12) << rows;
      EXPECT_GT(found.minCoeff(), -25) << rows;
    }
  }
}

TEST(Surprisals, OfAHandfulAreFinite) {
  for (Index rows = 1; rows <= 6; ++rows) {
    for (const Distribution& distribution : distributions())
      EXPECT_TRUE(surprisals(drawn(distribution, rows, 10), NoiseDistribution::any).allFinite()) << rows;
  }
}

Vector levels(Index rows, std::uint32_t count, double share_of_zero, std::uint64_t seed) {
  Random random(Key{seed});
  Vector e(rows);
  for (double& x : e) x = random.uniform() < share_of_zero ? 0 : 1 + random.below(count);
  return e;
}

TEST(Surprisals, OfDiscreteResidualsAreFinite) {
  for (const double share : {0.0, 0.5, 0.9, 0.999}) {
    for (const std::uint32_t count : {1u, 2u, 10u}) {
      const Vector found = surprisals(levels(400, count, share, 11), NoiseDistribution::any);
      EXPECT_TRUE(found.allFinite()) << share << ' ' << count;
      EXPECT_LT(found.cwiseAbs().maxCoeff(), 30) << share << ' ' << count;
    }
  }
}

// Regressions leave of equal values what is equal but for rounding.
TEST(Surprisals, OfDiscreteResidualsDoNotHangOnRounding) {
  for (const double share : {0.6, 0.8, 0.95}) {
    const Vector e = levels(400, 2, share, 12);
    const Vector rounded = e + 1e-15 * normals(400, 13);
    EXPECT_NEAR(surprisals(rounded, NoiseDistribution::any).mean(), surprisals(e, NoiseDistribution::any).mean(), 0.01)
        << share;
  }
}

TEST(Surprisals, FallAsRelationsLoseTheirNoiseDownToTheLeastSpread) {
  const Vector e = normals(300, 14);
  for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
    double last = std::numeric_limits<double>::infinity();
    for (const double spread : {1.0, 1e-2, 1e-4, 1e-5}) {
      const double mean = surprisals(spread * e, noise).mean();
      EXPECT_LT(mean, last - 2);
      last = mean;
    }
    EXPECT_NEAR(surprisals(1e-12 * e, noise).mean(), surprisals(1e-13 * e, noise).mean(), 0.01);
  }
}

// ---- By group -------------------------------------------------------------------------------------------------------

TEST(SurprisalsByGroup, KnowThatGroupsAreWideAndNarrow) {
  Vector e = normals(4000, 15);
  std::vector<int> groups;
  for (Index i = 0; i < e.size(); ++i) {
    groups.push_back(static_cast<int>(i % 2));
    e[i] *= i % 2 == 0 ? 0.2 : 1;
  }
  const double exact = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + 0.5 * std::log(0.2);
  for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
    EXPECT_NEAR(surprisals(e, noise, groups).mean(), exact, 0.04);
    EXPECT_GT(surprisals(e, noise).mean(), exact + 0.1);
  }
}

TEST(SurprisalsByGroup, OfGroupsThatAreAlikeAreThoseOfAll) {
  const Vector e = normals(1000, 16);
  std::vector<int> groups;
  Random random(Key{17});
  for (Index i = 0; i < e.size(); ++i) groups.push_back(static_cast<int>(random.below(10)));
  for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
    const double all = surprisals(e, noise).mean(), by_group = surprisals(e, noise, groups).mean();
    EXPECT_LE(by_group, all);
    EXPECT_GT(by_group, all - 0.005);
    EXPECT_EQ(surprisals(e, noise, std::vector<int>(1000, 3)), surprisals(e, noise));
  }
}

// Of 60 % zeros a group of ten rows is all zeros now and then.
TEST(SurprisalsByGroup, GainNoMoreThanTheShareOfAGroupAllows) {
  Vector e = levels(400, 3, 0.6, 18);
  std::vector<int> groups(400, 0);
  for (Index i = 0; i < 10; ++i) {
    e[i] = 0;
    groups[static_cast<std::size_t>(i)] = 1;
  }
  const double all = surprisals(e, NoiseDistribution::any).mean();
  EXPECT_GT(surprisals(e, NoiseDistribution::any, groups).mean(), all - 10.0 / 400 * std::log(40.0) - 0.02);
}

}  // namespace
}  // namespace fansite::causal
