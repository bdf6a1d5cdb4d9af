// SPDX-License-Identifier: Apache-2.0
#include "fansite/flow/frontier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/error.h"

namespace fansite::flow {
namespace {

constexpr std::size_t kQueriesAtOnce = 512;  // keeps the row by row values of a call in tens of megabytes

// How many of a target's candidates get a second look, at all rows by all members, when the first was at a sample: a
// sixteenth, and eight at least.
std::size_t second_look(std::size_t candidates) { return std::max<std::size_t>(8, candidates / 16); }

}  // namespace

FlowFrontier::FlowFrontier(const FlowEstimator& estimator, std::span<const int> targets,
                           std::span<const char> candidates, const Progress& progress)
    : estimator_(estimator),
      progress_(progress),
      targets_(targets.begin(), targets.end()),
      candidates_(candidates.begin(), candidates.end()),
      sets_(targets.size()) {}

void FlowFrontier::add_queries(int slot, std::vector<EntropyQuery>& queries) const {
  const int target = targets_[static_cast<std::size_t>(slot)];
  for (int z = 0; z < estimator_.variables(); ++z) {
    const auto& set = members(slot);
    if (z == target || !candidates_[static_cast<std::size_t>(z)]) continue;
    if (std::find(set.begin(), set.end(), z) != set.end()) continue;
    EntropyQuery& query = queries.emplace_back(EntropyQuery{target, set});
    query.given.push_back(z);
  }
}

std::vector<double> FlowFrontier::entropies(std::span<const EntropyQuery> queries, Jury jury) const {
  std::vector<double> result;
  for (std::size_t first = 0; first < queries.size(); first += kQueriesAtOnce) {
    throw_if_interrupted(progress_);
    const auto some = queries.subspan(first, std::min(kQueriesAtOnce, queries.size() - first));
    const Eigen::MatrixXf log_density = estimator_.log_conditional(some, jury);
    for (Index q = 0; q < log_density.cols(); ++q) result.push_back(-log_density.col(q).cast<double>().mean());
  }
  return result;
}

std::vector<Candidate> FlowFrontier::differences(const std::vector<EntropyQuery>& before,
                                                 const std::vector<EntropyQuery>& after, Jury jury) const {
  std::vector<Candidate> result;
  for (std::size_t first = 0; first < before.size(); first += kQueriesAtOnce / 2) {
    throw_if_interrupted(progress_);
    const std::size_t last = std::min(first + kQueriesAtOnce / 2, before.size());
    std::vector<EntropyQuery> queries(before.begin() + static_cast<std::ptrdiff_t>(first),
                                      before.begin() + static_cast<std::ptrdiff_t>(last));
    queries.insert(queries.end(), after.begin() + static_cast<std::ptrdiff_t>(first),
                   after.begin() + static_cast<std::ptrdiff_t>(last));
    const Eigen::MatrixXf log_density = estimator_.log_conditional(queries, jury);
    const auto count = static_cast<Index>(last - first);
    for (Index q = 0; q < count; ++q) {
      const Eigen::ArrayXd gain =
          log_density.col(count + q).cast<double>().array() - log_density.col(q).cast<double>().array();
      const auto n = static_cast<double>(gain.size());
      Candidate& candidate = result.emplace_back();
      candidate.gain = gain.mean();
      candidate.standard_error = n > 1 ? std::sqrt((gain - candidate.gain).square().sum() / (n - 1) / n) : 0.0;
    }
  }
  return result;
}

void FlowFrontier::find_best(std::span<const int> slots, std::span<Candidate> best) {
  std::vector<EntropyQuery> queries;
  std::vector<std::size_t> start = {0};  // of each slot's queries
  for (const int slot : slots) {
    add_queries(slot, queries);
    start.push_back(queries.size());
  }
  const std::vector<double> first_look = entropies(queries, Jury::sample);
  std::vector<EntropyQuery> shortlist;
  std::vector<std::size_t> short_start = {0};
  const bool again = estimator_.rows() > EnsembleDensity::kSampleRows;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    std::vector<std::size_t> order(start[s + 1] - start[s]);
    std::iota(order.begin(), order.end(), start[s]);
    const std::size_t kept = std::min(order.size(), again ? second_look(order.size()) : 1);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return first_look[a] != first_look[b] ? first_look[a] < first_look[b] : a < b;
                      });
    for (std::size_t k = 0; k < kept; ++k) shortlist.push_back(queries[order[k]]);
    short_start.push_back(shortlist.size());
  }
  std::vector<EntropyQuery> before = shortlist;
  for (EntropyQuery& query : before) query.given.pop_back();
  const std::vector<Candidate> second = differences(before, shortlist, Jury::all);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    best[s] = Candidate{};
    for (std::size_t q = short_start[s]; q < short_start[s + 1]; ++q) {
      if (best[s].variable >= 0 && second[q].gain <= best[s].gain) continue;
      best[s] = second[q];
      best[s].variable = shortlist[q].given.back();
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
  std::vector<Candidate> result = differences(before, after, Jury::all);
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
  std::vector<Candidate> result = differences(without, with, Jury::all);
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
