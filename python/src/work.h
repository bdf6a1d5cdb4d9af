// SPDX-License-Identifier: Apache-2.0
//
// Long work with Python's manners: the GIL is free, Ctrl-C stops it, and progress is told.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "fansite/base/progress.h"

namespace fansite::python {

/// How to run: threads (0: one per core), and what to call with (stage, steps done, steps in all), or None.
struct Running {
  int threads = 0;
  nanobind::object report;
};

/// Does the work in a thread of its own, while the calling one waits without the GIL and takes it ten times a second to
/// look for signals and to report, and reports once more at the end. So no thread that computes ever touches Python,
/// and a signal is seen however long a piece of work takes. Throws what the work throws; what a signal's handler or
/// `report` raises, once the work has stopped.
void run(const Running& running, const std::function<void(Progress&)>& work);

/// The number of works under way.
int running_works();

}  // namespace fansite::python
