// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/bnaf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/error.h"
#include "tests/network_examples.h"

namespace fansite::neural {
namespace {

const std::vector<BnafShape> kShapes = {{4, 3, 1, 1}, {3, 2, 2, 1}, {3, 2, 1, 3}, {1, 2, 1, 2}};

TEST(Bnaf, GradientIsThatOfTheLoss) {
  for (const BnafShape& shape : kShapes) {
    const Bnaf<double> network(shape);
    expect_gradient(network, example_batch(20, shape.variables, 5), example_parameters(network, 6), 1e-6);
  }
}

TEST(Bnaf, GradientOfManyVariablesSideBySide) {
  const Bnaf<double> network({30, 10, 1, 1});  // 300 rows of weights
  const SubsetBatch<double> batch = example_batch(5, 30, 5);
  std::vector<double> parameters = example_parameters(network, 6, 0.05), gradient(parameters.size());
  network.loss(parameters, batch, gradient);
  Random random{Key{4}};
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(parameters.size()));
    const double own = parameters[i];
    parameters[i] = own + 1e-5;
    const double above = network.loss(parameters, batch, {});
    parameters[i] = own - 1e-5;
    const double below = network.loss(parameters, batch, {});
    parameters[i] = own;
    ASSERT_NEAR(gradient[i], (above - below) / 2e-5, 1e-6) << i;
  }
}

TEST(Bnaf, DensitiesAreThoseOfThePlainLoops) {
  for (const BnafShape& shape : kShapes) {
    const Bnaf<double> network(shape);
    const std::vector<double> parameters = example_parameters(network, 9);
    const flow::Table table = example_table(66, shape.variables, 2);
    const std::vector<flow::Subset> subsets = all_subsets(shape.variables);
    const Eigen::MatrixXf fast = densities(network, parameters, table, subsets);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      for (const Index row : {0, 65}) {
        std::vector<double> values;
        for (int j = 0; j < shape.variables; ++j) values.push_back(static_cast<double>(table(row, j)));
        const auto mapped = network.reference(parameters, values, subsets[s]);
        double expected = 0;
        for (std::size_t k = 0; k < mapped.z.size(); ++k) {
          expected += mapped.log_slope[k] - 0.5 * mapped.z[k] * mapped.z[k] - 0.9189385332046727;
        }
        EXPECT_NEAR(static_cast<double>(fast(row, static_cast<Index>(s))), expected, 1e-5 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(Bnaf, EachVariableDependsOnThoseBeforeItAndItsSlopeIsRight) {
  for (const BnafShape& shape : kShapes) {
    const Bnaf<double> network(shape);
    expect_autoregressive(network, example_parameters(network, 4), 8);
  }
}

TEST(Bnaf, RowsStandAlone) {
  const Bnaf<double> network({4, 3, 1, 2});
  expect_rows_alone(network, example_parameters(network, 4));
}

TEST(Bnaf, HasTheParametersOfItsLayers) {
  EXPECT_EQ(Bnaf<float>({100, 10, 1, 1}).size(), 2u * 100 * 1000 + 2 * 1000 + 2 * 100);
  EXPECT_EQ(Bnaf<float>({100, 10, 1, 3}).size(), 3u * (2u * 100 * 1000 + 2 * 1000 + 2 * 100) + 2);  // two gates
}

TEST(Bnaf, NoNetworkWithoutVariablesOrUnits) {
  EXPECT_THROW(Bnaf<float>({0, 10, 1, 1}), UsageError);
  EXPECT_THROW(Bnaf<float>({2, 0, 1, 1}), UsageError);
}

}  // namespace
}  // namespace fansite::neural
