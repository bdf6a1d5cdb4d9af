// SPDX-License-Identifier: Apache-2.0
//
// Which pairs stand up to a test on held-out rows.
#pragma once

#include <map>

#include "fansite/boundary/detail/growth.h"
#include "fansite/boundary/detail/pairs.h"

namespace fansite {

/// A pair that was tested on held-out rows.
struct Tested {
  double p_value = 1;
  double q_value = 1;    ///< the smallest false discovery rate at which it is in
  double votes = 0;      ///< of the ensemble's members
  double stability = 0;  ///< the share of resamples of the rows in which it is in
  bool admitted = false;
};
struct Confirmed {
  Sets sets;
  Sets left_out;  ///< per target: admitted, but the estimator knows no larger sets; the most certain first
  std::map<Pair, Tested> tested;  ///< by fact_of
  double threshold = 0;           ///< the largest p-value admitted
};

/// Tests all pairs of the best sets and admits by Benjamini–Hochberg over them.
///  1. Those of the paths' needed sets, each given the rest of these.
///  2. Given many others that do not count, no pair can be told from chance, least of all where rows are few. So of
///     those in a set that chance explains the weaker half goes, and the others are tested given what is left, until
///     all that is left is admitted. What was admitted given more stays.
///  3. What is out but clearly missed now, by three standard errors of what it tells held-out rows, is tested given
///     what is in; what is in then, given each other too, as in 2.
/// Every pair is one hypothesis, however often it was asked; one that never was has the p-value 1.
Confirmed decide_on_held_out_rows(const Search& search, const std::vector<Path>& paths, Progress& progress);

}  // namespace fansite
