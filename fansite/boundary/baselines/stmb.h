// SPDX-License-Identifier: Apache-2.0
//
// STMB: neighbours that no small set separates from the target; then spouses, and neighbours that they separate go.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

/// Of one target: neighbours, the strongest first, then spouses.
ClassicalSet stmb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset);

BoundaryMethod stmb_method();

}  // namespace fansite
