// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/refine.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fansite/base/error.h"
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

Boundaries refined(const SearchEstimator& estimator, const Boundaries& found, const Dag& graph, Progress& progress) {
  Boundaries result = found;
  std::set<std::pair<int, int>> edges;
  progress.begin("refining", static_cast<long>(found.boundaries.size()));
  for (Boundary& boundary : result.boundaries) {
    throw_if_interrupted(progress);
    if (!estimator.informative(boundary.target)) continue;
    boundary = refine(estimator, boundary, graph.markov_boundary(boundary.target));
    for (const int z : boundary.variables()) edges.insert(std::minmax(boundary.target, z));
    progress.advance(1);
  }
  result.moral_edges.assign(edges.begin(), edges.end());
  return result;
}

ByteMatrix links_of(const Boundaries& boundaries, int variables) {
  ByteMatrix links = ByteMatrix::Zero(variables, variables);
  for (const Boundary& boundary : boundaries.boundaries) {
    for (const int z : boundary.variables()) links(boundary.target, z) = links(z, boundary.target) = 1;
  }
  return links;
}

}  // namespace fansite
