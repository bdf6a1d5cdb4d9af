// SPDX-License-Identifier: Apache-2.0
//
// What a run of fansite will cost, before it is done: the cheap part of the run for real, and the rest from short
// measurements of its pieces on this table and this machine.
#pragma once

#include "fansite/boundary/methods.h"

namespace fansite {

/// Throws what the run would before it trains. Takes the time of the run itself where the Gaussian estimator is used,
/// and some seconds otherwise.
Plan plan_fansite(const BoundaryProblem& problem, const Parameters& parameters);

}  // namespace fansite
