// SPDX-License-Identifier: Apache-2.0
//
// How long work tells its caller where it is, and how the caller stops it.
#pragma once

#include <string_view>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"

namespace fansite {

/// Receives reports from long work. Calls may come from several threads at once.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A stage of `total` steps begins.
  virtual void begin(std::string_view stage, long total) = 0;
  /// `steps` more of the current stage are done.
  virtual void advance(long steps) = 0;
  /// `steps` of the current stage were done by an earlier run: they tell nothing of how long the others take.
  virtual void already_done(long steps) { advance(steps); }
  /// True once the work should stop; asked often, so it must be cheap.
  virtual bool interrupted() const = 0;
  /// True once what has been found so far should be made into an answer. Work that cannot do that goes on.
  virtual bool out_of_time() const { return false; }
};

/// Progress that says nothing and never stops.
class NoProgress final : public Progress {
 public:
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return false; }
};

/// Passes reports on and ends work by the clock.
class Deadline final : public Progress {
 public:
  /// In seconds of `watch`, which must outlive this: when to come to an answer, and when to stop whatever there is.
  Deadline(Progress& progress, const Stopwatch& watch, double answer_by, double stop_by)
      : progress_(progress), watch_(watch), answer_by_(answer_by), stop_by_(stop_by) {}

  void begin(std::string_view stage, long total) override { progress_.begin(stage, total); }
  void advance(long steps) override { progress_.advance(steps); }
  void already_done(long steps) override { progress_.already_done(steps); }
  bool interrupted() const override { return progress_.interrupted() || expired(); }
  bool out_of_time() const override { return progress_.out_of_time() || watch_.seconds() >= answer_by_; }
  /// Whether it is the clock that stops the work.
  bool expired() const { return watch_.seconds() >= stop_by_ && !progress_.interrupted(); }

 private:
  Progress& progress_;
  const Stopwatch& watch_;
  double answer_by_, stop_by_;
};

inline void throw_if_interrupted(const Progress& progress) {
  if (progress.interrupted()) throw Interrupted("interrupted");
}

}  // namespace fansite
