// SPDX-License-Identifier: Apache-2.0
//
// The searches of single targets: growing and shrinking sets. Private to the library.
#pragma once

#include <utility>
#include <vector>

#include "fansite/search.h"

namespace fansite {

using Sets = std::vector<std::vector<int>>;  ///< one set per target, in order of admission
using Pair = std::pair<int, int>;

/// What all targets of one search share.
struct Search {
  const SearchEstimator& estimator;
  const SearchParams& params;
  std::vector<int> targets;
  std::vector<int> slot_of;      ///< per variable its place in targets, or −1
  std::vector<char> candidates;  ///< per variable: may it join a set?
  int candidate_count = 0;
  int largest = 0;
  int patience = 0;

  /// Targets that can have a boundary; the others keep an empty one.
  Search(const SearchEstimator& estimator, const SearchParams& params, const std::vector<int>& targets,
         const std::vector<int>& excluded);

  bool searched(int variable) const { return slot_of[static_cast<std::size_t>(variable)] >= 0; }
  std::size_t slot(int variable) const { return static_cast<std::size_t>(slot_of[static_cast<std::size_t>(variable)]); }
  /// Whether sizes are decided on held-out rows and pairs by tests on them.
  bool screens() const { return params.stop == StopRule::calibrated && estimator.held_out(); }
  /// Whether each look at a pair is a fact of its own.
  bool directed() const { return params.rule == Symmetry::none; }
  /// The gain of one variable over `given` others, picked as the best of all that were left to pick from.
  double corrected_p_value(double gain, int given) const;
};

bool contains(const std::vector<int>& set, int z);
std::vector<int> without(const std::vector<int>& set, int z);

/// Grows and shrinks the sets of these slots, each from what it holds, in parallel. Returns the steps taken.
long grow_and_shrink(const Search& search, const std::vector<int>& slots, Sets& sets, Progress& progress);

/// What a target's growing found, sized by entropies of held-out rows.
struct Path {
  std::vector<int> variables;   ///< in order of admission, beyond the best size too
  std::vector<double> entropy;  ///< held out, given the first 0, 1, … of them
  int best = 0;                 ///< the size of the least of these
  int shortest = 0;             ///< the smallest size that is within one standard error of it, row by row
};

/// For estimators with held-out entropies: grows every target until more than `patience` steps in a row have not
/// improved its held-out entropy by a standard error.
std::vector<Path> grow_paths(const Search& search, long& steps, Progress& progress);

}  // namespace fansite
