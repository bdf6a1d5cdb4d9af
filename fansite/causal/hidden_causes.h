// SPDX-License-Identifier: Apache-2.0
//
// What the equations of a graph leave over is independent from variable to variable, if no cause of two is hidden.
#pragma once

#include <string>
#include <vector>

#include "fansite/base/progress.h"
#include "fansite/causal/equations.h"

namespace fansite::causal {

/// Two variables of which what is left is related: a cause that is not in the table, or measurement noise in one that
/// is, or a link that was not among those allowed.
struct HiddenCause {
  int a = 0, b = 0;        ///< a < b
  double correlation = 0;  ///< the largest of g(a) with g(b) and with g(b)² − 1, and the reverse; g: normal scores
  double p_value = 1;      ///< of no correlation above 0.1; corrected for all pairs
};

/// Of the graph with these parents of every variable, the surest first: those with p up to 0.001. Numbers only: of
/// levels nothing is left over that could be compared. Of more than 1000 variables none is looked for.
std::vector<HiddenCause> find_hidden_causes(const Equations& equations, const std::vector<std::vector<int>>& parents,
                                            const Progress& progress);

/// Whether a variable is an end of one of them.
bool touches(const std::vector<HiddenCause>& hidden, int variable);

/// For messages: the surest pair, and how many others there are among all pairs.
std::string in_words(const std::vector<HiddenCause>& hidden, const std::vector<std::string>& names);

}  // namespace fansite::causal
