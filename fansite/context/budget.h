// SPDX-License-Identifier: Apache-2.0
//
// The clock of a run that is given a time budget. How the time is shared out stands in boundary/fansite.cpp and
// run/causal_graph.cpp (docs/method.md, "A time budget").
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "fansite/base/stopwatch.h"

namespace fansite {

class Budget {
 public:
  /// Seconds from now on; 0: as many as it takes.
  explicit Budget(double seconds) : end_(seconds > 0 ? seconds : never()) {}

  static double never() { return std::numeric_limits<double>::infinity(); }
  bool limited() const { return std::isfinite(end_); }
  double end() const { return end_; }
  double left() const { return end_ - watch_.seconds(); }
  /// The moment when this share of what is left will have passed.
  double after(double share) const { return limited() ? watch_.seconds() + share * left() : end_; }
  const Stopwatch& watch() const { return watch_; }

 private:
  Stopwatch watch_;
  double end_;
};

/// Joins what was cut short into one sentence.
inline void add_sentence(std::string& unfinished, std::string_view more) {
  if (!unfinished.empty()) unfinished += "; ";
  unfinished += more;
}

}  // namespace fansite
