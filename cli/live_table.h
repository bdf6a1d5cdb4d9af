// SPDX-License-Identifier: Apache-2.0
//
// A comparison as it goes, on a terminal: a line for each method, and one for what is being done.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/progress_bar.h"
#include "fansite/run/compare.h"

namespace fansite::cli {

/// Draws over itself, five times a second at most, and leaves nothing behind. With --verbose plain lines instead, one
/// at the end of each cell beside those of its stages; when standard error is no terminal, a line every half minute.
/// Nothing with --quiet. Ctrl-C is as with ProgressBar.
class LiveTable final : public Progress, public CompareWatcher {
 public:
  explicit LiveTable(const CommonOptions& options);
  ~LiveTable() override { clear(); }

  void begin(std::string_view stage, long total) override;
  void advance(long steps) override;
  void already_done(long steps) override;
  bool interrupted() const override { return bar_.interrupted(); }
  void begins(const CompareResult& so_far, const CompareCell& cell) override;
  void ended(const CompareResult& so_far) override;
  /// Takes the table off the screen.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  const CommonOptions& options_;
  bool on_terminal_;
  ProgressBar bar_;   // for the log, and for Ctrl-C
  std::mutex mutex_;  // guards all below
  std::vector<std::string> lines_;
  std::string cell_, stage_;
  long total_ = 0, done_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_;
  int drawn_lines_ = 0;
};

}  // namespace fansite::cli
