// SPDX-License-Identifier: Apache-2.0
//
// The lines of long work where nobody looks at a terminal: the bar itself, with half minutes made short.
#include "cli/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace fansite::cli {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;

/// What is said on standard error, which is a file here.
std::string said(const CommonOptions& options, std::chrono::milliseconds log_every) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(options, log_every);
    std::this_thread::sleep_for(150ms);  // before any stage
    bar.begin("training", 100);
    bar.already_done(40);
    for (int step = 0; step < 10; ++step) {
      bar.advance(1);
      std::this_thread::sleep_for(20ms);
    }
    std::this_thread::sleep_for(250ms);  // no step ends
    bar.end();
    std::this_thread::sleep_for(150ms);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ProgressBar, ALogGetsALineNowAndThenEvenWhileNoStepEnds) {
  const std::string lines = said({}, 100ms);
  EXPECT_THAT(lines, ContainsRegex("^ +0\\.[0-9] s  working\n"));
  EXPECT_THAT(lines, ContainsRegex(" s  training: 50 %, [0-9.]+ s left in this stage\n"));
  const auto count = std::count(lines.begin(), lines.end(), '\n');
  EXPECT_GE(count, 3);
  EXPECT_LE(count, 6);  // of 600 ms, none after the end
  EXPECT_EQ(lines.find('\r'), std::string::npos);
}

TEST(ProgressBar, ShortWorkSaysNothingThere) { EXPECT_EQ(said({}, 30s), ""); }

TEST(ProgressBar, QuietIsQuiet) { EXPECT_EQ(said({.quiet = true}, 10ms), ""); }

}  // namespace
}  // namespace fansite::cli
