// SPDX-License-Identifier: Apache-2.0
//
// All targets together: a pair of variables is one fact with two looks at it.
#pragma once

#include <map>

#include "fansite/boundary/detail/growth.h"

namespace fansite {

/// Symmetry correction. OR: for i in order, for j in MB_i, append i to the end of MB_j; AND: drop unconfirmed members.
Sets reconciled(const Search& search, Symmetry rule, const Sets& sets);

PairQuery pair_query(const Search& search, const Sets& sets, Pair pair);

/// The key of a fact: the smaller variable first, or target first where each look is a fact of its own.
Pair fact_of(const Search& search, int target, int member);

/// By the law of gains: looks again where others propose members, then keeps the members whose evidence stands up to
/// the whole table. `own` receives what each search found by itself. Returns the largest p-value kept.
double search_calibrated(const Search& search, Sets& sets, Sets& own, Boundaries& result, Progress& progress);

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
  std::map<Pair, Tested> tested;  ///< by fact_of
  double threshold = 0;           ///< the largest p-value admitted
};

/// By held-out rows: tests the pairs that the paths' shortest sizes propose, each given the rest of the best sets, and
/// admits by Benjamini–Hochberg over all pairs of the best sets. Those that the shortest sizes leave out count as
/// hypotheses too, because the same rows that test the others have left them out.
Confirmed confirm(const Search& search, const std::vector<Path>& paths, Progress& progress);

}  // namespace fansite
