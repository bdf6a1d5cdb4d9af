// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/neural/bnaf.h"
#include "fansite/entropy/neural/naf.h"
#include "fansite/entropy/neural/products.h"
#include "tests/support.h"

namespace fansite::neural {
namespace {

using testing::HasSubstr;

flow::RowTable noise(Index rows, Index columns) {
  Random random{Key{2}};
  flow::RowTable table(rows, columns);
  for (Index i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(random.normal());
  return table;
}

std::vector<int> all_rows(Index rows) {
  std::vector<int> result(static_cast<std::size_t>(rows));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// Says which subsets it was shown: its loss is what a test wants it to be.
class Watcher final : public SubsetNetwork<float> {
 public:
  int variables() const override { return 6; }
  std::size_t size() const override { return 2; }
  Draws draws() const override { return kind; }
  void start(Key, std::span<float> parameters) const override { parameters[0] = parameters[1] = 1; }
  double loss(std::span<const float> parameters, const SubsetBatch<float>& batch,
              std::span<float> gradient) const override {
    if (!gradient.empty()) {
      gradient[0] = 3 * parameters[0];
      gradient[1] = 4 * parameters[1];
      for (Index r = 0; r < batch.rows(); ++r) {
        sizes.push_back(static_cast<int>(batch.mask.row(r).sum()));
        last += batch.mask(r, 5);
        EXPECT_TRUE((batch.mask.row(r).array() <= batch.present.row(r).array()).all());
        values.push_back(batch.values(r, 0));
      }
    }
    if (gradient.empty() && !held_out_losses.empty()) return held_out_losses[evaluations++ % held_out_losses.size()];
    return answer;
  }
  std::unique_ptr<const flow::SubsetDensity> density(std::span<const float>) const override { return nullptr; }

  Draws kind = Draws::densities;
  double answer = 1;
  std::vector<double> held_out_losses;
  mutable std::vector<int> sizes;
  mutable std::vector<float> values;
  mutable float last = 0;
  mutable std::size_t evaluations = 0;
};

NetworkTrainParams plain(std::int64_t steps) {
  NetworkTrainParams params;
  params.steps = steps;
  params.batch = 10;
  params.held_out = 0;
  params.patience = 0;
  params.decay = Decay::constant;
  return params;
}

TEST(NetworkTraining, LeafSubsetsAlwaysHaveTheLastVariable) {
  const flow::RowTable table = noise(100, 6);
  Watcher watcher;
  NetworkTrainParams params = plain(200);
  params.max_size = 3;
  NetworkTraining(table, all_rows(100), watcher, params, Key{1}).advance(200);
  std::vector<int> count(8, 0);
  for (const int size : watcher.sizes) ++count[static_cast<std::size_t>(size)];
  EXPECT_EQ(watcher.last, 2000);
  EXPECT_EQ(count[0], 0);
  for (const std::size_t size : {1u, 2u, 3u, 4u}) EXPECT_NEAR(count[size], 500, 80);  // n uniform on 0..3, and the last
}

TEST(NetworkTraining, NonLeafSubsetsAndConditions) {
  const flow::RowTable table = noise(100, 6);
  Watcher watcher;
  NetworkTrainParams params = plain(200);
  params.max_size = 4;
  params.subsets = flow::SubsetKind::non_leaf;
  NetworkTraining(table, all_rows(100), watcher, params, Key{1}).advance(200);
  EXPECT_EQ(*std::min_element(watcher.sizes.begin(), watcher.sizes.end()), 1);
  EXPECT_EQ(*std::max_element(watcher.sizes.begin(), watcher.sizes.end()), 4);
  Watcher conditions;
  conditions.kind = Draws::conditions;
  NetworkTraining(table, all_rows(100), conditions, plain(200), Key{1}).advance(200);
  std::vector<int> count(7, 0);
  for (const int size : conditions.sizes) ++count[static_cast<std::size_t>(size)];
  for (std::size_t size = 0; size < 6; ++size) EXPECT_NEAR(count[size], 333, 70);  // uniform on 0..d−1
  EXPECT_EQ(count[6], 0);
}

TEST(NetworkTraining, EveryRowOnceAnEpochAndNoAbsentCellInASubset) {
  flow::RowTable table = noise(50, 6);
  for (Index r = 0; r < 50; ++r) table(r, r % 6) = std::nanf("");
  table.row(7).setConstant(std::nanf(""));  // a row without cells is left out
  for (Index r = 0; r < 50; ++r) table(r, 0) = std::isnan(table(r, 0)) ? table(r, 0) : static_cast<float>(r);
  Watcher watcher;
  NetworkTrainParams params = plain(7);
  params.batch = 7;
  NetworkTraining(table, all_rows(50), watcher, params, Key{1}).advance(7);  // 49 rows
  std::vector<float> seen = watcher.values;
  std::sort(seen.begin(), seen.end());
  std::vector<float> expected;
  for (Index r = 0; r < 50; ++r) {
    if (r != 7) expected.push_back(std::isnan(table(r, 0)) ? 0.0f : static_cast<float>(r));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);
}

TEST(NetworkTraining, StopsWhenHeldOutRowsGetNoBetterAndKeepsTheBest) {
  const flow::RowTable table = noise(100, 6);
  Watcher watcher;
  watcher.held_out_losses = {5, 4, 3, 6, 6, 6, 6, 6, 6};
  NetworkTrainParams params = plain(1000);
  params.held_out = 0.1;
  params.patience = 3;
  params.evaluate_every = 10;
  // The loss of one evaluation is a mean over batches; each has its own turn in the list above.
  const std::size_t batches = (1000 + 255) / 256;
  std::vector<double> turns;
  for (const double loss : watcher.held_out_losses) turns.insert(turns.end(), batches, loss);
  watcher.held_out_losses = turns;
  NetworkTraining training(table, all_rows(100), watcher, params, Key{1});
  training.advance(1000);
  EXPECT_TRUE(training.finished());
  const TrainedNetwork trained = training.result();
  EXPECT_EQ(trained.kept_step, 20);
  EXPECT_EQ(trained.steps, 50);
  EXPECT_EQ(trained.curve.size(), 6u);
  EXPECT_NE(trained.parameters, training.parameters());
}

TEST(NetworkTraining, ALossThatIsNotFiniteIsASentence) {
  const flow::RowTable table = noise(100, 6);
  Watcher watcher;
  watcher.answer = std::nan("");
  NetworkTraining training(table, all_rows(100), watcher, plain(1000), Key{1});
  EXPECT_THAT(message_of<DataError>([&] { training.advance(1000); }), HasSubstr("not finite"));
  EXPECT_EQ(training.parameters(), (std::vector<float>{1, 1}));  // no step was taken
}

// Adam's first step is the rate, whatever the gradient's size; clipping cannot change that, but its direction stays.
TEST(NetworkTraining, TheFirstStepIsTheLearningRate) {
  const flow::RowTable table = noise(100, 6);
  const Watcher watcher;
  NetworkTrainParams params = plain(10);
  params.learning_rate = 0.01;
  params.clip = 0.5;
  NetworkTraining training(table, all_rows(100), watcher, params, Key{1});
  training.advance(1);
  EXPECT_NEAR(training.parameters()[0], 0.99f, 1e-6f);
  EXPECT_NEAR(training.parameters()[1], 0.99f, 1e-6f);
}

TEST(NetworkTraining, SameBitsInterruptedAndForAnyThreads) {
  const flow::RowTable table = noise(80, 20);
  const Bnaf<float> network({20, 10, 1, 1});  // more parameters than a slice has, tiles of products
  NetworkTrainParams params = plain(12);
  params.decay = Decay::plateau;
  params.held_out = 0.2;
  params.evaluate_every = 3;
  params.plateau = 1;
  params.amsgrad = true;
  params.polyak = 0.9;
  params.noise = 0.1;
  NetworkTraining whole(table, all_rows(80), network, params, Key{1});
  whole.advance(12);
  const ThreadLimit limit(3);
  NetworkTraining first(table, all_rows(80), network, params, Key{1});
  first.advance(5);
  NetworkTraining second(table, all_rows(80), network, params, Key{1});
  second.restore(first.state());
  second.advance(12);
  EXPECT_EQ(second.result().parameters, whole.result().parameters);
  EXPECT_EQ(second.parameters(), whole.parameters());
  EXPECT_EQ(second.result().curve.size(), whole.result().curve.size());
  const Bnaf<float> other({20, 3, 1, 1});
  EXPECT_THROW(NetworkTraining(table, all_rows(80), other, params, Key{1}).restore(first.state()), UsageError);
}

TEST(NetworkTraining, SettingsThatMakeNoSense) {
  const flow::RowTable table = noise(20, 6);
  const Watcher watcher;
  NetworkTrainParams params = plain(10);
  params.patience = 3;
  EXPECT_THROW(NetworkTraining(table, all_rows(20), watcher, params, Key{1}), UsageError);
  params = plain(10);
  params.decay = Decay::plateau;
  EXPECT_THROW(NetworkTraining(table, all_rows(20), watcher, params, Key{1}), UsageError);
  params = plain(10);
  params.max_size = 6;
  EXPECT_THROW(NetworkTraining(table, all_rows(20), watcher, params, Key{1}), UsageError);
  EXPECT_THROW(NetworkTraining(table, {}, watcher, plain(10), Key{1}), DataError);
}

TEST(Products, TilesAreTheWhole) {
  Random random{Key{9}};
  const auto draw = [&](Index rows, Index cols) {
    Rows<double> result(rows, cols);
    for (Index i = 0; i < result.size(); ++i) result.data()[i] = random.normal();
    return result;
  };
  const Rows<double> a = draw(130, 170), b = draw(190, 170), c = draw(170, 190), e = draw(130, 60);
  Rows<double> out(130, 190);
  times_transposed<double>(a, b, out);
  EXPECT_TRUE(out.isApprox(a * b.transpose(), 1e-12));
  times<double>(a, c, out, true);
  EXPECT_TRUE(out.isApprox(a * b.transpose() + a * c, 1e-12));
  Rows<double> wide(170, 60);
  transposed_times<double>(a, e, wide);
  EXPECT_TRUE(wide.isApprox(a.transpose() * e, 1e-12));
  times_transposed<double>(a.leftCols(0), b.leftCols(0), out);
  EXPECT_TRUE(out.isZero());
}

}  // namespace
}  // namespace fansite::neural
