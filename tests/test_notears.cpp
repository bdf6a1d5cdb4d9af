// SPDX-License-Identifier: Apache-2.0
//
// NOTEARS: gradients, the known optimum of small cases, and graphs that are known.
#include "fansite/causal/baselines/notears.h"

#include "learning_examples.h"

namespace fansite::causal {
namespace {

Matrix covariance_of(const Dataset& data) {
  const Matrix x = scaled(data.values, Columns::centred);
  return x.transpose() * x / static_cast<double>(x.rows());
}

Notears finished(const Dataset& data, const NotearsParams& params = {}) {
  Notears learning(covariance_of(data), params);
  NoProgress silent;
  while (!learning.finished()) learning.advance(silent);
  return learning;
}

TEST(Notears, RecoversAChain) {
  const CausalGraphResult found = learnt("notears", {}, linear_chain(2000, 1));
  EXPECT_EQ(found.graph.directed, chain_edges());
  EXPECT_NEAR(found.weights(0, 1), 1.5, 0.15);
  EXPECT_NEAR(found.weights(1, 2), -1.2, 0.15);
  EXPECT_TRUE(found.weights.diagonal().isZero(0));
}

TEST(Notears, GradientIsThatOfCentralDifferences) {
  Random random(Key{2});
  const Notears learning(covariance_of(linear_chain(50, 2)), {});
  std::vector<double> x(12), gradient(12), none(12);
  for (double& value : x) value = random.uniform(0.1, 1);
  learning.lagrangian(x, gradient, 7, 0.3);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double kept = x[k];
    x[k] = kept + 1e-6;
    const double up = learning.lagrangian(x, none, 7, 0.3);
    x[k] = kept - 1e-6;
    const double down = learning.lagrangian(x, none, 7, 0.3);
    x[k] = kept;
    EXPECT_NEAR(gradient[k], (up - down) / 2e-6, 1e-5 * std::max(1.0, std::abs(gradient[k])));
  }
}

// Of two variables one direction survives, with w = (c − λ)/c₀ of the parent: the best of the two possible minima.
TEST(Notears, OfTwoVariablesTheMinimumIsKnown) {
  Dataset data = linear_chain(1000, 3);
  data.names.pop_back();
  data.values.conservativeResize(Eigen::NoChange, 2);
  const Matrix c = covariance_of(data);
  const Notears learning = finished(data);
  const double w = (c(0, 1) - 0.1) / c(0, 0);
  EXPECT_NEAR(learning.weights()(0, 1), w, 5e-3);  // h is not quite 0, and pulls
  EXPECT_NEAR(learning.weights()(1, 0), 0, 1e-3);
  EXPECT_LE(learning.acyclicity(), 1e-8);
  const double best = 0.5 * (c(0, 0) + c(1, 1) - 2 * w * c(0, 1) + w * w * c(0, 0)) + 0.1 * std::abs(w);
  EXPECT_NEAR(learning.score() + learning.penalty(), best, 1e-3 * best);
}

// Inside the graph found, the weights of each child are those of a lasso: the conditions of its minimum hold.
TEST(Notears, EndsWhereTheConditionsOfAMinimumHold) {
  for (const std::uint64_t seed : {4, 5, 6}) {
    const Dataset data = simulate_linear(8, 1.5, 400, seed).data;
    const Matrix c = covariance_of(data);
    const Notears learning = finished(data);
    const Matrix w = learning.weights();
    const Matrix gradient = -c * (Matrix::Identity(8, 8) - w);
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < 8; ++j) {
        if (std::abs(w(i, j)) < 0.05 || std::abs(w(j, i)) > 1e-3) continue;  // edges that close no cycle
        EXPECT_NEAR(gradient(i, j) + (w(i, j) > 0 ? 0.1 : -0.1), 0, 0.05) << seed << " " << i << " " << j;
      }
    }
  }
}

TEST(Notears, StateComesBackBetweenMinimisations) {
  const Dataset data = simulate_linear(6, 1.5, 200, 7).data;
  NoProgress silent;
  const Notears straight = finished(data);
  Notears first(covariance_of(data), {});
  while (!first.finished()) {
    Notears second(covariance_of(data), {});
    second.restore(first.state());
    second.advance(silent);
    first.advance(silent);
    EXPECT_EQ(second.state(), first.state());
  }
  EXPECT_EQ(first.weights(), straight.weights());
  LearningState wrong = first.state();
  wrong.numbers.push_back(1);
  EXPECT_THROW(first.restore(wrong), UsageError);
}

TEST(Notears, LimitsAreKept) {
  const Dataset data = simulate_linear(6, 1.5, 200, 8).data;
  NotearsParams params;
  params.rounds = 1;
  EXPECT_GT(finished(data, params).acyclicity(), 1e-8);
  params.rounds = 100;
  params.max_rho = 50;
  EXPECT_GE(finished(data, params).rho(), 50);
}

TEST(Notears, OddTables) { expect_sound_with_odd_tables("notears", {}); }
TEST(Notears, SameBitsForAnyNumberOfThreads) { expect_same_bits_for_any_threads("notears", {}); }
TEST(Notears, TimeBudget) {
  expect_an_answer_when_time_is_up("notears", {});
  expect_a_budget_that_lasts_to_change_nothing("notears", {});
}

TEST(Notears, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(learnt("notears", {}, linear_chain(50, 1), impatient), Interrupted);
}

}  // namespace
}  // namespace fansite::causal
