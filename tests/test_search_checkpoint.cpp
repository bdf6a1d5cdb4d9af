// SPDX-License-Identifier: Apache-2.0
//
// Searches for boundaries that are interrupted and continued. The program's own are in test_cli_resume.cpp.
#include "fansite/boundary/detail/search_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "fansite/base/error.h"
#include "fansite/boundary/search.h"
#include "fansite/entropy/flow/estimator.h"
#include "support.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SearchCheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fansite_search.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path = (directory_ / "search").string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path;

 private:
  fs::path directory_;
};

SearchCheckpoint example() {
  SearchCheckpoint checkpoint;
  checkpoint.identity = {3, 5, 0x1234, "some settings"};
  checkpoint.state.paths = {{1, 4}, {}, {0}};
  PairEvidence strong{1e-9, 0.75, Eigen::ArrayXf::LinSpaced(3, -1, 2), 1.25};
  PairEvidence without_scores{0.5, std::nan(""), {}, 1};
  checkpoint.state.tested = {{{0, 1}, strong}, {{2, 0}, without_scores}};
  return checkpoint;
}

TEST_F(SearchCheckpointTest, ComesBackFromBytesAsItWas) {
  const SearchCheckpoint saved = example();
  const SearchCheckpoint read = parse_search_checkpoint(to_bytes(saved), "file");
  EXPECT_EQ(read.identity, saved.identity);
  EXPECT_EQ(read.state.paths, saved.state.paths);
  ASSERT_EQ(read.state.tested.size(), 2u);
  const PairEvidence& strong = read.state.tested.at({0, 1});
  EXPECT_EQ(strong.p_value, 1e-9);
  EXPECT_EQ(strong.votes, 0.75);
  EXPECT_EQ(strong.inflation, 1.25);
  EXPECT_TRUE((strong.scores == saved.state.tested.at({0, 1}).scores).all());
  EXPECT_TRUE(std::isnan(read.state.tested.at({2, 0}).votes));
  EXPECT_EQ(read.state.tested.at({2, 0}).scores.size(), 0);
}

TEST_F(SearchCheckpointTest, WhatCannotBeIsRefused) {
  const auto error_of = [](const SearchCheckpoint& checkpoint) {
    return message_of<DataError>([&] { parse_search_checkpoint(to_bytes(checkpoint), "file"); });
  };
  SearchCheckpoint wrong = example();
  wrong.state.paths[0] = {1, 1};
  EXPECT_THAT(error_of(wrong), HasSubstr("file: the file is damaged"));
  wrong = example();
  wrong.state.paths[0] = {5};  // of 5 variables
  EXPECT_THAT(error_of(wrong), HasSubstr("contradict"));
  wrong = example();
  wrong.state.tested[{3, 3}] = {};
  EXPECT_THAT(error_of(wrong), HasSubstr("contradict"));
  wrong = example();
  wrong.state.tested[{3, 4}].scores = Eigen::ArrayXf::Zero(2);  // of 3 rows
  EXPECT_THAT(error_of(wrong), HasSubstr("contradict"));
}

TEST_F(SearchCheckpointTest, EveryByteThatIsChangedOrMissingIsNoticed) {
  const std::string bytes = to_bytes(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_THROW(parse_search_checkpoint(changed, "file"), DataError) << i;
    EXPECT_THROW(parse_search_checkpoint(bytes.substr(0, i), "file"), DataError) << i;
  }
}

// ---- A search -------------------------------------------------------------------------------------------------------

/// x0 → x1 → x2 → …, curved.
Dataset chain(Index rows, int variables) {
  Dataset data;
  data.names = default_names(variables);
  data.values.resize(rows, variables);
  Random random(Key{3});
  for (auto row : data.values.rowwise()) {
    for (Index j = 0; j < variables; ++j) row[j] = (j == 0 ? 0 : std::sin(2 * row[j - 1])) + 0.4 * random.normal();
  }
  return data;
}

/// Stops the work when it has been asked so often.
class StopsAfter final : public Progress {
 public:
  explicit StopsAfter(int checks) : left_(checks) {}
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return --left_ < 0; }

 private:
  mutable std::atomic<int> left_;
};

std::string summary(const Boundaries& found) {
  std::string text = fmt::format("{} {} {};", found.threshold.value_or(-1), found.steps, found.tested_pairs);
  for (const Boundary& boundary : found.boundaries) {
    text += fmt::format(" {}: {} {}", boundary.target, boundary.entropy, boundary.conditional_entropy);
    for (const Member& m : boundary.members) {
      text += fmt::format(" {} {} {} {} {}", m.variable, m.gain, m.p_value, m.votes, m.stability);
    }
    for (const PathStep& step : boundary.path) text += fmt::format(" {} {}", step.variable, step.conditional_entropy);
  }
  return text;
}

flow::Ensemble trained_on(const Dataset& data) {
  flow::EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.train.steps = 300;
  NoProgress silent;
  return flow::train_ensemble(data, params, silent);
}

TEST_F(SearchCheckpointTest, ASearchInPiecesHasTheBitsOfOneStraightThrough) {
  const Dataset data = chain(200, 6);
  const FlowEstimator estimator(data, trained_on(data));
  NoProgress silent;
  const std::string straight = summary(find_boundaries(estimator, {}, {}, silent));
  const StateIdentity identity = identity_of(data.values, "test");

  int pieces = 0;
  for (std::string found; found.empty(); ++pieces) {
    ASSERT_LT(pieces, 100);
    SearchKeeper keeper(path, identity);
    SearchScope scope;
    scope.keeper = &keeper;
    StopsAfter stops(4 + pieces);  // each piece gets a little further
    const std::int64_t before = estimator.evaluations();
    try {
      found = summary(find_boundaries(estimator, {}, scope, stops));
      EXPECT_EQ(found, straight);
    } catch (const Interrupted&) {
    }
    EXPECT_GT(estimator.evaluations(), before);
  }
  EXPECT_GT(pieces, 3);

  // All that is left to do is little.
  SearchKeeper keeper(path, identity);
  SearchScope scope;
  scope.keeper = &keeper;
  const std::int64_t before = estimator.evaluations();
  find_boundaries(estimator, {}, {}, silent);
  const std::int64_t all = estimator.evaluations() - before;
  EXPECT_EQ(summary(find_boundaries(estimator, {}, scope, silent)), straight);
  EXPECT_LT(estimator.evaluations() - before - all, all / 2);
}

// What is tested when time has run out is not of the sets that the search would have had.
TEST_F(SearchCheckpointTest, ASearchThatTimeCutShortGoesOnAsIfItHadNotBeen) {
  class OutOfTimeAfter final : public Progress {
   public:
    explicit OutOfTimeAfter(int checks) : left_(checks) {}
    void begin(std::string_view, long) override {}
    void advance(long) override {}
    bool interrupted() const override { return false; }
    bool out_of_time() const override { return --left_ < 0; }

   private:
    mutable std::atomic<int> left_;
  };
  const Dataset data = chain(200, 6);
  const FlowEstimator estimator(data, trained_on(data));
  NoProgress silent;
  const std::string straight = summary(find_boundaries(estimator, {}, {}, silent));
  for (const int checks : {1, 2, 3}) {
    std::filesystem::remove(path);
    for (const bool limited : {true, false}) {
      SearchKeeper keeper(path, identity_of(data.values, "test"));
      SearchScope scope;
      scope.keeper = &keeper;
      OutOfTimeAfter hurried(checks);
      const Boundaries found =
          find_boundaries(estimator, {}, scope, limited ? static_cast<Progress&>(hurried) : silent);
      EXPECT_EQ(found.cut_short > 0, limited);
      if (limited) continue;
      EXPECT_EQ(summary(found), straight) << checks;
    }
  }
}

TEST_F(SearchCheckpointTest, AFileOfAnotherTableOrSearchIsRefused) {
  const Dataset data = chain(50, 4);
  const StateIdentity identity = identity_of(data.values, "one search");
  {
    SearchKeeper keeper(path, identity);
    keeper.begin(2);
    keeper.took(0, 1);
    keeper.write();
  }
  EXPECT_EQ(SearchKeeper(path, identity).next(0, 0), 1);
  EXPECT_THAT(message_of<UsageError>([&] { SearchKeeper(path, identity_of(data.values, "another")); }),
              HasSubstr("other settings"));
  EXPECT_THAT(message_of<UsageError>([&] { SearchKeeper(path, identity_of(chain(51, 4).values, "one search")); }),
              HasSubstr("another table"));
  SearchKeeper keeper(path, identity);
  EXPECT_THAT(message_of<DataError>([&] { keeper.begin(3); }), HasSubstr("cannot have found"));
  std::ofstream(path, std::ios::binary) << "nonsense";
  EXPECT_THROW(SearchKeeper(path, identity), DataError);
}

}  // namespace
}  // namespace fansite
