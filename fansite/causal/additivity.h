// SPDX-License-Identifier: Apache-2.0
//
// Does noise add? What regression leaves of a child should then depend on none of its parents.
#pragma once

#include <vector>

#include "fansite/base/progress.h"
#include "fansite/causal/equations.h"

namespace fansite::causal {

/// The strongest sign that the size of what is left of a child depends on a parent.
struct AdditivityTest {
  double correlation = 0;  ///< of the two
  double p_value = 1;      ///< of no correlation above 0.1; corrected for all that were tested
  int child = -1, parent = -1;
  bool additive = true;           ///< p above 0.01, and something could be tested
  bool suspicious = false;        ///< that of no correlation at all is not above 0.05
  int tested = 0;                 ///< edges between numbers; noise of levels does not add, so others say nothing
  std::vector<int> refused = {};  ///< children whose own sign, corrected alike, has a p-value of 0.01 or less
  /// False: there are edges, but none between numbers, or too few independent rows to refuse a correlation of 0.43, and
  /// `additive` claims nothing.
  bool applicable = true;
  /// Why it is not applicable, half a sentence.
  const char* why_not() const {
    return tested == 0 ? "no edge joins two numbers" : "these are too few independent rows to see it";
  }
};

/// `parents` of every variable.
AdditivityTest test_additivity(const Equations& equations, const std::vector<std::vector<int>>& parents,
                               const Progress& progress);

}  // namespace fansite::causal
