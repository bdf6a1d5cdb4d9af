// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/refine.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/detail/growth.h"

namespace fansite {
namespace {

using Pair = std::pair<int, int>;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// Members that the graph adds, the most informative given the rest first.
std::vector<Member> added_members(const SearchEstimator& estimator, const Boundary& before,
                                  const std::vector<int>& stay, const std::vector<int>& wanted) {
  std::vector<InformationQuery> queries;
  for (const int z : wanted) {
    if (!contains(stay, z) && estimator.informative(z)) queries.push_back({before.target, {z}, stay});
  }
  const std::vector<EntropyEstimate> gains = estimator.mutual_information(queries);
  std::vector<Member> added;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    Member& member = added.emplace_back();
    member.variable = queries[q].about.front();
    member.gain = gains[q].value;
    member.by_graph = true;
    member.p_value = member.q_value = kNotKnown;
    for (const NearMiss& miss : before.near_misses) {
      if (miss.candidate.variable == member.variable) member.p_value = miss.p_value;
    }
  }
  std::stable_sort(added.begin(), added.end(), [](const Member& a, const Member& b) { return a.gain > b.gain; });
  return added;
}

NearMiss left_out(const Member& member, NearMiss::Reason reason) {
  NearMiss miss;
  miss.candidate.variable = member.variable;
  miss.p_value = member.p_value;
  miss.q_value = member.q_value;
  miss.reason = reason;
  return miss;
}

// Of what the graph alone wants, those that gain least are left out where the estimator knows no set for all. Members
// that were found are never too many.
Boundary refine(const SearchEstimator& estimator, const Boundary& before, const std::vector<int>& wanted) {
  Boundary after = before;
  after.members.clear();
  after.near_misses.clear();
  std::vector<int> stay;
  for (const Member& member : before.members) {
    if (contains(wanted, member.variable)) {
      after.members.push_back(member);
      stay.push_back(member.variable);
    } else {
      after.near_misses.push_back(left_out(member, NearMiss::Reason::graph));
    }
  }
  for (const NearMiss& miss : before.near_misses) {
    if (!contains(wanted, miss.candidate.variable)) after.near_misses.push_back(miss);
  }
  const auto most = static_cast<std::size_t>(estimator.largest_set());
  check(stay.size() <= most, "[refine] {} members stay in a boundary, but the {} estimator knows sets of up to {}",
        stay.size(), estimator.name(), most);
  after.limited = false;
  for (const Member& member : added_members(estimator, before, stay, wanted)) {
    if (after.members.size() < most) {
      after.members.push_back(member);
    } else {
      after.near_misses.push_back(left_out(member, NearMiss::Reason::limit));
      after.limited = true;
    }
  }
  fill_gains(estimator, after);
  return after;
}

}  // namespace

std::vector<Pair> unexplained_pairs(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph,
                                    Progress& progress) {
  constexpr double kSurely = 1e-4;
  const auto most = static_cast<std::size_t>(estimator.largest_set());
  std::vector<char> searched(static_cast<std::size_t>(graph.nodes()), 0);
  for (const Boundary& boundary : found.boundaries) searched[static_cast<std::size_t>(boundary.target)] = 1;
  std::vector<PairQuery> queries;
  for (const auto& [a, b] : found.moral_edges) {
    PairQuery query{a, b, graph.markov_boundary(a), graph.markov_boundary(b), true};
    if (contains(query.given_a, b)) continue;
    if (std::max(query.given_a.size(), query.given_b.size()) > most) continue;  // it cannot be tested
    if (!searched[static_cast<std::size_t>(a)]) std::swap(query.a, query.b), std::swap(query.given_a, query.given_b);
    query.both_sides = searched[static_cast<std::size_t>(a)] && searched[static_cast<std::size_t>(b)];
    queries.push_back(std::move(query));
  }
  std::vector<double> p_values(queries.size());
  progress.begin("questioning the graph", static_cast<long>(queries.size()));
  parallel_for(static_cast<Index>(queries.size()), [&](Index q) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(q);
    p_values[at] = estimator.pair_evidence(queries[at]).p_value;
    progress.advance(1);
  });
  std::vector<Pair> result;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (p_values[q] < kSurely) result.push_back(std::minmax(queries[q].a, queries[q].b));
  }
  return result;
}

Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph,
                   const std::vector<Pair>& unexplained, Progress& progress) {
  std::vector<char> as_found(static_cast<std::size_t>(graph.nodes()), 0);
  for (const auto& [a, b] : unexplained)
    as_found[static_cast<std::size_t>(a)] = as_found[static_cast<std::size_t>(b)] = 1;
  const auto is_as_found = [&](int variable) { return as_found[static_cast<std::size_t>(variable)] != 0; };
  Boundaries result = found;
  std::set<Pair> edges;
  progress.begin("refining", static_cast<long>(found.boundaries.size()));
  for (Boundary& boundary : result.boundaries) {
    throw_if_interrupted(progress);
    const int target = boundary.target;
    if (!estimator.informative(target)) continue;
    std::vector<int> wanted;
    for (const int z : graph.markov_boundary(target)) {
      if (!is_as_found(target) && !is_as_found(z)) wanted.push_back(z);
    }
    for (const int z : boundary.member_indices()) {
      if (is_as_found(target) || is_as_found(z)) wanted.push_back(z);
    }
    if (!is_as_found(target)) boundary = refine(estimator, boundary, wanted);
    for (Member& member : boundary.members) {
      const Pair pair = std::minmax(target, member.variable);
      member.against_graph = std::find(unexplained.begin(), unexplained.end(), pair) != unexplained.end();
      edges.insert(pair);
    }
    progress.advance(1);
  }
  result.moral_edges.assign(edges.begin(), edges.end());
  return result;
}

}  // namespace fansite
