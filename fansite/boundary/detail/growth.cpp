// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/boundary/detail/search_checkpoint.h"

namespace fansite {

// Picked as the best of many, the misses since the last hit explain more of the target than chance would, and with few
// rows the little that is left then looks easy to explain. So a step is judged by its share of the variance before the
// streak: r² = e^{−2·streak} (1 − e^{−2·gain}).
bool is_miss(const Search& search, std::size_t slot, double gain, double streak, int given) {
  if (search.params.stop == StopRule::paper) return gain <= search.params.eps_grow;
  const double share = -std::exp(-2.0 * streak) * std::expm1(-2.0 * gain);
  return search.corrected_p_value(slot, -0.5 * std::log1p(-share), given) > search.params.fdr;
}

namespace {

bool is_useless(const Search& search, std::size_t slot, double loss, int given) {
  if (search.params.stop == StopRule::paper) return loss <= search.params.eps_shrink;
  return search.corrected_p_value(slot, loss, given) > search.params.fdr;
}

struct Growth {
  long steps = 0;
  long cut_short = 0;  // slots
};

// Grows every slot of a frontier, which are these of the search, to the end, or until time runs out; the trailing
// misses are dropped.
Growth grow(const Search& search, Frontier& frontier, const std::vector<std::size_t>& slots, const Progress& progress) {
  std::vector<int> active(slots.size());
  std::iota(active.begin(), active.end(), 0);
  std::vector<int> misses(active.size(), 0);
  std::vector<double> streaks(active.size(), 0.0);
  Growth growth;
  std::vector<Candidate> best(active.size());
  while (!active.empty()) {
    throw_if_interrupted(progress);
    if (progress.out_of_time()) {
      growth.cut_short = static_cast<long>(active.size());
      break;
    }
    frontier.find_best(active, best);
    std::size_t kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const int slot = active[a];
      int& in_a_row = misses[static_cast<std::size_t>(slot)];
      double& streak = streaks[static_cast<std::size_t>(slot)];
      const int size = static_cast<int>(frontier.members(slot).size());
      if (best[a].variable < 0 || size >= search.largest) continue;
      const bool miss = is_miss(search, slots[static_cast<std::size_t>(slot)], best[a].gain, streak, size);
      if (miss && in_a_row == search.patience) continue;
      in_a_row = miss ? in_a_row + 1 : 0;
      streak = miss ? streak + best[a].gain : 0.0;
      frontier.add(slot, best[a].variable);
      ++growth.steps;
      active[kept++] = slot;
    }
    active.resize(kept);
  }
  for (std::size_t slot = 0; slot < slots.size(); ++slot) frontier.drop_last(static_cast<int>(slot), misses[slot]);
  return growth;
}

// Removes the weakest member that is not known to be one, while it is useless.
long shrink(const Search& search, Frontier& frontier, int slot, std::size_t of_search, const Progress& progress) {
  const std::vector<int>& known = search.known[of_search];
  long steps = 0;
  while (frontier.members(slot).size() > known.size()) {
    throw_if_interrupted(progress);
    const std::vector<Candidate> losses = frontier.losses(slot);
    auto least = losses.end();
    for (auto loss = losses.begin(); loss != losses.end(); ++loss) {
      if (contains(known, loss->variable)) continue;
      if (least == losses.end() || loss->gain < least->gain) least = loss;
    }
    if (!is_useless(search, of_search, least->gain, static_cast<int>(losses.size()) - 1)) break;
    frontier.remove(slot, least->variable);
    ++steps;
  }
  return steps;
}

// ρ of the paper. Held-out entropies rise again once a set is full, and each further step costs a batch of densities,
// so there fewer misses are enough: a pair of variables that tell something only together is one miss, not many.
int default_patience(const SearchEstimator& estimator, const SearchParams& params) {
  return estimator.held_out() && params.stop == StopRule::calibrated ? 6 : 15;
}

// Pairs that cannot be in each other's boundary are never asked for.
Candidates candidates_of(const SearchEstimator& estimator, const SearchScope& scope) {
  std::vector<char> flags(static_cast<std::size_t>(estimator.variables()), 1);
  for (const int z : scope.excluded) flags[static_cast<std::size_t>(z)] = 0;
  for (int z = 0; z < estimator.variables(); ++z) {
    if (!estimator.informative(z)) flags[static_cast<std::size_t>(z)] = 0;
  }
  if (scope.knowledge.empty()) return flags;
  check(scope.knowledge.variables() == estimator.variables(), "[search] knowledge about {} variables for a table of {}",
        scope.knowledge.variables(), estimator.variables());
  return {std::move(flags), scope.knowledge.boundary_candidates()};
}

}  // namespace

Search::Search(const SearchEstimator& estimator_, const SearchParams& params_, const std::vector<int>& targets_,
               const SearchScope& scope)
    : estimator(estimator_), params(params_), candidates(candidates_of(estimator_, scope)), keeper(scope.keeper) {
  const int d = estimator.variables();
  largest = estimator.largest_set();
  if (params.max_size > 0) largest = std::min(largest, params.max_size);
  patience = params.patience >= 0 ? params.patience : default_patience(estimator, params);
  slot_of.assign(static_cast<std::size_t>(d), -1);
  for (const int t : targets_) {
    check(t >= 0 && t < d, "[search] target {} is not one of {} variables", t, d);
    if (!candidates.may_join_any(t)) continue;
    check(!searched(t), "[search] target {} is asked for twice", t);
    slot_of[static_cast<std::size_t>(t)] = static_cast<int>(targets.size());
    targets.push_back(t);
    choices.push_back(candidates.count(t));
    known.emplace_back();
    if (scope.knowledge.empty()) continue;
    for (const int z : scope.knowledge.known_boundary(t)) {
      if (candidates.may_join(z, t)) known.back().push_back(z);
    }
    check(static_cast<int>(known.back().size()) <= estimator.largest_set(),
          "[search] {} variables are known to be in one boundary, but {} rows and the {} estimator allow {} at most",
          known.back().size(), estimator.rows(), estimator.name(), estimator.largest_set());
  }
  hypotheses = count_hypotheses();
  if (keeper != nullptr) keeper->begin(targets.size());
}

double Search::count_hypotheses() const {
  double tests = 0, seen_twice = 0;
  for (std::size_t s = 0; s < targets.size(); ++s) {
    tests += choices[s] - static_cast<double>(known[s].size());
    if (!candidates.by_pairs()) continue;
    for (const int t : targets) {
      seen_twice += candidates.may_join(t, targets[s]) && !contains(known[s], t) ? 0.5 : 0.0;
    }
  }
  const auto t = static_cast<double>(targets.size());
  if (!candidates.by_pairs()) seen_twice = t * (t - 1) / 2;
  return directed() ? tests : tests - seen_twice;
}

bool Search::is_known(int target, int variable) const {
  return (searched(target) && contains(known[slot(target)], variable)) ||
         (searched(variable) && contains(known[slot(variable)], target));
}

bool Search::at_limit(std::size_t slot, std::size_t size) const {
  return static_cast<int>(size) >= estimator.largest_set() && choices[slot] > static_cast<int>(size);
}

double Search::corrected_p_value(std::size_t slot, double gain, int given) const {
  return best_of(estimator.p_value(gain, given), std::max(choices[slot] - given, 1));
}

std::vector<int> take_out_weakest(std::vector<int>& set, const std::vector<double>& worth, int largest) {
  const auto kept = static_cast<std::size_t>(std::max(largest, 0));
  if (set.size() <= kept) return {};
  std::vector<std::size_t> order(set.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
  std::vector<int> out;
  for (std::size_t k = kept; k < order.size(); ++k) out.push_back(set[order[k]]);
  std::erase_if(set, [&](int z) { return contains(out, z); });
  return out;
}

void grow_and_shrink(const Search& search, const std::vector<int>& slots, Sets& sets, Boundaries& result,
                     Progress& progress) {
  const auto n = static_cast<Index>(slots.size());
  const Index block = std::max(1, search.estimator.frontier_size());
  std::vector<Growth> growths(slots.size());
  progress.begin("searching", static_cast<long>(n));
  parallel_for((n + block - 1) / block, [&](Index b) {
    const Index begin = b * block;
    const int size = static_cast<int>(std::min(block, n - begin));
    const auto slot_at = [&](int i) { return static_cast<std::size_t>(slots[static_cast<std::size_t>(begin + i)]); };
    std::vector<std::size_t> own_slots;
    std::vector<int> targets;
    for (int i = 0; i < size; ++i) {
      own_slots.push_back(slot_at(i));
      targets.push_back(search.targets[slot_at(i)]);
    }
    const auto frontier = search.estimator.open(targets, search.candidates, progress);
    for (int i = 0; i < size; ++i) {
      for (const int z : sets[slot_at(i)]) frontier->add(i, z);
    }
    Growth& growth = growths[static_cast<std::size_t>(begin)];
    growth = grow(search, *frontier, own_slots, progress);
    for (int i = 0; i < size; ++i) {
      growth.steps += shrink(search, *frontier, i, slot_at(i), progress);
      sets[slot_at(i)] = frontier->members(i);
    }
    progress.advance(size);
  });
  for (const Growth& growth : growths) {
    result.steps += growth.steps;
    result.cut_short += growth.cut_short;
  }
}

namespace {

constexpr double kConfidence = 2;  // standard errors of a step's held-out gain
constexpr int kAfterFirm = 2;      // steps

// Columns that stand in for each other make each other's loss small, and given all of them no member can be told from
// chance. So the member that is missed least goes, one at a time, while what it alone tells is within one standard
// error of nothing; among stand-ins one stays, because once the others have gone it is missed.
void find_needed(const Search& search, std::vector<Path>& paths) {
  constexpr double kSpare = 1;  // standard errors
  std::vector<std::size_t> active;
  for (std::size_t s = 0; s < paths.size(); ++s) {
    const auto begin = paths[s].indices.begin();
    paths[s].needed.assign(begin, begin + paths[s].best);
    active.push_back(s);
  }
  while (!active.empty()) {
    std::vector<InformationQuery> queries;
    for (const std::size_t s : active) {
      for (const int z : paths[s].needed) queries.push_back({search.targets[s], {z}, without(paths[s].needed, z)});
    }
    const std::vector<EntropyEstimate> losses = search.estimator.mutual_information(queries);
    std::size_t next = 0, kept = 0;
    for (const std::size_t s : active) {
      int weakest = -1;
      double least = kSpare;
      for (const int z : paths[s].needed) {
        const EntropyEstimate& loss = losses[next++];
        if (search.is_known(search.targets[s], z)) continue;
        // Not told from nothing, or not known at all because no row has all the cells: then it is not needed.
        double worth = loss.standard_error > 0 ? loss.value / loss.standard_error : loss.value;
        if (std::isnan(worth)) worth = 0;
        if (worth >= least) continue;
        least = worth;
        weakest = z;
      }
      if (weakest < 0) continue;
      paths[s].needed = without(paths[s].needed, weakest);
      active[kept++] = s;
    }
    active.resize(kept);
  }
}

// What each of these slots takes next: what it is known to hold, what it took before an interruption, else what tells
// most.
std::vector<Candidate> next_steps(const Search& search, Frontier& frontier, const std::vector<int>& slots) {
  std::vector<Candidate> steps(slots.size());
  std::vector<int> open;
  std::vector<std::size_t> place;
  for (std::size_t a = 0; a < slots.size(); ++a) {
    const std::vector<int>& known = search.known[static_cast<std::size_t>(slots[a])];
    const std::size_t size = frontier.members(slots[a]).size();
    if (size < known.size()) {
      steps[a].variable = known[size];
    } else if (search.keeper != nullptr) {
      const int next = search.keeper->next(static_cast<std::size_t>(slots[a]), size);
      const int target = search.targets[static_cast<std::size_t>(slots[a])];
      const bool possible =
          next < 0 || (search.candidates.may_join(next, target) && !contains(frontier.members(slots[a]), next));
      if (!possible) search.keeper->damaged();
      steps[a].variable = next;
    }
    if (steps[a].variable >= 0) continue;
    open.push_back(slots[a]);
    place.push_back(a);
  }
  std::vector<Candidate> best(open.size());
  frontier.find_best(open, best);
  for (std::size_t i = 0; i < open.size(); ++i) steps[place[i]] = best[i];
  return steps;
}

}  // namespace

void fill_gains(const EntropyEstimator& estimator, Boundary& boundary) {
  const std::vector<int> set = boundary.member_indices();
  std::vector<InformationQuery> queries;
  for (std::size_t k = 0; k < set.size(); ++k) {
    queries.push_back({boundary.target, {set[k]}, {set.begin(), set.begin() + static_cast<std::ptrdiff_t>(k)}});
    queries.push_back({boundary.target, {set[k]}, without(set, set[k])});
  }
  for (const NearMiss& miss : boundary.near_misses) {
    queries.push_back({boundary.target, {miss.candidate.variable}, set});
  }
  const std::vector<EntropyEstimate> answers = estimator.mutual_information(queries);
  for (std::size_t k = 0; k < set.size(); ++k) {
    boundary.members[k].gain = answers[2 * k].value;
    boundary.members[k].standard_error = answers[2 * k].standard_error;
    boundary.members[k].unique = answers[2 * k + 1].value;
  }
  for (std::size_t m = 0; m < boundary.near_misses.size(); ++m) {
    boundary.near_misses[m].candidate.gain = answers[2 * set.size() + m].value;
    boundary.near_misses[m].candidate.standard_error = answers[2 * set.size() + m].standard_error;
  }
  const EntropyEstimate left = estimator.conditional_entropy({boundary.target, set});
  boundary.conditional_entropy = left.value;
  boundary.rows = left.rows;
}

void find_stand_ins(const EntropyEstimator& estimator, const std::vector<int>& others, Boundary& boundary) {
  constexpr double kClearly = 2;    // standard errors
  constexpr std::size_t kMost = 3;  // of one member
  const std::vector<int> set = boundary.member_indices();
  std::vector<InformationQuery> queries;
  for (const int z : set) {
    for (const int w : others) {
      if (w != boundary.target && !contains(set, w)) queries.push_back({boundary.target, {w}, without(set, z)});
    }
  }
  const std::vector<EntropyEstimate> answers = estimator.mutual_information(queries);
  const std::size_t each = set.empty() ? 0 : queries.size() / set.size();
  for (std::size_t k = 0; k < set.size(); ++k) {
    Member& member = boundary.members[k];
    member.interchangeable.clear();
    for (std::size_t i = k * each; i < (k + 1) * each; ++i) {
      const EntropyEstimate& told = answers[i];
      const bool clear = told.value > kClearly * told.standard_error && told.value >= member.unique / 2;
      if (!clear || !std::isfinite(told.value)) continue;
      const double error = std::hypot(told.standard_error, member.standard_error);
      member.interchangeable.push_back({queries[i].about.front(), member.unique - told.value, error});
    }
    auto& found = member.interchangeable;
    std::stable_sort(found.begin(), found.end(), [](const StandIn& a, const StandIn& b) { return a.cost < b.cost; });
    const auto same = [](const StandIn& a, const StandIn& b) { return a.variable == b.variable; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    found.resize(std::min(found.size(), kMost));
  }
}

std::vector<Path> grow_paths(const Search& search, Boundaries& result, Progress& progress) {
  const std::size_t count = search.targets.size();
  std::vector<Path> paths(count);
  std::vector<int> firm(count, 0);  // the size at the last step that was clearly worth it
  std::vector<char> found_by_this_run(count, search.keeper == nullptr ? 1 : 0);  // a step of the path was
  const auto tell_done = [&](std::size_t at) {
    found_by_this_run[at] != 0 ? progress.advance(1) : progress.already_done(1);
  };
  const auto frontier = search.estimator.open(search.targets, search.candidates, progress);
  std::vector<int> active(count);
  std::iota(active.begin(), active.end(), 0);
  progress.begin("searching", static_cast<long>(count));
  while (!active.empty()) {
    std::vector<EntropyQuery> entropy_queries;
    std::vector<InformationQuery> step_queries;  // what the newest variable tells beyond the others
    for (const int slot : active) {
      const auto at = static_cast<std::size_t>(slot);
      const std::vector<int>& set = frontier->members(slot);
      const auto newest = set.empty() ? set.end() : set.end() - 1;
      entropy_queries.push_back({search.targets[at], set});
      step_queries.push_back({search.targets[at], {newest, set.end()}, {set.begin(), newest}});
    }
    throw_if_interrupted(progress);
    const std::vector<EntropyEstimate> entropies = search.estimator.conditional_entropy(entropy_queries);
    const std::vector<EntropyEstimate> gains = search.estimator.mutual_information(step_queries);
    std::size_t kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const auto at = static_cast<std::size_t>(active[a]);
      Path& path = paths[at];
      // Entropies of different rows cannot be compared, so with missing cells each is that before less the gain.
      const bool all_rows = entropies[a].rows == 0 || entropies[a].rows == search.estimator.rows();
      const bool first = path.entropy.empty();
      path.entropy.push_back(all_rows || first ? entropies[a].value : path.entropy.back() - gains[a].value);
      const int size = static_cast<int>(path.entropy.size()) - 1;
      const int known = static_cast<int>(search.known[at].size());
      if (size <= known || gains[a].value > kConfidence * gains[a].standard_error) firm[at] = size;
      // With few rows entropies go on falling by crumbs: of the steps after the last that was clearly worth it, two may
      // be members that the rows can hardly show.
      const bool near = size <= firm[at] + kAfterFirm;
      if (size <= known || (near && path.entropy.back() < path.entropy[static_cast<std::size_t>(path.best)])) {
        path.best = size;
      }
      const bool finished = size - firm[at] > search.patience || (size >= search.largest && size >= known);
      if (finished) tell_done(at);
      if (!finished) active[kept++] = active[a];
    }
    active.resize(kept);
    if (progress.out_of_time()) {  // what is known is in all the same
      result.cut_short = std::max(result.cut_short, static_cast<long>(active.size()));
      std::erase_if(active, [&](int slot) {
        return frontier->members(slot).size() >= search.known[static_cast<std::size_t>(slot)].size();
      });
      if (active.empty()) break;
    }
    const std::vector<Candidate> best = next_steps(search, *frontier, active);
    kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const auto at = static_cast<std::size_t>(active[a]);
      if (best[a].variable < 0) {
        tell_done(at);
        continue;
      }
      frontier->add(active[a], best[a].variable);
      paths[at].indices.push_back(best[a].variable);
      if (search.keeper != nullptr && search.keeper->next(at, paths[at].indices.size() - 1) < 0) {
        search.keeper->took(at, best[a].variable);
        found_by_this_run[at] = 1;
      }
      ++result.steps;
      active[kept++] = active[a];
    }
    active.resize(kept);
    if (search.keeper != nullptr) search.keeper->write_if_due();
  }
  find_needed(search, paths);
  return paths;
}

}  // namespace fansite
