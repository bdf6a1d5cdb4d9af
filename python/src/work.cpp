// SPDX-License-Identifier: Apache-2.0
#include "src/work.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <exception>
#include <future>

#include "fansite/base/parallel.h"

namespace fansite::python {
namespace {

namespace nb = nanobind;

constexpr auto kPollInterval = std::chrono::milliseconds(100);

std::atomic<int> works = 0;

struct Counted {
  Counted() { ++works; }
  ~Counted() { --works; }
};

// Written by the threads that compute, read by the one that waits.
class SharedProgress final : public Progress {
 public:
  void begin(std::string_view stage, long total) override {
    const std::lock_guard lock(mutex_);
    stage_ = stage;
    total_ = total;
    done_ = 0;
  }
  void advance(long steps) override { done_ += steps; }
  bool interrupted() const override { return stopping_.load(std::memory_order_relaxed); }

  void stop() { stopping_ = true; }
  void report_to(const nb::object& report) {
    std::string stage;
    long done = 0, total = 0;
    {
      const std::lock_guard lock(mutex_);
      stage = stage_;
      done = done_;
      total = total_;
    }
    if (!stage.empty()) report(stage, done, total);
  }

 private:
  std::mutex mutex_;  // guards stage_ and total_
  std::string stage_;
  long total_ = 0;
  std::atomic<long> done_ = 0;
  std::atomic<bool> stopping_ = false;
};

// With the GIL: what Python raises, or null.
std::exception_ptr poll(SharedProgress& progress, const nb::object& report) {
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!report.is_none()) progress.report_to(report);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run(const Running& running, const std::function<void(Progress&)>& work) {
  const Counted counted;
  SharedProgress progress;
  const int threads = running.threads;
  std::future<void> future = std::async(std::launch::async, [&] {
    const ThreadLimit limit(threads);
    work(progress);
  });
  const auto finished_within = [&](std::chrono::milliseconds moment) {
    const nb::gil_scoped_release free;
    return future.wait_for(moment) == std::future_status::ready;
  };
  while (!finished_within(kPollInterval)) {
    const std::exception_ptr raised = poll(progress, running.report);
    if (!raised) continue;
    progress.stop();
    while (!finished_within(kPollInterval)) continue;
    std::rethrow_exception(raised);
  }
  future.get();
  // Work that ends before the first look is told of too.
  if (!running.report.is_none()) progress.report_to(running.report);
}

int running_works() { return works; }

}  // namespace fansite::python
