// SPDX-License-Identifier: Apache-2.0
//
// The line that says where a benchmark ran, what it held, and how it ends.
#pragma once

#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <thread>

inline std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      model = line.substr(colon + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

inline double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;  // Linux counts in kilobytes
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
