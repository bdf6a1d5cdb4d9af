// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/ace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "tests/network_examples.h"

namespace fansite::neural {
namespace {

AceShape small(int variables) {
  return {.variables = variables,
          .hidden = 6,
          .blocks = 2,
          .components = 3,
          .context = 4,
          .energy_hidden = 5,
          .energy_blocks = 1,
          .samples = 6};
}

// A batch without anything that the mixtures are asked to explain, so that samples do not move with the parameters:
// these have no gradient, but a difference of losses would see them move.
TEST(Ace, GradientOfTheProposalIsThatOfTheLoss) {
  AceShape shape = small(3);
  shape.warm_up = 100;
  const Ace<double> network(shape);
  SubsetBatch<double> batch = example_batch(9, 3, 5);
  batch.progress = 3;  // the energy does not count yet
  expect_gradient(network, batch, example_parameters(network, 6, 0.1), 1e-5);
}

// With one component samples move with its mean and scale only: all parameters but those of the mixtures, and what is
// before them, keep the samples where they are.
TEST(Ace, GradientOfTheEnergyIsThatOfTheLoss) {
  AceShape shape = small(3);
  shape.energy_terms = 1;
  const Ace<double> network(shape);
  const SubsetBatch<double> batch = example_batch(9, 3, 5);
  std::vector<double> parameters = example_parameters(network, 6, 0.1), gradient(parameters.size());
  network.loss(parameters, batch, gradient);
  // Value, one-hot, context and bias of the first layer, the blocks, the last layer.
  const std::size_t energy = 5 + 3 * 5 + 5 * 4 + 5 + 2 * (25 + 5) + 5 + 1;
  double largest = 0;
  for (std::size_t i = parameters.size() - energy; i < parameters.size(); ++i) {
    const double own = parameters[i];
    parameters[i] = own + 1e-5;
    const double above = network.loss(parameters, batch, {});
    parameters[i] = own - 1e-5;
    const double below = network.loss(parameters, batch, {});
    parameters[i] = own;
    ASSERT_NEAR(gradient[i], (above - below) / 2e-5, 1e-6) << i;
    largest = std::max(largest, std::abs(gradient[i]));
  }
  EXPECT_GT(largest, 1e-2);
}

// Contexts reach the energy from the output layer: their part of it moves no sample.
// What is left out stays left out while the key is the same, but is only left out on the way to a gradient.
TEST(Ace, GradientWithDropoutIsThatOfTheLossThatWasTaken) {
  AceShape shape = small(3);
  shape.warm_up = 100;
  shape.dropout = 0.4;
  const Ace<double> network(shape);
  SubsetBatch<double> batch = example_batch(9, 3, 5);
  std::vector<double> parameters = example_parameters(network, 6, 0.1), gradient(parameters.size()), unused = gradient;
  EXPECT_NE(network.loss(parameters, batch, gradient), network.loss(parameters, batch, {}));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double own = parameters[i];
    parameters[i] = own + 1e-5;
    const double above = network.loss(parameters, batch, unused);
    parameters[i] = own - 1e-5;
    const double below = network.loss(parameters, batch, unused);
    parameters[i] = own;
    ASSERT_NEAR(gradient[i], (above - below) / 2e-5, 1e-6) << i;
  }
}

TEST(Ace, GradientReachesTheProposalThroughTheContext) {
  const AceShape shape = small(3);
  const Ace<double> network(shape);
  const SubsetBatch<double> batch = example_batch(60, 3, 5);  // of some 90 terms, three pieces
  std::vector<double> parameters = example_parameters(network, 6, 0.1), gradient(parameters.size());
  network.loss(parameters, batch, gradient);
  const std::size_t contexts = 6 * 6 + 6 + 2 * 2 * (36 + 6) + 3 * 9 * 6;
  double largest = 0;
  for (std::size_t v = 0; v < 3; ++v) {
    for (std::size_t o = 0; o < 4; ++o) {
      for (std::size_t h = 0; h < 6; ++h) {
        const std::size_t i = contexts + (v * 4 + o) * 6 + h;
        const double own = parameters[i];
        parameters[i] = own + 1e-5;
        const double above = network.loss(parameters, batch, {});
        parameters[i] = own - 1e-5;
        const double below = network.loss(parameters, batch, {});
        parameters[i] = own;
        ASSERT_NEAR(gradient[i], (above - below) / 2e-5, 1e-6) << i;
        largest = std::max(largest, std::abs(gradient[i]));
      }
    }
  }
  EXPECT_GT(largest, 1e-3);
}

// The logarithm of a mean is too small on average: few samples make densities too large, as the header says.
TEST(Ace, FewSamplesMakeDensitiesTooLarge) {
  const auto mean_density = [](int samples) {
    AceShape shape = small(3);
    shape.samples = samples;
    const Ace<double> network(shape);
    const flow::Table table = example_table(2000, 3, 2);
    const std::vector<flow::ConditionalSubset> question = {{{1}, {0, 2}}};
    return network.density(example_parameters(network, 8, 0.2))->log_conditional(table, question).mean();
  };
  const float few = mean_density(2), more = mean_density(20), many = mean_density(1000);
  EXPECT_GT(few, more + 0.02f);
  EXPECT_GT(more, many + 0.001f);
}

TEST(Ace, SetsAreByTheChainRuleAndTrialsAreCellsOfATable) {
  const Ace<double> network(small(4));
  const std::vector<double> parameters = example_parameters(network, 8, 0.2);
  const auto density = network.density(parameters);
  flow::Table table = example_table(5, 4, 2);
  const std::vector<flow::Subset> sets = {{0, 2, 3}, {}};
  const std::vector<flow::ConditionalSubset> chain = {{{0}, {}}, {{2}, {0}}, {{3}, {0, 2}}};
  const Eigen::MatrixXf each = density->log_conditional(table, chain), all = density->log_density(table, sets);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(all(i, 0), each(i, 0) + each(i, 1) + each(i, 2));
    EXPECT_EQ(all(i, 1), 0);
  }
  // Options of the given and of the target, in either order of the trials.
  const Eigen::MatrixXf of_target = example_table(5, 3, 5), of_given = example_table(5, 2, 6);
  const std::vector<flow::Trial> trials = {{3, of_target}, {2, of_given}}, other = {{2, of_given}, {3, of_target}};
  const Eigen::MatrixXf found = density->log_conditional(table, {{3}, {0, 2}}, trials);
  const Eigen::MatrixXf turned = density->log_conditional(table, {{3}, {0, 2}}, other);
  for (Index t = 0; t < 3; ++t) {
    for (Index z = 0; z < 2; ++z) {
      table.col(3) = of_target.col(t);
      table.col(2) = of_given.col(z);
      const Eigen::MatrixXf expected = density->log_conditional(table, std::span(&chain[2], 1));
      for (Index i = 0; i < 5; ++i) {
        EXPECT_EQ(found(i, t * 2 + z), expected(i, 0));
        EXPECT_EQ(turned(i, z * 3 + t), expected(i, 0));
      }
    }
  }
}

TEST(Ace, RowsStandAlone) {
  const Ace<double> network(small(3));
  expect_rows_alone(network, example_parameters(network, 4, 0.1));
}

TEST(Ace, NoNetworkWithoutVariablesOrUnits) {
  EXPECT_THROW(Ace<float>(small(0)), UsageError);
  AceShape shape = small(2);
  shape.samples = 0;
  EXPECT_THROW(Ace<float>{shape}, UsageError);
}

}  // namespace
}  // namespace fansite::neural
