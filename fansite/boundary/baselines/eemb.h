// SPDX-License-Identifier: Apache-2.0
//
// EEMB: neighbours one by one, each looking for a set that separates it from the target, with spouses found on the way;
// then both are checked against each other.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

/// Of one target: neighbours, the strongest first, then spouses.
ClassicalSet eemb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset);

BoundaryMethod eemb_method();

}  // namespace fansite
