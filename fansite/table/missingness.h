// SPDX-License-Identifier: Apache-2.0
//
// Does it depend on other columns which cells are missing? Rows that lack a cell can then differ from those that have
// it.
#pragma once

#include <string>
#include <vector>

#include "fansite/table/dataset.h"

namespace fansite {

/// What the missing cells of a column depend on most.
struct MissingDependence {
  enum class By { value, level, absence };
  int column = 0;
  int other = 0;
  By by = By::value;   ///< of the other column: how large it is, one level of a nominal one, or whether it is missing
  int level = 0;       ///< that level
  double z = 0;        ///< above 0: missing more often where the other is large, has that level, or is missing too
  double p_value = 1;  ///< two-sided, times the number of tests
};

/// Each column with missing cells against the normal scores, levels and missing cells of every other, by the sum of
/// scores over its missing rows and the variance of that under permutations. The strongest of each column, where its
/// p-value, corrected for all tests, is below `level`; the strongest first. A normal tail is not to be believed where a
/// few rows decide, so Bernstein's bound for any scores must be below `level` too, without correction.
std::vector<MissingDependence> missing_dependences(const Dataset& data, double level = 0.01);

/// "cells of 'a' are missing more often where 'b' is large (p = 1e-09)", without the first words if `short_form`.
std::string to_text(const Dataset& data, const MissingDependence& dependence, bool short_form = false);

}  // namespace fansite
