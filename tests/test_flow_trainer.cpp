// SPDX-License-Identifier: Apache-2.0
//
// Training: the same bits however it is cut into pieces, rows held out that stay out, the best step kept, and settings
// that are checked.
#include "fansite/entropy/flow/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "support.h"
#include "training_examples.h"

namespace fansite::flow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- Same key, same bits --------------------------------------------------------------------------------------------

TEST(Training, SameKeySameBits) {
  const RowTable table = noise(50, 5, 1);
  for (const TrainParams& params : all_ways()) {
    expect_same(train(table, small_shape(5), params), train(table, small_shape(5), params));
    EXPECT_NE(last_weights(table, small_shape(5), params, 1), last_weights(table, small_shape(5), params, 2));
  }
}

TEST(Training, SameBitsForAnyNumberOfThreads) {
  const RowTable table = noise(50, 9, 2);
  for (const TrainParams& params : all_ways()) {
    const Trained alone = train(table, small_shape(9), params);
    for (const int threads : {1, 2, 3}) {
      Team team(threads);
      expect_same(train(table, small_shape(9), params, 1, &team), alone);
    }
  }
}

TEST(Training, InPiecesOfAnySize) {
  const RowTable table = noise(50, 5, 3);
  for (const TrainParams& params : all_ways()) {
    const Trained straight = train(table, small_shape(5), params);
    for (const std::int64_t piece : {1, 7, 10, 46, 1000}) {
      Training training(table, all_rows(table), small_shape(5), params, Key{1});
      std::int64_t calls = 0;
      for (; !training.finished(); ++calls) training.advance(piece);
      EXPECT_EQ(training.steps(), straight.steps);
      EXPECT_EQ(calls, (straight.steps + piece - 1) / piece);
      expect_same(training.result(), straight);
      training.advance(piece);  // nothing is left to do
      expect_same(training.result(), straight);
    }
  }
}

TEST(Training, ContinuesFromAState) {
  const RowTable table = noise(50, 5, 4);
  for (const TrainParams& params : all_ways()) {
    Training straight(table, all_rows(table), small_shape(5), params, Key{1});
    straight.advance(params.steps);
    const std::int64_t last = straight.steps();
    for (const std::int64_t stop :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{9}, std::int64_t{10}, std::int64_t{11}, last - 1, last}) {
      for (const int threads : {1, 2}) {
        Team team(threads);
        Training first(table, all_rows(table), small_shape(5), params, Key{1}, &team);
        first.advance(stop);
        Training second(table, all_rows(table), small_shape(5), params, Key{1}, &team);
        second.advance(stop % 3 == 0 ? 0 : 5);  // whatever it did before does not count
        second.restore(first.state());
        EXPECT_EQ(second.steps(), std::min(stop, last));
        expect_same(second.result(), first.result());
        second.advance(params.steps);
        expect_same(second.result(), straight.result());
        expect_same(second.state(), straight.state());
        // The one that was saved goes on too.
        first.advance(params.steps);
        expect_same(first.state(), straight.state());
      }
    }
  }
}

TEST(Training, CanGoBack) {
  const RowTable table = noise(50, 5, 5);
  Team team(2);
  Training training(table, all_rows(table), small_shape(5), short_training(), Key{1}, &team);
  training.advance(13);
  const Training::State early = training.state();
  training.advance(1000);
  const Training::State late = training.state();
  training.restore(early);
  EXPECT_FALSE(training.finished());
  expect_same(training.state(), early);
  training.advance(1000);
  expect_same(training.state(), late);
}

TEST(Training, CanBeMoved) {
  const RowTable table = noise(50, 5, 6);
  Team team(2);
  std::vector<Training> trainings;
  for (int i = 0; i < 4; ++i) {
    trainings.emplace_back(table, all_rows(table), small_shape(5), short_training(), Key{1}, &team);
    for (Training& training : trainings) training.advance(5);
  }
  trainings[3] = std::move(trainings[0]);
  trainings[3].advance(1000);
  expect_same(trainings[3].result(), train(table, small_shape(5), short_training()));
}

TEST(Training, StatesOfAnotherShapeAreRefused) {
  const RowTable table = noise(20, 5, 7);
  Shape other = small_shape(5);
  other.outputs = 40;
  Training a(table, all_rows(table), small_shape(5), short_training(), Key{1});
  const Training b(table, all_rows(table), other, short_training(), Key{1});
  const std::string message = "[train] the state to continue from is of a flow of another shape";
  EXPECT_EQ(message_of<UsageError>([&] { a.restore(b.state()); }), message);
  Training::State state = a.state();
  state.backup.square.pop_back();
  EXPECT_EQ(message_of<UsageError>([&] { a.restore(state); }), message);
  state = a.state();
  state.best.resize(1);
  EXPECT_EQ(message_of<UsageError>([&] { a.restore(state); }), message);
  a.restore(a.state());
  a.advance(1000);
  expect_same(a.result(), train(table, small_shape(5), short_training()));
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

// A row that is held out can change without a trace in the weights; another cannot.
TEST(HeldOut, RowsNeverEnterTraining) {
  const RowTable table = noise(20, 3, 8);
  for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
    TrainParams params = short_training();
    params.base = base;
    params.held_out = 0.25;
    const std::vector<float> weights = last_weights(table, small_shape(3), params);
    const Trained trained = train(table, small_shape(3), params);
    std::vector<Index> held;
    for (Index i = 0; i < table.rows(); ++i) {
      RowTable changed = table;
      changed.row(i).array() += 0.5f;
      const bool same_weights = last_weights(changed, small_shape(3), params) == weights;
      // Held-out rows, and only they, make the first point of the curve.
      const double start = train(changed, small_shape(3), params).curve.front().held_out;
      if (base == BaseKind::none) {
        EXPECT_EQ(start != trained.curve.front().held_out, same_weights) << i;
      }
      if (same_weights) held.push_back(i);
    }
    ASSERT_EQ(held.size(), 5u);
    RowTable poisoned = table;
    for (const Index i : held) poisoned.row(i) << 1e30f, -1e30f, std::nanf("");
    EXPECT_EQ(last_weights(poisoned, small_shape(3), params), weights);
    EXPECT_EQ(train(poisoned, small_shape(3), params).undone_steps, 0);
    EXPECT_TRUE(train(poisoned, small_shape(3), params).base == trained.base);
    // Another key holds out others.
    RowTable first = table;
    first.row(held.front()).array() += 0.5f;
    int also_held = 0;
    for (std::uint64_t key = 2; key < 12; ++key) {
      if (last_weights(first, small_shape(3), params, key) == last_weights(table, small_shape(3), params, key))
        ++also_held;
    }
    EXPECT_LT(also_held, 10);
  }
}

TEST(HeldOut, AtLeastOneRowAndNotAll) {
  const RowTable table = noise(8, 3, 9);
  const auto held = [&](std::vector<int> rows, double share) {
    TrainParams params = short_training();
    params.held_out = share;
    NoProgress progress;
    const auto weights = [&](const RowTable& from) {
      Training training(from, rows, small_shape(3), params, Key{1});
      training.advance(params.steps);
      return training.state().learner.weights;
    };
    int count = 0;
    for (const int row : rows) {
      RowTable changed = table;
      changed.row(row).array() += 0.5f;
      if (weights(changed) == weights(table)) ++count;
    }
    return count;
  };
  EXPECT_EQ(held({0, 1, 2, 3, 4, 5, 6, 7}, 0.001), 1);
  EXPECT_EQ(held({0, 1, 2, 3, 4, 5, 6, 7}, 0.5), 4);
  EXPECT_EQ(held({0, 1, 2, 3, 4, 5, 6, 7}, 0.99), 7);
  EXPECT_EQ(held({0, 1, 2, 3, 4, 5, 6, 7}, 0), 0);
  EXPECT_EQ(held({3, 5}, 0.1), 1);
  EXPECT_EQ(held({5}, 0.5), 0);  // the only one is needed
}

// All rows are trained on, and those not asked for are not even read.
TEST(Rows, AreThoseAskedFor) {
  const RowTable table = noise(30, 3, 10);
  const std::vector<int> rows = {1, 2, 4, 7, 9, 10, 17, 21, 22, 29};
  for (const double held_out : {0.0, 0.3}) {
    for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
      TrainParams params = short_training();
      params.held_out = held_out;
      params.base = base;
      NoProgress progress;
      const Trained trained = flow::train(table, rows, small_shape(3), params, Key{1}, progress);
      RowTable poisoned = RowTable::Constant(30, 3, std::nanf(""));
      for (const int row : rows) poisoned.row(row) = table.row(row);
      expect_same(flow::train(poisoned, rows, small_shape(3), params, Key{1}, progress), trained);
      // The same rows in a table of their own are the same rows.
      const RowTable alone = table(rows, Eigen::all);
      expect_same(train(alone, small_shape(3), params), trained);
      if (held_out == 0) {
        for (const int row : rows) {
          RowTable changed = table;
          changed.row(row).array() += 0.5f;
          EXPECT_NE(flow::train(changed, rows, small_shape(3), params, Key{1}, progress).weights.values,
                    trained.weights.values);
        }
      }
    }
  }
}

// With steps too small to move a weight, one row each, the loss tells the row and its subset.
std::vector<double> losses_of_single_rows(const RowTable& table, std::int64_t steps) {
  TrainParams params;
  params.steps = steps;
  params.batch = 1;
  params.base = BaseKind::none;
  params.learning_rate = 1e-20;
  params.held_out = 0;
  params.evaluate_every = 1;
  std::vector<double> losses;
  for (const CurvePoint& point : train(table, small_shape(static_cast<int>(table.cols())), params).curve) {
    losses.push_back(point.training);
  }
  return losses;
}

TEST(Rows, ComeOnceEachTimeThroughAndInAnotherOrder) {
  const auto losses = losses_of_single_rows(noise(7, 1, 32), 7 * 20);
  ASSERT_EQ(losses.size(), 140u);
  std::set<std::vector<double>> orders;
  std::set<std::set<double>> sets;
  for (auto first = losses.begin(); first != losses.end(); first += 7) {
    orders.emplace(first, first + 7);
    sets.emplace(first, first + 7);
  }
  EXPECT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets.begin()->size(), 7u);
  EXPECT_GE(orders.size(), 19u);
}

TEST(Rows, HaveFreshSubsets) {
  const auto losses = losses_of_single_rows(noise(1, 4, 33), 200);
  // All 8 subsets with the last variable: none and all three have chance 1/4, each of the others 1/12.
  EXPECT_EQ(std::set<double>(losses.begin(), losses.end()).size(), 8u);
}

// ---- The curve and the step kept ------------------------------------------------------------------------------------

std::vector<std::int64_t> steps_of(const std::vector<CurvePoint>& curve) {
  std::vector<std::int64_t> steps;
  for (const CurvePoint& point : curve) steps.push_back(point.step);
  return steps;
}

TEST(Curve, HasAPointAtEveryEvaluationAndAtTheEnd) {
  const RowTable table = noise(40, 3, 11);
  TrainParams params = short_training();
  Trained trained = train(table, small_shape(3), params);
  EXPECT_THAT(steps_of(trained.curve), ElementsAre(0, 10, 20, 30, 40, 47));
  for (const CurvePoint& point : trained.curve) {
    EXPECT_EQ(std::isfinite(point.training), point.step > 0) << point.step;  // no steps yet, no mean of their losses
    EXPECT_TRUE(std::isfinite(point.held_out)) << point.step;
  }
  EXPECT_EQ(trained.steps, 47);
  EXPECT_EQ(trained.undone_steps, 0);

  params.steps = 40;  // the end is a multiple: one point, not two
  EXPECT_THAT(steps_of(train(table, small_shape(3), params).curve), ElementsAre(0, 10, 20, 30, 40));
  params.steps = 3;
  EXPECT_THAT(steps_of(train(table, small_shape(3), params).curve), ElementsAre(0, 3));
  params.evaluate_every = 1;
  EXPECT_THAT(steps_of(train(table, small_shape(3), params).curve), ElementsAre(0, 1, 2, 3));

  params = short_training();
  params.held_out = 0;
  trained = train(table, small_shape(3), params);
  EXPECT_THAT(steps_of(trained.curve), ElementsAre(10, 20, 30, 40, 47));
  for (const CurvePoint& point : trained.curve) {
    EXPECT_TRUE(std::isfinite(point.training)) << point.step;
    EXPECT_TRUE(std::isnan(point.held_out)) << point.step;
  }
  EXPECT_EQ(trained.kept_step, 47);
  EXPECT_EQ(trained.weights.values, last_weights(table, small_shape(3), params));
}

// With an evaluation at every step, training losses are those of the steps; in longer ones, their means.
TEST(Curve, TrainingLossesAreMeansOverTheSteps) {
  const RowTable table = noise(40, 3, 12);
  TrainParams each = short_training(), ten = each;
  each.evaluate_every = 1;
  const auto one = train(table, small_shape(3), each).curve, means = train(table, small_shape(3), ten).curve;
  ASSERT_EQ(one.size(), 48u);
  for (std::size_t i = 1; i < means.size(); ++i) {
    double sum = 0;
    const auto from = static_cast<std::size_t>(means[i - 1].step), to = static_cast<std::size_t>(means[i].step);
    for (std::size_t step = from + 1; step <= to; ++step) sum += one[step].training;
    EXPECT_NEAR(means[i].training, sum / static_cast<double>(to - from), 1e-12);
    EXPECT_EQ(means[i].held_out, one[to].held_out);
  }
}

TEST(Curve, NoStepsNoCurve) {
  const RowTable table = noise(20, 3, 13);
  TrainParams params = short_training();
  params.steps = 0;
  const Trained trained = train(table, small_shape(3), params);
  EXPECT_EQ(trained.steps, 0);
  EXPECT_EQ(trained.kept_step, 0);
  EXPECT_EQ(trained.weights.shape(), small_shape(3));
  EXPECT_TRUE(std::ranges::all_of(trained.weights.values, [](float w) { return std::isfinite(w); }));
}

// What can be had at any moment: the best so far.
TEST(Curve, ResultsCanBeTakenOnTheWay) {
  const RowTable table = noise(40, 3, 14);
  Training training(table, all_rows(table), small_shape(3), short_training(), Key{1});
  EXPECT_EQ(training.result().weights.values, training.state().learner.weights);
  EXPECT_EQ(training.result().kept_step, 0);
  training.advance(25);
  const Trained trained = training.result();
  EXPECT_EQ(trained.steps, 25);
  EXPECT_THAT(steps_of(trained.curve), ElementsAre(0, 10, 20));
  EXPECT_EQ(trained.kept_step % 10, 0);
}

// Few rows and a long run: the likelihood of rows held out rises, then falls.
struct Overfitted {
  RowTable table = Parabola::table(40, 15);
  TrainParams params = [] {
    TrainParams p = short_training();
    p.steps = 2000;
    p.base = BaseKind::none;
    p.schedule = Schedule::constant;
    p.evaluate_every = 20;
    p.held_out = 0.3;
    return p;
  }();
};

TEST(Kept, IsTheBestStep) {
  const Overfitted over;
  for (const std::uint64_t key : {1u, 2u, 3u}) {
    const Trained trained = train(over.table, small_shape(3), over.params, key);
    const auto best = std::ranges::min_element(trained.curve, {}, &CurvePoint::held_out);
    EXPECT_EQ(trained.kept_step, best->step);
    EXPECT_EQ(trained.steps, 2000);
    EXPECT_LT(best->held_out, trained.curve.front().held_out);
    EXPECT_LT(best->held_out, trained.curve.back().held_out) << "no overfitting, no test";
    // The weights are that step's.
    Training again(over.table, all_rows(over.table), small_shape(3), over.params, Key{key});
    again.advance(trained.kept_step);
    EXPECT_EQ(again.state().learner.weights, trained.weights.values);
    again.advance(1);
    EXPECT_NE(again.state().learner.weights, trained.weights.values);
  }
}

TEST(Kept, PatienceStopsEarly) {
  Overfitted over;
  over.params.batch = 4;  // noisy steps, so that there are evaluations without improvement before the best
  bool waited_in_vain = false;
  for (const std::int64_t every : {20, 2}) {
    over.params.evaluate_every = every;
    over.params.patience = 0;
    const Trained whole = train(over.table, small_shape(3), over.params);
    for (const int patience : {1, 3, 10}) {
      over.params.patience = patience;
      Training training(over.table, all_rows(over.table), small_shape(3), over.params, Key{1});
      training.advance(over.params.steps);
      EXPECT_TRUE(training.finished());
      const Trained trained = training.result();
      // The first time that so many evaluations in a row were no better than the best.
      std::size_t best = 0, end = 1, no_better = 0;
      for (; end - best <= static_cast<std::size_t>(patience); ++end) {
        if (whole.curve[end].held_out < whole.curve[best].held_out) {
          best = end;
        } else {
          ++no_better;
        }
      }
      if (no_better > static_cast<std::size_t>(patience)) waited_in_vain = true;
      EXPECT_EQ(trained.kept_step, whole.curve[best].step);
      EXPECT_EQ(trained.steps, whole.curve[best].step + patience * every);
      EXPECT_LT(trained.steps, over.params.steps);
      EXPECT_EQ(trained.curve.back().step, trained.steps);
      training.advance(100);
      EXPECT_EQ(training.steps(), trained.steps);
    }
  }
  EXPECT_TRUE(waited_in_vain) << "patience that begins anew after an improvement is not tested";
}

// ---- Progress -------------------------------------------------------------------------------------------------------

// Counts steps, and asks to stop after so many.
class Counting final : public Progress {
 public:
  explicit Counting(long stop_after = 1L << 60) : stop_after_(stop_after) {}
  void begin(std::string_view, long) override {}
  void advance(long steps) override { steps_ += steps; }
  bool interrupted() const override { return steps_ >= stop_after_; }
  long steps() const { return steps_; }

 private:
  long stop_after_, steps_ = 0;
};

TEST(TrainProgress, EveryStepIsReported) {
  const RowTable table = noise(40, 3, 28);
  for (const std::int64_t steps : {0, 1, 49, 50, 51, 333}) {
    TrainParams params = short_training();
    params.steps = steps;
    Counting progress;
    EXPECT_EQ(flow::train(table, all_rows(table), small_shape(3), params, Key{1}, progress).steps, steps);
    EXPECT_EQ(progress.steps(), steps);
  }
  // Patience: those that were taken.
  const Overfitted over;
  TrainParams params = over.params;
  params.patience = 2;
  Counting progress;
  const Trained trained = flow::train(over.table, all_rows(over.table), small_shape(3), params, Key{1}, progress);
  EXPECT_EQ(progress.steps(), trained.steps);
}

TEST(TrainProgress, Interrupts) {
  const RowTable table = noise(40, 3, 29);
  Impatient impatient;
  EXPECT_THROW(flow::train(table, all_rows(table), small_shape(3), short_training(), Key{1}, impatient), Interrupted);
  TrainParams params = short_training();
  params.steps = 1000000;
  Counting progress(200);
  Team team(2);
  EXPECT_THROW(flow::train(table, all_rows(table), small_shape(3), params, Key{1}, progress, &team), Interrupted);
  EXPECT_LT(progress.steps(), 400);
}

// ---- Settings -------------------------------------------------------------------------------------------------------

TEST(PaperTraining, IsThePapers) {
  const TrainParams params = paper_training(30, 1000);
  EXPECT_EQ(params.steps, 80000);
  EXPECT_EQ(params.batch, 64);
  EXPECT_EQ(params.learning_rate, 5e-4);
  EXPECT_EQ(params.clip, 5);
  EXPECT_EQ(params.held_out, 0);
  EXPECT_EQ(params.patience, 0);
  EXPECT_EQ(params.schedule, Schedule::constant);
  EXPECT_EQ(params.subsets, SubsetKind::leaf);
  EXPECT_EQ(params.base, BaseKind::none);
  EXPECT_EQ(paper_training(99, 64).steps, 5000);
  EXPECT_EQ(paper_training(99, 65).steps, 10000);
  EXPECT_EQ(paper_training(100, 1000).batch, 256);
  EXPECT_EQ(paper_training(100, 1000).steps, 20000);
  for (const int d : {1, 2, 30, 100, 1000}) EXPECT_NO_THROW(validate(paper_training(d, 1000), paper_shape(d)));
}

TEST(ValidateTraining, SaysWhatIsWrong) {
  const auto message = [](auto&& change, const Shape& shape = paper_shape(30)) {
    TrainParams params;
    change(params);
    return message_of<UsageError>([&] { validate(params, shape); });
  };
  using P = TrainParams;
  EXPECT_EQ(message([](P&) {}), "nothing was thrown");
  EXPECT_EQ(message([](P& p) { p.steps = -1; }), "[steps] -1 is out of range; use a whole number, 0 or more");
  EXPECT_EQ(message([](P& p) { p.steps = 0; }), "nothing was thrown");
  EXPECT_EQ(message([](P& p) { p.batch = -3; }), "[batch] -3 is out of range; use a whole number, 0 or more");
  EXPECT_EQ(message([](P& p) { p.learning_rate = 0; }), "[learning_rate] 0 is out of range; use a number, above 0");
  EXPECT_EQ(message([](P& p) { p.learning_rate = -1; }), "[learning_rate] -1 is out of range; use a number, above 0");
  EXPECT_EQ(message([](P& p) { p.learning_rate = std::nan(""); }),
            "[learning_rate] nan is out of range; use a number, above 0");
  EXPECT_EQ(message([](P& p) { p.learning_rate = HUGE_VAL; }),
            "[learning_rate] inf is out of range; use a number, above 0");
  EXPECT_EQ(message([](P& p) { p.clip = 0; }), "[clip] 0 is out of range; use a number, above 0, or inf");
  EXPECT_EQ(message([](P& p) { p.clip = std::nan(""); }), "[clip] nan is out of range; use a number, above 0, or inf");
  EXPECT_EQ(message([](P& p) { p.clip = HUGE_VAL; }), "nothing was thrown");  // no clip
  EXPECT_EQ(message([](P& p) { p.held_out = 1; }), "[held_out] 1 is out of range; use a number, 0 or more and below 1");
  EXPECT_EQ(message([](P& p) { p.held_out = -0.1; }),
            "[held_out] -0.1 is out of range; use a number, 0 or more and below 1");
  EXPECT_EQ(message([](P& p) { p.held_out = std::nan(""); }),
            "[held_out] nan is out of range; use a number, 0 or more and below 1");
  EXPECT_EQ(message([](P& p) { p.patience = -2; }), "[patience] -2 is out of range; use a whole number, 0 or more");
  EXPECT_EQ(message([](P& p) {
              p.patience = 2;
              p.held_out = 0;
            }),
            "[patience] it needs rows held out to judge by; set held_out above 0");
  EXPECT_EQ(message([](P& p) { p.evaluate_every = 0; }),
            "[evaluate_every] 0 is out of range; use a whole number, 1 or more");
  EXPECT_EQ(message([](P& p) { p.max_size = 30; }),
            "[train] subsets of up to 30 variables; a flow with 29 ranks allows 29");
  EXPECT_EQ(message([](P& p) { p.max_size = 29; }), "nothing was thrown");
  EXPECT_EQ(message([](P& p) { p.max_size = -1; }), "[subset_size] -1 is out of range; use a whole number, 0 or more");
  const auto non_leaf = [](int max_size) {
    return [max_size](P& p) {
      p.subsets = SubsetKind::non_leaf;
      p.max_size = max_size;
    };
  };
  EXPECT_EQ(message(non_leaf(30)), "nothing was thrown");
  EXPECT_EQ(message(non_leaf(31)), "[train] subsets of up to 31 variables; a flow with 29 ranks allows 30");
  const Shape compact{12, 6, 3, 20, 4};
  EXPECT_EQ(message([](P&) {}, compact), "nothing was thrown");
  EXPECT_EQ(message([](P& p) { p.max_size = 4; }, compact),
            "[train] subsets of up to 4 variables; a flow with 3 ranks allows 3");
  EXPECT_EQ(message(non_leaf(0), compact), "nothing was thrown");
  EXPECT_EQ(message(non_leaf(4), compact), "nothing was thrown");
  for (const int d : {1, 2, 3}) {
    EXPECT_EQ(message([](P&) {}, paper_shape(d)), "nothing was thrown") << d;
    EXPECT_EQ(message(non_leaf(0), paper_shape(d)), "nothing was thrown") << d;
  }
}

TEST(ValidateTraining, TrainingSaysSoToo) {
  const RowTable table = noise(10, 3, 30);
  TrainParams params = short_training();
  EXPECT_EQ(message_of<UsageError>([&] { train(table, small_shape(4), params); }),
            "[train] a table of 3 columns for a flow of 4 variables");
  NoProgress progress;
  EXPECT_EQ(message_of<UsageError>([&] { flow::train(table, {}, small_shape(3), params, Key{1}, progress); }),
            "[train] no rows to train on");
  for (const int row : {-1, 10}) {
    EXPECT_EQ(message_of<UsageError>([&] {
                flow::train(table, std::vector<int>{3, row}, small_shape(3), params, Key{1}, progress);
              }),
              "[train] row " + std::to_string(row) + " to train on; the table has 0 to 9");
  }
  params.max_size = 3;
  EXPECT_EQ(message_of<UsageError>([&] { train(table, small_shape(3), params); }),
            "[flow] subsets of up to 3 of 3 variables; use 0 to 2");
  params = short_training();
  params.batch = -1;
  EXPECT_THROW(train(table, small_shape(3), params), UsageError);
}

TEST(TrainNames, ComeBack) {
  for (const SubsetKind kind : {SubsetKind::leaf, SubsetKind::non_leaf}) EXPECT_EQ(parse<SubsetKind>(name(kind)), kind);
  for (const BaseKind kind : {BaseKind::none, BaseKind::gaussian}) EXPECT_EQ(parse<BaseKind>(name(kind)), kind);
  for (const Schedule s : {Schedule::constant, Schedule::cosine}) EXPECT_EQ(parse<Schedule>(name(s)), s);
  EXPECT_EQ(message_of<UsageError>([] { parse<SubsetKind>("Leaf"); }),
            "[value] 'Leaf' is unknown; use leaf or non_leaf");
  EXPECT_EQ(message_of<UsageError>([] { parse<BaseKind>(""); }), "[value] '' is unknown; use gaussian or none");
  EXPECT_EQ(message_of<UsageError>([] { parse<Schedule>("linear"); }),
            "[value] 'linear' is unknown; use cosine or constant");
}

}  // namespace
}  // namespace fansite::flow
