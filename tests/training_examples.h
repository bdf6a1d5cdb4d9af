// SPDX-License-Identifier: Apache-2.0
//
// Tables and short trainings of flows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "fansite/entropy/flow/trainer.h"
#include "golden.h"

namespace fansite::flow {

// ---- Tables ---------------------------------------------------------------------------------------------------------

inline std::vector<int> all_rows(const RowTable& table) {
  std::vector<int> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

inline RowTable noise(Index rows, int variables, std::uint64_t seed) {
  RowTable table(rows, variables);
  Random random(Key{seed});
  for (float& value : table.reshaped()) value = static_cast<float>(random.normal());
  return table;
}

// x1 is Gaussian, x2 a parabola of x1, which x2 tells up to its sign, and x3 has two modes that move with x1.
struct Parabola {
  static constexpr double kNoise2 = 0.5, kNoise3 = 0.4, kMode = 1.5, kSlope = 0.6;

  static RowTable table(Index rows, std::uint64_t seed) {
    RowTable table(rows, 3);
    Random random(Key{seed});
    for (Index i = 0; i < rows; ++i) {
      const double x1 = random.normal(), x2 = x1 * x1 + kNoise2 * random.normal();
      const double x3 = (random.coin() ? kMode : -kMode) + kSlope * x1 + kNoise3 * random.normal();
      table.row(i) << static_cast<float>(x1), static_cast<float>(x2), static_cast<float>(x3);
    }
    return table;
  }

  // The true log p(x_S) of a subset with x3; without x1, by Simpson's rule over it.
  static double log_density(const float* x, const Subset& subset) {
    const auto has = [&](int j) { return std::ranges::find(subset, j) != subset.end(); };
    const double x2 = static_cast<double>(x[1]), x3 = static_cast<double>(x[2]);
    const auto at = [&](double x1) {
      const double given2 = has(1) ? normal((x2 - x1 * x1) / kNoise2) / kNoise2 : 1;
      const double up = normal((x3 - kMode - kSlope * x1) / kNoise3),
                   down = normal((x3 + kMode - kSlope * x1) / kNoise3);
      return normal(x1) * given2 * (up + down) / (2 * kNoise3);
    };
    if (has(0)) return std::log(at(static_cast<double>(x[0])));
    constexpr int kIntervals = 1200;
    constexpr double kReach = 6, kWidth = 2 * kReach / kIntervals;
    double sum = 0;
    for (int i = 0; i <= kIntervals; ++i) {
      sum += (i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2) * at(-kReach + i * kWidth);
    }
    return std::log(sum * kWidth / 3);
  }

 private:
  static double normal(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
};

// ---- Runs -----------------------------------------------------------------------------------------------------------

inline Shape small_shape(int variables) {
  Shape shape = paper_shape(variables);
  shape.blocks = 3;
  shape.outputs = 5;
  return shape;
}

// Short, with several points on the curve and the last of them not on a multiple.
inline TrainParams short_training() {
  TrainParams params;
  params.steps = 47;
  params.batch = 16;
  params.learning_rate = 1e-2;
  params.held_out = 0.2;
  params.evaluate_every = 10;
  return params;
}

inline Trained train(const RowTable& table, const Shape& shape, const TrainParams& params, std::uint64_t key = 1,
                     Team* team = nullptr) {
  NoProgress progress;
  return flow::train(table, all_rows(table), shape, params, Key{key}, progress, team);
}

// The network after the last step, which need not be the one kept.
inline std::vector<float> last_weights(const RowTable& table, const Shape& shape, const TrainParams& params,
                                       std::uint64_t key = 1) {
  Training training(table, all_rows(table), shape, params, Key{key});
  training.advance(params.steps);
  return training.state().learner.weights;
}

inline bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

inline void expect_same(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.weights.values, b.weights.values);
  EXPECT_TRUE(a.base == b.base);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.kept_step, b.kept_step);
  EXPECT_EQ(a.undone_steps, b.undone_steps);
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].step, b.curve[i].step);
    EXPECT_TRUE(same_number(a.curve[i].training, b.curve[i].training)) << i;
    EXPECT_TRUE(same_number(a.curve[i].held_out, b.curve[i].held_out)) << i;
  }
}

inline void expect_same(const Training::State& a, const Training::State& b) {
  for (const auto& [x, y] : {std::pair(&a.learner, &b.learner), std::pair(&a.backup, &b.backup)}) {
    EXPECT_EQ(x->weights, y->weights);
    EXPECT_EQ(x->mean, y->mean);
    EXPECT_EQ(x->square, y->square);
    EXPECT_EQ(x->steps, y->steps);
  }
  EXPECT_EQ(a.best, b.best);
  EXPECT_EQ(a.curve.size(), b.curve.size());
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.kept_step, b.kept_step);
  EXPECT_EQ(a.undone, b.undone);
  EXPECT_EQ(a.undone_in_a_row, b.undone_in_a_row);
  EXPECT_EQ(a.waited, b.waited);
  EXPECT_EQ(a.best_loss, b.best_loss);
  EXPECT_EQ(a.loss_sum, b.loss_sum);
  EXPECT_EQ(a.loss_count, b.loss_count);
  EXPECT_EQ(a.stopped, b.stopped);
}

// Settings that take every way through training: with and without held-out rows and a base, both schedules and kinds.
inline std::vector<TrainParams> all_ways() {
  std::vector<TrainParams> ways;
  for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
    for (const double held_out : {0.0, 0.2}) {
      TrainParams params = short_training();
      params.base = base;
      params.held_out = held_out;
      ways.push_back(params);
    }
  }
  ways.push_back(ways.front());
  ways.back().schedule = Schedule::constant;
  ways.back().subsets = SubsetKind::non_leaf;
  ways.back().batch = 90;  // more than a time through the rows in a step
  ways.push_back(ways[1]);
  ways.back().patience = 1;
  ways.back().learning_rate = 0.5;
  return ways;
}

}  // namespace fansite::flow
