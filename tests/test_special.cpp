// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/special.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Distance of `value` from the exact result, in units of the last place of the result.
double ulps(double value, long double exact) {
  const double nearest = std::abs(static_cast<double>(exact));
  const double unit = std::max(std::nextafter(nearest, kInfinity) - nearest, std::numeric_limits<double>::denorm_min());
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / unit);
}

struct Range {
  double low, high;
};

// The largest error over random arguments from each range.
template <class Portable, class Exact>
double worst_ulps(Portable portable_function, Exact exact, const std::vector<Range>& ranges, int draws = 100000) {
  Random random(Key{1});
  double worst = 0;
  for (const Range& range : ranges) {
    for (int i = 0; i < draws; ++i) {
      const double x = random.uniform(range.low, range.high);
      worst = std::max(worst, ulps(portable_function(x), exact(static_cast<long double>(x))));
    }
  }
  return worst;
}

TEST(Portable, ExpIsWithinTwoUlps) {
  const auto mine = [](double x) { return portable::exp(x); };
  const auto exact = [](long double x) { return std::exp(x); };
  EXPECT_LE(worst_ulps(mine, exact, {{-1e-8, 1e-8}, {-1, 1}, {-40, 40}, {-700, 700}, {-708.3, -699}, {699, 709.78}}),
            2.0);
  EXPECT_LE(worst_ulps(mine, exact, {{-745, -708.4}}), 2.0);  // subnormal results
}

TEST(Portable, ExpAtTheEdges) {
  EXPECT_EQ(portable::exp(0.0), 1.0);
  EXPECT_EQ(portable::exp(-0.0), 1.0);
  EXPECT_EQ(portable::exp(710.0), kInfinity);
  EXPECT_EQ(portable::exp(kInfinity), kInfinity);
  EXPECT_EQ(portable::exp(-746.0), 0.0);
  EXPECT_EQ(portable::exp(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(portable::exp(kNaN)));
  EXPECT_TRUE(std::isfinite(portable::exp(709.782712893384)));
  EXPECT_GT(portable::exp(-745.1), 0.0);
}

TEST(Portable, LogIsWithinTwoUlps) {
  const auto mine = [](double x) { return portable::log(x); };
  const auto exact = [](long double x) { return std::log(x); };
  EXPECT_LE(
      worst_ulps(mine, exact, {{1e-300, 1e-290}, {1e-20, 1e-3}, {0.01, 0.7}, {0.7, 1.45}, {1, 100}, {1e10, 1e300}}),
      2.0);
  EXPECT_LE(worst_ulps(mine, exact, {{1 - 1e-6, 1 + 1e-6}, {1 - 1e-12, 1 + 1e-12}}), 2.0);
  EXPECT_EQ(portable::log(1.0), 0.0);
  EXPECT_LE(ulps(portable::log(std::numeric_limits<double>::min()), std::log(0x1p-1022L)), 1.0);
  EXPECT_LE(ulps(portable::log(std::numeric_limits<double>::max()),
                 std::log(static_cast<long double>(std::numeric_limits<double>::max()))),
            1.0);
}

TEST(Portable, Log1pIsWithinFourUlps) {
  const auto mine = [](double x) { return portable::log1p(x); };
  const auto exact = [](long double x) { return std::log1p(x); };
  EXPECT_LE(worst_ulps(mine, exact,
                       {{-1e-20, 1e-20}, {-1e-9, 1e-9}, {-1e-3, 1e-3}, {-0.999, 1}, {-1 + 1e-9, -0.99}, {1, 1e6}}),
            4.0);
  EXPECT_EQ(portable::log1p(0.0), 0.0);
}

TEST(Portable, TanhIsWithinFourUlps) {
  const auto mine = [](double x) { return portable::tanh(x); };
  const auto exact = [](long double x) { return std::tanh(x); };
  EXPECT_LE(worst_ulps(mine, exact, {{-1e-20, 1e-20}, {-1e-6, 1e-6}, {-0.5, 0.5}, {-3, 3}, {-25, 25}}), 4.0);
  EXPECT_EQ(portable::tanh(0.0), 0.0);
  EXPECT_EQ(portable::tanh(1000.0), 1.0);
  EXPECT_EQ(portable::tanh(-kInfinity), -1.0);
  EXPECT_TRUE(std::isnan(portable::tanh(kNaN)));
}

TEST(Portable, SigmoidIsTheLogisticFunction) {
  const auto mine = [](double x) { return portable::sigmoid(x); };
  const auto exact = [](long double x) { return 1.0L / (1.0L + std::exp(-x)); };
  EXPECT_LE(worst_ulps(mine, exact, {{-1e-6, 1e-6}, {-5, 5}, {-40, 40}, {-700, -40}}), 4.0);
  EXPECT_EQ(portable::sigmoid(0.0), 0.5);
  EXPECT_EQ(portable::sigmoid(800.0), 1.0);
  EXPECT_EQ(portable::sigmoid(-800.0), 0.0);
}

TEST(Portable, BatchesHaveTheBitsOfSingleCalls) {
  EXPECT_TRUE(rc::check("exp and sigmoid of many equal those of each", [] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto count = *rc::gen::inRange(0, 1000);
    const double span = *rc::gen::element(1.0, 50.0, 690.0, 800.0);  // the last one leaves the fast path
    Random random(Key{seed});
    std::vector<double> x(static_cast<std::size_t>(count));
    for (double& value : x) value = random.uniform(-span, span);
    std::vector<double> exps = x, sigmoids = x;
    portable::exp(exps.data(), count);
    portable::sigmoid(sigmoids.data(), count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      RC_ASSERT(std::bit_cast<std::uint64_t>(exps[i]) == std::bit_cast<std::uint64_t>(portable::exp(x[i])));
      RC_ASSERT(std::bit_cast<std::uint64_t>(sigmoids[i]) == std::bit_cast<std::uint64_t>(portable::sigmoid(x[i])));
    }
  }));
}

TEST(Portable, FrozenBits) {
  EXPECT_EQ(portable::exp(1.0), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(portable::exp(-12.345), 0x1.240572f47cb82p-18);
  EXPECT_EQ(portable::log(3.0), 0x1.193ea7aad030ap+0);
  EXPECT_EQ(portable::log(1e-5), -0x1.7069e2aa2aa5bp+3);
  EXPECT_EQ(portable::log1p(0.1), 0x1.8663f793c46c7p-4);
  EXPECT_EQ(portable::tanh(0.7), 0x1.356fb17af2e91p-1);
  EXPECT_EQ(portable::sigmoid(-2.5), 0x1.36b7112534848p-4);
  EXPECT_EQ(normal_quantile(0.975), 0x1.f5c0331eeff82p+0);
  EXPECT_EQ(normal_quantile(1e-9), -0x1.7fdc11f44b5a7p+2);
}

TEST(NormalQuantile, InvertsTheDistribution) {
  const auto lower_tail = [](double x) { return 0.5L * std::erfc(-static_cast<long double>(x) / std::sqrt(2.0L)); };
  const auto relative_error = [&](double p) {
    return static_cast<double>(std::abs(lower_tail(normal_quantile(p)) - p) / p);
  };
  Random random(Key{2});
  double worst = 0;
  for (int i = 0; i < 100000; ++i) worst = std::max(worst, relative_error(random.uniform()));
  for (double p = 1e-15; p < 0.1; p *= 1.37) worst = std::max(worst, relative_error(p));
  EXPECT_LT(worst, 1e-13);
}

TEST(NormalQuantile, IsSymmetricAndMonotone) {
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_TRUE(rc::check("quantiles of p and 1 − p are opposite, larger p gives the larger quantile", [] {
    const double p = *rc::gen::inRange(1, 1 << 19) * 0x1p-20, q = *rc::gen::inRange(1, 1 << 19) * 0x1p-20;
    RC_ASSERT(normal_quantile(p) == -normal_quantile(1.0 - p));  // 1 − p is exact here
    RC_ASSERT(p == q || (p < q) == (normal_quantile(p) < normal_quantile(q)));
  }));
}

TEST(NormalQuantile, AtTheEdges) {
  EXPECT_EQ(normal_quantile(0.0), -kInfinity);
  EXPECT_EQ(normal_quantile(1.0), kInfinity);
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(kNaN)));
}

TEST(NormalTail, KnownValues) {
  EXPECT_DOUBLE_EQ(normal_tail(0.0), 0.5);
  EXPECT_NEAR(normal_tail(1.959963984540054), 0.025, 1e-15);
  EXPECT_NEAR(normal_tail(-1.0) + normal_tail(1.0), 1.0, 1e-15);
  EXPECT_NEAR(normal_tail(10.0) / 7.619853024160527e-24, 1.0, 1e-13);
}

struct TailCase {
  double f, dof, tail;
};

// scipy.stats.f.sf(f, 1, dof), scipy 1.17.1.
constexpr TailCase kTails[] = {
    {1e-06, 1.0, 0.9993633804398159},
    {0.001, 1.0, 0.979875021696356},
    {0.1, 1.0, 0.8050177709578635},
    {1.0, 1.0, 0.5000000000000001},
    {3.84, 1.0, 0.3003965754379143},
    {6.63, 1.0, 0.2358285311875537},
    {25.0, 1.0, 0.1256659163780024},
    {100.0, 1.0, 0.06345103486110713},
    {1000.0, 1.0, 0.020124978303644132},
    {10000.0, 1.0, 0.00636598552981651},
    {1e-06, 2.0, 0.9992928933955901},
    {0.001, 2.0, 0.9776449082995052},
    {0.1, 2.0, 0.7817821097640076},
    {1.0, 2.0, 0.42264973081037427},
    {3.84, 2.0, 0.18911514592061687},
    {6.63, 2.0, 0.12350111826247155},
    {25.0, 2.0, 0.037749551350623724},
    {100.0, 2.0, 0.00985245702332569},
    {1000.0, 2.0, 0.0009985024956328606},
    {10000.0, 2.0, 9.998500249956258e-05},
    {1e-06, 5.0, 0.9992407867721976},
    {0.001, 5.0, 0.9759963654373662},
    {0.1, 5.0, 0.7646047767887927},
    {1.0, 5.0, 0.3632174676491229},
    {3.84, 5.0, 0.10734401576202449},
    {6.63, 5.0, 0.049740031801353245},
    {25.0, 5.0, 0.004104715980053323},
    {100.0, 5.0, 0.00017094757574296363},
    {1000.0, 5.0, 5.938297253037585e-07},
    {10000.0, 5.0, 1.896001422462364e-09},
    {1e-06, 50.0, 0.9992060947755017},
    {0.001, 50.0, 0.9748987754299443},
    {0.1, 50.0, 0.7531460341042172},
    {1.0, 50.0, 0.32212564510024433},
    {3.84, 50.0, 0.05562996932422748},
    {6.63, 50.0, 0.013033951276552597},
    {25.0, 50.0, 7.433212247232611e-06},
    {100.0, 50.0, 1.6077334688335447e-13},
    {1000.0, 50.0, 1.0115314192893323e-34},
    {10000.0, 50.0, 2.960898892025241e-59},
    {1e-06, 998.0, 0.9992023154180945},
    {0.001, 998.0, 0.9747792022065185},
    {0.1, 998.0, 0.751895759493695},
    {1.0, 998.0, 0.31755290275318465},
    {3.84, 998.0, 0.050321544379455345},
    {6.63, 998.0, 0.010170613688218767},
    {25.0, 998.0, 6.769469788053708e-07},
    {100.0, 998.0, 1.6745889963852954e-22},
    {1000.0, 998.0, 1.321676081412424e-152},
    {10000.0, 998.0, 0.0},
    {1e-06, 4995.0, 0.9992021555053605},
    {0.001, 4995.0, 0.9747741427983445},
    {0.1, 4995.0, 0.7518428473304217},
    {1.0, 4995.0, 0.3173589480257706},
    {3.84, 4995.0, 0.05009905325823832},
    {6.63, 4995.0, 0.010056049194136735},
    {25.0, 4995.0, 5.929146236821126e-07},
    {100.0, 4995.0, 2.5221284242729426e-23},
    {1000.0, 4995.0, 3.1989627709478617e-200},
    {10000.0, 4995.0, 0.0},
    {1e-06, 1000000.0, 0.9992021157716492},
    {0.001, 1000000.0, 0.9747728856809424},
    {0.1, 1000000.0, 0.7518297000479824},
    {1.0, 1000000.0, 0.3173107498335783},
    {3.84, 1000000.0, 0.05004379860996725},
    {6.63, 1000000.0, 0.010027668835312347},
    {25.0, 1000000.0, 5.733997870890745e-07},
    {100.0, 1000000.0, 1.527861076817818e-23},
    {1000.0, 1000000.0, 2.3066628393029444e-219},
    {10000.0, 1000000.0, 0.0},
};

TEST(KolmogorovTail, KnownValuesAndFalls) {
  // 2 Σ (−1)^{k−1} e^{−2k²x²} in 50 digits.
  EXPECT_NEAR(kolmogorov_tail(0.5), 0.9639452436648751, 1e-15);
  EXPECT_NEAR(kolmogorov_tail(1.0), 0.26999967167735456, 1e-15);
  EXPECT_NEAR(kolmogorov_tail(1.36), 0.049485876755377909, 1e-15);
  EXPECT_NEAR(kolmogorov_tail(1.0 - 1e-12), kolmogorov_tail(1.0), 1e-11) << "the two series meet";
  EXPECT_EQ(kolmogorov_tail(0.0), 1.0);
  double last = 1.0;
  for (double x = 0.2; x < 4; x += 0.05) {
    EXPECT_LT(kolmogorov_tail(x), last) << x;
    last = kolmogorov_tail(x);
  }
  EXPECT_GT(last, 0.0);
}

TEST(F1Tail, AgreesWithScipy) {
  for (const TailCase& known : kTails) {
    const double tail = f1_tail(known.f, known.dof);
    EXPECT_LE(std::abs(tail - known.tail), 1e-10 * known.tail)
        << "f " << known.f << ", dof " << known.dof << ": " << tail << " for " << known.tail;
  }
}

TEST(F1Tail, ClosedForms) {
  for (double f = 1e-8; f < 1e12; f *= 7.3) {
    // dof 1: a squared Cauchy variable; dof 2: 1 − √(f/(f+2)), written without cancellation.
    EXPECT_NEAR(f1_tail(f, 1.0) / (M_2_PI * std::atan(1.0 / std::sqrt(f))), 1.0, 1e-12) << f;
    const double root = std::sqrt(f / (f + 2.0));
    EXPECT_NEAR(f1_tail(f, 2.0) / (2.0 / (f + 2.0) / (1.0 + root)), 1.0, 1e-12) << f;
  }
}

TEST(F1Tail, Limits) {
  EXPECT_EQ(f1_tail(0.0, 10.0), 1.0);
  EXPECT_EQ(f1_tail(-1.0, 10.0), 1.0);
  EXPECT_EQ(f1_tail(kInfinity, 10.0), 0.0);
  for (const double f : {1e-4, 0.5, 4.0, 30.0}) {
    EXPECT_NEAR(f1_tail(f, kInfinity) / (2 * normal_tail(std::sqrt(f))), 1.0, 1e-12);
    EXPECT_NEAR(f1_tail(f, 1e9) / f1_tail(f, kInfinity), 1.0, 1e-6);
  }
}

TEST(F1Tail, FallsWithF) {
  EXPECT_TRUE(rc::check("a larger statistic is less likely", [] {
    const double f = *rc::gen::inRange(1, 100000) * 1e-3, dof = *rc::gen::inRange(1, 10000);
    const double here = f1_tail(f, dof), further = f1_tail(f * 1.01, dof);
    RC_ASSERT(here >= further);
    RC_ASSERT(0.0 <= further);
    RC_ASSERT(here <= 1.0);
  }));
}

TEST(BestOf, IsSidaksCorrection) {
  EXPECT_EQ(best_of(0.0, 100), 0.0);
  EXPECT_EQ(best_of(1.0, 100), 1.0);
  EXPECT_NEAR(best_of(0.3, 1), 0.3, 1e-16);
  EXPECT_NEAR(best_of(0.05, 10), 1 - std::pow(0.95, 10), 1e-15);
  EXPECT_NEAR(best_of(1e-20, 1000) / 1e-17, 1.0, 1e-12);  // tiny p-values survive
  EXPECT_NEAR(best_of(0.5, 1e6), 1.0, 1e-15);
}

TEST(LogNormalBetween, IsTheLogarithmOfTheProbability) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(log_normal_between(-kInfinity, 0), -std::log(2), 1e-15);
  EXPECT_NEAR(log_normal_between(-1, 1), std::log(0.6826894921370859), 1e-14);
  EXPECT_NEAR(log_normal_between(1, 2), -1.9957982691807552, 1e-13);
  EXPECT_EQ(log_normal_between(1, 2), log_normal_between(-2, -1));
  EXPECT_NEAR(log_normal_between(10, kInfinity), -53.23128515051247, 1e-12);
  EXPECT_NEAR(log_normal_between(10, 11), -53.231310225583115, 1e-12);
  EXPECT_NEAR(log_normal_between(3, 3 + 1e-9), -4.5 - 0.5 * std::log(2 * std::numbers::pi) + std::log(1e-9), 1e-6);
}

}  // namespace
}  // namespace fansite
