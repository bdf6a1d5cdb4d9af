// SPDX-License-Identifier: Apache-2.0
//
// The networks of SDCD and FANSITE-DCD: the reference against known values and differences, the fast ones against the
// reference on every instruction set.
#include "fansite/causal/dcd/detail/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "differentiable_examples.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- The reference --------------------------------------------------------------------------------------------------

// Two variables, one hidden unit each, two rows: every number by hand.
Example by_hand() {
  Example e;
  e.mask = ByteMatrix::Zero(2, 2);
  e.mask(0, 1) = e.mask(1, 0) = 1;
  e.parameters = zero_networks(2, 1);
  e.parameters.w[1](0, 0) = 0.7;
  e.parameters.b << 0.1, -0.2;
  e.parameters.m << 0.5, -0.4;
  e.parameters.m0 << 0.05, 0.1;
  e.parameters.s << 0.3, 0.2;
  e.parameters.s0 << 0, 0.5;
  e.rows.resize(2, 2);
  e.rows << 1, 2, -1, 0.5;
  return e;
}

TEST(Reference, ByHand) {
  const Example e = by_hand();
  const auto f = reference::forward(e.parameters, e.mask, e.rows, e.kind);
  const auto near = [](double value) { return testing::DoubleNear(value, 6e-7); };
  EXPECT_THAT(f.hidden[0].reshaped(), ElementsAre(near(0.524979), near(0.524979)));
  EXPECT_THAT(f.hidden[1].reshaped(), ElementsAre(near(0.622459), near(0.289050)));
  EXPECT_THAT(f.mean.reshaped(), ElementsAre(near(0.312490), near(0.312490), near(-0.148984), near(-0.015620)));
  EXPECT_THAT(f.variance.reshaped(), ElementsAre(near(0.774991), near(0.774991), near(1.053370), near(1.010452)));
  const auto loss = reference::loss(e.parameters, e.mask, e.rows, e.kind, {1, 1, 0, {}});
  EXPECT_NEAR(loss.nll, 3.596008502, 1e-9);
  EXPECT_NEAR(loss.l1, 0.7, 1e-12);
  EXPECT_NEAR(loss.l2, 1.3425, 1e-12);
  EXPECT_NEAR(loss.total(), 3.596008502 + 0.7 + 1.3425, 1e-9);
  EXPECT_EQ(reference::adjacency(e.parameters, e.mask)(0, 1), 0.7);
}

// Visits each parameter of `p` and the same one of `q`.
template <class Visit>
void for_each_pair(NetworkParameters& p, const NetworkParameters& q, Visit&& visit) {
  for (std::size_t j = 0; j < p.w.size(); ++j) {
    for (Index k = 0; k < p.w[j].size(); ++k) visit(p.w[j].data()[k], q.w[j].data()[k]);
  }
  for (const auto part : {&NetworkParameters::b, &NetworkParameters::m, &NetworkParameters::s}) {
    for (Index k = 0; k < (p.*part).size(); ++k) visit((p.*part).data()[k], (q.*part).data()[k]);
  }
  for (const auto part : {&NetworkParameters::m0, &NetworkParameters::s0}) {
    for (Index k = 0; k < (p.*part).size(); ++k) visit((p.*part).data()[k], (q.*part).data()[k]);
  }
}

TEST(Reference, GradientIsThatOfCentralDifferences) {
  Random random(Key{1});
  for (const Variance kind : kKinds) {
    Example e = random_example(random, 4, 3, 5, 0.7, kind);
    reference::Penalties penalties{0.02, 0.03, 0.7, Matrix(4, 4)};
    for (double& slope : penalties.slope.reshaped()) slope = random.uniform(0, 1);
    const NetworkParameters gradient = reference::gradient(e.parameters, e.mask, e.rows, e.kind, penalties);
    const double most = largest(gradient);
    int compared = 0;
    for_each_pair(e.parameters, gradient, [&](double& parameter, double expected) {
      const double before = parameter;
      if (before == 0) return;  // a kink, or masked
      constexpr double kStep = 1e-5;
      parameter = before + kStep;
      const double above = reference::loss(e.parameters, e.mask, e.rows, e.kind, penalties).total();
      parameter = before - kStep;
      const double below = reference::loss(e.parameters, e.mask, e.rows, e.kind, penalties).total();
      parameter = before;
      EXPECT_NEAR((above - below) / (2 * kStep), expected, 1e-7 * most);
      ++compared;
    });
    EXPECT_GT(compared, 50);
  }
}

TEST(Reference, MaskedAndZeroWeightsHaveNoPenalty) {
  Random random(Key{2});
  Example e = random_example(random, 4, 3, 5, 1.0, Variance::network);
  e.mask(1, 2) = 0;  // with weights that are not 0
  e.parameters.w[2].row(1).setOnes();
  e.parameters.w[3].row(0).setZero();  // allowed
  e.parameters.w[3].row(1).setOnes();
  const reference::Penalties none{0, 0, 0, {}}, all{0.1, 0, 0.5, Matrix::Ones(4, 4)};
  const auto plain = reference::gradient(e.parameters, e.mask, e.rows, e.kind, none);
  const auto penalised = reference::gradient(e.parameters, e.mask, e.rows, e.kind, all);
  EXPECT_EQ(penalised.w[2].row(1).norm(), 0);
  EXPECT_EQ(penalised.w[3].row(0), plain.w[3].row(0));
  EXPECT_NE(penalised.w[3].row(1), plain.w[3].row(1));
}

// ---- The fast version -----------------------------------------------------------------------------------------------

// Of the largest gradient before rows of opposite sign cancel, as single precision loses the digits that cancel.
// Largest errors seen on five instruction sets and 7,500 examples: gradients 1.3e-6, losses 4.5e-7.
constexpr double kGradientBound = 4e-6, kLossBound = 2e-6;

double gradient_size(const Example& e) {
  double size = 0;
  for (Index n = 0; n < e.rows.rows(); ++n) {
    const NetworkParameters row = reference::gradient(e.parameters, e.mask, e.rows.middleRows(n, 1), e.kind, {});
    size += largest(row) / static_cast<double>(e.rows.rows());
  }
  return size;
}

/// Runs the test once on each instruction set of this machine.
class NetworksOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Target, NetworksOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

// What differs from the reference in loss and gradient, with and without penalties.
std::string disagreement(const Example& e) {
  const Batches batches = batches_of(e.rows);
  const double size = gradient_size(e);
  std::string wrong;
  for (const bool penalised : {false, true}) {
    const Learner::Penalties fast = penalised ? Learner::Penalties{0.01, 0.02, 0.3} : Learner::Penalties{};
    Learner learner = learner_of(e, penalised ? std::optional(15) : std::nullopt);
    const NetworkParameters gradient = learner.gradient(batches[0], fast);
    reference::Penalties plain{fast.l1, fast.l2, fast.gamma, {}};
    if (penalised) plain.slope = slopes_of(*learner.penalty(), e.variables());
    const NetworkParameters exact = reference::gradient(e.parameters, e.mask, e.rows, e.kind, plain);
    wrong += differences(gradient, exact, kGradientBound * (size + largest(exact)));
    const double expected = reference::loss(e.parameters, e.mask, e.rows, e.kind, {}).nll;
    const double loss = learner.loss(batches[0]);
    if (!(std::abs(loss - expected) <= kLossBound * (e.variables() + std::abs(expected))))
      wrong += fmt::format("loss {} not {}; ", loss, expected);
    const double off = (learner.pairs().spread(learner.weights()) - reference::adjacency(e.parameters, e.mask)).norm();
    if (!(off <= 1e-6 * (1 + reference::adjacency(e.parameters, e.mask).norm())))
      wrong += fmt::format("weights by {}; ", off);
  }
  return wrong;
}

TEST_P(NetworksOn, EqualTheReference) {
  EXPECT_TRUE(rc::check("any mask, number of units, rows and kind of variance", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int hidden = std::array{1, 2, 5, 7, 10, 16, 21}[random.below(7)];
    const int variables = 1 + static_cast<int>(random.below(8));
    const Example e = random_example(random, variables, hidden, 1 + random.below(80), random.uniform(0, 1.2),
                                     kKinds[random.below(3)]);
    const std::string wrong = disagreement(e);
    if (!wrong.empty()) RC_FAIL(wrong);
  }));
}

// Batches of more rows than are in flight, and every remainder of a vector.
TEST_P(NetworksOn, OfAnyNumberOfRowsEqualTheReference) {
  Random random(Key{3});
  for (const Index rows : {1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 512, 700}) {
    const Example e = random_example(random, 4, 10, rows, 0.8, Variance::network);
    EXPECT_EQ(disagreement(e), "") << rows << " rows";
  }
}

// Saturated units, tiny and large variances, rows in the tails.
TEST_P(NetworksOn, EqualTheReferenceFarOut) {
  Random random(Key{4});
  for (const double size : {10.0, 100.0}) {
    Example e = random_example(random, 4, 10, 50, 0.8, Variance::network);
    e.rows *= size;
    for (double& value : e.parameters.s0) value = rounded(value * 4);
    EXPECT_EQ(disagreement(e), "") << size;
  }
}

TEST_P(NetworksOn, ByHand) {
  Learner learner = learner_of(by_hand());
  EXPECT_NEAR(learner.loss(batches_of(by_hand().rows)[0]), 3.596008502, 2e-6);
}

// The softplus underflows: without a least variance the loss would be infinite.
TEST_P(NetworksOn, HaveALeastVariance) {
  Random random(Key{5});
  for (const double q : {-30.0, -120.0, -1e4}) {
    Example e = random_example(random, 2, 3, 40, 1, Variance::network);
    e.parameters.s0.setConstant(q);
    EXPECT_EQ(disagreement(e), "") << q;
    const auto f = reference::forward(e.parameters, e.mask, e.rows, e.kind);
    EXPECT_EQ(f.variance.maxCoeff(), reference::kLeastVariance);
    Learner learner = learner_of(e);
    EXPECT_TRUE(std::isfinite(learner.loss(batches_of(e.rows)[0])));
    EXPECT_EQ(learner.gradient(batches_of(e.rows)[0], {}).s0.norm(), 0);
    for (int step = 0; step < 20; ++step) learner.step(batches_of(e.rows)[0], {0.01, 0.01, 1}, 1e-2);
    EXPECT_LT(largest(learner.parameters()), HUGE_VAL) << q;
  }
}

// A few steps of Adam, the penalty's u and v going on from step to step.
TEST_P(NetworksOn, MoveAsTheReferenceDoes) {
  Random random(Key{6});
  for (const Variance kind : kKinds) {
    Example e = random_example(random, 5, 10, 90, 0.7, kind);
    const Batches batches = batches_of(e.rows, 40);
    Learner learner = learner_of(e);
    reference::Adam adam(e.variables(), e.hidden());
    NetworkParameters p = e.parameters;
    const AllowedPairs pairs(e.mask);
    SpectralPenalty penalty(pairs, 15);
    const auto update_penalty = [&] {
      const Matrix a = reference::adjacency(p, e.mask);
      std::vector<double> weights;
      for (std::size_t k = 0; k < pairs.parent.size(); ++k) weights.push_back(a(pairs.parent[k], pairs.child[k]));
      penalty.update(weights);
    };
    update_penalty();  // once before the first step
    for (int step = 0; step < 12; ++step) {
      const int b = step % batches.count();
      learner.step(batches[b], {0.01, 0.02, 0.3}, 0.01);
      update_penalty();
      const auto gradient = reference::gradient(p, e.mask, e.rows.middleRows(40 * b, batches[b].rows), kind,
                                                {0.01, 0.02, 0.3, slopes_of(penalty, e.variables())});
      adam.step(p, gradient, 0.01);
    }
    EXPECT_LT((slopes_of(*learner.penalty(), e.variables()) - slopes_of(penalty, e.variables())).norm(), 1e-3);
    // Adam divides by the gradient's size, so that rounding shows where a gradient is near 0.
    EXPECT_EQ(differences(learner.parameters(), p, 2e-3), "");
    EXPECT_NE(differences(learner.parameters(), e.parameters, 2e-2), "");
  }
}

// The last batch is shorter, and nothing of the rows that were there before is left.
TEST(Batches, HaveTheRowsAskedFor) {
  Random random(Key{7});
  const Eigen::MatrixXf columns = Eigen::MatrixXf::Random(23, 3);
  Batches batches(3, 20, 8);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<int> order = random.permutation(23);
    order.resize(20);
    for (int j = 0; j < 3; ++j) batches.fill(j, columns.col(j).data(), order);
    ASSERT_EQ(batches.count(), 3);
    for (Index k = 0; k < 20; ++k) {
      const Batch batch = batches[static_cast<int>(k / 8)];
      EXPECT_EQ(batch.rows, k < 16 ? 8 : 4);
      for (int j = 0; j < 3; ++j)
        EXPECT_EQ(batch.values[j * batch.stride + k % 8], columns(order[static_cast<std::size_t>(k)], j));
    }
    for (Index k = 4; k < 32; ++k) EXPECT_EQ(batches[2].values[batches[2].stride + k], 0);
  }
}

// Without parents the best mean and variance are known; with one number for the variance, found.
TEST(Learner, FindsMeanAndVarianceOfALoneVariable) {
  Random random(Key{8});
  Matrix rows(400, 1);
  for (double& value : rows.reshaped()) value = 1.5 + 2 * random.normal();
  const double mean = rows.mean(), variance = (rows.array() - mean).square().mean();
  for (const Variance kind : kKinds) {
    Example e = random_example(random, 1, 3, 1, 0, kind);
    e.rows = rows;
    if (kind != Variance::network) e.parameters.s.setZero();
    Learner learner = learner_of(e);
    const Batches batches = batches_of(rows);
    for (int step = 0; step < 5000; ++step) learner.step(batches[0], {}, 0.01);
    const auto f = reference::forward(learner.parameters(), e.mask, rows, kind);
    EXPECT_NEAR(f.mean(0, 0), mean, 1e-3);
    EXPECT_NEAR(f.variance(0, 0), kind == Variance::unit ? 1 : variance, 5e-3);
    EXPECT_EQ(learner.parameters().s.norm() > 0, kind == Variance::network);
  }
}

// As published, the power iterations already run once on the weights that training starts from.
TEST(Learner, StartsItsPenaltyWithItsFirstWeights) {
  Random random(Key{21});
  const Example e = random_example(random, 5, 3, 1, 0.7, Variance::network);
  const Learner learner = learner_of(e, 1);
  SpectralPenalty penalty(learner.pairs(), 1);
  EXPECT_NE(learner.penalty()->state(), penalty.state());
  penalty.update(learner.weights());
  EXPECT_EQ(learner.penalty()->state(), penalty.state());
}

TEST(Learner, HasTheSameBitsForAnyNumberOfThreads) {
  Random random(Key{9});
  const Example e = random_example(random, 40, 10, 300, 0.3, Variance::network);
  const Batches batches = batches_of(e.rows, 128);
  const auto trained = [&](Team* team) {
    Learner learner = learner_of(e, 15, team);
    for (int step = 0; step < 15; ++step) learner.step(batches[step % 3], {0.01, 0.02, 0.3}, 0.01);
    return learner.state();
  };
  const Learner::State alone = trained(nullptr);
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    const Learner::State state = trained(&team);
    EXPECT_EQ(state.parameters, alone.parameters) << threads;
    EXPECT_EQ(state.square, alone.square) << threads;
    EXPECT_EQ(state.penalty, alone.penalty) << threads;
  }
}

}  // namespace
}  // namespace fansite::causal
