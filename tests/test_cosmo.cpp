// SPDX-License-Identifier: Apache-2.0
//
// COSMO: orientations and temperatures as specified, gradients, and no cycle ever.
#include "fansite/causal/baselines/cosmo.h"

#include "learning_examples.h"
#include "properties.h"

namespace fansite::causal {
namespace {

const Options kLinear = {{"relations", std::string("linear")}};
const Options kShort = {{"epochs", std::int64_t{20}}};

TEST(Cosmo, OrientationHasTheSpecifiedValues) {
  const Matrix o = cosmo_orientation(Vector{{0.1, 0.3}}, 0.01, 0.45);
  EXPECT_NEAR(o(0, 1), 0.604015, 1e-6);
  EXPECT_EQ(o(0, 0), 0);
  EXPECT_LT(o(0, 1) + o(1, 0), 1);
}

TEST(Cosmo, TemperatureFallsAlongHalfACosine) {
  CosmoParams params;
  params.last_temperature = 0.001;
  EXPECT_EQ(cosmo_temperature(params, 0), 0.45);
  EXPECT_NEAR(cosmo_temperature(params, 1000), 0.2255, 1e-12);
  EXPECT_NEAR(cosmo_temperature(params, 2000), 0.001, 1e-12);
}

TEST(Cosmo, BothDirectionsTogetherNeverCountAsOne) {
  EXPECT_TRUE(rc::check("any priorities", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Vector p(6);
    for (double& value : p) value = random.uniform(-1, 1) * std::pow(10, random.uniform(-4, 1));
    const Matrix o = cosmo_orientation(p, random.uniform(0.005, 0.02), std::pow(10, random.uniform(-3.3, 0)));
    RC_ASSERT(((o + o.transpose()).array() <= 1).all() && (o.array() >= 0).all());
    const Matrix warm = cosmo_orientation(p, 0.01, 1);  // nothing is rounded to 1 there
    RC_ASSERT(((warm + warm.transpose()).array() < 1).all());
  }));
}

TEST(Cosmo, GradientIsThatOfCentralDifferences) {
  Random random(Key{1});
  Matrix values(40, 4);
  for (double& value : values.reshaped()) value = random.normal();
  for (const Relations relations : {Relations::linear, Relations::nonlinear}) {
    CosmoParams params;
    params.relations = relations;
    params.hidden = 3;
    params.l1 = 0.02;
    params.l2 = 0.1;
    params.priority_penalty = 0.05;
    CosmoLearning learning(values, params, 2);
    std::vector<double> p(learning.parameters().begin(), learning.parameters().end()), gradient(p.size());
    for (double& value : p) value = 0.5 * random.normal();
    learning.loss(p, gradient);
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double kept = p[k];
      p[k] = kept + 1e-6;
      const double up = learning.loss(p, {});
      p[k] = kept - 1e-6;
      const double down = learning.loss(p, {});
      p[k] = kept;
      EXPECT_NEAR(gradient[k], (up - down) / 2e-6, 1e-7) << name(relations) << " " << k;
    }
  }
}

// Norms have no slope at 0.
TEST(Cosmo, AtZeroPenaltiesPullNowhere) {
  const Matrix values = Matrix::Zero(10, 3);
  CosmoParams params;
  params.relations = Relations::linear;
  CosmoLearning learning(values, params, 2);
  std::vector<double> p(learning.parameters().size(), 0.0), gradient(p.size(), 7.0);
  EXPECT_EQ(learning.loss(p, gradient), 0);
  EXPECT_EQ(gradient, std::vector<double>(p.size(), 0.0));
}

TEST(Cosmo, StartsAsPublished) {
  const Matrix values = Matrix::Random(20, 50);
  CosmoParams params;
  const CosmoLearning networks(values, params, 3);
  params.relations = Relations::linear;
  const CosmoLearning lines(values, params, 3);
  const auto largest = [](std::span<const double> p) {
    double most = 0;
    for (const double value : p) most = std::max(most, std::abs(value));
    return most;
  };
  EXPECT_NEAR(lines.priorities().norm() / std::sqrt(50), 0.012 / std::sqrt(2), 0.002);
  EXPECT_EQ(lines.priorities(), networks.priorities());
  EXPECT_NEAR(largest(lines.parameters().subspan(50)), std::sqrt(3.0 / 50), 0.01);
  EXPECT_NEAR(largest(networks.parameters().subspan(50)), 1 / std::sqrt(10.0), 0.01);
  EXPECT_NEAR(largest(networks.parameters().subspan(50, 500)), 1 / std::sqrt(500.0), 0.001);
}

// x → y beside an independent z; along a chain of three the authors' program, too, adds the edge from end to end.
TEST(Cosmo, RecoversAnEdge) {
  Dataset data = linear_chain(500, 4);
  data.values.col(2) = linear_chain(500, 5).values.col(0);
  ByteMatrix expected = ByteMatrix::Zero(3, 3);
  expected(0, 1) = 1;
  const CausalGraphResult lines = learnt("cosmo", {kLinear[0], {"epochs", std::int64_t{800}}}, data);
  EXPECT_EQ(lines.graph.directed, expected) << lines.weights;
  EXPECT_NEAR(lines.weights(0, 1), 1.5, 0.15);
  const CausalGraphResult networks = learnt(
      "cosmo", {{"epochs", std::int64_t{800}}, {"unit_weights", std::string("norm")}, {"learning_rate", 0.005}}, data);
  EXPECT_EQ(networks.graph.directed, expected) << networks.weights;
}

// Noise grows along a chain, and so do priorities: every edge goes that way.
TEST(Cosmo, FollowsTheOrderOfAChain) {
  const CausalGraphResult found = learnt("cosmo", {kLinear[0], {"epochs", std::int64_t{800}}}, linear_chain(500, 4));
  EXPECT_EQ(found.graph.directed(0, 1), 1);
  EXPECT_EQ(found.graph.directed(0, 2) + found.graph.directed(1, 2) > 0, true);
  EXPECT_EQ(found.graph.directed(1, 0) + found.graph.directed(2, 0) + found.graph.directed(2, 1), 0);
}

// t << ε at the end: whatever the priorities, what closes a cycle has next to no weight before the threshold even acts.
TEST(Cosmo, NeverHasACycle) {
  EXPECT_TRUE(rc::check("any table", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 2 + static_cast<int>(random.below(6));
    Dataset data = simulate_linear(d, 0.5, 20 + random.below(60), random.bits()).data;
    const bool linear = random.coin();
    const CausalGraphResult found = learnt("cosmo",
                                           {{"relations", std::string(linear ? "linear" : "nonlinear")},
                                            {"epochs", std::int64_t{3}},
                                            {"threshold", 0.01},
                                            {"learning_rate", 0.02}},
                                           data);
    RC_ASSERT(find_cycle(found.graph.directed).empty());
    RC_ASSERT(((found.weights.array().abs() >= 0.01).cast<int>() == found.graph.directed.array().cast<int>()).all());
  }));
}

TEST(Cosmo, StateComesBack) {
  NoProgress silent;
  const Dataset data = linear_chain(100, 5);
  const Matrix values = scaled(data.values, Columns::centred);
  for (const Relations relations : {Relations::linear, Relations::nonlinear}) {
    CosmoParams params;
    params.relations = relations;
    params.epochs = 8;
    CosmoLearning straight(values, params, 1), first(values, params, 1), second(values, params, 1);
    while (!straight.finished()) straight.advance(silent);
    for (int k = 0; k < 3; ++k) first.advance(silent);
    second.restore(first.state());
    while (!second.finished()) second.advance(silent);
    EXPECT_EQ(second.weights(), straight.weights());
    EXPECT_EQ(second.state(), straight.state());
    LearningState wrong = first.state();
    wrong.numbers[0] = 9;
    EXPECT_THROW(second.restore(wrong), UsageError);
  }
}

TEST(Cosmo, OddTables) {
  expect_sound_with_odd_tables("cosmo", kShort);
  expect_sound_with_odd_tables("cosmo", {kLinear[0], kShort[0]});
}
TEST(Cosmo, SameBitsForAnyNumberOfThreads) { expect_same_bits_for_any_threads("cosmo", kShort); }
TEST(Cosmo, TimeBudget) {
  expect_an_answer_when_time_is_up("cosmo", {});
  expect_a_budget_that_lasts_to_change_nothing("cosmo", kShort);
}

TEST(Cosmo, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(learnt("cosmo", {}, linear_chain(50, 1), impatient), Interrupted);
}

TEST(Cosmo, TheNormOfUnitsIsNoLessThanTheirSumOverTheRootOfTheirNumber) {
  const Dataset data = linear_chain(100, 6);
  const Matrix sum = learnt("cosmo", kShort, data).weights;
  const Matrix norm = learnt("cosmo", {kShort[0], {"unit_weights", std::string("norm")}}, data).weights;
  EXPECT_NE(sum, norm);
  EXPECT_TRUE((norm.array() * std::sqrt(10) >= sum.array().abs() - 1e-12).all());
}

}  // namespace
}  // namespace fansite::causal
