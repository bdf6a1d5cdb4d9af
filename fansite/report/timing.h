// SPDX-License-Identifier: Apache-2.0
//
// What a run cost, and where it ran: the part of a result that is not the same every time.
#pragma once

#include <string>

#include "fansite/base/stopwatch.h"

namespace fansite {

struct RunTiming {
  double total_seconds = 0;
  double peak_memory_mb = 0;  ///< of the process
  int threads = 0;
  std::string machine;  ///< in words
  std::string device;   ///< "cpu", or the GPU that did some of the work
};

/// Since `watch` was made.
RunTiming timing_of(const Stopwatch& watch);

/// The processor, its cores, and the vector instructions that the kernels use: another set can give other last bits.
std::string machine();

}  // namespace fansite
