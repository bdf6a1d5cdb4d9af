// SPDX-License-Identifier: Apache-2.0
//
// The searches of single targets: growing and shrinking sets.
#pragma once

#include <vector>

#include "fansite/base/sets.h"
#include "fansite/boundary/search.h"

namespace fansite {

/// What all targets of one search share.
struct Search {
  const SearchEstimator& estimator;
  const SearchParams& params;
  std::vector<int> targets;
  std::vector<int> slot_of;  ///< per variable its place in targets, or −1
  Candidates candidates;
  std::vector<int> choices;  ///< per target: how many may join its set
  Sets known;                ///< per target: members by prior knowledge, in every set from the beginning
  double hypotheses = 0;  ///< facts that the data decide: pairs with an end searched; undirected, or each side its own
  SearchKeeper* keeper = nullptr;  ///< null: nothing is known from before, nothing is kept
  int largest = 0;
  int patience = 0;

  /// Targets that can have a boundary; the others keep an empty one.
  Search(const SearchEstimator& estimator, const SearchParams& params, const std::vector<int>& targets,
         const SearchScope& scope);

  bool searched(int variable) const { return slot_of[static_cast<std::size_t>(variable)] >= 0; }
  std::size_t slot(int variable) const { return static_cast<std::size_t>(slot_of[static_cast<std::size_t>(variable)]); }
  /// Whether sizes are decided on held-out rows and pairs by tests on them.
  bool on_held_out_rows() const { return params.stop == StopRule::calibrated && estimator.held_out(); }
  /// Whether each side of a pair is a fact of its own.
  bool directed() const { return params.rule == Symmetry::none; }
  bool is_known(int target, int variable) const;
  /// Whether the estimator knows no set of this target that is larger, though there are more candidates.
  bool at_limit(std::size_t slot, std::size_t size) const;
  /// The gain of one variable over `given` others, picked as the best of all that were left to pick from for a slot.
  double corrected_p_value(std::size_t slot, double gain, int given) const;

 private:
  double count_hypotheses() const;
};

/// Whether the step that gains this much over `given` others is too small. `streak` is what the misses before it
/// gained.
bool is_miss(const Search& search, std::size_t slot, double gain, double streak, int given);

/// Takes the members of least worth, one number each, out of a set that is larger than that; of equals the later ones.
/// Returns them, the worthiest first.
std::vector<int> take_out_weakest(std::vector<int>& set, const std::vector<double>& worth, int largest);

/// Grows and shrinks the sets (one per target, in order of admission) of these slots, each from what it holds, in
/// parallel. Adds the steps taken to `result`, and the targets for which time ran out.
void grow_and_shrink(const Search& search, const std::vector<int>& slots, Sets& sets, Boundaries& result,
                     Progress& progress);

/// Fills in what each member of the boundary gains and is worth alone, what each near miss would gain, and the
/// conditional entropy.
void fill_gains(const EntropyEstimator& estimator, Boundary& boundary);

/// Which of these others could take each member's place; fill_gains must have been called.
void find_stand_ins(const EntropyEstimator& estimator, const std::vector<int>& others, Boundary& boundary);

/// What a target's growing found, sized by entropies of held-out rows.
struct Path {
  std::vector<int> indices;     ///< in order of admission, beyond the best size too
  std::vector<double> entropy;  ///< held out, given the first 0, 1, … of them
  int best = 0;                 ///< the size of the least of these, two beyond the last clear step at most
  std::vector<int> needed;      ///< of the best set, without what the others stand in for; in order of admission
};

/// For estimators with held-out entropies: grows every target until more than `patience` steps in a row have not
/// improved its held-out entropy by two standard errors. Adds to `result` as grow_and_shrink does.
std::vector<Path> grow_paths(const Search& search, Boundaries& result, Progress& progress);

}  // namespace fansite
