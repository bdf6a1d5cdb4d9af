// SPDX-License-Identifier: Apache-2.0
//
// Progress on a terminal or in a log, and Ctrl-C.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/command.h"
#include "cli/time_left.h"
#include "fansite/base/progress.h"

namespace fansite::cli {

/// One line on standard error: what is being done, how far it is, and how long this stage will take. With --verbose
/// plain lines instead, one at the beginning of each stage and one every few seconds. When standard error is no
/// terminal, a line every half minute, so that a log shows that long work goes on. Nothing with --quiet. While it
/// lives, the first Ctrl-C (or SIGTERM) asks the work to stop and the second ends the program.
class ProgressBar final : public Progress {
 public:
  /// `log_every`: of the lines where standard error is no terminal.
  explicit ProgressBar(const CommonOptions& options, std::chrono::milliseconds log_every = std::chrono::seconds(30));
  ~ProgressBar() override;
  void begin(std::string_view stage, long total) override;
  void advance(long steps) override;
  void already_done(long steps) override;
  bool interrupted() const override;
  /// The work is done, and words about it follow: takes the line off the screen, and draws no other.
  void end();

 private:
  using Clock = TimeLeft::Clock;
  enum class Form { none, line, log, sparse_log };
  static Form form_for(const CommonOptions& options);
  void show();
  void show_line(Clock::time_point now);
  void log(Clock::time_point now);
  std::string time_left(Clock::time_point now) const;
  void clear();

  const Form form_;
  const Clock::duration log_every_;
  std::mutex mutex_;  // guards what follows, but for the thread
  std::string stage_;
  Clock::time_point first_ = Clock::now(), start_ = first_, shown_ = first_;
  TimeLeft left_{0, first_};
  bool on_screen_ = false;
  std::jthread ticker_;  // shows what goes on while no step ends; last, so that it ends first
};

}  // namespace fansite::cli
