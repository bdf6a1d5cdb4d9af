// SPDX-License-Identifier: Apache-2.0
//
// The line that says where a benchmark ran.
#pragma once

#include <fmt/core.h>

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
