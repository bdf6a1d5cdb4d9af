// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fansite/base/progress.h"
#include "fansite/entropy/flow/fit.h"
#include "properties.h"

namespace fansite {
namespace {

flow::EnsembleParams networks(int repeats, int folds, std::int64_t steps) {
  flow::EnsembleParams flow;
  flow.repeats = repeats;
  flow.folds = folds;
  flow.train.steps = steps;
  return flow;
}

TEST(Budget, NetworksThatFitStayAsTheyAre) {
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 600000), networks(4, 10, 15000));
}

TEST(Budget, RepeatsGoFirstThenFoldsThenSteps) {
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 599999), networks(3, 10, 15000));
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 150000), networks(1, 10, 15000));
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 149999), networks(1, 5, 15000));
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 50000), networks(1, 5, 10000));
  EXPECT_EQ(flow::fitted_to(networks(4, 10, 15000), 9999), std::nullopt);
  EXPECT_EQ(flow::fitted_to(networks(4, 2, 15000), 10000), networks(1, 2, 5000));  // as few folds as were asked for
  EXPECT_EQ(flow::fitted_to(networks(2, 2, 300), 600), networks(1, 2, 300));       // and as few steps
}

TEST(Budget, WhatIsFittedFits) {
  EXPECT_TRUE(rc::check("no more networks and steps than were asked for, and than there is time for", [] {
    const auto asked = networks(*rc::gen::inRange(1, 10), *rc::gen::inRange(1, 20), *rc::gen::inRange(1, 30000));
    const double steps = *rc::gen::inRange(0, 1000000);
    const auto fit = flow::fitted_to(asked, steps);
    if (!fit) return;
    RC_ASSERT(static_cast<double>(fit->networks()) * static_cast<double>(fit->train.steps) <= steps);
    RC_ASSERT(fit->repeats <= asked.repeats && fit->folds <= asked.folds && fit->train.steps <= asked.train.steps);
  }));
}

TEST(Budget, WithoutOneThereIsNoEnd) {
  const Budget none(0);
  EXPECT_FALSE(none.limited());
  EXPECT_EQ(none.after(0.5), Budget::never());
  const Budget hour(3600);
  EXPECT_TRUE(hour.limited());
  EXPECT_NEAR(hour.after(0.5), 1800, 60);
}

TEST(Budget, ADeadlineFirstAsksForAnAnswerThenStops) {
  NoProgress silent;
  const Stopwatch watch;
  const Deadline far(silent, watch, 3600, Budget::never());
  EXPECT_FALSE(far.out_of_time());
  EXPECT_FALSE(far.interrupted());
  const Deadline answer(silent, watch, 0, 3600);
  EXPECT_TRUE(answer.out_of_time());
  EXPECT_FALSE(answer.interrupted());
  const Deadline stop(silent, watch, 0, 0);
  EXPECT_TRUE(stop.interrupted());
  EXPECT_TRUE(stop.expired());
}

TEST(Budget, AnInterruptionIsNotMistakenForTheClock) {
  class Stopped final : public Progress {
    void begin(std::string_view, long) override {}
    void advance(long) override {}
    bool interrupted() const override { return true; }
  } stopped;
  const Stopwatch watch;
  const Deadline deadline(stopped, watch, 0, 0);
  EXPECT_TRUE(deadline.interrupted());
  EXPECT_FALSE(deadline.expired());
}

TEST(Budget, SentencesAreJoined) {
  std::string unfinished;
  add_sentence(unfinished, "one thing");
  add_sentence(unfinished, "another");
  EXPECT_EQ(unfinished, "one thing; another");
}

}  // namespace
}  // namespace fansite
