// SPDX-License-Identifier: Apache-2.0
//
// All targets together: a pair of variables is one fact with two tests of it.
#pragma once

#include <functional>

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

/// The facts that sets hold, each once; and those of them that are not known already, for the data to decide.
std::vector<Pair> facts_in(const Search& search, const Sets& sets);
std::vector<Pair> open_facts(const Search& search, const Sets& sets);
/// Out of the sets of both ends.
void take_out(const Search& search, Pair fact, Sets& sets);

/// Takes out what makes a target's set larger than the estimator knows: the members with the largest p-values, but none
/// that is known to be one. Returns them, the most certain first.
std::vector<int> limit_by_evidence(const Search& search, std::size_t slot, std::vector<int>& set,
                                   const std::function<double(int)>& p_value);

/// By the distribution of gains: searches again where others propose members, then keeps the members whose evidence
/// stands up to the whole table. `own` receives what each search found by itself, `limited` for each set whether
/// members that stand up had to be taken out. Returns the largest p-value kept.
double search_calibrated(const Search& search, Sets& sets, Sets& own, std::vector<char>& limited, Boundaries& result,
                         Progress& progress);

}  // namespace fansite
