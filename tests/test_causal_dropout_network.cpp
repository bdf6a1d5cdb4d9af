// SPDX-License-Identifier: Apache-2.0
//
// The networks of DAT: the reference by hand, gradients against differences of the reference, single precision against
// double.
#include "fansite/causal/neural/dropout_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fansite/causal/neural/dropout_network_reference.h"

namespace fansite::causal {
namespace {

struct Example {
  NetworkShape shape;
  std::vector<double> parameters;
  Matrix inputs, by_outputs;
  Key masks{17};

  Matrix outputs() const {
    Random random(masks);
    return reference::forward(shape, parameters, inputs, random);
  }
  double loss() const { return outputs().cwiseProduct(by_outputs).sum(); }
};

Example example(int layers, int width = 7, int rows = 9, std::uint64_t seed = 1) {
  Example e;
  e.shape = {.inputs = 4, .width = width, .layers = layers, .outputs = 2, .first_dropout = 0.1, .dropout = 0.5};
  e.parameters.resize(e.shape.parameters());
  Random random(Key{seed});
  initialise<double>(e.shape, random, e.parameters);
  for (int layer = 0; layer + 1 < layers; ++layer) {  // scales and shifts that are not those of the beginning
    e.parameters[e.shape.offset(layer + 1) - 2] = random.uniform(0.5, 2);
    e.parameters[e.shape.offset(layer + 1) - 1] = random.uniform(-1, 1);
  }
  e.inputs = Matrix::NullaryExpr(4, rows, [&] { return random.normal(); });
  e.by_outputs = Matrix::NullaryExpr(2, rows, [&] { return random.normal(); });
  return e;
}

template <class Real>
DropoutNetwork<Real> network_of(const Example& e) {
  DropoutNetwork<Real> network(e.shape, static_cast<int>(e.inputs.cols()));
  std::transform(e.parameters.begin(), e.parameters.end(), network.parameters().begin(),
                 [](double value) { return static_cast<Real>(value); });
  return network;
}

double difference(const Example& e, double& value) {
  constexpr double h = 1e-6;
  const double before = value;
  value = before + h;
  const double above = e.loss();
  value = before - h;
  const double below = e.loss();
  value = before;
  return (above - below) / (2 * h);
}

TEST(DropoutNetworkReference, ByHand) {
  // One input, two units, nothing dropped: ReLU(1·2), ReLU(−1·2) = 2, 0 with mean 1 and variance 1.
  NetworkShape shape{.inputs = 1, .width = 2, .layers = 2, .outputs = 1, .first_dropout = 0, .dropout = 0};
  ASSERT_EQ(shape.parameters(), 4u + 2u + 3u);
  const std::vector<double> parameters = {1, -1, 0, 0, 3, 0.5, 10, 100, 0.25};
  Random masks(Key{1});
  const Matrix outputs = reference::forward(shape, parameters, Matrix::Constant(1, 1, 2), masks);
  const double unit = 1 / std::sqrt(1 + 1e-5);
  EXPECT_NEAR(outputs(0), 10 * (3 * unit + 0.5) + 100 * (-3 * unit + 0.5) + 0.25, 1e-12);
}

TEST(DropoutNetwork, InitialValuesLieWithinTheRootOfTheFanIn) {
  const NetworkShape shape{.inputs = 25, .width = 16, .layers = 3};
  std::vector<double> parameters(shape.parameters());
  Random random(Key{3});
  initialise<double>(shape, random, parameters);
  const auto largest = [&](std::size_t from, std::size_t to) {
    double most = 0;
    for (std::size_t at = from; at < to; ++at) most = std::max(most, std::abs(parameters[at]));
    return most;
  };
  EXPECT_LE(largest(0, shape.offset(1) - 2), 0.2);
  EXPECT_GT(largest(0, shape.offset(1) - 2), 0.19);
  EXPECT_LE(largest(shape.offset(1), shape.offset(2) - 2), 0.25);
  EXPECT_GT(largest(shape.offset(1), shape.offset(2) - 2), 0.24);
  EXPECT_EQ(parameters[shape.offset(1) - 2], 1);
  EXPECT_EQ(parameters[shape.offset(1) - 1], 0);
}

TEST(DropoutNetwork, AShareIsDroppedAndTheMeanStays) {
  std::vector<std::uint8_t> bytes(2000003);
  Random random(Key{4});
  for (const double dropout : {0.0, 0.001, 0.1, 0.25, 0.5, 0.9}) {
    const DropoutMask mask(dropout);
    mask.draw(random, bytes);
    const auto kept = std::count_if(bytes.begin(), bytes.end(), [&](auto b) { return b >= mask.kept_from(); });
    const double share = static_cast<double>(kept) / static_cast<double>(bytes.size());
    EXPECT_NEAR(share, 1 - dropout, dropout == 0 ? 0 : 0.001) << dropout;  // four standard errors at most
    EXPECT_NEAR(mask.scale() * (1 - dropout), 1, 1e-4) << dropout;
  }
}

TEST(DropoutNetwork, IsTheReference) {
  for (const int layers : {2, 3, 5}) {
    const Example e = example(layers);
    auto network = network_of<double>(e);
    Random masks(e.masks);
    EXPECT_TRUE(network.forward(e.inputs, masks).isApprox(e.outputs(), 1e-12)) << layers;
  }
}

// Through fixed masks and the batch's own statistics.
TEST(DropoutNetwork, GradientsAreThoseOfDifferences) {
  for (const int layers : {2, 3, 4}) {
    Example e = example(layers, 6, 8, static_cast<std::uint64_t>(layers));
    auto network = network_of<double>(e);
    Random masks(e.masks);
    network.forward(e.inputs, masks);
    network.backward_to_parameters(e.by_outputs);
    const std::vector<double> gradient(network.gradient().begin(), network.gradient().end());
    const Matrix by_inputs = network.backward_to_inputs(e.by_outputs);
    double norm = 0;
    for (std::size_t at = 0; at < e.parameters.size(); ++at) {
      EXPECT_NEAR(gradient[at], difference(e, e.parameters[at]), 1e-6) << layers << " " << at;
      norm += std::abs(gradient[at]);
    }
    EXPECT_GT(norm, 1);
    for (Index at = 0; at < e.inputs.size(); ++at) {
      EXPECT_NEAR(by_inputs(at), difference(e, e.inputs(at)), 1e-6) << layers << " " << at;
    }
    EXPECT_GT(by_inputs.cwiseAbs().sum(), 0.1);
  }
}

TEST(DropoutNetwork, SinglePrecisionIsNearDouble) {
  const Example e = example(3, 40, 64);
  auto exact = network_of<double>(e);
  auto fast = network_of<float>(e);
  Random masks(e.masks), same(e.masks);
  exact.forward(e.inputs, masks);
  const Eigen::MatrixXf inputs = e.inputs.cast<float>(), by_outputs = e.by_outputs.cast<float>();
  EXPECT_TRUE(fast.forward(inputs, same).cast<double>().isApprox(e.outputs(), 1e-5));
  exact.backward_to_parameters(e.by_outputs);
  fast.backward_to_parameters(by_outputs);
  for (std::size_t at = 0; at < e.parameters.size(); ++at) {
    EXPECT_NEAR(fast.gradient()[at], exact.gradient()[at], 1e-3 * std::max(1.0, std::abs(exact.gradient()[at]))) << at;
  }
  EXPECT_TRUE(
      fast.backward_to_inputs(by_outputs).cast<double>().isApprox(exact.backward_to_inputs(e.by_outputs), 1e-4));
}

// Some of the rows of a larger piece, as the two networks of DAT share their inputs.
TEST(DropoutNetwork, InputsMayBePartOfALargerPiece) {
  const Example e = example(3);
  Matrix larger(6, e.inputs.cols());
  larger.setConstant(std::nan(""));
  larger.topRows(4) = e.inputs;
  auto network = network_of<double>(e), other = network_of<double>(e);
  Random masks(e.masks), same(e.masks);
  EXPECT_EQ(Matrix(network.forward(larger.topRows(4), masks)), Matrix(other.forward(e.inputs, same)));
  network.backward_to_parameters(e.by_outputs);
  other.backward_to_parameters(e.by_outputs);
  EXPECT_THAT(network.gradient(), testing::ElementsAreArray(other.gradient().begin(), other.gradient().end()));
}

// All units of a layer at 0: nothing to normalise, and nothing to learn from below.
TEST(DropoutNetwork, ADeadLayerGivesNumbers) {
  Example e = example(3);
  for (std::size_t at = 0; at < e.shape.offset(1) - 2; ++at) e.parameters[at] = -1;
  e.inputs.setOnes();
  auto network = network_of<double>(e);
  Random masks(e.masks);
  EXPECT_TRUE(network.forward(e.inputs, masks).isApprox(e.outputs(), 1e-12));
  network.backward_to_parameters(e.by_outputs);
  for (const double derivative : network.gradient()) EXPECT_TRUE(std::isfinite(derivative));
}

}  // namespace
}  // namespace fansite::causal
