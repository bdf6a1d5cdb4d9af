// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "fansite/base/error.h"

namespace fansite::flow {
namespace {

constexpr std::size_t kQueriesAtOnce = 512;  // keeps the row by row values of a call in tens of megabytes

constexpr Index kManyRows = 4 * EnsembleDensity::kSampleRows;
// A first look by a few networks does not pay where there are hardly more.
constexpr std::size_t kManyNetworks = 3 * EnsembleDensity::kSampleNetworks;
// Fewer cost little, and networks know them by heart: three would pass over what the others see.
constexpr Index kEnoughRows = 500;
// A first look leaves one candidate in so many, but some; the second those within so many standard errors of the best.
constexpr std::size_t kShareKept = 16, kLeastKept = 8;
constexpr double kClearlyBehind = 3;
constexpr Index kEnoughToTell = 30;  // rows, and groups: a standard error of fewer has heavy tails
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The variable that is given after and not before.
int added(const EntropyQuery& before, const EntropyQuery& after) {
  for (const int z : after.given) {
    if (std::find(before.given.begin(), before.given.end(), z) == before.given.end()) return z;
  }
  return -1;
}

}  // namespace

FlowFrontier::FlowFrontier(const FlowEstimator& estimator, std::span<const int> targets, const Candidates& candidates,
                           const Progress& progress)
    : estimator_(estimator),
      progress_(progress),
      targets_(targets.begin(), targets.end()),
      candidates_(candidates),
      sets_(targets.size()) {}

std::vector<EntropyQuery> FlowFrontier::candidates_of(int slot) const {
  std::vector<EntropyQuery> queries;
  const int target = targets_[static_cast<std::size_t>(slot)];
  for (int z = 0; z < estimator_.variables(); ++z) {
    const auto& set = members(slot);
    if (!candidates_.may_join(z, target)) continue;
    if (std::find(set.begin(), set.end(), z) != set.end()) continue;
    EntropyQuery& query = queries.emplace_back(EntropyQuery{target, set});
    query.given.push_back(z);
  }
  return queries;
}

namespace {

// ---- Which of a slot's candidates stay, by what each gains in the rows of some networks -----------------------------

using Gains = std::vector<Eigen::ArrayXd>;
using Kept = std::vector<std::size_t>;

std::vector<EntropyEstimate> means_of(const RowMeans& means, const Gains& gains) {
  std::vector<EntropyEstimate> result;
  for (const Eigen::ArrayXd& gain : gains) result.push_back(means.mean(gain));
  return result;
}

// The best first; those that no row tells anything of last.
Kept in_order_of_gain(const std::vector<EntropyEstimate>& means) {
  const auto value = [&](std::size_t k) { return means[k].rows > 0 ? means[k].value : -kInfinity; };
  Kept order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
  return order;
}

Kept best_few(const RowMeans& means, const Gains& gains) {
  Kept order = in_order_of_gain(means_of(means, gains));
  order.resize(std::min(order.size(), std::max(order.size() / kShareKept, kLeastKept)));
  return order;
}

// Those that are not clearly behind the best. What a few rows tell, or a few groups, is not clear.
Kept near_best(const RowMeans& means, const Gains& gains) {
  const std::vector<EntropyEstimate> estimates = means_of(means, gains);
  const Kept order = in_order_of_gain(estimates);
  const auto enough = [&](std::size_t k) { return estimates[k].rows >= kEnoughToTell; };
  const auto first = std::find_if(order.begin(), order.end(), enough);
  Kept kept;
  for (std::size_t k = 0; k < gains.size(); ++k) {
    bool behind = false;
    if (first != order.end() && means.units() >= kEnoughToTell) {
      const EntropyEstimate ahead = means.mean(gains[*first] - gains[k]);
      behind = ahead.rows >= kEnoughToTell && ahead.standard_error > 0 &&
               ahead.value > kClearlyBehind * ahead.standard_error;
    }
    if (!behind) kept.push_back(k);
  }
  return kept;
}

}  // namespace

void FlowFrontier::narrow(std::span<const int> slots, std::span<std::vector<EntropyQuery>> queries, NetworkSet networks,
                          std::size_t enough, const Choose& choose) const {
  std::vector<std::size_t> open;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (queries[s].size() > enough) open.push_back(s);
  }
  const RowMeans& means = estimator_.means(networks);
  for (std::size_t first = 0; first < open.size();) {
    throw_if_interrupted(progress_);
    std::vector<EntropyQuery> asked;
    std::size_t last = first;
    for (; last < open.size(); ++last) {
      const std::vector<EntropyQuery>& of_slot = queries[open[last]];
      if (last > first && asked.size() + of_slot.size() >= kQueriesAtOnce) break;
      const int slot = slots[open[last]];
      asked.push_back({targets_[static_cast<std::size_t>(slot)], members(slot)});
      asked.insert(asked.end(), of_slot.begin(), of_slot.end());
    }
    const Eigen::MatrixXf log_density = estimator_.log_conditional(asked, networks);
    for (Index column = 0; first < last; ++first) {
      std::vector<EntropyQuery>& of_slot = queries[open[first]];
      const Index before = column++;
      Gains gains;
      for (const EntropyQuery& query : of_slot) {
        gains.push_back(log_density.col(column++).cast<double>().array() -
                        log_density.col(before).cast<double>().array());
        estimator_.leave_out_drawn(query.target, gains.back(), networks);
        estimator_.leave_out_drawn(query.given.back(), gains.back(), networks);
      }
      std::vector<EntropyQuery> kept;
      for (const std::size_t k : choose(means, gains)) kept.push_back(std::move(of_slot[k]));
      of_slot = std::move(kept);
    }
  }
}

std::vector<Candidate> FlowFrontier::differences(const std::vector<EntropyQuery>& before,
                                                 const std::vector<EntropyQuery>& after, NetworkSet networks) const {
  std::vector<Candidate> result;
  for (std::size_t first = 0; first < before.size(); first += kQueriesAtOnce / 2) {
    throw_if_interrupted(progress_);
    const std::size_t last = std::min(first + kQueriesAtOnce / 2, before.size());
    std::vector<EntropyQuery> queries;  // each once: candidates of one slot share what they are compared with
    std::map<std::pair<int, std::vector<int>>, Index> place;
    const auto place_of = [&](const EntropyQuery& query) {
      const auto [found, added] = place.try_emplace({query.target, query.given}, static_cast<Index>(queries.size()));
      if (added) queries.push_back(query);
      return found->second;
    };
    std::vector<std::pair<Index, Index>> places;
    for (std::size_t q = first; q < last; ++q) places.emplace_back(place_of(before[q]), place_of(after[q]));
    const Eigen::MatrixXf log_density = estimator_.log_conditional(queries, networks);
    for (std::size_t q = first; q < last; ++q) {
      const auto& [from, to] = places[q - first];
      Eigen::ArrayXd gain = log_density.col(to).cast<double>().array() - log_density.col(from).cast<double>().array();
      estimator_.leave_out_drawn(before[q].target, gain, networks);
      estimator_.leave_out_drawn(added(before[q], after[q]), gain, networks);
      const EntropyEstimate mean = estimator_.means().mean(gain);
      const bool known = mean.rows > 0;  // some row has all the cells
      result.push_back({-1, known ? mean.value : -kInfinity, mean.standard_error});
    }
  }
  return result;
}

void FlowFrontier::find_best(std::span<const int> slots, std::span<Candidate> best) {
  std::vector<std::vector<EntropyQuery>> queries;
  for (const int slot : slots) queries.push_back(candidates_of(slot));
  // Of many rows each is judged once: the noise that other networks would take away is small, and they cost as much
  // again each.
  const bool many = estimator_.versions() > kManyRows;
  const bool often = estimator_.networks() > kManyNetworks && estimator_.versions() >= kEnoughRows;
  if (estimator_.versions() > EnsembleDensity::kSampleRows || often) {
    narrow(slots, queries, NetworkSet::sample, kLeastKept, best_few);
    // Networks that judge all rows would be asked the same twice.
    const bool other_networks = many || estimator_.rows_divided();
    if (other_networks) narrow(slots, queries, many ? NetworkSet::unseen_sample : NetworkSet::unseen, 1, near_best);
  }
  std::vector<EntropyQuery> before, after;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    before.insert(before.end(), queries[s].size(), {targets_[static_cast<std::size_t>(slots[s])], members(slots[s])});
    after.insert(after.end(), queries[s].begin(), queries[s].end());
  }
  const std::vector<Candidate> gains = differences(before, after, many ? NetworkSet::unseen : NetworkSet::all);
  std::size_t q = 0;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    best[s] = Candidate{};
    for (const EntropyQuery& query : queries[s]) {
      const Candidate& candidate = gains[q++];
      if (best[s].variable >= 0 && candidate.gain <= best[s].gain) continue;
      best[s] = candidate;
      best[s].variable = query.given.back();
    }
  }
}

void FlowFrontier::add(int slot, int variable) { sets_[static_cast<std::size_t>(slot)].push_back(variable); }

void FlowFrontier::drop_last(int slot, int count) {
  auto& set = sets_[static_cast<std::size_t>(slot)];
  check(count >= 0 && static_cast<std::size_t>(count) <= set.size(), "[frontier] {} of {} members to drop", count,
        set.size());
  set.resize(set.size() - static_cast<std::size_t>(count));
}

std::vector<Candidate> FlowFrontier::gains(int slot) {
  const std::vector<int>& set = members(slot);
  std::vector<EntropyQuery> before, after;
  for (std::size_t k = 0; k < set.size(); ++k) {
    before.push_back(
        {targets_[static_cast<std::size_t>(slot)], {set.begin(), set.begin() + static_cast<std::ptrdiff_t>(k)}});
    after.push_back(before.back());
    after.back().given.push_back(set[k]);
  }
  std::vector<Candidate> result = differences(before, after, NetworkSet::all);
  for (std::size_t k = 0; k < set.size(); ++k) result[k].variable = set[k];
  return result;
}

std::vector<Candidate> FlowFrontier::losses(int slot) {
  const std::vector<int>& set = members(slot);
  std::vector<EntropyQuery> without, with;
  for (std::size_t k = 0; k < set.size(); ++k) {
    with.push_back({targets_[static_cast<std::size_t>(slot)], set});
    without.push_back(with.back());
    without.back().given.erase(without.back().given.begin() + static_cast<std::ptrdiff_t>(k));
  }
  std::vector<Candidate> result = differences(without, with, NetworkSet::all);
  for (std::size_t k = 0; k < set.size(); ++k) result[k].variable = set[k];
  return result;
}

void FlowFrontier::remove(int slot, int variable) {
  auto& set = sets_[static_cast<std::size_t>(slot)];
  const auto member = std::find(set.begin(), set.end(), variable);
  check(member != set.end(), "[frontier] variable {} is not in the set of slot {}", variable, slot);
  set.erase(member);
}

}  // namespace fansite::flow
