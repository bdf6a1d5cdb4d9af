// SPDX-License-Identifier: Apache-2.0
//
// How a run spends the time that it is given (docs/method.md, "A time budget").
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite {

class Budget {
 public:
  /// Seconds since `watch` was made, which must outlive this; 0: as many as it takes.
  Budget(double seconds, const Stopwatch& watch) : watch_(watch), end_(seconds > 0 ? seconds : never()) {}

  static double never() { return std::numeric_limits<double>::infinity(); }
  bool limited() const { return std::isfinite(end_); }
  double end() const { return end_; }
  double left() const { return end_ - watch_.seconds(); }
  /// The moment when this share of what is left will have passed.
  double after(double share) const { return limited() ? watch_.seconds() + share * left() : end_; }
  const Stopwatch& watch() const { return watch_; }

 private:
  const Stopwatch& watch_;
  double end_;
};

/// As many networks and steps as fit into so many steps in all: divisions of the rows go first, of which one is enough,
/// then folds beyond five, then steps. Nothing: too few are left to learn anything.
std::optional<flow::EnsembleParams> fitted(flow::EnsembleParams flow, double steps);

/// Joins what was cut short into one sentence.
void add_sentence(std::string& unfinished, std::string_view more);

}  // namespace fansite
