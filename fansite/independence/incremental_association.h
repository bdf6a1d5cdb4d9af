// SPDX-License-Identifier: Apache-2.0
//
// Incremental association, the search of IAMB (Tsamardinos, Aliferis and Statnikov, 2003), by any test.
#pragma once

#include <vector>

#include "fansite/independence/independence_test.h"

namespace fansite {

/// The set grows from `known` by the candidate with the strongest dependence on the target given it, while there is one
/// with a p-value up to alpha, of equals the first; then what the others make superfluous goes, but nothing known. In
/// the order of admission. Exact for a test that is never wrong on data that are faithful to a graph.
std::vector<int> incremental_association(const IndependenceTest& test, int target, const std::vector<int>& candidates,
                                         const std::vector<int>& known, double alpha);

}  // namespace fansite
