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
constexpr double kClearlyBehind = 3;  // standard errors of the difference

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

std::vector<double> FlowFrontier::entropies(std::span<const EntropyQuery> queries, const EntropyQuery& before,
                                            NetworkSet networks) const {
  std::vector<double> result;
  for (std::size_t first = 0; first < queries.size(); first += kQueriesAtOnce) {
    throw_if_interrupted(progress_);
    const auto some = queries.subspan(first, std::min(kQueriesAtOnce, queries.size() - first));
    std::vector<EntropyQuery> asked = {before};
    asked.insert(asked.end(), some.begin(), some.end());
    const Eigen::MatrixXf log_density = estimator_.log_conditional(asked, networks);
    for (Index q = 1; q < log_density.cols(); ++q) {
      // Against the same rows without the candidate: those that lack it say nothing for or against it.
      double sum = 0, count = 0;
      Eigen::ArrayXd gains = (log_density.col(q).cast<double>() - log_density.col(0).cast<double>()).array();
      estimator_.leave_out_drawn(before.target, gains, networks);
      estimator_.leave_out_drawn(some[static_cast<std::size_t>(q - 1)].given.back(), gains, networks);
      for (const double gain : gains) {
        if (std::isnan(gain)) continue;
        sum += gain;
        ++count;
      }
      result.push_back(count > 0 ? -sum / count : std::numeric_limits<double>::infinity());
    }
  }
  return result;
}

void FlowFrontier::keep_best(const EntropyQuery& before, std::vector<EntropyQuery>& queries, NetworkSet networks,
                             std::size_t share, std::size_t least) const {
  const std::vector<double> entropy = entropies(queries, before, networks);
  std::vector<std::size_t> order(queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t kept = std::min(order.size(), std::max(order.size() / share, least));
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](std::size_t a, std::size_t b) { return entropy[a] != entropy[b] ? entropy[a] < entropy[b] : a < b; });
  std::vector<EntropyQuery> best;
  for (std::size_t k = 0; k < kept; ++k) best.push_back(std::move(queries[order[k]]));
  queries = std::move(best);
}

void FlowFrontier::keep_near(std::span<const int> slots, std::span<std::vector<EntropyQuery>> queries,
                             NetworkSet networks) const {
  for (std::size_t first = 0; first < slots.size();) {
    throw_if_interrupted(progress_);
    std::size_t last = first;
    std::vector<EntropyQuery> asked;
    while (last < slots.size() && (last == first || asked.size() + queries[last].size() < kQueriesAtOnce)) {
      asked.push_back({targets_[static_cast<std::size_t>(slots[last])], members(slots[last])});
      asked.insert(asked.end(), queries[last].begin(), queries[last].end());
      ++last;
    }
    const Eigen::MatrixXf log_density = estimator_.log_conditional(asked, networks);
    for (Index column = 0; first < last; ++first) {
      const Index before = column++;
      std::vector<Eigen::ArrayXd> gains;
      std::vector<double> means;
      for (const EntropyQuery& query : queries[first]) {
        Eigen::ArrayXd gain =
            (log_density.col(column++).cast<double>() - log_density.col(before).cast<double>()).array();
        estimator_.leave_out_drawn(query.target, gain, networks);
        estimator_.leave_out_drawn(query.given.back(), gain, networks);
        gains.push_back(estimator_.in_rows(gain, networks));
        means.push_back(estimator_.means().mean(gains.back()).value);
      }
      const auto less = [](double a, double b) { return std::isnan(b) ? false : std::isnan(a) || a < b; };
      const auto best = std::max_element(means.begin(), means.end(), less) - means.begin();
      std::vector<EntropyQuery> kept;
      for (std::size_t q = 0; q < gains.size(); ++q) {
        const EntropyEstimate ahead = estimator_.means().mean(gains[static_cast<std::size_t>(best)] - gains[q]);
        const bool behind = ahead.value > kClearlyBehind * ahead.standard_error && ahead.standard_error > 0;
        if (!behind) kept.push_back(std::move(queries[first][q]));
      }
      queries[first] = std::move(kept);
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
      result.push_back({-1, known ? mean.value : -std::numeric_limits<double>::infinity(), mean.standard_error});
    }
  }
  return result;
}

void FlowFrontier::find_best(std::span<const int> slots, std::span<Candidate> best) {
  std::vector<std::vector<EntropyQuery>> queries;
  for (const int slot : slots) queries.push_back(candidates_of(slot));
  const bool wide = estimator_.versions() > EnsembleDensity::kSampleRows || estimator_.networks() > kManyNetworks;
  if (wide) {
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const EntropyQuery before = {targets_[static_cast<std::size_t>(slots[s])], members(slots[s])};
      keep_best(before, queries[s], NetworkSet::sample, 16, 8);
    }
  }
  // Of many rows each is judged once: the noise that other networks would take away is small, and they cost as much
  // again each.
  const bool many = estimator_.versions() > kManyRows;
  if (wide) keep_near(slots, queries, many ? NetworkSet::unseen_sample : NetworkSet::unseen);
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
