// SPDX-License-Identifier: Apache-2.0
//
// DAGMA: the path and its rules, gradients, and graphs that are known.
#include "fansite/causal/baselines/dagma.h"

#include "fansite/causal/baselines/detail/dagma_linear.h"
#include "fansite/causal/baselines/detail/dagma_networks.h"
#include "learning_examples.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

const Options kLinear = {{"relations", std::string("linear")}};
const Options kShort = {
    {"iterations", std::int64_t{300}}, {"last_iterations", std::int64_t{400}}, {"learning_rate", 0.003}};

void finish(Learning& learning) {
  NoProgress silent;
  while (!learning.finished()) learning.advance(silent);
}

TEST(Dagma, DefaultsAreThoseOfTheRelations) {
  DagmaParams params;
  EXPECT_EQ(params.published().l1, 0.02);
  EXPECT_EQ(params.published().l2, 0.005);
  EXPECT_EQ(params.published().learning_rate, 2e-4);
  EXPECT_EQ(params.published().rounds, 4);
  EXPECT_EQ(params.published().iterations, 50000);
  EXPECT_EQ(params.published().last_iterations, 80000);
  EXPECT_EQ(params.published().first_mu, 0.1);
  params.relations = Relations::linear;
  EXPECT_EQ(params.published().l1, 0.03);
  EXPECT_EQ(params.published().learning_rate, 3e-4);
  EXPECT_EQ(params.published().rounds, 5);
  EXPECT_EQ(params.published().iterations, 30000);
  EXPECT_EQ(params.published().last_iterations, 60000);
  EXPECT_EQ(params.published().first_mu, 1);
  params.l1 = 0;
  params.rounds = 2;
  EXPECT_EQ(params.published().l1, 0);
  EXPECT_EQ(params.published().rounds, 2);
}

TEST(Dagma, LinearRecoversAChain) {
  const CausalGraphResult found = learnt("dagma", kLinear, linear_chain(2000, 1));
  EXPECT_EQ(found.graph.directed, chain_edges());
  EXPECT_NEAR(found.weights(0, 1), 1.5, 0.1);
  EXPECT_NEAR(found.weights(1, 2), -1.2, 0.1);
}

// Of one variable with another that cannot be its cause, W = soft threshold of the regression coefficient: the known
// minimum of ½(1 − 2wc + w²c₀) + λ|w| is w = (c − λ)/c₀.
TEST(Dagma, LinearEndsAtTheMinimum) {
  const Dataset data = linear_chain(1000, 2);
  DagmaParams params;
  params.relations = Relations::linear;
  const auto learning = dagma_learning(data.values, params, 0);
  finish(*learning);
  const Matrix w = learning->weights();
  const Matrix x = scaled(data.values, Columns::centred);
  const Matrix c = x.transpose() * x / 1000;
  // y given x alone, z given y alone: what the graph found leaves.
  EXPECT_NEAR(w(0, 1), (c(0, 1) - 0.03) / c(0, 0), 2e-3);
  const DagmaReport report = learning->report();
  EXPECT_EQ(report.rounds, 5);
  EXPECT_LT(report.acyclicity, 1e-4);
  EXPECT_NEAR(report.mu, 1e-4, 1e-12);
  EXPECT_NEAR(report.penalty, 0.03 * w.cwiseAbs().sum(), 1e-12);
}

// y = sin(2x) + noise beside an independent z: found with networks, hardly with lines.
TEST(Dagma, NetworksRecoverABentRelation) {
  Random random(Key{3});
  Dataset data{{"x", "y", "z"}, Matrix(300, 3)};
  for (Index n = 0; n < 300; ++n) {
    const double x = 1.5 * random.normal();
    data.values.row(n) << x, 3 * std::cos(x) + 0.3 * random.normal(), 0.5 * random.normal();
  }
  const CausalGraphResult found = learnt("dagma",
                                         {{"iterations", std::int64_t{7000}},
                                          {"last_iterations", std::int64_t{8000}},
                                          {"learning_rate", 0.002},
                                          {"rounds", std::int64_t{3}}},
                                         data);
  ByteMatrix expected = ByteMatrix::Zero(3, 3);
  expected(0, 1) = 1;
  EXPECT_EQ(found.graph.directed, expected) << found.weights;
  EXPECT_EQ(learnt("dagma", kLinear, data).graph.directed.cast<int>().sum(), 0);
}

TEST(Dagma, NetworkGradientIsThatOfCentralDifferences) {
  Random random(Key{4});
  Matrix values(30, 4);
  for (double& value : values.reshaped()) value = random.normal();
  DagmaParams params;
  params.hidden = 3;
  params.l1 = 0.05;
  params.l2 = 0.3;
  NetworkDagma learning(values, params.published(), 1);
  std::vector<double> p(learning.parameters().begin(), learning.parameters().end()), gradient(p.size()), none;
  for (double& value : p) value = 0.2 * random.normal();
  learning.objective(p, gradient);
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double kept = p[k], step = 1e-6;
    p[k] = kept + step;
    const double up = learning.objective(p, none);
    p[k] = kept - step;
    const double down = learning.objective(p, none);
    p[k] = kept;
    EXPECT_NEAR(gradient[k] - 0.1 * 0.3 * kept, (up - down) / (2 * step), 1e-6) << k;  // λ₂ acts on steps alone
  }
}

// What the authors' package (dagma 1.1.1) makes of the same table, and of networks that start alike: all four rounds,
// 260 iterations in which the two never differed by more than 4e-15.
TEST(Dagma, IsTheAuthorsProgram) {
  Random random(Key{1});
  Matrix x(200, 5);
  for (Index n = 0; n < 200; ++n) {
    const double a = random.normal();
    x(n, 0) = a;
    x(n, 1) = std::sin(2 * a) + 0.3 * random.normal();
    x(n, 2) = random.normal();
    x(n, 3) = a * a + 0.3 * random.normal();
    x(n, 4) = x(n, 1) + x(n, 3) + 0.2 * random.normal();
  }
  DagmaParams params;
  params.iterations = 60;
  params.last_iterations = 80;
  params.learning_rate = 0.002;
  const auto networks = dagma_learning(x, params, 7);
  finish(*networks);
  EXPECT_EQ(networks->report().iterations, 260);
  EXPECT_NEAR(networks->report().objective(), 0.00047310235771774685, 1e-13);
  EXPECT_NEAR(networks->weights()(0, 4), 0.215834950058, 1e-10);
  EXPECT_NEAR(networks->weights()(1, 4), 0.508720938989, 1e-10);
  EXPECT_NEAR(networks->weights()(3, 4), 0.629029693780, 1e-10);
  EXPECT_NEAR(networks->weights()(2, 0), 0.002187496917, 1e-10);

  params = {};
  params.relations = Relations::linear;
  const auto lines = dagma_learning(x, params, 0);
  finish(*lines);
  EXPECT_NEAR(lines->report().score, 2.22887973569011, 1e-7);
  EXPECT_NEAR(lines->report().acyclicity, 8.1855e-09, 1e-10);
  EXPECT_NEAR(lines->weights()(0, 3), 1.219916567601e-01, 1e-6);
  EXPECT_NEAR(lines->weights()(1, 0), 4.260504572259e-01, 1e-6);
  EXPECT_NEAR(lines->weights()(1, 4), 9.429720832314e-01, 1e-6);
  EXPECT_NEAR(lines->weights()(1, 2), -4.111589817244e-02, 1e-6);
}

// With a rate so large that the first steps leave the domain, the round begins anew with half of it, again and again.
TEST(Dagma, AttemptsThatLeaveTheDomainAreMadeAgain) {
  DagmaParams params;
  params.learning_rate = 2;
  params.iterations = params.last_iterations = 20;
  params.rounds = 2;
  const Dataset data = linear_chain(60, 5);
  for (const Relations relations : {Relations::linear, Relations::nonlinear}) {
    params.relations = relations;
    const auto learning = dagma_learning(data.values, params, 0);
    finish(*learning);
    EXPECT_EQ(learning->report().rounds, 2);
    EXPECT_TRUE(relations == Relations::linear || learning->report().restarts > 0);
    EXPECT_TRUE(std::isfinite(learning->report().objective())) << name(relations);
  }
}

TEST(Dagma, ARoundEndsWhenTheObjectiveNoLongerChanges) {
  DagmaParams params;
  params.relations = Relations::linear;
  params.tolerance = 1;  // any change
  const auto learning = dagma_learning(linear_chain(100, 6).values, params, 0);
  finish(*learning);
  EXPECT_EQ(learning->report().iterations, 5 * 1000);  // at the first check of each: |1e16 − f| / 1e16 ≤ 1
}

TEST(Dagma, StateComesBack) {
  NoProgress silent;
  for (const Relations relations : {Relations::linear, Relations::nonlinear}) {
    DagmaParams params;
    params.relations = relations;
    params.iterations = params.last_iterations = 150;
    params.learning_rate = 0.01;
    const Dataset data = linear_chain(80, 7);
    const auto straight = dagma_learning(data.values, params, 1);
    finish(*straight);
    const auto first = dagma_learning(data.values, params, 1);
    for (int k = 0; k < 3; ++k) first->advance(silent);
    const auto second = dagma_learning(data.values, params, 1);
    second->restore(first->state());
    EXPECT_EQ(second->state(), first->state());
    finish(*second);
    EXPECT_EQ(second->weights(), straight->weights()) << name(relations);
    EXPECT_EQ(second->state(), straight->state());
    LearningState wrong = first->state();
    wrong.vectors[0].pop_back();
    EXPECT_THROW(second->restore(wrong), UsageError);
  }
}

TEST(Dagma, OddTables) {
  expect_sound_with_odd_tables("dagma", kShort);
  expect_sound_with_odd_tables("dagma", {kLinear[0], kShort[0], kShort[1], kShort[2]});
}
TEST(Dagma, SameBitsForAnyNumberOfThreads) { expect_same_bits_for_any_threads("dagma", kShort); }
TEST(Dagma, TimeBudget) {
  expect_an_answer_when_time_is_up("dagma", {});
  expect_an_answer_when_time_is_up("dagma", kLinear);
  expect_a_budget_that_lasts_to_change_nothing("dagma", kShort);
}

TEST(Dagma, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(learnt("dagma", {}, linear_chain(50, 1), impatient), Interrupted);
}

// Standardised columns have no growing variances to follow; the seed draws the networks.
TEST(Dagma, ScalesAndSeedMatter) {
  const Dataset data = linear_chain(300, 8);
  EXPECT_NE(learnt("dagma", {kLinear[0], {"standardise", true}}, data).weights, learnt("dagma", kLinear, data).weights);
  NoProgress silent;
  RunParams other;
  other.seed = 1;
  EXPECT_NE(learnt("dagma", kShort, data, silent, other).weights, learnt("dagma", kShort, data).weights);
}

}  // namespace
}  // namespace fansite::causal
