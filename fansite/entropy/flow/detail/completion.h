// SPDX-License-Identifier: Apache-2.0
//
// Absent cells drawn from the networks' own distributions, as conditions for what is present.
#pragma once

#include <vector>

#include "fansite/base/progress.h"
#include "fansite/base/random.h"
#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {

/// Draws the cells of a completed density anew, each variable given a set of others, as they were drawn last (Gibbs
/// sampling), by networks that have not seen the row. `given`: per column, the first of each variable; a variable whose
/// set is empty keeps the cells that it has. Given boundaries, the draws are from the distribution of the absent cells
/// given the present ones, if the networks know theirs.
void redraw(EnsembleDensity& density, const std::vector<std::vector<int>>& given, Key key, const Progress& progress);

}  // namespace fansite::flow
