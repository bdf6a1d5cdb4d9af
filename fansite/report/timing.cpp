// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/timing.h"

#include <fmt/core.h>
#include <hwy/targets.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "fansite/base/device.h"
#include "fansite/base/parallel.h"

namespace fansite {

RunTiming timing_of(const Stopwatch& watch) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  RunTiming timing;
  timing.total_seconds = watch.seconds();
  timing.peak_memory_mb = static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in kilobytes
  timing.threads = thread_count();
  timing.machine = machine();
  timing.device = device_used();
  return timing;
}

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      model = line.substr(colon + 2);
      break;
    }
  }
  const std::int64_t best = hwy::SupportedTargets() & -hwy::SupportedTargets();  // the lowest bit is the best target
  return fmt::format("{}, {} cores, {}", model, std::thread::hardware_concurrency(), hwy::TargetName(best));
}

}  // namespace fansite
