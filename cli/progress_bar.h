// SPDX-License-Identifier: Apache-2.0
//
// Progress on a terminal, and Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "fansite/progress.h"

namespace fansite::cli {

/// One line on standard error with stage, share done and time left; nothing when that is no terminal or `quiet`. While
/// it lives, the first Ctrl-C (or SIGTERM) asks the work to stop and the second ends the program.
class ProgressBar final : public Progress {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar() override;
  void begin(std::string_view stage, long total) override;
  void advance(long steps) override;
  bool interrupted() const override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  void clear();

  bool visible_;
  std::mutex mutex_;  // guards all below
  std::string stage_;
  long total_ = 0, done_ = 0;
  Clock::time_point start_, drawn_;
  bool on_screen_ = false;
};

}  // namespace fansite::cli
