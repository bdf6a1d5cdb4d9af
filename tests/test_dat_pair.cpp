// SPDX-License-Identifier: Apache-2.0
//
// DAT's test of one pair: noise, losses and gradients against the networks' reference, and what it finds of tables with
// known answers.
#include "fansite/causal/baselines/dat_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fansite/base/error.h"
#include "fansite/causal/neural/dropout_network_reference.h"
#include "support.h"

namespace fansite::causal {
namespace {

TEST(HeavyLaplace, HasTheSignAndThePower) {
  EXPECT_NEAR(heavy_laplace(0.5), 0, 1e-9);
  EXPECT_NEAR(heavy_laplace(0.3), std::log(0.6), 1e-9);  // within ±1 it is Laplace's
  EXPECT_NEAR(heavy_laplace(0.7), -std::log(0.6), 1e-9);
  EXPECT_NEAR(heavy_laplace(0.01), -std::pow(-std::log(0.02), 1.1), 1e-7);  // beyond, to the power 1.1
  EXPECT_NEAR(heavy_laplace(0.99), std::pow(-std::log(0.02), 1.1), 1e-7);
  EXPECT_NEAR(heavy_laplace(1e-300), -std::pow(-std::log(1e-10), 1.1), 1e-6);  // as far as it goes
}

TEST(HeavyLaplace, HasHeavierTailsThanLaplace) {
  Random random(Key{1});
  const int draws = 200000;
  double sum = 0, squares = 0, far = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = heavy_laplace(random.uniform());
    sum += value;
    squares += value * value;
    far += std::abs(value) > 5;
  }
  EXPECT_NEAR(sum / draws, 0, 0.02);
  EXPECT_GT(squares / draws, 2.2);                                   // Laplace's is 2
  EXPECT_NEAR(far / draws, std::exp(-std::pow(5, 1 / 1.1)), 0.001);  // Laplace's is e⁻⁵
}

// ---- Gradients ------------------------------------------------------------------------------------------------------

struct Example {
  NetworkShape first{.inputs = 3, .width = 6, .layers = 3}, second{.inputs = 4, .width = 6, .layers = 3};
  std::vector<double> w1, w2, logits{0.3, -0.8, 0};
  PairBatch<double> batch;
  Key masks{5};

  explicit Example(int rows = 10) : w1(first.parameters()), w2(second.parameters()) {
    Random random(Key{2});
    initialise<double>(first, random, w1);
    initialise<double>(second, random, w2);
    batch.members = Matrix::NullaryExpr(3, rows, [&] { return random.normal(); });
    batch.noise = Matrix::NullaryExpr(3, rows, [&] { return 0.5 * heavy_laplace(random.uniform()); });
    batch.x = Eigen::RowVectorXd::NullaryExpr(rows, [&] { return random.normal(); });
    batch.y = Eigen::RowVectorXd::NullaryExpr(rows, [&] { return random.normal(); });
  }

  Matrix mixture() const {
    Matrix mixed = batch.members;
    for (Index k = 0; k < 3; ++k) {
      const double psi = 1 / (1 + std::exp(-logits[static_cast<std::size_t>(k)]));
      mixed.row(k) = psi * batch.members.row(k) + (1 - psi) * batch.noise.row(k);
    }
    return mixed;
  }
  // With e² as given, if it is.
  Matrix residual(const Matrix* squares) const {
    Random random(masks.split(0));
    const Matrix predicted = reference::forward(first, w1, mixture(), random);
    Matrix r(2, batch.y.size());
    r.row(0) = batch.y - predicted.row(0);
    r.row(1) = (squares != nullptr ? *squares : Matrix(r.row(0).array().square())) - predicted.row(1);
    return r;
  }
  double first_loss(const Matrix* squares) const {
    return residual(squares).squaredNorm() / static_cast<double>(batch.y.size());
  }
  double second_loss(const Matrix& r) const {
    Matrix inputs(4, batch.y.size());
    inputs << mixture(), batch.x;
    Random random(masks.split(1));
    return (r - reference::forward(second, w2, inputs, random)).squaredNorm() / static_cast<double>(batch.y.size());
  }

  template <class Real>
  PairNetworks<Real> networks() const {
    PairNetworks<Real> result(first, static_cast<int>(batch.y.size()));
    const auto copy = [](const std::vector<double>& from, std::span<Real> to) {
      for (std::size_t at = 0; at < from.size(); ++at) to[at] = static_cast<Real>(from[at]);
    };
    copy(w1, result.first().parameters());
    copy(w2, result.second().parameters());
    copy(logits, result.logits());
    return result;
  }
  template <class Real>
  typename PairNetworks<Real>::Losses losses(PairNetworks<Real>& networks, const PairBatch<Real>& of) const {
    Random one(masks.split(0)), two(masks.split(1));
    return networks.forward(of, one, two);
  }
};

double difference(double& value, const std::function<double()>& loss) {
  constexpr double h = 1e-6;
  const double before = value;
  value = before + h;
  const double above = loss();
  value = before - h;
  const double below = loss();
  value = before;
  return (above - below) / (2 * h);
}

TEST(PairNetworks, LossesAreTheReferences) {
  const Example e;
  auto networks = e.networks<double>();
  const auto losses = e.losses(networks, e.batch);
  EXPECT_NEAR(losses.first, e.first_loss(nullptr), 1e-12);
  EXPECT_NEAR(losses.second, e.second_loss(e.residual(nullptr)), 1e-12);
  EXPECT_THAT(networks.psi(),
              testing::ElementsAre(testing::DoubleNear(0.574443, 1e-6), testing::DoubleNear(0.310026, 1e-6),
                                   testing::DoubleNear(0.5, 1e-12)));
}

// Of L1 − L2, through the residual and both networks, with e² as given.
TEST(PairNetworks, GradientsOfLogitsAreThoseOfDifferences) {
  Example e;
  auto networks = e.networks<double>();
  e.losses(networks, e.batch);
  const auto gradient = networks.backward_to_logits(e.batch);
  const Matrix squares = e.residual(nullptr).row(0).array().square();
  for (std::size_t k = 0; k < 3; ++k) {
    const double expected =
        difference(e.logits[k], [&] { return e.first_loss(&squares) - e.second_loss(e.residual(&squares)); });
    EXPECT_NEAR(gradient[k], expected, 1e-7) << k;
    EXPECT_GT(std::abs(expected), 1e-4) << k;
  }
}

// Of L1 + L2, with the residual in L2 and e² as given.
TEST(PairNetworks, GradientsOfNetworksAreThoseOfDifferences) {
  Example e;
  auto networks = e.networks<double>();
  e.losses(networks, e.batch);
  networks.backward_to_networks();
  const Matrix r = e.residual(nullptr), squares = r.row(0).array().square();
  const auto loss = [&] { return e.first_loss(&squares) + e.second_loss(r); };
  for (std::size_t at = 0; at < e.w1.size(); ++at) {
    EXPECT_NEAR(networks.first().gradient()[at], difference(e.w1[at], loss), 1e-6) << at;
  }
  for (std::size_t at = 0; at < e.w2.size(); ++at) {
    EXPECT_NEAR(networks.second().gradient()[at], difference(e.w2[at], loss), 1e-6) << at;
  }
}

TEST(PairNetworks, SinglePrecisionIsNearDouble) {
  const Example e(64);
  auto exact = e.networks<double>();
  auto fast = e.networks<float>();
  const PairBatch<float> batch{e.batch.members.cast<float>(), e.batch.noise.cast<float>(), e.batch.x.cast<float>(),
                               e.batch.y.cast<float>()};
  const auto expected = e.losses(exact, e.batch);
  const auto losses = e.losses(fast, batch);
  EXPECT_NEAR(losses.first, expected.first, 1e-4 * expected.first);
  EXPECT_NEAR(losses.second, expected.second, 1e-4 * expected.second);
  const auto by_logits = exact.backward_to_logits(e.batch);
  const auto by_same = fast.backward_to_logits(batch);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(by_same[k], by_logits[k], 1e-4);
}

// ---- Tests of pairs -------------------------------------------------------------------------------------------------

RegressorParams small() { return {.width = 16, .rate = 4e-3, .steps = 1500, .batch = 128}; }

std::vector<double> tested(const Matrix& values, const OrderedPair& pair, std::uint64_t seed = 1) {
  std::vector<int> columns(static_cast<std::size_t>(values.cols()));
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = static_cast<int>(j);
  NoProgress silent;
  const RowBatches table(values, columns, small().batch, Key{seed});
  return test_pair(table, pair, small(), 200, 1700, Key{seed}, silent);
}

Matrix normals(Index rows, Index columns) {
  Random random(Key{9});
  return Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

TEST(TestPair, AChainIsCutByItsMiddleAndAColliderIsLeftOut) {
  Matrix chain = normals(800, 3);  // 0 → 1 → 2
  chain.col(1) += 1.5 * chain.col(0);
  chain.col(2) += 1.5 * chain.col(1);
  const std::vector<double> of_chain = tested(chain, {0, 2, {1}});
  Matrix collider = normals(800, 3);  // 0 → 1 ← 2
  collider.col(1) = collider.col(0) + collider.col(2) + 0.5 * collider.col(1);
  const std::vector<double> of_collider = tested(collider, {0, 2, {1}});
  const std::vector<double> of_edge = tested(collider, {0, 1, {2}});
  ASSERT_EQ(of_chain.size(), 2u);
  EXPECT_GT(of_chain[1], 0.7);     // ψ: to be known
  EXPECT_LT(of_collider[1], 0.3);  // not to be known
  EXPECT_LT(of_chain[0] * of_chain[0], 0.01);
  EXPECT_LT(of_collider[0] * of_collider[0], 0.01);
  EXPECT_GT(of_edge[0] * of_edge[0], 0.1);
}

TEST(TestPair, AMemberThatIsNoneIsNoise) {
  const std::vector<double> found = tested(normals(100, 2), {0, 1, {-1}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(std::isfinite(found[0]) && std::isfinite(found[1]));
}

TEST(TestPair, ALossThatIsNotFiniteIsTold) {
  const Matrix values = normals(50, 3);
  NoProgress silent;
  RegressorParams wild = small();
  wild.rate = 1e30;
  const RowBatches table(values, {0, 1, 2}, 50, Key{1});
  EXPECT_THAT(message_of<DataError>([&] {
                test_pair(table, {0, 1, {2}}, wild, 10, 100, Key{1}, silent);
              }),
              testing::HasSubstr("use a smaller --dat-rate"));
}

}  // namespace
}  // namespace fansite::causal
