// SPDX-License-Identifier: Apache-2.0
//
// How long work will still take, by simulated clocks.
#include "cli/time_left.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace fansite::cli {
namespace {

using Clock = TimeLeft::Clock;

/// A stage whose step number `s` takes seconds_of(s), asked ten times a second: the true time left and what is said.
struct Asked {
  double truth, said;
};

std::vector<Asked> ask(long total, long known, const std::function<double(long)>& seconds_of) {
  const auto at = [](double seconds) {
    return Clock::time_point() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  double all = 0;
  for (long s = known; s < total; ++s) all += seconds_of(s);
  TimeLeft left(total, at(0));
  left.already_done(known);
  std::vector<Asked> asked;
  double now = 0, next_question = 0.3;
  for (long s = known; s < total; ++s) {
    const double end = now + seconds_of(s);
    for (; next_question < end; next_question += 0.1) {
      if (const auto said = left.seconds(at(next_question))) asked.push_back({all - next_question, *said});
    }
    now = end;
    left.advance(1, at(now));
  }
  return asked;
}

/// The largest factor between what is said and the truth, in either direction; a second is never counted for less.
double worst(const std::vector<Asked>& asked) {
  double factor = 1;
  for (const auto& [truth, said] : asked) {
    factor = std::max(factor, std::max(said + 1, truth + 1) / std::min(said + 1, truth + 1));
  }
  return factor;
}

TEST(TimeLeft, OfEvenStepsIsExact) {
  EXPECT_LT(worst(ask(1000, 0, [](long) { return 0.1; })), 1.1);
  EXPECT_LT(worst(ask(20, 0, [](long) { return 5.0; })), 1.4);  // a step that is under way is no evidence
}

// It began at 4 s and ended at 85: the steps of the first run were taken for quick ones of this.
TEST(TimeLeft, AfterAResumeStepsOfTheEarlierRunTellNoPace) {
  const auto asked = ask(100000, 90000, [](long) { return 0.0085; });
  ASSERT_FALSE(asked.empty());
  EXPECT_NEAR(asked.front().said, 85, 5);
  EXPECT_LT(worst(asked), 1.1);
}

TEST(TimeLeft, StepsThatGrowDearerAreNoticed) {
  // The second half takes five times as long a step. Before it begins nobody can know.
  const auto asked = ask(2000, 0, [](long s) { return s < 1000 ? 0.02 : 0.1; });
  for (const auto& [truth, said] : asked) {
    if (truth > 85) continue;
    EXPECT_LT(std::max(said + 1, truth + 1) / std::min(said + 1, truth + 1), 1.8) << truth;
  }
  EXPECT_LT(worst(asked), 6);
  // Where each is somewhat dearer than the last, never by far too little.
  EXPECT_LT(worst(ask(1000, 0, [](long s) { return 0.02 + 0.0002 * static_cast<double>(s); })), 6);
}

TEST(TimeLeft, UnevenStepsDoNotMakeItJump) {
  const auto asked = ask(3000, 0, [](long s) { return s % 10 == 0 ? 0.2 : 0.01; });
  EXPECT_LT(worst(asked), 1.7);
}

TEST(TimeLeft, WhileNoStepEndsItGrows) {
  const Clock::time_point start;
  TimeLeft left(10, start);
  EXPECT_FALSE(left.seconds(start + std::chrono::seconds(5)));
  for (int s = 1; s <= 5; ++s) left.advance(1, start + std::chrono::seconds(s));
  const double soon = *left.seconds(start + std::chrono::seconds(5));
  const double later = *left.seconds(start + std::chrono::seconds(60));
  EXPECT_NEAR(soon, 5, 0.1);
  EXPECT_GT(later, 50);
}

TEST(TimeLeft, StepsThatAreDoneCountWhoeverDidThem) {
  TimeLeft left(10, Clock::time_point());
  left.already_done(4);
  left.advance(1, Clock::time_point() + std::chrono::seconds(1));
  EXPECT_DOUBLE_EQ(left.share(), 0.5);
  left.advance(100, Clock::time_point() + std::chrono::seconds(2));
  EXPECT_DOUBLE_EQ(left.share(), 1);
  EXPECT_DOUBLE_EQ(*left.seconds(Clock::time_point() + std::chrono::seconds(3)), 0);
  EXPECT_DOUBLE_EQ(TimeLeft(0, Clock::time_point()).share(), 0);
}

}  // namespace
}  // namespace fansite::cli
