// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/naf.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/entropy/neural/sigmoidal.h"
#include "tests/network_examples.h"

namespace fansite::neural {
namespace {

flow::Shape small(int variables) {
  return {.variables = variables, .blocks = 2, .ranks = variables - 1, .outputs = 3, .sigmoids = 2};
}

TEST(Naf, TheMapOfOneVariableIsThatOfTheSpecification) {
  const std::array a = {1.0, 2.0}, b = {0.0, -1.0}, w = {0.25, 0.75};
  const MappedValue value = sigmoidal(a, b, w, 0.5);
  EXPECT_NEAR(value.z, 0.122613, 1e-6);
  EXPECT_NEAR(value.log_slope, 0.554765, 1e-6);
}

TEST(Naf, ManyTermsAreMappedAsOneByOne) {
  Random random{Key{3}};
  Columns<double> q(50, 6);
  Column<double> x(50), z, slope;
  for (Index i = 0; i < q.size(); ++i) q.data()[i] = 2 * random.normal();
  for (Index i = 0; i < 50; ++i) x[i] = 3 * random.normal();
  map_terms(q, x, z, slope);
  for (Index i = 0; i < 50; ++i) {
    const double total = std::exp(q(i, 4)) + std::exp(q(i, 5));
    const std::array a = {std::log1p(std::exp(q(i, 0))) + 1e-6, std::log1p(std::exp(q(i, 1))) + 1e-6};
    const std::array b = {q(i, 2), q(i, 3)}, w = {std::exp(q(i, 4)) / total, std::exp(q(i, 5)) / total};
    const MappedValue one = sigmoidal(a, b, w, x[i]);
    EXPECT_NEAR(z[i], one.z, 1e-9);
    EXPECT_NEAR(slope[i], one.log_slope, 1e-9);
  }
}

TEST(Naf, AnyOutlierHasAFiniteDensity) {
  Columns<float> q = Columns<float>::Constant(3, 12, 1.0f);
  Column<float> x(3);
  x << 1e4f, -1e15f, 1e30f;
  EXPECT_TRUE(log_densities(q, x).isFinite().all()) << log_densities(q, x);
}

TEST(Naf, HasTheParametersThatWerePublished) {
  const flow::Shape wide{.variables = 100, .blocks = 6, .ranks = 99, .outputs = 16};
  EXPECT_EQ(Naf<float>(wide).published_size(), 1018780);
  // What the maps of an empty context would add is not there: one weight for each scale and each bias.
  EXPECT_EQ(Naf<float>(wide).size(), 1018780u - 2 * (594 + 1600));
  EXPECT_EQ(published_size(flow::paper_shape(100)), 620044);  // compact FANS, 360 hidden units
}

TEST(Naf, GradientIsThatOfTheLoss) {
  const Naf<double> network(small(4));
  expect_gradient(network, example_batch(11, 4, 5), example_parameters(network, 6), 1e-6);
}

TEST(Naf, GradientOfManyVariablesInGroups) {
  const flow::Shape shape{.variables = 40, .blocks = 1, .ranks = 39, .outputs = 1, .sigmoids = 1};
  const Naf<double> network(shape);
  expect_gradient(network, example_batch(6, 40, 5), example_parameters(network, 6), 1e-6);
}

TEST(Naf, DensitiesAreThoseOfThePlainLoops) {
  for (const int d : {1, 2, 5}) {
    const Naf<double> network(small(d));
    const std::vector<double> parameters = example_parameters(network, 9);
    const flow::Table table = example_table(70, d, 2);
    const std::vector<flow::Subset> subsets = all_subsets(d);
    const Eigen::MatrixXf fast = densities(network, parameters, table, subsets);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      for (const Index row : {0, 63, 69}) {
        std::vector<double> values;
        for (int j = 0; j < d; ++j) values.push_back(static_cast<double>(table(row, j)));
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

TEST(Naf, LossIsTheMeanOfTheDensities) {
  const Naf<double> network(small(4));
  const std::vector<double> parameters = example_parameters(network, 9);
  const SubsetBatch<double> batch = example_batch(9, 4, 12);
  double sum = 0;
  for (Index r = 0; r < 9; ++r) {
    flow::Subset subset;
    for (int j = 0; j < 4; ++j) {
      if (batch.mask(r, j) != 0) subset.push_back(j);
    }
    const flow::Table row = batch.values.row(r).cast<float>();
    sum += static_cast<double>(densities(network, parameters, row, {subset})(0, 0));
  }
  EXPECT_NEAR(network.loss(parameters, batch, {}), -sum / 9, 1e-5);
}

TEST(Naf, EachVariableDependsOnThoseBeforeItAndItsSlopeIsRight) {
  const Naf<double> network(small(5));
  expect_autoregressive(network, example_parameters(network, 4), 8);
}

TEST(Naf, RowsStandAlone) {
  const Naf<double> network(small(4));
  expect_rows_alone(network, example_parameters(network, 4));
}

TEST(Naf, StartsAsPublished) {
  const Naf<double> network(small(3));
  std::vector<double> parameters(network.size());
  network.start(Key{1}, parameters);
  // All maps begin with a = 1, b = 0 and equal weights, within the size of the initial weights: z = x.
  const std::vector<double> row = {0.7, -1.2, 0.1};
  const auto mapped = network.reference(parameters, row, {0, 1, 2});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(mapped.z[k], row[k], 0.02);
}

TEST(Naf, OnlyFullShapes) { EXPECT_THROW(Naf<double>(flow::Shape{.variables = 10, .ranks = 4}), UsageError); }

}  // namespace
}  // namespace fansite::neural
