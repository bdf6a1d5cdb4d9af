// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/adam.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <vector>

#include "fansite/base/error.h"

namespace fansite {
namespace {

// The update as Kingma & Ba write it, one parameter at a time.
struct Plain {
  double mean = 0, square = 0, largest = 0, p = 0;
  void step(double g, int t, double rate, const AdamRates& rates) {
    mean = rates.beta1 * mean + (1 - rates.beta1) * g;
    square = rates.beta2 * square + (1 - rates.beta2) * g * g;
    largest = std::max(largest, square);
    const double corrected = mean / (1 - std::pow(rates.beta1, t));
    const double under = (rates.largest ? largest : square) / (1 - std::pow(rates.beta2, t));
    p -= rate * corrected / (std::sqrt(under) + rates.epsilon);
  }
};

TEST(Adam, StepsAsThePapersWriteThem) {
  for (const AdamRates rates : {AdamRates{}, AdamRates{.beta1 = 0.99}, AdamRates{.beta2 = 0.9, .largest = true}}) {
    Adam<double> adam(2, rates);
    std::array<double, 2> p = {0, 0};
    std::array<Plain, 2> plain;
    for (int t = 1; t <= 50; ++t) {
      const std::array<double, 2> gradient = {std::cos(t), 1e-3 / t};
      adam.step(p, gradient, 0.1);
      for (std::size_t k = 0; k < 2; ++k) {
        plain[k].step(gradient[k], t, 0.1, rates);
        EXPECT_NEAR(p[k], plain[k].p, 1e-12) << "step " << t;
      }
    }
  }
}

TEST(Adam, FirstStepIsTheRateWhateverTheGradient) {
  rc::check("|first step| is the rate", [] {
    const double g = *rc::gen::inRange(1, 1000000) * (*rc::gen::arbitrary<bool>() ? 1e-3 : -1e-3);
    std::array<double, 1> p = {2};
    const std::array<double, 1> gradient = {g};
    Adam<double>(1).step(p, gradient, 0.5);
    RC_ASSERT(std::abs(p[0] - (g > 0 ? 1.5 : 2.5)) < 1e-5);
  });
}

TEST(Adam, FloatsFollowDoubles) {
  Adam<float> narrow(1);
  Adam<double> wide(1);
  std::array<float, 1> p = {1};
  std::array<double, 1> q = {1};
  for (int t = 0; t < 200; ++t) {  // down the parabola (x − 3)² / 2
    narrow.step(p, std::array{p[0] - 3}, 0.05);
    wide.step(q, std::array{q[0] - 3}, 0.05);
  }
  EXPECT_NEAR(q[0], 3, 0.05);
  EXPECT_NEAR(p[0], q[0], 1e-4);
}

TEST(Adam, GoesOnFromItsStateWithTheSameBits) {
  Adam<double> whole(1), first(1), second(1);
  std::array<double, 1> p = {1}, q = {1};
  const auto step = [](Adam<double>& adam, std::array<double, 1>& x) { adam.step(x, std::array{std::sin(x[0])}, 0.1); };
  for (int t = 0; t < 20; ++t) step(whole, p);
  for (int t = 0; t < 7; ++t) step(first, q);
  second.restore(first.state());
  for (int t = 7; t < 20; ++t) step(second, q);
  EXPECT_EQ(p, q);
  EXPECT_THROW(Adam<double>(3).restore(first.state()), UsageError);
}

TEST(Adam, ClipsTheNormAndNothingElse) {
  std::array<double, 2> gradient = {3, 4};
  EXPECT_DOUBLE_EQ(clip_norm<double>(gradient, 10), 5);
  EXPECT_EQ(gradient, (std::array<double, 2>{3, 4}));
  EXPECT_DOUBLE_EQ(clip_norm<double>(gradient, 1), 5);
  EXPECT_NEAR(gradient[0], 0.6, 1e-15);
  EXPECT_NEAR(gradient[1], 0.8, 1e-15);
  std::array<float, 1> wild = {std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(std::isfinite(clip_norm<float>(wild, 1)));
  EXPECT_TRUE(std::isinf(wild[0]));
}

}  // namespace
}  // namespace fansite
