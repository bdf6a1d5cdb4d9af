// SPDX-License-Identifier: Apache-2.0
//
// What finding the boundaries of a table will cost, before it is done: the cheap part of the run for real, and the rest
// from short measurements of its pieces on this table and this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fansite/run/boundaries.h"

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
  EstimatorKind estimator = EstimatorKind::gaussian;  ///< the one that will be used
  std::vector<PlannedPhase> phases;                   ///< in the order of the run
  double peak_memory_mb = 0;                          ///< of the process
  int networks = 0;
  std::int64_t training_steps = 0;  ///< over all networks; 0: nothing is trained
  double boundary_size = 0;         ///< mean members that were supposed
  double tested_pairs = 0;          ///< flow: supposed
  double evaluations = 0;           ///< flow: densities in the search, of one subset, row and network each; supposed
  int threads = 0;
  std::vector<std::string> warnings;  ///< of the table, as the run would give them
  double seconds = 0;                 ///< that planning took

  double total_seconds() const;
};

/// For the run of markov_boundaries with these settings; throws what that would before it trains. Takes the time of the
/// run itself where the Gaussian estimator is used, and some seconds otherwise.
Plan plan(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params, Progress& progress);
Plan plan(const Dataset& data, const BoundariesParams& params = {});

}  // namespace fansite
