// SPDX-License-Identifier: Apache-2.0
#include "cli/time_left.h"

#include <algorithm>

namespace fansite::cli {
namespace {

using Clock = TimeLeft::Clock;

constexpr auto kShortestWindow = std::chrono::seconds(10);
constexpr auto kFinestMarks = std::chrono::milliseconds(50);
constexpr int kMarksOfWindow = 50;

Clock::duration window(Clock::duration elapsed) { return std::max<Clock::duration>(kShortestWindow, elapsed / 2); }

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void TimeLeft::advance(long steps, Clock::time_point now) {
  done_ += steps;
  last_ = now;
  const Clock::duration wanted = window(now - start_);
  if (now - marks_.back().time < std::max<Clock::duration>(kFinestMarks, wanted / kMarksOfWindow)) return;
  marks_.push_back({now, done_});
  while (marks_.size() > 2 && now - marks_[1].time >= wanted) marks_.pop_front();
}

double TimeLeft::share() const {
  return total_ > 0 ? std::min(1.0, static_cast<double>(known_ + done_) / static_cast<double>(total_)) : 0;
}

std::optional<double> TimeLeft::seconds(Clock::time_point now) const {
  if (done_ == 0 || total_ <= 0) return std::nullopt;
  const long left = total_ - known_ - done_;
  if (left <= 0) return 0;
  const Mark from = marks_.front().done < done_ ? marks_.front() : Mark{start_, 0};
  const double span = seconds_of(last_ - from.time), since = seconds_of(now - last_);
  const auto steps = static_cast<double>(done_ - from.done);
  const double pace = span / steps;
  if (since <= pace) return static_cast<double>(left) * pace - since;
  // The step under way is a slow one: it counts as if it ended now, and may take as long again as it is late.
  return static_cast<double>(left - 1) * (span + since) / (steps + 1) + since - pace;
}

}  // namespace fansite::cli
