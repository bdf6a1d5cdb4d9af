// SPDX-License-Identifier: Apache-2.0
//
// What a run will cost: a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

struct PlannedPhase {
  std::string name;
  double seconds = 0;
  std::string what;  ///< of which work, and what was supposed
};

struct Plan {
  /// A run that has the machine for itself should take between total / kWithin and total · kWithin.
  static constexpr double kWithin = 1.5;

  int variables = 0;
  Index rows = 0;
  std::string method;                ///< that was planned
  std::string estimator;             ///< the one that will be used
  std::vector<PlannedPhase> phases;  ///< in the order of the run
  double peak_memory_mb = 0;         ///< of the process
  int networks = 0;
  std::int64_t training_steps = 0;  ///< over all networks; 0: nothing is trained
  double boundary_size = 0;         ///< mean members that were supposed
  double tested_pairs = 0;          ///< flow: supposed
  double evaluations = 0;           ///< flow: densities in the search, of one subset, row and network each; supposed
  int threads = 0;
  std::vector<std::string> warnings;  ///< of the table, as the run would give them
  double seconds = 0;                 ///< that planning took

  double total_seconds() const {
    double sum = 0;
    for (const PlannedPhase& phase : phases) sum += phase.seconds;
    return sum;
  }
};

}  // namespace fansite
