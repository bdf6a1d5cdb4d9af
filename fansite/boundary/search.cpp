// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/detail/held_out_pairs.h"
#include "fansite/boundary/detail/pairs.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/boundary/fdr.h"

namespace fansite {
namespace {

// ---- By the distribution of gains, or fixed thresholds --------------------------------------------------------------

constexpr int kMostToExchange = 200;  // variables: beyond, every exchange of every member takes longer than the search

// Why each member is in, and the best variable left out is not.
void add_evidence(const Search& search, const Sets& sets, Frontier& frontier, Boundary& boundary) {
  const std::vector<Candidate> losses = frontier.losses(0);
  for (std::size_t k = 0; k < boundary.members.size(); ++k) {
    Member& member = boundary.members[k];
    member.unique = losses[k].gain;
    const PairEvidence evidence =
        search.estimator.pair_evidence(pair_query(search, sets, {boundary.target, member.variable}));
    member.p_value = evidence.p_value;
    member.votes = evidence.votes;
  }
  const int only = 0;
  NearMiss best;
  frontier.find_best(std::span(&only, 1), std::span(&best.candidate, 1));
  if (best.candidate.variable < 0) return;
  const std::size_t slot = search.slot(boundary.target);
  best.p_value = search.corrected_p_value(slot, best.candidate.gain, static_cast<int>(boundary.members.size()));
  best.reason = search.params.stop == StopRule::paper ? NearMiss::Reason::small : NearMiss::Reason::chance;
  const auto size = static_cast<int>(boundary.members.size());
  if (search.at_limit(slot, boundary.members.size()) && !is_miss(search, slot, best.candidate.gain, 0, size)) {
    best.reason = NearMiss::Reason::limit;
    boundary.limited = true;
  }
  boundary.near_misses.push_back(best);
}

Boundary describe(const Search& search, const Sets& sets, const Sets& own, std::size_t slot, const Progress& progress) {
  const SearchEstimator& estimator = search.estimator;
  Boundary result;
  result.target = search.targets[slot];
  result.entropy = estimator.conditional_entropy({result.target, {}}).value;
  result.conditional_entropy = estimator.conditional_entropy({result.target, sets[slot]}).value;
  const auto frontier = estimator.open(std::span(&result.target, 1), search.candidates, progress);
  for (const int z : sets[slot]) frontier->add(0, z);
  for (const Candidate& gain : frontier->gains(0)) {
    Member member;
    member.variable = gain.variable;
    member.gain = gain.gain;
    member.standard_error = gain.standard_error;
    member.by_symmetry = !contains(own[slot], gain.variable);
    member.by_knowledge = search.is_known(result.target, gain.variable);
    result.members.push_back(member);
  }
  if (search.params.evidence) add_evidence(search, sets, *frontier, result);
  if (search.params.evidence && estimator.variables() <= kMostToExchange) {
    std::vector<int> others;
    for (int z = 0; z < estimator.variables(); ++z) {
      if (search.candidates.may_join(z, result.target)) others.push_back(z);
    }
    find_stand_ins(estimator, others, result);
  }
  return result;
}

// Benjamini–Hochberg: the smallest false discovery rate at which a member would still be in, over all that are. Both
// ends of a pair are one fact, unless each search stands alone.
void set_q_values(const Search& search, std::vector<Boundary>& boundaries) {
  struct Fact {
    Pair pair;
    Member* member;
  };
  std::vector<Fact> facts;
  for (Boundary& boundary : boundaries) {
    for (Member& member : boundary.members) {
      if (member.by_knowledge) {
        member.q_value = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      facts.push_back({fact_of(search, boundary.target, member.variable), &member});
    }
  }
  std::sort(facts.begin(), facts.end(), [](const Fact& a, const Fact& b) { return a.pair < b.pair; });
  std::vector<std::pair<double, std::size_t>> ranked;  // p-value and place of each fact's first end
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == 0 || facts[i].pair != facts[i - 1].pair) ranked.emplace_back(facts[i].member->p_value, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<double> sorted;
  for (const auto& [p_value, first] : ranked) sorted.push_back(p_value);
  const std::vector<double> q = q_values(sorted, search.hypotheses);
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    const std::size_t first = ranked[rank].second;
    for (std::size_t i = first; i < facts.size() && facts[i].pair == facts[first].pair; ++i) {
      facts[i].member->q_value = q[rank];
    }
  }
}

std::vector<Boundary> find_by_gains(const Search& search, Boundaries& result, Progress& progress) {
  std::vector<int> all(search.targets.size());
  std::iota(all.begin(), all.end(), 0);
  Sets sets = search.known;
  grow_and_shrink(search, all, sets, result, progress);
  Sets own = sets;
  std::vector<char> limited;
  if (search.params.stop == StopRule::calibrated) {
    result.threshold = search_calibrated(search, sets, own, limited, result, progress);
  } else {
    sets = reconciled(search, search.params.rule, sets);
    limited = limit_to_own(search, own, sets);
  }
  std::vector<Boundary> found(search.targets.size());
  parallel_for(static_cast<Index>(found.size()), [&](Index s) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(s);
    found[at] = describe(search, sets, own, at, progress);
    if (limited[at] != 0) found[at].limited = true;
  });
  if (search.params.evidence) set_q_values(search, found);
  return found;
}

// ---- By held-out rows -----------------------------------------------------------------------------------------------

constexpr std::size_t kNearMisses = 3;

// The pairs of a target that were tested and not admitted, or too many, the nearest first, and what came next on its
// path.
std::vector<NearMiss> near_misses(const Search& search, const Confirmed& confirmed, const Path& path, int target) {
  std::vector<NearMiss> result;
  const std::vector<int>& left_out = confirmed.left_out[search.slot(target)];
  for (const auto& [fact, tested] : confirmed.tested) {
    const bool concerns = fact.first == target || (!search.directed() && fact.second == target);
    if (!concerns) continue;
    const int other = fact.first == target ? fact.second : fact.first;
    if (tested.admitted && !contains(left_out, other)) continue;
    NearMiss& miss = result.emplace_back();
    miss.candidate.variable = other;
    miss.p_value = tested.p_value;
    miss.q_value = tested.q_value;
    miss.reason = tested.admitted ? NearMiss::Reason::limit : NearMiss::Reason::chance;
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const NearMiss& a, const NearMiss& b) { return a.p_value < b.p_value; });
  result.resize(std::min(result.size(), kNearMisses));
  const auto first_out =
      std::find_if(path.indices.begin(), path.indices.end(), [&](int z) { return !contains(path.needed, z); });
  if (first_out != path.indices.end() && confirmed.tested.count(fact_of(search, target, *first_out)) == 0) {
    NearMiss& next = result.emplace_back();
    next.candidate.variable = *first_out;
    next.p_value = next.q_value = std::numeric_limits<double>::quiet_NaN();  // not tested
    next.reason = NearMiss::Reason::held_out;
  }
  return result;
}

// Entropies and gains are those of held-out rows, so a gain may be negative.
Boundary describe_held_out(const Search& search, const Confirmed& confirmed, const Path& path, std::size_t slot) {
  const std::vector<int>& set = confirmed.sets[slot];
  Boundary result;
  result.target = search.targets[slot];
  result.near_misses = near_misses(search, confirmed, path, result.target);
  const bool stopped = search.at_limit(slot, static_cast<std::size_t>(path.best));  // in the middle of growing
  result.limited = stopped || !confirmed.left_out[slot].empty();
  for (std::size_t k = 0; k + 1 < path.entropy.size(); ++k) {
    result.path.push_back({path.indices[k], path.entropy[k + 1]});
  }
  result.entropy = path.entropy.front();
  for (const int z : set) {
    const Tested& tested = confirmed.tested.at(fact_of(search, result.target, z));
    Member& member = result.members.emplace_back();
    member.variable = z;
    member.p_value = tested.p_value;
    member.q_value = tested.q_value;
    member.votes = tested.votes;
    member.stability = tested.stability;
    member.by_symmetry = !contains(path.needed, z);
    member.by_knowledge = search.is_known(result.target, z);
  }
  fill_gains(search.estimator, result);
  std::vector<int> others = path.indices;
  for (const NearMiss& miss : result.near_misses) others.push_back(miss.candidate.variable);
  find_stand_ins(search.estimator, others, result);
  return result;
}

std::vector<Boundary> find_on_held_out_rows(const Search& search, Boundaries& result, Progress& progress) {
  const std::vector<Path> paths = grow_paths(search, result, progress);
  if (search.keeper != nullptr && result.cut_short > 0) search.keeper->stop_keeping();
  const Confirmed confirmed = decide_on_held_out_rows(search, paths, progress);
  result.threshold = confirmed.threshold;
  result.tested_pairs = static_cast<long>(confirmed.tested.size());
  std::vector<Boundary> found;
  progress.begin("describing", static_cast<long>(paths.size()));
  for (std::size_t s = 0; s < paths.size(); ++s) {
    throw_if_interrupted(progress);
    found.push_back(describe_held_out(search, confirmed, paths[s], s));
    progress.advance(1);
  }
  return found;
}

std::vector<int> targets_of(const SearchEstimator& estimator, const SearchScope& scope) {
  if (!scope.targets.empty()) return scope.targets;
  std::vector<int> all(static_cast<std::size_t>(estimator.variables()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

const Description& SearchParams::description() {
  using P = SearchParams;
  static const Description list =
      Describe<P>()
          .field("stop", &P::stop, "calibrated (by the data and the FDR level) or paper (by the two eps thresholds)")
          .field("fdr", &P::fdr, "calibrated: the share of false members to accept, over the table", between(0, 1))
          .field("eps_grow", &P::eps_grow, "paper: a gain up to this many nats is a miss", at_least(0))
          .field("eps_shrink", &P::eps_shrink, "paper: a member worth up to this many nats goes", at_least(0))
          .field("patience", &P::patience,
                 "misses in a row before growing stops; -1: 15, or 6 for calibrated flows, 1 if quick", at_least(-1))
          .also("rho")
          .field("max_size", &P::max_size, "largest set while growing; 0: what the rows allow", at_least(0))
          .field("test_rows", &P::test_rows, "flows: rows that a pair is tested on; 0: all, 5000 if quick", at_least(0))
          .field("rule", &P::rule, "symmetry: or (one search may propose), and (both must), none")
          .done();
  return list;
}

std::vector<int> Boundary::member_indices() const {
  std::vector<int> result;
  for (const Member& member : members) result.push_back(member.variable);
  return result;
}

Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params, const SearchScope& scope,
                           Progress& progress) {
  validate(params);
  const std::vector<int> targets = targets_of(estimator, scope);
  const Search search(estimator, params, targets, scope);
  Boundaries result;
  result.largest_set = estimator.largest_set();
  std::vector<Boundary> found;
  try {
    found = search.on_held_out_rows() ? find_on_held_out_rows(search, result, progress)
                                      : find_by_gains(search, result, progress);
  } catch (const Interrupted&) {
    if (search.keeper != nullptr) search.keeper->write();
    throw;
  }

  std::set<Pair> edges;
  for (const int t : targets) {
    if (search.searched(t)) {
      result.boundaries.push_back(std::move(found[search.slot(t)]));
      for (const Member& member : result.boundaries.back().members) edges.insert(std::minmax(t, member.variable));
    } else {
      Boundary empty;
      empty.target = t;
      empty.entropy = empty.conditional_entropy = estimator.conditional_entropy({t, {}}).value;
      result.boundaries.push_back(empty);
    }
  }
  result.moral_edges.assign(edges.begin(), edges.end());
  return result;
}

std::vector<std::vector<int>> proposed_sets(const SearchEstimator& estimator, const SearchParams& params,
                                            const SearchScope& scope, Progress& progress) {
  check(estimator.held_out(), "[search] the {} estimator has no entropies of held-out rows", estimator.name());
  SearchScope unkept = scope;
  unkept.keeper = nullptr;
  const Search search(estimator, params, targets_of(estimator, scope), unkept);
  Boundaries counts;
  Sets own;
  for (const Path& path : grow_paths(search, counts, progress)) own.push_back(path.needed);
  Sets sets = reconciled(search, Symmetry::or_, own);
  limit_to_own(search, own, sets);
  Sets result(static_cast<std::size_t>(estimator.variables()));
  for (std::size_t s = 0; s < sets.size(); ++s) result[static_cast<std::size_t>(search.targets[s])] = sets[s];
  return result;
}

Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params) {
  NoProgress silent;
  return find_boundaries(estimator, params, {}, silent);
}

std::string_view explain(NearMiss::Reason reason) {
  switch (reason) {
    case NearMiss::Reason::chance:
      return "its evidence is within chance";
    case NearMiss::Reason::held_out:
      return "it adds nothing that held-out rows can tell from chance";
    case NearMiss::Reason::small:
      return "its gain is below the threshold";
    case NearMiss::Reason::graph:
      return "the causal graph needs no link to it";
    case NearMiss::Reason::limit:
      return "it belongs in, but the estimator knows no larger sets";
  }
  return "";
}

}  // namespace fansite
