// SPDX-License-Identifier: Apache-2.0
#include "fansite/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fansite/error.h"
#include "fansite/parallel.h"
#include "fansite/special.h"

namespace fansite {
namespace {

using Sets = std::vector<std::vector<int>>;  // one set per target, in order of admission
using Pair = std::pair<int, int>;            // variables, the smaller first

// What all targets of one search share.
struct Search {
  const SearchEstimator& estimator;
  const SearchParams& params;
  std::vector<int> targets;
  std::vector<int> slot_of;      // per variable its place in targets, or −1
  std::vector<char> candidates;  // per variable: may it join a set?
  int candidate_count = 0;
  int largest = 0;

  bool searched(int variable) const { return slot_of[static_cast<std::size_t>(variable)] >= 0; }
  std::size_t slot(int variable) const { return static_cast<std::size_t>(slot_of[static_cast<std::size_t>(variable)]); }

  // The gain of one variable over `given` others, picked as the best of all that were left to pick from.
  double corrected_p_value(double gain, int given) const {
    return best_of(estimator.p_value(gain, given), std::max(candidate_count - 1 - given, 1));
  }
  // `streak` is what the misses since the last hit have gained together. Picked as the best of many, they explain more
  // of the target than chance would, and with few rows the little that is left then looks easy to explain. So a step is
  // judged by its share of the variance before the streak: r² = e^{−2·streak} (1 − e^{−2·gain}).
  bool is_miss(double gain, double streak, int given) const {
    if (params.stop == StopRule::paper) return gain <= params.eps_grow;
    const double share = -std::exp(-2.0 * streak) * std::expm1(-2.0 * gain);
    return corrected_p_value(-0.5 * std::log1p(-share), given) > params.fdr;
  }
  bool is_useless(double loss, int given) const {
    if (params.stop == StopRule::paper) return loss <= params.eps_shrink;
    return corrected_p_value(loss, given) > params.fdr;
  }
};

bool contains(const std::vector<int>& set, int z) { return std::find(set.begin(), set.end(), z) != set.end(); }

std::vector<int> without(const std::vector<int>& set, int z) {
  std::vector<int> rest;
  for (const int member : set) {
    if (member != z) rest.push_back(member);
  }
  return rest;
}

// ---- One target: grow and shrink
// --------------------------------------------------------------------------------------

// Grows every slot of a frontier to the end; the trailing misses are dropped. Returns the steps taken.
long grow(const Search& search, Frontier& frontier, int slots, const Progress& progress) {
  std::vector<int> active(static_cast<std::size_t>(slots));
  std::iota(active.begin(), active.end(), 0);
  std::vector<int> misses(active.size(), 0);
  std::vector<double> streaks(active.size(), 0.0);
  long steps = 0;
  std::vector<Candidate> best(active.size());
  while (!active.empty()) {
    throw_if_interrupted(progress);
    frontier.find_best(active, best);
    std::size_t kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const int slot = active[a];
      int& in_a_row = misses[static_cast<std::size_t>(slot)];
      double& streak = streaks[static_cast<std::size_t>(slot)];
      const int size = static_cast<int>(frontier.members(slot).size());
      if (best[a].variable < 0 || size >= search.largest) continue;
      const bool miss = search.is_miss(best[a].gain, streak, size);
      if (miss && in_a_row == search.params.patience) continue;
      in_a_row = miss ? in_a_row + 1 : 0;
      streak = miss ? streak + best[a].gain : 0.0;
      frontier.add(slot, best[a].variable);
      ++steps;
      active[kept++] = slot;
    }
    active.resize(kept);
  }
  for (int slot = 0; slot < slots; ++slot) frontier.drop_last(slot, misses[static_cast<std::size_t>(slot)]);
  return steps;
}

// Removes the weakest member while it is useless.
long shrink(const Search& search, Frontier& frontier, int slot, const Progress& progress) {
  long steps = 0;
  while (!frontier.members(slot).empty()) {
    throw_if_interrupted(progress);
    const std::vector<Candidate> losses = frontier.losses(slot);
    const auto least = std::min_element(losses.begin(), losses.end(),
                                        [](const Candidate& a, const Candidate& b) { return a.gain < b.gain; });
    if (!search.is_useless(least->gain, static_cast<int>(losses.size()) - 1)) break;
    frontier.remove(slot, least->variable);
    ++steps;
  }
  return steps;
}

// Grows and shrinks the sets of these slots, each from what it holds, in parallel. Returns the steps taken.
long grow_and_shrink(const Search& search, const std::vector<int>& slots, Sets& sets, Progress& progress) {
  const auto n = static_cast<Index>(slots.size());
  const Index block = std::max(1, search.estimator.frontier_size());
  std::vector<long> steps(slots.size(), 0);
  progress.begin("searching", static_cast<long>(n));
  parallel_for((n + block - 1) / block, [&](Index b) {
    const Index begin = b * block;
    const int size = static_cast<int>(std::min(block, n - begin));
    const auto slot_at = [&](int i) { return static_cast<std::size_t>(slots[static_cast<std::size_t>(begin + i)]); };
    std::vector<int> targets;
    for (int i = 0; i < size; ++i) targets.push_back(search.targets[slot_at(i)]);
    const auto frontier = search.estimator.open(targets, search.candidates);
    for (int i = 0; i < size; ++i) {
      for (const int z : sets[slot_at(i)]) frontier->add(i, z);
    }
    long& count = steps[static_cast<std::size_t>(begin)];
    count = grow(search, *frontier, size, progress);
    for (int i = 0; i < size; ++i) {
      count += shrink(search, *frontier, i, progress);
      sets[slot_at(i)] = frontier->members(i);
    }
    progress.advance(size);
  });
  return std::accumulate(steps.begin(), steps.end(), 0L);
}

// ---- All targets: one fact, two looks
// ---------------------------------------------------------------------------------

// Symmetry correction. OR: for i in order, for j in MB_i, append i to the end of MB_j; AND: drop unconfirmed members.
Sets reconciled(const Search& search, Symmetry rule, const Sets& sets) {
  Sets result = sets;
  if (rule == Symmetry::none) return result;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const int t = search.targets[s];
    for (const int z : sets[s]) {
      if (!search.searched(z) || contains(sets[search.slot(z)], t)) continue;
      if (rule == Symmetry::or_) {
        result[search.slot(z)].push_back(t);
      } else {
        result[s] = without(result[s], z);
      }
    }
  }
  return result;
}

PairQuery pair_query(const Search& search, const Sets& sets, Pair pair, bool both_looks) {
  PairQuery query;
  query.a = pair.first;
  query.b = pair.second;
  if (!search.searched(query.a)) std::swap(query.a, query.b);
  query.both_looks = both_looks && search.searched(query.b);
  query.given_a = without(sets[search.slot(query.a)], query.b);
  if (query.both_looks) query.given_b = without(sets[search.slot(query.b)], query.a);
  return query;
}

std::vector<double> pair_p_values(const Search& search, const std::vector<PairQuery>& queries) {
  std::vector<double> result(queries.size());
  parallel_for(static_cast<Index>(queries.size()), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    result[at] = search.estimator.pair_p_values(std::span(&queries[at], 1)).front();
  });
  return result;
}

// How many hypotheses the table holds: pairs with at least one end searched; without symmetry each look is its own.
double hypotheses(const Search& search) {
  const auto t = static_cast<double>(search.targets.size());
  const double looks = t * (search.candidate_count - 1);
  return search.params.rule == Symmetry::none ? looks : looks - t * (t - 1) / 2;
}

// Keeps the members whose evidence stands up to the whole table. Returns the largest p-value kept.
double decide(const Search& search, Sets& sets) {
  const bool directed = search.params.rule == Symmetry::none;
  const Sets proposed = reconciled(search, search.params.rule, sets);
  std::vector<std::pair<int, int>> places;  // (slot, member) of each query
  std::vector<PairQuery> queries;
  for (std::size_t s = 0; s < proposed.size(); ++s) {
    const int t = search.targets[s];
    for (const int z : proposed[s]) {
      const bool counted_already = !directed && search.searched(z) && z < t;
      if (counted_already) continue;
      places.emplace_back(static_cast<int>(s), z);
      queries.push_back(pair_query(search, sets, {t, z}, !directed));
    }
  }
  const std::vector<double> p_values = pair_p_values(search, queries);
  std::vector<double> sorted = p_values;
  std::sort(sorted.begin(), sorted.end());
  // Two stages (Benjamini, Krieger & Yekutieli 2006): what the first admits is not among the nulls that the second pays
  // for.
  const double all = hypotheses(search);
  const std::size_t certain = admissible(sorted, all, search.params.fdr);
  const std::size_t admitted = admissible(sorted, all - static_cast<double>(certain), search.params.fdr);
  const double threshold = admitted == 0 ? 0.0 : sorted[admitted - 1];

  sets = proposed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (admitted > 0 && p_values[i] <= threshold) continue;
    const auto [slot, z] = places[i];
    const int t = search.targets[static_cast<std::size_t>(slot)];
    sets[static_cast<std::size_t>(slot)] = without(sets[static_cast<std::size_t>(slot)], z);
    if (!directed && search.searched(z)) sets[search.slot(z)] = without(sets[search.slot(z)], t);
  }
  return threshold;
}

// Growing by single best steps can stall: in a dense graph a target may find 8 of its 69 members. The others then find
// it, and from the set that they tell it of, its own search goes on. Three more looks settle nearly all.
constexpr int kMoreLooks = 3;

// `own` receives what each search found by itself.
double search_calibrated(const Search& search, Sets& sets, Sets& own, long& steps, Progress& progress) {
  for (int look = 0; look < kMoreLooks && search.params.rule != Symmetry::none; ++look) {
    Sets told = reconciled(search, Symmetry::or_, sets);
    std::vector<int> changed;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (told[s] != sets[s]) changed.push_back(static_cast<int>(s));
    }
    if (changed.empty()) break;
    sets = std::move(told);
    steps += grow_and_shrink(search, changed, sets, progress);
  }
  own = sets;
  // Without the members that go, the others' evidence changes; so decide until nothing does.
  double threshold = 0;
  for (Sets before; before != sets;) {
    before = sets;
    threshold = decide(search, sets);
  }
  return threshold;
}

// ---- What is told of a result
// -----------------------------------------------------------------------------------------

// Why each member is in, and the best variable left out is not.
void add_evidence(const Search& search, const Sets& sets, Frontier& frontier, Boundary& boundary) {
  const std::vector<Candidate> losses = frontier.losses(0);
  for (std::size_t k = 0; k < boundary.members.size(); ++k) {
    Member& member = boundary.members[k];
    const bool both_looks = search.params.rule != Symmetry::none;
    const PairQuery query = pair_query(search, sets, {boundary.target, member.variable}, both_looks);
    member.unique = losses[k].gain;
    member.p_value = search.estimator.pair_p_values(std::span(&query, 1)).front();
  }
  const int only = 0;
  frontier.find_best(std::span(&only, 1), std::span(&boundary.runner_up, 1));
  if (boundary.runner_up.variable >= 0) {
    boundary.runner_up_p_value =
        search.corrected_p_value(boundary.runner_up.gain, static_cast<int>(boundary.members.size()));
  }
}

Boundary describe(const Search& search, const Sets& sets, const Sets& own, std::size_t slot) {
  const SearchEstimator& estimator = search.estimator;
  Boundary result;
  result.target = search.targets[slot];
  result.entropy = estimator.conditional_entropy({result.target, {}}).value;
  result.conditional_entropy = estimator.conditional_entropy({result.target, sets[slot]}).value;
  const auto frontier = estimator.open(std::span(&result.target, 1), search.candidates);
  for (const int z : sets[slot]) frontier->add(0, z);
  for (const Candidate& gain : frontier->gains(0)) {
    Member member;
    member.variable = gain.variable;
    member.gain = gain.gain;
    member.standard_error = gain.standard_error;
    member.by_symmetry = !contains(own[slot], gain.variable);
    result.members.push_back(member);
  }
  if (search.params.evidence) add_evidence(search, sets, *frontier, result);
  return result;
}

// Benjamini–Hochberg: the smallest false discovery rate at which a member would still be in, over all that are. Both
// ends of a pair are one fact, unless each search stands alone.
void set_q_values(const Search& search, std::vector<Boundary>& boundaries) {
  const bool directed = search.params.rule == Symmetry::none;
  struct Fact {
    Pair pair;
    Member* member;
  };
  std::vector<Fact> facts;
  for (Boundary& boundary : boundaries) {
    for (Member& member : boundary.members) {
      const Pair pair(boundary.target, member.variable);
      facts.push_back({directed ? pair : Pair(std::minmax(pair.first, pair.second)), &member});
    }
  }
  std::sort(facts.begin(), facts.end(), [](const Fact& a, const Fact& b) { return a.pair < b.pair; });
  std::vector<std::pair<double, std::size_t>> ranked;  // p-value and place of each fact's first end
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == 0 || facts[i].pair != facts[i - 1].pair) ranked.emplace_back(facts[i].member->p_value, i);
  }
  std::sort(ranked.begin(), ranked.end());
  double smallest = 1.0;
  for (std::size_t rank = ranked.size(); rank > 0; --rank) {
    const auto [p_value, first] = ranked[rank - 1];
    smallest = std::min(smallest, p_value * hypotheses(search) / static_cast<double>(rank));
    for (std::size_t i = first; i < facts.size() && facts[i].pair == facts[first].pair; ++i) {
      facts[i].member->q_value = smallest;
    }
  }
}

// Targets that can have a boundary: the others keep an empty one.
Search prepare(const SearchEstimator& estimator, const SearchParams& params, const std::vector<int>& targets,
               const std::vector<int>& excluded) {
  const int d = estimator.variables();
  Search search{estimator, params, {}, {}, std::vector<char>(static_cast<std::size_t>(d), 1), 0, 0};
  for (const int z : excluded) search.candidates[static_cast<std::size_t>(z)] = 0;
  for (int z = 0; z < d; ++z) {
    if (!estimator.informative(z)) search.candidates[static_cast<std::size_t>(z)] = 0;
  }
  search.candidate_count = static_cast<int>(std::count(search.candidates.begin(), search.candidates.end(), 1));
  search.largest = estimator.largest_set();
  if (params.max_size > 0) search.largest = std::min(search.largest, params.max_size);
  search.slot_of.assign(static_cast<std::size_t>(d), -1);
  for (const int t : targets) {
    check(t >= 0 && t < d, "[search] target {} is not one of {} variables", t, d);
    if (!search.candidates[static_cast<std::size_t>(t)]) continue;
    check(!search.searched(t), "[search] target {} is asked for twice", t);
    search.slot_of[static_cast<std::size_t>(t)] = static_cast<int>(search.targets.size());
    search.targets.push_back(t);
  }
  return search;
}

}  // namespace

void validate(const SearchParams& params) {
  check(params.fdr > 0 && params.fdr < 1, "[search] fdr is {}; it must lie between 0 and 1, e.g. 0.05", params.fdr);
  check(params.eps_grow >= 0, "[search] eps-grow is {}; it cannot be negative", params.eps_grow);
  check(params.eps_shrink >= 0, "[search] eps-shrink is {}; it cannot be negative", params.eps_shrink);
  check(params.patience >= 0, "[search] patience is {}; it cannot be negative", params.patience);
  check(params.max_size >= 0, "[search] max-size is {}; use 0 for no limit", params.max_size);
}

std::vector<int> Boundary::variables() const {
  std::vector<int> result;
  for (const Member& member : members) result.push_back(member.variable);
  return result;
}

Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params, std::vector<int> targets,
                           const std::vector<int>& excluded, Progress& progress) {
  validate(params);
  if (targets.empty()) {
    targets.resize(static_cast<std::size_t>(estimator.variables()));
    std::iota(targets.begin(), targets.end(), 0);
  }
  const Search search = prepare(estimator, params, targets, excluded);

  Boundaries result;
  std::vector<int> all(search.targets.size());
  std::iota(all.begin(), all.end(), 0);
  Sets sets(search.targets.size());
  result.steps = grow_and_shrink(search, all, sets, progress);
  Sets own = sets;
  if (params.stop == StopRule::calibrated) {
    result.threshold = search_calibrated(search, sets, own, result.steps, progress);
  } else {
    sets = reconciled(search, params.rule, sets);
  }

  std::vector<Boundary> found(search.targets.size());
  parallel_for(static_cast<Index>(found.size()), [&](Index s) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(s);
    found[at] = describe(search, sets, own, at);
  });
  if (params.evidence) set_q_values(search, found);

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

Boundaries find_boundaries(const SearchEstimator& estimator, const SearchParams& params) {
  NoProgress silent;
  return find_boundaries(estimator, params, {}, {}, silent);
}

std::size_t admissible(const std::vector<double>& sorted, double hypotheses, double fdr) {
  const auto expected_false = [&](std::size_t k) { return k == 0 ? 0.0 : hypotheses * sorted[k - 1]; };
  const auto net = [&](std::size_t k) { return static_cast<double>(k) - expected_false(k) / (4.0 * fdr); };
  std::size_t controlled = 0;  // Benjamini–Hochberg
  double best = 0.0;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    if (expected_false(k) <= fdr * static_cast<double>(k)) controlled = k;
    best = std::max(best, net(k));
  }
  std::size_t shortest = 0;
  while (net(shortest) < best - 0.75) ++shortest;
  std::size_t admitted = std::min(shortest, controlled);
  while (admitted > 0 && expected_false(admitted) > fdr * static_cast<double>(admitted)) --admitted;
  return admitted;
}

std::string_view name(StopRule value) { return value == StopRule::paper ? "paper" : "calibrated"; }

std::string_view name(Symmetry value) {
  return value == Symmetry::or_ ? "or" : value == Symmetry::and_ ? "and" : "none";
}

StopRule parse_stop_rule(std::string_view name) {
  for (const StopRule rule : {StopRule::calibrated, StopRule::paper}) {
    if (fansite::name(rule) == name) return rule;
  }
  throw UsageError(fmt::format("[search] stop rule '{}' is unknown; use calibrated or paper", name));
}

Symmetry parse_symmetry(std::string_view name) {
  for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
    if (fansite::name(rule) == name) return rule;
  }
  throw UsageError(fmt::format("[search] symmetry rule '{}' is unknown; use or, and, or none", name));
}

}  // namespace fansite
