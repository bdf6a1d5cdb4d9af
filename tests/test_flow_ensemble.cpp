// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/ensemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/model_file.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

using testing::HasSubstr;

Dataset curved_table(Index rows, int columns) {
  SimulateParams params;
  params.nodes = columns;
  params.degree = 1;
  params.sem = Sem::gp;
  params.rows = rows;
  params.seed = 3;
  return simulate(params).data;
}

EnsembleParams small() {
  EnsembleParams params;
  params.folds = 3;
  params.repeats = 2;
  params.train.steps = 120;
  params.train.evaluate_every = 40;
  params.seed = 5;
  return params;
}

void expect_same_bits(const Ensemble& a, const Ensemble& b) {
  ASSERT_EQ(a.networks.size(), b.networks.size());
  EXPECT_EQ(a.fold_of_row, b.fold_of_row);
  for (std::size_t m = 0; m < a.networks.size(); ++m) {
    EXPECT_EQ(a.networks[m].order, b.networks[m].order);
    EXPECT_EQ(a.networks[m].trained.weights.values, b.networks[m].trained.weights.values) << "network " << m;
    EXPECT_EQ(a.networks[m].trained.kept_step, b.networks[m].trained.kept_step);
    EXPECT_TRUE(a.networks[m].trained.base == b.networks[m].trained.base);
  }
}

TEST(Ensemble, NetworksHaveOrdersAndFoldsOfTheirOwn) {
  NoProgress silent;
  const Dataset data = curved_table(90, 6);
  const Ensemble ensemble = train_ensemble(data, small(), silent);
  ASSERT_EQ(ensemble.networks.size(), 6u);
  std::set<std::vector<int>> orders;
  for (const Network& network : ensemble.networks) orders.insert(network.order);
  EXPECT_GT(orders.size(), 4u);
  // Every repeat leaves every row out exactly once, and the folds are even.
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::vector<int> left_out(90, 0), sizes(3, 0);
    for (const Network& network : ensemble.networks) {
      if (network.repeat != repeat) continue;
      for (Index row = 0; row < 90; ++row) {
        if (ensemble.has_seen(network, row)) continue;
        ++left_out[static_cast<std::size_t>(row)];
        ++sizes[static_cast<std::size_t>(network.fold)];
      }
    }
    EXPECT_THAT(left_out, testing::Each(1));
    EXPECT_THAT(sizes, testing::Each(30));
  }
}

TEST(Ensemble, SameBitsForAnyNumberOfThreads) {
  NoProgress silent;
  const Dataset data = curved_table(80, 5);
  EnsembleParams params = small();
  params.repeats = 1;  // three networks: with two threads the last one has a team
  Ensemble one, two;
  {
    const ThreadLimit limit(1);
    one = train_ensemble(data, params, silent);
  }
  {
    const ThreadLimit limit(2);
    two = train_ensemble(data, params, silent);
  }
  expect_same_bits(one, two);
}

TEST(Ensemble, RowsLeftOutDoNotMatter) {
  NoProgress silent;
  const Dataset data = curved_table(60, 4);
  EnsembleParams params = small();
  params.repeats = 1;
  params.transform = TransformKind::none;  // ranks would carry the change over
  const Ensemble before = train_ensemble(data, params, silent);
  Dataset changed = data;
  const Network& network = before.networks.front();
  for (Index row = 0; row < 60; ++row) {
    if (!before.has_seen(network, row)) changed.values.row(row).array() += 1.0;
  }
  const Ensemble after = train_ensemble(changed, params, silent);
  EXPECT_EQ(before.networks[0].trained.weights.values, after.networks[0].trained.weights.values);
  EXPECT_TRUE(before.networks[0].trained.base == after.networks[0].trained.base);
  EXPECT_FALSE(before.networks[1].trained.base == after.networks[1].trained.base);
}

TEST(Ensemble, ContinuesFromItsCheckpointWithTheSameBits) {
  const Dataset data = curved_table(80, 5);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("fansite_checkpoint." + std::to_string(::getpid()))).string();
  EnsembleParams params = small();
  NoProgress silent;
  const Ensemble straight = train_ensemble(data, params, silent);

  // Stops the third time that it is asked, with a network finished or not.
  class Stops final : public Progress {
   public:
    explicit Stops(int after) : left_(after) {}
    void begin(std::string_view, long) override {}
    void advance(long) override {}
    bool interrupted() const override { return --left_ < 0; }

   private:
    mutable std::atomic<int> left_;
  };
  // Steps of an earlier run are told apart, since they say nothing of how long the others take.
  class Counts final : public Progress {
   public:
    void begin(std::string_view, long total) override { wanted += total; }
    void advance(long steps) override { taken += steps; }
    void already_done(long steps) override { known += steps; }
    bool interrupted() const override { return false; }
    std::atomic<long> wanted = 0, taken = 0, known = 0;
  };
  long known = 0;
  const ThreadLimit limit(2);  // so that five checks finish a network
  for (const int after : {5, 9, 14}) {
    std::filesystem::remove(path);
    Stops stops(after);
    EXPECT_THROW(train_ensemble(data, params, stops, path), Interrupted);
    EXPECT_TRUE(std::filesystem::exists(path)) << "no network was finished after " << after;
    Counts counts;
    expect_same_bits(straight, train_ensemble(data, params, counts, path));
    EXPECT_EQ(counts.taken + counts.known, counts.wanted);
    known += counts.known;
    expect_same_bits(straight, load_checkpoint(path).ensemble);  // for whatever else its caller does
  }
  EXPECT_GT(known, 0);

  std::filesystem::remove(path);
  Stops stops(9);
  EXPECT_THROW(train_ensemble(data, params, stops, path), Interrupted);
  EnsembleParams other = params;
  other.train.learning_rate *= 2;
  EXPECT_THAT(message_of<UsageError>([&] { train_ensemble(data, other, silent, path); }),
              HasSubstr("other settings; delete it or choose another path"));
  EXPECT_THAT(message_of<UsageError>([&] { train_ensemble(curved_table(81, 5), params, silent, path); }),
              HasSubstr("another table"));
  std::filesystem::remove(path);
}

TEST(Ensemble, RefusesSettingsThatMakeNoSense) {
  NoProgress silent;
  const Dataset data = curved_table(20, 4);
  const auto message = [&](auto&& change) {
    EnsembleParams params = small();
    change(params);
    return message_of<Error>([&] { train_ensemble(data, params, silent); });
  };
  EXPECT_THAT(message([](auto& p) { p.folds = 0; }),
              HasSubstr("[folds] 0 is out of range; use a whole number, 1 to 1000"));
  EXPECT_THAT(message([](auto& p) { p.folds = 11; }), HasSubstr("20 rows are too few for 11 folds"));
  EXPECT_THAT(message([](auto& p) { p.repeats = 0; }), HasSubstr("[repeats] 0 is out of range"));
  EXPECT_THAT(message([](auto& p) { p.shape = paper_shape(5); }), HasSubstr("a shape of 5 variables for a table of 4"));
  EXPECT_THAT(message([](auto& p) { p.train.steps = -1; }), HasSubstr("[steps] -1 is out of range"));
}

TEST(Ensemble, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(train_ensemble(curved_table(60, 4), small(), impatient), Interrupted);
}

TEST(LinearShare, MeanIsOverTargetsAndSizes) {
  EXPECT_TRUE(std::isnan(LinearShare().mean()));
  const LinearShare share{{0, 0.25f, 0.5f, 1}};
  EXPECT_DOUBLE_EQ(share.mean(), 0.4375);
}

}  // namespace
}  // namespace fansite::flow
