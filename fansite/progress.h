// SPDX-License-Identifier: Apache-2.0
//
// How long work tells its caller where it is, and how the caller stops it.
#pragma once

#include <string_view>

#include "fansite/error.h"

namespace fansite {

/// Receives reports from long work. Calls may come from several threads at once.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A stage of `total` steps begins.
  virtual void begin(std::string_view stage, long total) = 0;
  /// `steps` more of the current stage are done.
  virtual void advance(long steps) = 0;
  /// True once the work should stop; asked often, so it must be cheap.
  virtual bool interrupted() const = 0;
};

/// Progress that says nothing and never stops.
class NoProgress final : public Progress {
 public:
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return false; }
};

inline void throw_if_interrupted(const Progress& progress) {
  if (progress.interrupted()) throw Interrupted("interrupted");
}

}  // namespace fansite
