// SPDX-License-Identifier: Apache-2.0
//
// What training learns: near the truth, two modes, small tables; and tables with values that make no sense.
#include "fansite/entropy/flow/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "support.h"
#include "training_examples.h"

namespace fansite::flow {
namespace {

using testing::HasSubstr;

// ---- Learning -------------------------------------------------------------------------------------------------------

// −mean log p of the network over rows it has not seen, less the truth's.
double excess_loss(const Trained& trained, const RowTable& fresh) {
  Batch batch(trained.weights.shape(), &trained.base);
  SubsetSampler sampler(3, SubsetKind::leaf, 2);
  Random random(Key{16});
  Subset subset;
  double truth = 0;
  for (Index i = 0; i < fresh.rows(); ++i) {
    sampler.draw(random, subset);
    batch.add(subset, fresh.row(i).data());
    truth -= Parabola::log_density(fresh.row(i).data(), subset) / static_cast<double>(fresh.rows());
  }
  batch.finish();
  return Learner(trained.weights).loss(batch) - truth;
}

class LearningWith : public testing::TestWithParam<BaseKind> {};

INSTANTIATE_TEST_SUITE_P(Base, LearningWith, testing::Values(BaseKind::none, BaseKind::gaussian),
                         [](const auto& info) { return std::string(name(info.param)); });

// From far above (0.7 to 1.8) to a few hundredths; no density is better than the truth.
TEST_P(LearningWith, ComesNearTheTruth) {
  const RowTable table = Parabola::table(2000, 17), fresh = Parabola::table(1000, 18);
  for (const Schedule schedule : {Schedule::cosine, Schedule::constant}) {
    TrainParams params;
    params.steps = 2500;
    params.base = GetParam();
    params.schedule = schedule;
    params.learning_rate = 5e-3;
    const Trained trained = train(table, paper_shape(3), params);
    const double excess = excess_loss(trained, fresh);
    EXPECT_GT(excess, 0.005);
    EXPECT_LT(excess, 0.12);
    EXPECT_GT(trained.curve.front().held_out - trained.curve.back().held_out, 0.6);
    // Rows held out and rows seen alike: 200 and 1800 rows of the same distribution.
    EXPECT_NEAR(trained.curve.back().held_out, trained.curve.back().training, 0.2);
  }
}

// Two modes on the line, and in the plane two points of four.
TEST_P(LearningWith, FindsTwoModes) {
  RowTable line(1000, 1), plane(1000, 2);
  Random random(Key{21});
  for (Index i = 0; i < 1000; ++i) {
    const double sign = random.coin() ? 1 : -1;
    line(i, 0) = static_cast<float>(2 * sign + 0.3 * random.normal());
    plane.row(i) << line(i, 0), static_cast<float>(2 * sign + 0.3 * random.normal());
  }
  // Half of the mass in each of two Gaussians far apart: ln 2 more than the entropy of one; the second variable's sign
  // is known from the first. Subsets {2} and {1, 2} are equally likely.
  const double gaussian = 0.5 * (1 + std::log(2 * std::numbers::pi)) + std::log(0.3);
  TrainParams params;
  params.steps = 3000;
  params.learning_rate = 1e-2;
  params.base = GetParam();
  // Losses of the last steps: means over many more subsets than the rows held out give.
  EXPECT_NEAR(train(line, paper_shape(1), params).curve.back().training, gaussian + std::numbers::ln2, 0.1);
  EXPECT_NEAR(train(plane, paper_shape(2), params).curve.back().training, 1.5 * gaussian + std::numbers::ln2, 0.2);
}

// With a base, linear Gaussian data are exact before the first step.
TEST(Learning, TheBaseKnowsLinearData) {
  RowTable table = noise(1000, 4, 19);
  table.col(2) += 2.0f * table.col(0) - table.col(1);
  table.col(3) += 3.0f * table.col(2);
  TrainParams params = short_training();
  params.subsets = SubsetKind::leaf;
  const double with = train(table, small_shape(4), params).curve.front().held_out;
  params.base = BaseKind::none;
  const double without = train(table, small_shape(4), params).curve.front().held_out;
  EXPECT_LT(with, without - 1);
}

TEST(Learning, CosineEndsInTinySteps) {
  const RowTable table = Parabola::table(100, 20);
  TrainParams params = short_training();
  params.steps = 100;
  const auto moves = [&](Schedule schedule) {
    params.schedule = schedule;
    Training training(table, all_rows(table), small_shape(3), params, Key{1});
    std::vector<double> sizes;
    std::vector<float> before = training.state().learner.weights;
    while (!training.finished()) {
      training.advance(1);
      const std::vector<float> after = training.state().learner.weights;
      double largest = 0;
      for (std::size_t i = 0; i < after.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(after[i] - before[i])));
      }
      sizes.push_back(largest);
      before = after;
    }
    return sizes;
  };
  const auto cosine = moves(Schedule::cosine), constant = moves(Schedule::constant);
  EXPECT_NEAR(cosine.front(), params.learning_rate, 1e-5);  // Adam's first step, by the first learning rate
  EXPECT_NEAR(constant.front(), params.learning_rate, 1e-5);
  EXPECT_GT(cosine.back(), 0);
  EXPECT_LT(cosine.back(), 2e-3 * params.learning_rate);  // ½(1 + cos 0.99π) = 2.5e-4
  EXPECT_GT(constant.back(), 0.1 * params.learning_rate);
  EXPECT_GT(cosine[49], 0.1 * params.learning_rate);  // half at half
}

TEST(Learning, OneAndTwoVariables) {
  for (const TrainParams& params : all_ways()) {
    for (const int variables : {1, 2}) {
      const RowTable table = noise(30, variables, 21);
      const Trained trained = train(table, small_shape(variables), params);
      EXPECT_EQ(trained.undone_steps, 0);
      EXPECT_TRUE(params.patience > 0 || trained.steps == params.steps);
      EXPECT_EQ(train(table.topRows(1), small_shape(variables), params).undone_steps, 0);  // a single row
    }
  }
}

TEST(Learning, CompactFlows) {
  const RowTable table = 4.0f * noise(60, 12, 22);  // a scale to be learnt
  Shape shape = small_shape(12);
  shape.ranks = 4;
  TrainParams params = short_training();
  params.base = BaseKind::none;
  Team team(2);
  for (const SubsetKind kind : {SubsetKind::leaf, SubsetKind::non_leaf}) {
    params.subsets = kind;
    const Trained trained = train(table, shape, params);
    EXPECT_LT(trained.curve.back().training, trained.curve[1].training - 2);
    expect_same(train(table, shape, params, 1, &team), trained);
  }
}

// ---- Values that make no sense --------------------------------------------------------------------------------------

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// Where the absurd value is in the batch and its variable in the subset, the step is not taken.
TEST(Absurd, OneValueIsPassedOver) {
  RowTable table = Parabola::table(200, 23);
  table(17, 0) = 1e30f;
  for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
    for (const double held_out : {0.0, 0.1}) {
      TrainParams params;
      params.steps = 300;
      params.batch = 20;
      params.evaluate_every = 50;
      params.base = base;
      params.held_out = held_out;
      Team team(2);
      std::optional<Trained> first;
      for (Team* with : {static_cast<Team*>(nullptr), &team}) {
        const Trained trained = train(table, small_shape(3), params, 1, with);
        EXPECT_EQ(trained.steps, 300);
        // Of 30 times through the rows, half with its variable. In a base's units the value itself is harmless.
        EXPECT_GT(trained.undone_steps, base == BaseKind::none ? 5 : 0);
        EXPECT_LT(trained.undone_steps, 35);
        EXPECT_TRUE(all_finite(trained.weights.values));
        for (const CurvePoint& point : trained.curve) EXPECT_TRUE(point.step == 0 || std::isfinite(point.training));
        if (first) expect_same(trained, *first);
        first = trained;
      }
      // Also when interrupted right at it.
      Training training(table, all_rows(table), small_shape(3), params, Key{1});
      while (!training.finished()) {
        training.advance(1);
        Training next(table, all_rows(table), small_shape(3), params, Key{1});
        next.restore(training.state());
        training = std::move(next);
      }
      expect_same(training.result(), *first);
    }
  }
}

// One row in a thousand that cannot be used must not keep the others from being learnt.
TEST(Absurd, OneValueDoesNotStopLearning) {
  RowTable table = Parabola::table(1000, 24);
  const RowTable fresh = Parabola::table(1000, 25);
  TrainParams params;
  params.steps = 2500;
  params.base = BaseKind::none;
  params.learning_rate = 5e-3;
  params.held_out = 0;
  const double clean = excess_loss(train(table, paper_shape(3), params), fresh);
  table(17, 0) = 1e30f;
  const Trained trained = train(table, paper_shape(3), params);
  EXPECT_GT(trained.undone_steps, 0);
  EXPECT_LT(excess_loss(trained, fresh), clean + 0.05);
}

// If it is the weights that no step works with, training goes back to those that did.
TEST(Absurd, WeightsAreTakenBack) {
  const RowTable table = Parabola::table(100, 31);
  for (const double held_out : {0.0, 0.2}) {
    TrainParams params = short_training();
    params.held_out = held_out;
    Training training(table, all_rows(table), small_shape(3), params, Key{1});
    training.advance(12);
    Training::State state = training.state();
    std::ranges::fill(state.learner.weights, 1e30f);
    training.restore(state);
    training.advance(params.steps);
    const Trained trained = training.result();
    EXPECT_EQ(trained.steps, params.steps);
    EXPECT_GT(trained.undone_steps, 0);
    EXPECT_LT(trained.undone_steps, 21);
    EXPECT_TRUE(std::ranges::all_of(training.state().learner.weights, [](float w) { return std::abs(w) < 100; }));
    EXPECT_NEAR(trained.curve.back().training, train(table, small_shape(3), params).curve.back().training, 0.5);
  }
}

TEST(Absurd, TablesAreRefusedWithTheFix) {
  for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
    for (const float absurd : {1e30f, 3e38f, HUGE_VALF}) {
      RowTable table = noise(100, 3, 26);
      table.array() += absurd;
      TrainParams params;
      params.base = base;
      const std::string message = message_of<DataError>([&] { train(table, small_shape(3), params); });
      EXPECT_THAT(message, HasSubstr("[train] the loss is not finite")) << absurd;
      EXPECT_THAT(message, HasSubstr("Standardise the columns")) << absurd;
    }
  }
}

// Steps of such a size that nothing is left of the weights: whatever is returned is finite, and said to be no good.
TEST(Absurd, LearningRates) {
  const RowTable table = Parabola::table(100, 27);
  for (const double rate : {1e3, 1e10, 1e25, 1e38}) {
    TrainParams params = short_training();
    params.learning_rate = rate;
    try {
      const Trained trained = train(table, small_shape(3), params);
      EXPECT_TRUE(all_finite(trained.weights.values)) << rate;
      EXPECT_EQ(trained.kept_step, 0) << rate;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("lower the learning rate"));
    }
  }
}

}  // namespace
}  // namespace fansite::flow
