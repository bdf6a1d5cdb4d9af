// SPDX-License-Identifier: Apache-2.0
//
// How long a stage of work will still take, from the pace of its steps.
#pragma once

#include <chrono>
#include <deque>
#include <optional>

namespace fansite::cli {

/// The pace is that of the last half of the stage, or of its last ten seconds if they are longer: steps that grow
/// dearer are noticed, one that is slow is not taken for the rule. Steps of an earlier run count as done and tell no
/// pace.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  TimeLeft(long total, Clock::time_point now) : total_(total), start_(now), marks_({{now, 0}}) {}
  void advance(long steps, Clock::time_point now);
  void already_done(long steps) { known_ += steps; }

  double share() const;  ///< of the steps that are done
  /// In seconds; nothing before the first step.
  std::optional<double> seconds(Clock::time_point now) const;

 private:
  struct Mark {
    Clock::time_point time;
    long done;
  };
  long total_, known_ = 0, done_ = 0;
  Clock::time_point start_, last_ = start_;  // last: the end of the last step
  std::deque<Mark> marks_;                   // in order of time
};

}  // namespace fansite::cli
