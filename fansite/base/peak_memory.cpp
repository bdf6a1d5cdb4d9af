// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/peak_memory.h"

#include <sys/resource.h>

#include <cstdlib>  // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fstream>
#include <sstream>
#include <string>

namespace fansite {

PeakMemory::PeakMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);  // what earlier work has freed is not this one's
#endif
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM
}

double PeakMemory::megabytes() const {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    double kilobytes = 0;
    std::istringstream(line.substr(6)) >> kilobytes;
    return kilobytes / 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace fansite
