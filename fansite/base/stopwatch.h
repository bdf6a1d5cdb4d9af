// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace fansite {

/// Seconds of wall time since it was made, or since the last lap.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// The seconds so far; it starts again.
  double lap() {
    const Clock::time_point now = Clock::now();
    const double passed = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace fansite
