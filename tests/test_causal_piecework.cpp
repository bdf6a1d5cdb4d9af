// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/piecework.h"

#include <thread>

#include "checkpoint_examples.h"
#include "fansite/base/parallel.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using PieceworkTest = CheckpointTest;

struct Table {
  Table() {
    data.names = default_names(2);
    data.values = curved_chain(10, 2, 1);
  }
  Dataset data;
};

// Place and steps; each step asks whether to go on, and takes that many seconds.
Piecework numbered(std::atomic<int>& done, double seconds = 0) {
  Piecework work;
  work.stage = "pieces";
  work.pieces = 6;
  work.steps = 40;
  work.numbers = 2;
  work.work = [&done, seconds](int place, int steps, Progress& progress) {
    for (int step = 0; step < steps; ++step) {
      if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      progress.advance(1);
      throw_if_interrupted(progress);
      if (progress.out_of_time()) return std::vector<double>();
    }
    ++done;
    return std::vector<double>{static_cast<double>(place), static_cast<double>(steps)};
  };
  return work;
}

TEST_F(PieceworkTest, EachPieceGivesItsAnswer) {
  const Table table;
  NoProgress silent;
  const Context context(table.data, {}, {}, silent);
  std::atomic<int> done = 0;
  const Piecework work = numbered(done);
  const PieceAnswers answers = do_pieces(context, work, nullptr);
  EXPECT_EQ(done, 6);
  EXPECT_EQ(answers.steps, 40);
  EXPECT_EQ(answers.missing, 0);
  for (int place = 0; place < 6; ++place) {
    EXPECT_THAT(answers.answers[static_cast<std::size_t>(place)], testing::ElementsAre(place, 40));
  }
  EXPECT_EQ(cut_short_in_words(work, answers), "");
}

TEST_F(PieceworkTest, InterruptedWorkGoesOnFromWhatIsDone) {
  const ThreadLimit alone(1);  // side by side no piece might end
  const Table table;
  const StateIdentity identity{10, 2, 1, "test"};
  std::atomic<int> done = 0;
  int runs = 0;
  PieceAnswers answers;
  for (bool finished = false; !finished; ++runs) {
    ASSERT_LT(runs, 20);
    FinishedPieces kept(FileKind::graph_checkpoint, path, identity);
    Limited progress(100);  // two pieces' steps
    const Context context(table.data, {}, {}, progress);
    try {
      answers = do_pieces(context, numbered(done), &kept);
      finished = true;
    } catch (const Interrupted&) {
    }
  }
  EXPECT_GT(runs, 2);
  EXPECT_EQ(done, 6);  // none twice
  EXPECT_THAT(answers.answers[5], testing::ElementsAre(5, 40));
}

TEST_F(PieceworkTest, ATimeBudgetTakesFewerStepsAndKeepsNoneOfThem) {
  const ThreadLimit alone(1);
  const Table table;
  NoProgress silent;
  RunParams run;
  run.time_budget = 0.2;
  const Context context(table.data, {}, run, silent);
  FinishedPieces kept(FileKind::graph_checkpoint, path, {10, 2, 1, "test"});
  std::atomic<int> done = 0;
  const Piecework work = numbered(done, 0.002);
  const PieceAnswers answers = do_pieces(context, work, &kept);
  EXPECT_LT(answers.steps, 40);
  EXPECT_GE(answers.steps, 1);
  EXPECT_THAT(cut_short_in_words(work, answers),
              HasSubstr(fmt::format("time ran out: networks were trained for {} of 40 steps", answers.steps)));
  for (int place = 0; place < 6; ++place) EXPECT_EQ(kept.find(place), std::nullopt);
}

TEST_F(PieceworkTest, WhatTimeDoesNotReachHasNoAnswer) {
  const Table table;
  NoProgress silent;
  RunParams run;
  run.time_budget = 1e-6;
  const Context context(table.data, {}, run, silent);
  std::atomic<int> done = 0;
  const Piecework work = numbered(done);
  const PieceAnswers answers = do_pieces(context, work, nullptr);
  EXPECT_EQ(answers.missing, 6);
  EXPECT_THAT(answers.answers[0], IsEmpty());
  EXPECT_EQ(cut_short_in_words(work, answers),
            "time ran out: networks were trained for 1 of 40 steps, and 6 of 6 not at all");
}

TEST_F(PieceworkTest, ARehearsalTellsTheTime) {
  std::atomic<int> done = 0;
  NoProgress silent;
  const ThreadLimit alone(1);
  const double seconds = rehearsed_seconds(numbered(done, 0.001), silent);
  EXPECT_GT(seconds, 6 * 40 * 0.001);
  EXPECT_LT(seconds, 30 * 6 * 40 * 0.001);
  Piecework none;
  EXPECT_EQ(rehearsed_seconds(none, silent), 0);
}

}  // namespace
}  // namespace fansite::causal
