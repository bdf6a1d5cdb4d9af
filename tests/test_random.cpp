// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "fansite/base/error.h"
#include "properties.h"

namespace fansite {
namespace {

using Words4 = std::array<std::uint32_t, 4>;
using Words2 = std::array<std::uint32_t, 2>;

std::vector<double> draws(std::uint64_t seed, int count, const std::function<double(Random&)>& draw) {
  Random random(Key{seed});
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = draw(random);
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size());
}

// Largest distance between the empirical and the true distribution function, times √n; above 1.95 with chance 0.001.
double kolmogorov(std::vector<double> values, const std::function<double(double)>& distribution) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = distribution(values[i]);
    largest = std::max({largest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

// Σ (observed − expected)²/expected for equally likely cells.
double chi_square(const std::vector<int>& counts) {
  const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// The vectors that Random123 ships for Philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Words2{0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SameKeySameStream) {
  Random a(Key{7}), b(Key{7}), c(Key{8});
  int equal_to_other = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t word = a.bits();
    EXPECT_EQ(word, b.bits());
    equal_to_other += word == c.bits();
  }
  EXPECT_LE(equal_to_other, 1);
}

TEST(Random, FirstWordsAreThePhiloxBlockOfTheKey) {
  Random random(Key{0x299f31d0a4093822});
  const Words4 block = philox({0, 0, 0, 0}, {0xa4093822, 0x299f31d0});
  for (const std::uint32_t word : block) EXPECT_EQ(random.bits(), word);
  const Words4 next = philox({1, 0, 0, 0}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(random.bits(), next[0]);
}

TEST(Key, SplitsAreDistinctAlongEveryPath) {
  std::set<std::uint64_t> seen;
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      const Key child = Key{seed}.split(i);
      seen.insert(child.value);
      ++made;
      for (std::uint64_t j = 0; j < 50; ++j, ++made) seen.insert(child.split(j).value);
    }
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(Key, SplitStreamsAreUncorrelated) {
  constexpr int kDraws = 100000;
  const auto uniforms = [](Key key) {
    Random random(key);
    std::vector<double> values(kDraws);
    for (double& value : values) value = random.uniform() - 0.5;
    return values;
  };
  const Key parent{3};
  const auto own = uniforms(parent);
  const auto first = uniforms(parent.split(0)), second = uniforms(parent.split(1)),
             deep = uniforms(parent.split(0).split(0));
  const auto correlation = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) * 12 / kDraws;
  };
  const double limit = 4 / std::sqrt(kDraws);
  EXPECT_LT(std::abs(correlation(own, first)), limit);
  EXPECT_LT(std::abs(correlation(first, second)), limit);
  EXPECT_LT(std::abs(correlation(first, deep)), limit);
}

TEST(Random, UniformIsAnOddMultipleOf2PowMinus53) {
  Random random(Key{1});
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(std::fmod(u * 0x1p53, 2.0), 1.0);
  }
}

struct Distribution {
  const char* name;
  double (*draw)(Random&);
  double (*cumulative)(double);
  double mean, variance;
  double kurtosis;  // for the tolerance of the variance
};

class RandomDistribution : public testing::TestWithParam<Distribution> {};

TEST_P(RandomDistribution, HasItsMomentsAndDistribution) {
  const Distribution distribution = GetParam();
  constexpr int kDraws = 200000;
  const auto values = draws(11, kDraws, distribution.draw);
  EXPECT_NEAR(mean(values), distribution.mean, 4 * std::sqrt(distribution.variance / kDraws));
  EXPECT_NEAR(variance(values), distribution.variance,
              4 * distribution.variance * std::sqrt((distribution.kurtosis - 1) / kDraws));
  EXPECT_LT(kolmogorov(values, distribution.cumulative), 1.95);
}

INSTANTIATE_TEST_SUITE_P(
    Distributions, RandomDistribution,
    testing::Values(
        Distribution{"uniform", [](Random& r) { return r.uniform(); }, [](double x) { return x; }, 0.5, 1.0 / 12, 1.8},
        Distribution{"interval", [](Random& r) { return r.uniform(-1, 1); }, [](double x) { return (x + 1) / 2; }, 0.0,
                     1.0 / 3, 1.8},
        Distribution{"normal", [](Random& r) { return r.normal(); },
                     [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 0.0, 1.0, 3.0},
        Distribution{"laplace", [](Random& r) { return r.laplace(); },
                     [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }, 0.0, 2.0, 6.0},
        Distribution{"gumbel", [](Random& r) { return r.gumbel(); }, [](double x) { return std::exp(-std::exp(-x)); },
                     0.57721566490153286, 1.6449340668482264, 5.4},
        Distribution{"exponential", [](Random& r) { return r.exponential(); },
                     [](double x) { return 1 - std::exp(-x); }, 1.0, 1.0, 9.0}),
    [](const auto& info) { return info.param.name; });

TEST(Random, BelowIsUnbiased) {
  // 3·2³⁰ is the worst case for a biased method: a third of the values would come twice as often.
  constexpr std::uint32_t kBound = 0xC0000000;
  Random random(Key{5});
  std::vector<int> thirds(3);
  for (int i = 0; i < 90000; ++i) {
    const std::uint32_t draw = random.below(kBound);
    ASSERT_LT(draw, kBound);
    ++thirds[draw / (kBound / 3)];
  }
  EXPECT_LT(chi_square(thirds), 13.8);  // 2 degrees of freedom, chance 0.001

  std::vector<int> sevenths(7);
  for (int i = 0; i < 70000; ++i) ++sevenths[random.below(7)];
  EXPECT_LT(chi_square(sevenths), 22.5);  // 6 degrees of freedom

  EXPECT_EQ(random.below(1), 0u);
  EXPECT_THROW(random.below(0), UsageError);
}

TEST(Random, CoinIsFair) {
  Random random(Key{6});
  int heads = 0;
  for (int i = 0; i < 100000; ++i) heads += random.coin();
  EXPECT_NEAR(heads, 50000, 4 * 158.1);
}

TEST(Random, PermutationsAreEquallyLikely) {
  Random random(Key{9});
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24000; ++i) ++seen[random.permutation(4)];
  ASSERT_EQ(seen.size(), 24u);
  std::vector<int> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square(counts), 49.7);  // 23 degrees of freedom
}

TEST(Random, SubsetsAreEquallyLikelyAndAscending) {
  Random random(Key{10});
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 20000; ++i) ++seen[random.subset(6, 3)];
  ASSERT_EQ(seen.size(), 20u);
  std::vector<int> counts;
  for (const auto& [subset, count] : seen) {
    EXPECT_TRUE(std::is_sorted(subset.begin(), subset.end()));
    counts.push_back(count);
  }
  EXPECT_LT(chi_square(counts), 43.8);  // 19 degrees of freedom
}

TEST(Random, PermutationAndSubsetOfAnySize) {
  EXPECT_TRUE(rc::check("permutations hold every number once, subsets distinct ones", [] {
    const int n = *rc::gen::inRange(0, 200);
    const int k = *rc::gen::inRange(0, n + 1);
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    std::vector<int> order = random.permutation(n);
    std::sort(order.begin(), order.end());
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    RC_ASSERT(order == all);
    const std::vector<int> subset = random.subset(n, k);
    RC_ASSERT(static_cast<int>(subset.size()) == k);
    RC_ASSERT(std::is_sorted(subset.begin(), subset.end()));
    RC_ASSERT(std::adjacent_find(subset.begin(), subset.end()) == subset.end());
    if (k > 0) RC_ASSERT((subset.front() >= 0 && subset.back() < n));
  }));
  Random random(Key{1});
  EXPECT_THROW(random.subset(3, 4), UsageError);
  EXPECT_THROW(random.subset(3, -1), UsageError);
}

}  // namespace
}  // namespace fansite
