// SPDX-License-Identifier: Apache-2.0
//
// Progress on a terminal or in a log, and Ctrl-C.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "fansite/base/progress.h"

namespace fansite::cli {

/// One line on standard error: what is being done, how far it is, and how long it will take. With --verbose plain lines
/// instead, one at the beginning of each stage and one every few seconds. Nothing when standard error is no terminal
/// and
/// --verbose is not asked for, or with --quiet. While it lives, the first Ctrl-C (or SIGTERM) asks the work to stop and
/// the second ends the program.
class ProgressBar final : public Progress {
 public:
  explicit ProgressBar(const CommonOptions& options);
  ~ProgressBar() override;
  void begin(std::string_view stage, long total) override;
  void advance(long steps) override;
  bool interrupted() const override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Form { none, line, log };
  void show();
  std::string seconds_left(double share, Clock::time_point now) const;
  void clear();

  Form form_;
  std::mutex mutex_;  // guards all below
  std::string stage_;
  long total_ = 0, done_ = 0;
  Clock::time_point first_ = Clock::now(), start_, shown_;
  bool on_screen_ = false;
};

}  // namespace fansite::cli
