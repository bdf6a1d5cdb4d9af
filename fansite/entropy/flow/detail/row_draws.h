// SPDX-License-Identifier: Apache-2.0
//
// Which rows a training learns from, and in what order: what trainings of all networks have in common.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"

namespace fansite::flow {

/// Takes a random share of the rows out, one at least and not all, and returns them; none for a share of 0. Those that
/// are left stay ascending.
std::vector<int> hold_out(std::vector<int>& rows, double share, Key key);

/// As many places of `rows`, each as often as its row's weight says, rounded up or down by chance (systematic
/// sampling). `shuffled`: all places, in a random order.
std::vector<int> by_weight(const std::vector<int>& shuffled, const std::vector<int>& rows, const Vector& weights,
                           Random& random);

}  // namespace fansite::flow
