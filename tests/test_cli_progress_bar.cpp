// SPDX-License-Identifier: Apache-2.0
//
// The lines of long work where nobody looks at a terminal: the bar itself, with half minutes made short.
#include "cli/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace fansite::cli {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using Clock = std::chrono::steady_clock;

/// Standard error, which is a file here that can be read while it grows.
class StandardError {
 public:
  StandardError() : file_(std::tmpfile()), real_(dup(STDERR_FILENO)) { dup2(fileno(file_), STDERR_FILENO); }
  ~StandardError() {
    dup2(real_, STDERR_FILENO);
    close(real_);
    std::fclose(file_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

  std::string text() const {
    std::string text(1 << 16, '\0');
    const ssize_t size = pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  /// Waits for words, however long a busy machine takes over them; false: they do not come.
  bool comes(const std::string& words) const {
    const auto begun = Clock::now();
    while (text().find(words) == std::string::npos) {
      if (Clock::now() - begun > 30s) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

 private:
  std::FILE* file_;
  int real_;
};

void train(ProgressBar& bar) {
  bar.begin("training", 100);
  bar.already_done(40);
  for (int step = 0; step < 10; ++step) {
    bar.advance(1);
    std::this_thread::sleep_for(10ms);
  }
}

TEST(ProgressBar, ALogGetsALineNowAndThenEvenWhileNoStepEnds) {
  constexpr auto kEvery = 50ms;
  const StandardError error;
  const auto begun = Clock::now();
  ProgressBar bar({}, kEvery);
  EXPECT_TRUE(error.comes(" s  working\n"));  // before any stage
  train(bar);
  EXPECT_TRUE(error.comes(" s  training: 50 %"));  // no step ends
  bar.end();
  const auto most = (Clock::now() - begun) / kEvery;
  const std::string lines = error.text();
  EXPECT_THAT(lines, ContainsRegex("^ +[0-9.]+ s  working\n"));
  EXPECT_THAT(lines, ContainsRegex(" s  training: 50 %, [0-9.]+ s left in this stage\n"));
  EXPECT_LE(std::count(lines.begin(), lines.end(), '\n'), most);
  EXPECT_EQ(lines.find('\r'), std::string::npos);
  std::this_thread::sleep_for(3 * kEvery);
  EXPECT_EQ(error.text(), lines);  // none after the end
}

/// What is said of work of a quarter of a second.
std::string said(const CommonOptions& options, std::chrono::milliseconds log_every) {
  const StandardError error;
  {
    ProgressBar bar(options, log_every);
    std::this_thread::sleep_for(50ms);
    train(bar);
    std::this_thread::sleep_for(100ms);
  }
  return error.text();
}

TEST(ProgressBar, ShortWorkSaysNothingThere) { EXPECT_EQ(said({}, 30s), ""); }

TEST(ProgressBar, QuietIsQuiet) { EXPECT_EQ(said({.quiet = true}, 10ms), ""); }

}  // namespace
}  // namespace fansite::cli
