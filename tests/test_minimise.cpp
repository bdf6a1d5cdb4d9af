// SPDX-License-Identifier: Apache-2.0
//
// Minima with numbers bound to x ≥ 0: known answers, and the conditions that every minimum satisfies.
#include "fansite/base/minimise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

TEST(Minimise, FindsAMinimumInside) {
  // Rosenbrock's valley, minimum 0 at (1, 1).
  NoProgress silent;
  MinimiseParams params;
  params.decrease = 0;
  const Minimum found = minimise_nonnegative(
      [](std::span<const double> x, std::span<double> g) {
        const double a = 1 - x[0], b = x[1] - x[0] * x[0];
        g[0] = -2 * a - 400 * x[0] * b;
        g[1] = 200 * b;
        return a * a + 100 * b * b;
      },
      {0, 3}, params, silent);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.x[0], 1, 1e-4);
  EXPECT_NEAR(found.x[1], 1, 1e-4);
  EXPECT_LT(found.iterations, 100);
}

TEST(Minimise, StopsAtTheBound) {
  NoProgress silent;
  const Minimum found = minimise_nonnegative(
      [](std::span<const double> x, std::span<double> g) {
        g[0] = 2 * (x[0] + 1);
        g[1] = 2 * (x[1] - 2);
        return (x[0] + 1) * (x[0] + 1) + (x[1] - 2) * (x[1] - 2);
      },
      {5, -3}, {}, silent);
  EXPECT_EQ(found.x[0], 0);
  EXPECT_NEAR(found.x[1], 2, 1e-5);
  EXPECT_NEAR(found.value, 1, 1e-9);
}

// ½ xᵀAx − bᵀx: at the minimum the gradient is 0 where x > 0 and not below 0 elsewhere (Karush, Kuhn and Tucker), which
// for a convex function nothing else satisfies.
TEST(Minimise, ConvexProblemsEndWhereTheConditionsHold) {
  EXPECT_TRUE(rc::check("any", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Index d = 1 + random.below(30);
    Matrix root(d, d);
    for (double& value : root.reshaped()) value = random.normal();
    Matrix a = root.transpose() * root;
    a.diagonal().array() += 0.1;
    Vector b(d);
    for (double& value : b) value = random.normal();
    NoProgress silent;
    MinimiseParams params;
    params.decrease = 0;
    params.gradient = 1e-7;
    const Minimum found = minimise_nonnegative(
        [&](std::span<const double> x, std::span<double> g) {
          const Vector v = Vector::Map(x.data(), d);
          Vector::Map(g.data(), d) = a * v - b;
          return 0.5 * v.dot(a * v) - b.dot(v);
        },
        std::vector<double>(static_cast<std::size_t>(d), 1.0), params, silent);
    const Vector x = Vector::Map(found.x.data(), d), g = a * x - b;
    for (Index k = 0; k < d; ++k) {
      RC_ASSERT(x[k] >= 0);
      RC_ASSERT(g[k] > -1e-5);
      RC_ASSERT(x[k] < 1e-6 || std::abs(g[k]) < 1e-5);
    }
  }));
}

TEST(Minimise, OfNothingAndOfValuesThatAreNoNumbers) {
  NoProgress silent;
  EXPECT_TRUE(minimise_nonnegative([](auto, auto) { return 3.0; }, {}, {}, silent).converged);
  const Minimum stuck = minimise_nonnegative(
      [](std::span<const double>, std::span<double> g) {
        g[0] = -1;
        return std::nan("");
      },
      {1}, {}, silent);
  EXPECT_FALSE(stuck.converged);
}

TEST(Minimise, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(minimise_nonnegative(
                   [](std::span<const double> x, std::span<double> g) {
                     g[0] = 2 * (x[0] - 1);
                     return (x[0] - 1) * (x[0] - 1);
                   },
                   {3}, {}, impatient),
               Interrupted);
}

}  // namespace
}  // namespace fansite
