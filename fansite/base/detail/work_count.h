// SPDX-License-Identifier: Apache-2.0
//
// How often work that a run should do once was done, over the life of the process. Tests count.
#pragma once

#include <atomic>

namespace fansite::detail {

struct WorkCount {
  std::atomic<long> table_hashes = 0;
  std::atomic<long> inspections = 0;
};
inline WorkCount work_count;

}  // namespace fansite::detail
