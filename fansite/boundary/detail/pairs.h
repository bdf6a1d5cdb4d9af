// SPDX-License-Identifier: Apache-2.0
//
// All targets together: a pair of variables is one fact with two tests of it.
#pragma once

#include <map>

#include "fansite/boundary/detail/growth.h"

namespace fansite {

/// Symmetry correction. OR: for i in order, for j in MB_i, append i to the end of MB_j; AND: drop unconfirmed members.
Sets reconciled(const Search& search, Symmetry rule, const Sets& sets);

/// Takes out what makes a set larger than the estimator knows: of the members that its own search has not found, those
/// that add least to what it has. Known members are found from the beginning, and no search finds too many. Returns for
/// each set whether anything was taken out.
std::vector<char> limit_to_own(const Search& search, const Sets& own, Sets& sets);

PairQuery pair_query(const Search& search, const Sets& sets, Pair pair);

/// The key of a fact: the smaller variable first, or target first where each side is a fact of its own.
Pair fact_of(const Search& search, int target, int member);

/// By the distribution of gains: searches again where others propose members, then keeps the members whose evidence
/// stands up to the whole table. `own` receives what each search found by itself, `limited` for each set whether
/// members that stand up had to be taken out. Returns the largest p-value kept.
double search_calibrated(const Search& search, Sets& sets, Sets& own, std::vector<char>& limited, Boundaries& result,
                         Progress& progress);

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

/// By held-out rows: tests the pairs of the paths' needed sets, each given the rest of these, and admits by
/// Benjamini–Hochberg over all pairs of the best sets. Those that are not needed count as hypotheses too, because the
/// same rows that test the others have left them out.
Confirmed decide_on_held_out_rows(const Search& search, const std::vector<Path>& paths, Progress& progress);

}  // namespace fansite
