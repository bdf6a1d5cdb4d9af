// SPDX-License-Identifier: Apache-2.0
//
// FANSITEMB (Algorithm 1 of the paper): for each target grow a set by the largest drop of conditional entropy, shrink
// it, and reconcile the boundaries of all targets.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/entropy/entropy.h"
#include "fansite/graph/knowledge.h"

namespace fansite {

enum class StopRule {
  calibrated,  ///< decided by the data and `fdr`: by the gains' distribution if it is known, else on held-out rows
  paper        ///< the paper's two thresholds, in nats
};
constexpr auto enum_names(StopRule) {
  return std::to_array<EnumName<StopRule>>({{StopRule::calibrated, "calibrated"}, {StopRule::paper, "paper"}});
}

/// z in MB(t) iff t in MB(z), so the two searches are two tests of one fact. Under the calibrated rule the pair is then
/// decided on the evidence from both sides together.
enum class Symmetry {
  or_,   ///< one search may propose a pair; the late-comer goes to the end of the other's list
  and_,  ///< both searches must propose it
  none   ///< each search stands alone; boundaries need not agree
};
constexpr auto enum_names(Symmetry) {
  return std::to_array<EnumName<Symmetry>>({{Symmetry::or_, "or"}, {Symmetry::and_, "and"}, {Symmetry::none, "none"}});
}

struct SearchParams {
  StopRule stop = StopRule::calibrated;
  double fdr = 0.05;          ///< calibrated: the share of false members to accept, over the table (docs/method.md)
  double eps_grow = 0.005;    ///< paper: a gain up to this, in nats, is a miss; 0.001 for dense graphs
  double eps_shrink = 0.002;  ///< paper: a member whose removal costs up to this goes; 0.001 for dense graphs
  int patience = -1;          ///< ρ: growing stops after more than this many misses in a row; 50 for d = 5000;
                              ///< −1: 15, or 6 where sizes are decided on held-out rows
  int max_size = 0;           ///< growing stops at this many members; 0: as many as the rows allow
  Index test_rows = 0;        ///< calibrated, held-out rows: a pair is tested on so many of them; 0: on all
  Symmetry rule = Symmetry::or_;
  bool evidence =
      true;  ///< also each member's `unique`, p- and q-value, and near misses; half the time of a small search

  static const Description& description();
};

/// A variable that could take a member's place.
struct StandIn {
  int variable = -1;
  double cost = 0;            ///< entropy of the target that comes back by the exchange
  double standard_error = 0;  ///< of that
};

/// What the table does not hold, and how strong it would have to be to explain a member away (boundary/robustness.h).
/// Both are shares of variances, on normal scores; NaN: not known, or nothing of the kind would.
struct Robustness {
  double hidden_cause = std::numeric_limits<double>::quiet_NaN();       ///< of what is left of both, by a common cause
  double measurement_noise = std::numeric_limits<double>::quiet_NaN();  ///< in each of the other members
};

struct Member {
  int variable = -1;
  double gain = 0;  ///< entropy of the target that it takes away given the members before it; the gains add up
  double standard_error = 0;   ///< of the gain, over rows
  double unique = 0;           ///< entropy that comes back if this member alone is left out
  double p_value = 1;          ///< of the pair, from both variables' searches together
  double q_value = 1;          ///< the smallest false discovery rate, over the table, at which this member is in
  bool by_symmetry = false;    ///< found in the search of the other variable only
  bool by_graph = false;       ///< not found by the searches: the causal graph makes it a member
  bool against_graph = false;  ///< the causal graph would drop it, but does not explain what the data show of it
  bool by_knowledge = false;   ///< in whatever the data say; its p-value is what they say, and it has no q-value
  /// Ensembles: the share of networks that speak for it on rows they have not seen; NaN without an ensemble.
  double votes = std::numeric_limits<double>::quiet_NaN();
  /// The share of 100 resamples of the rows in which it is in, networks and other members staying as they are; NaN
  /// where that is not known.
  double stability = std::numeric_limits<double>::quiet_NaN();
  Robustness robustness = {};
  /// It touches a pair of which a causal graph leaves over what is related (hidden causes), or a variable whose
  /// mean changes along the rows (batches, drift); or a hidden cause no stronger than the typical member, or a tenth of
  /// measurement noise, would explain it away.
  bool fragile = false;
  /// Variables outside that tell at least half of what this member alone tells, the best first.
  std::vector<StandIn> interchangeable = {};
};

/// A variable that was nearly in, and why it is not.
struct NearMiss {
  enum class Reason {
    chance,    ///< its evidence is no stronger than chance explains at this false discovery rate
    held_out,  ///< it came next, but on rows that the networks have not seen it adds less than one standard error
    small,     ///< its gain is below the threshold
    graph,     ///< it was in, but the causal graph has no link between the two and no common child
    limit      ///< it belongs in, but the estimator knows no larger sets, and the members' evidence is stronger
  };
  Candidate candidate;  ///< its gain given the boundary
  double p_value = 1;   ///< as the members', or of the gain, corrected for being the best of all; NaN: not tested
  double q_value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known
  Reason reason = Reason::chance;
};
std::string_view explain(NearMiss::Reason reason);  ///< in words for people

/// One step of a target's growing.
struct PathStep {
  int variable = -1;
  double conditional_entropy = 0;  ///< of the target given this and all before, on held-out rows
};

struct Boundary {
  int target = -1;
  double entropy = 0;                 ///< H(T); −∞ for a constant column
  double conditional_entropy = 0;     ///< H(T | boundary); −∞ if the boundary determines the target
  std::vector<Member> members;        ///< in order of admission
  std::vector<NearMiss> near_misses;  ///< the nearest first
  std::vector<PathStep> path;  ///< where sizes are decided on held-out rows: the order of admission, beyond it too
  bool limited = false;        ///< members may be missing, because the estimator knows no larger sets
  Index rows = 0;              ///< that have the target, and all members unless their cells are drawn; 0: all

  std::vector<int> member_indices() const;
};

struct Boundaries {
  std::vector<Boundary> boundaries;              ///< one per target, in the order asked for
  std::vector<std::pair<int, int>> moral_edges;  ///< pairs {i, j}, i < j, with one in the other's boundary
  std::optional<double> threshold;               ///< calibrated: the largest p-value that was admitted
  long steps = 0;                                ///< growing and shrinking steps over all targets
  long tested_pairs = 0;                         ///< pairs tested on held-out rows
  long cut_short = 0;                            ///< targets whose growing was ended by the clock
  int largest_set = 0;                           ///< that the estimator knows; no boundary has more members
};

class SearchKeeper;

struct SearchScope {
  std::vector<int> targets;   ///< empty: every variable
  std::vector<int> excluded;  ///< join no boundary (copies of other columns, say); as targets they have an empty one
  Knowledge knowledge = {};   ///< pairs known to be in each other's boundary are, those known not to be are not
  SearchKeeper* keeper = nullptr;  ///< on held-out rows: knows what an interrupted search has found, and keeps more
};

/// Targets run in parallel; the result has the same bits for any number of threads. The estimator is never asked about
/// more than its largest_set(): a boundary that would be larger keeps what is known to be in it and the members with
/// the strongest evidence, and is `limited`. (The others keep the target in theirs: their sets are not too large.) A
/// UsageError if even the known members are too many.
Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params, const SearchScope& scope,
                           Progress& progress);
Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params = {});

/// What growing alone proposes, per variable of the table: sets reconciled, nothing tested. Those of variables that
/// were not searched are empty. For estimators with held-out entropies.
std::vector<std::vector<int>> proposed_sets(const SearchEstimator& estimator, const SearchParams& params,
                                            const SearchScope& scope, Progress& progress);

}  // namespace fansite
