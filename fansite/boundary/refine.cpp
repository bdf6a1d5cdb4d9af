// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/refine.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fansite/boundary/detail/growth.h"

namespace fansite {
namespace {

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
      NearMiss& miss = after.near_misses.emplace_back();
      miss.candidate.variable = member.variable;
      miss.p_value = member.p_value;
      miss.q_value = member.q_value;
      miss.reason = NearMiss::Reason::graph;
    }
  }
  for (const NearMiss& miss : before.near_misses) {
    if (!contains(wanted, miss.candidate.variable)) after.near_misses.push_back(miss);
  }
  for (const Member& member : added_members(estimator, before, stay, wanted)) after.members.push_back(member);

  fill_gains(estimator, after);
  return after;
}

}  // namespace

Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph, Progress& progress) {
  Boundaries result = found;
  std::set<std::pair<int, int>> edges;
  progress.begin("refining", static_cast<long>(found.boundaries.size()));
  for (Boundary& boundary : result.boundaries) {
    throw_if_interrupted(progress);
    if (!estimator.informative(boundary.target)) continue;
    std::vector<int> wanted = graph.markov_boundary(boundary.target);
    // What a flow cannot condition on at once is left out: first what the graph alone wants, never what is known.
    const auto place = [&](int z) {
      for (const Member& member : boundary.members) {
        if (member.variable == z) return member.by_knowledge ? 0 : 1;
      }
      return 2;
    };
    std::stable_sort(wanted.begin(), wanted.end(), [&](int a, int b) { return place(a) < place(b); });
    const auto most = static_cast<std::size_t>(std::max(estimator.largest_set(), 0));
    wanted.resize(std::min(wanted.size(), most));
    boundary = refine(estimator, boundary, wanted);
    for (const int z : boundary.variables()) edges.insert(std::minmax(boundary.target, z));
    progress.advance(1);
  }
  result.moral_edges.assign(edges.begin(), edges.end());
  return result;
}

}  // namespace fansite
