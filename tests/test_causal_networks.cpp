// SPDX-License-Identifier: Apache-2.0
//
// Networks of all variables at once: the fast error and gradient against plain loops, and those against differences.
#include "fansite/causal/neural/detail/networks.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "properties.h"

namespace fansite::causal {
namespace {

struct Networks {
  NetworksShape shape;
  Matrix values;
  std::vector<double> parameters;
};

Networks some_networks(Random& random, Index variables, int hidden, Index rows) {
  Networks made{{variables, hidden}, Matrix(rows, variables), {}};
  for (double& value : made.values.reshaped()) value = random.normal();
  made.parameters.resize(static_cast<std::size_t>(made.shape.size()));
  for (double& value : made.parameters) value = random.normal();
  return made;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

TEST(Networks, OfAnExampleDoneByHand) {
  // x̂_1 = 2·sigmoid(0.5·x_0 + 0.1) − 1; x̂_0 = 0.25.
  const NetworksShape shape{2, 1};
  std::vector<double> p(static_cast<std::size_t>(shape.size()), 0.0), gradient(p.size());
  p[static_cast<std::size_t>(shape.weights(1))] = 0.5;
  p[static_cast<std::size_t>(shape.biases(1))] = 0.1;
  p[static_cast<std::size_t>(shape.output_weights(1))] = 2;
  p[static_cast<std::size_t>(shape.output_bias(1))] = -1;
  p[static_cast<std::size_t>(shape.output_bias(0))] = 0.25;
  Matrix x(1, 2);
  x << 0.8, 0.3;
  SquaredError error(shape, nullptr);
  const double h = 1 / (1 + std::exp(-0.5)), r0 = 0.25 - 0.8, r1 = 2 * h - 1 - 0.3;
  EXPECT_NEAR(error(NetworkRows(x), p, gradient), 0.5 * (r0 * r0 + r1 * r1), 1e-15);
  EXPECT_NEAR(gradient[static_cast<std::size_t>(shape.output_bias(0))], r0, 1e-15);
  EXPECT_NEAR(gradient[static_cast<std::size_t>(shape.output_weights(1))], r1 * h, 1e-15);
  EXPECT_NEAR(gradient[static_cast<std::size_t>(shape.weights(1))], r1 * 2 * h * (1 - h) * 0.8, 1e-15);
}

TEST(Networks, ReferenceGradientIsThatOfCentralDifferences) {
  Random random(Key{1});
  Networks made = some_networks(random, 4, 3, 7);
  std::vector<double> gradient(made.parameters.size());
  squared_error_reference(made.shape, made.values, made.parameters, gradient);
  for (std::size_t k = 0; k < made.parameters.size(); ++k) {
    const double kept = made.parameters[k];
    const auto with = [&](double value) {
      made.parameters[k] = value;
      return squared_error_reference(made.shape, made.values, made.parameters, {});
    };
    const double difference = (with(kept + 1e-6) - with(kept - 1e-6)) / 2e-6;
    made.parameters[k] = kept;
    EXPECT_NEAR(gradient[k], difference, 1e-6 * std::max(1.0, std::abs(difference))) << k;
  }
}

// Shapes that fill no vector, rows over several blocks, units that are no multiple of what is in flight.
TEST(Networks, FastIsTheReferenceForEveryInstructionSet) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_TRUE(rc::check(hwy::TargetName(target), [] {
      Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
      const Index variables = 1 + random.below(9), rows = 1 + random.below(600);
      const Networks made = some_networks(random, variables, 1 + static_cast<int>(random.below(23)), rows);
      std::vector<double> expected(made.parameters.size()), gradient(made.parameters.size(), 7);
      const double error = squared_error_reference(made.shape, made.values, made.parameters, expected);
      SquaredError fast(made.shape, nullptr);
      const NetworkRows packed(made.values);
      RC_ASSERT(std::abs(fast(packed, made.parameters, gradient) - error) <= 1e-12 * error);
      RC_ASSERT(largest_difference(gradient, expected) <= 1e-11 * std::max(1.0, error));
      RC_ASSERT(fast(packed, made.parameters, {}) == fast(packed, made.parameters, gradient));
    }));
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Networks, HugeSumsSaturate) {
  Random random(Key{2});
  Networks made = some_networks(random, 2, 2, 20);
  for (const double factor : {1e3, 1e10, 1e200}) {
    Networks huge = made;
    for (int j = 0; j < 2; ++j) {
      for (Index k = 0; k < huge.shape.weights_size(); ++k) {
        huge.parameters[static_cast<std::size_t>(huge.shape.weights(j) + k)] *= factor;
      }
    }
    std::vector<double> expected(made.parameters.size()), gradient(made.parameters.size());
    const double error = squared_error_reference(huge.shape, huge.values, huge.parameters, expected);
    EXPECT_NEAR(SquaredError(huge.shape, nullptr)(NetworkRows(huge.values), huge.parameters, gradient), error,
                1e-9 * error);
    EXPECT_LE(largest_difference(gradient, expected), 1e-9 * error);
  }
}

TEST(Networks, HaveTheSameBitsForAnyNumberOfThreads) {
  Random random(Key{3});
  const Networks made = some_networks(random, 13, 10, 700);
  const NetworkRows rows(made.values);
  std::vector<double> alone(made.parameters.size()), together(made.parameters.size());
  const double error = SquaredError(made.shape, nullptr)(rows, made.parameters, alone);
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    int beside = 0;
    EXPECT_EQ(SquaredError(made.shape, &team)(rows, made.parameters, together, [&] { ++beside; }), error);
    EXPECT_EQ(alone, together);
    EXPECT_EQ(beside, 1);
  }
}

TEST(Networks, RowsAreTakenInAnyOrder) {
  Random random(Key{4});
  const Networks made = some_networks(random, 3, 4, 40);
  const std::vector<int> order = {7, 3, 39, 0, 11};
  NetworkRows rows(30, 3);
  rows.fill(made.values, Random(Key{9}).subset(40, 30));  // what is left of them must not count
  rows.fill(made.values, order);
  EXPECT_EQ(rows.rows(), 5);
  SquaredError error(made.shape, nullptr);
  EXPECT_EQ(error(rows, made.parameters, {}), error(NetworkRows(made.values(order, Eigen::all)), made.parameters, {}));
}

}  // namespace
}  // namespace fansite::causal
