// SPDX-License-Identifier: Apache-2.0
//
// The line that says where a benchmark ran, what it held, and how it ends.
#pragma once

#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "fansite/report/timing.h"

using fansite::machine;

inline double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;  // Linux counts in kilobytes
}

// What a phase of a run took; 0: there was none called so.
template <class Result>
double phase_seconds(const Result& result, std::string_view name) {
  double sum = 0;
  for (const auto& [phase, seconds] : result.seconds) sum += phase == name ? seconds : 0;
  return sum;
}

// Runs a benchmark's program; what it throws becomes a line and an exit code.
template <class Program>
int guarded(const Program& program) {
  try {
    return program();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
