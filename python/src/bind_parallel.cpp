// SPDX-License-Identifier: Apache-2.0
//
// fansite/parallel.h: threads and fork.
#include <tbb/global_control.h>

#include <new>

#include "fansite/base/parallel.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_parallel(nb::module_& m) {
  nb::class_<Running>(m, "Running", "How to run long work.")
      .def(
          "__init__",
          [](Running* self, int threads, nb::object report) {
            new (self) Running{threads, std::move(report)};
          },
          "threads"_a = 0, "report"_a = nb::none(),
          nb::sig("def __init__(self, threads: int = 0, "
                  "report: collections.abc.Callable[[str, int, int], None] | None = None) -> None"));
  m.def("thread_count", &thread_count, "Threads that work started now may use.");
  // oneTBB's threads do not exist in a forked child, but its bookkeeping says so: they are sent home before the fork
  // and come back with the next work, on both sides.
  m.def(
      "send_threads_home",
      [] {
        if (running_works() > 0) return false;
        tbb::task_scheduler_handle handle{tbb::attach{}};
        return tbb::finalize(handle, std::nothrow);
      },
      "Ends the threads that wait for work; False if they are at work.");
}

}  // namespace fansite::python
