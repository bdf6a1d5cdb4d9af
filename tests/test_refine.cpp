// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/refine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fansite/boundary/links.h"
#include "fansite/entropy/gaussian.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

// x0 → x2 ← x1, x2 → x3, x4 apart and x5 constant.
GaussianEstimator collider() {
  Random random(Key{1});
  Matrix values(1000, 6);
  for (Index i = 0; i < values.rows(); ++i) {
    const double x0 = random.normal(), x1 = random.normal();
    const double x2 = x0 + x1 + random.normal();
    values.row(i) << x0, x1, x2, 0.8 * x2 + random.normal(), random.normal(), 7;
  }
  return GaussianEstimator(covariance(values));
}

Dag true_graph() { return Dag(6, {{0, 2}, {1, 2}, {2, 3}}); }

/// x1 is linked to nothing, and x4 is a parent of x3.
Dag other_graph() { return Dag(6, {{0, 2}, {2, 3}, {4, 3}}); }

Boundaries refined_by(const GaussianEstimator& estimator, const Boundaries& found, const Dag& graph) {
  NoProgress progress;
  return refined(estimator, found, graph, progress);
}

const NearMiss* near_miss(const Boundary& boundary, int variable) {
  for (const NearMiss& miss : boundary.near_misses) {
    if (miss.candidate.variable == variable) return &miss;
  }
  return nullptr;
}

double entropy(const GaussianEstimator& estimator, int target, const std::vector<int>& given) {
  return estimator.conditional_entropy({target, given}).value;
}

/// All figures of a boundary against entropies computed one by one.
void expect_consistent(const GaussianEstimator& estimator, const Boundary& boundary) {
  SCOPED_TRACE("boundary of " + std::to_string(boundary.target));
  const std::vector<int> set = boundary.member_indices();
  EXPECT_EQ(std::set<int>(set.begin(), set.end()).size(), set.size());
  EXPECT_DOUBLE_EQ(boundary.conditional_entropy, entropy(estimator, boundary.target, set));
  double sum = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Member& member = boundary.members[k];
    sum += member.gain;
    std::vector<int> rest = set;
    std::erase(rest, set[k]);
    EXPECT_NEAR(member.unique, entropy(estimator, boundary.target, rest) - boundary.conditional_entropy, 1e-9);
    const std::vector<int> before(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<int> with_it = before;
    with_it.push_back(set[k]);
    const double drop = entropy(estimator, boundary.target, before) - entropy(estimator, boundary.target, with_it);
    EXPECT_NEAR(member.gain, drop, 1e-9);
    EXPECT_GT(member.standard_error, 0);
  }
  EXPECT_NEAR(sum, boundary.entropy - boundary.conditional_entropy, 1e-9);
  for (const NearMiss& miss : boundary.near_misses) {
    std::vector<int> with_it = set;
    with_it.push_back(miss.candidate.variable);
    EXPECT_NEAR(miss.candidate.gain, boundary.conditional_entropy - entropy(estimator, boundary.target, with_it), 1e-9);
    EXPECT_FALSE(testing::Value(set, testing::Contains(miss.candidate.variable)));
  }
}

void expect_edges_of_the_boundaries(const Boundaries& found) {
  std::set<std::pair<int, int>> edges;
  for (const Boundary& boundary : found.boundaries) {
    for (const int z : boundary.member_indices()) edges.insert(std::minmax(boundary.target, z));
  }
  EXPECT_THAT(found.moral_edges, ElementsAreArray(edges));
}

TEST(Refined, NothingChangesWhereTheGraphAgrees) {
  const GaussianEstimator estimator = collider();
  const Boundaries found = find_boundaries(estimator);
  const Boundaries result = refined_by(estimator, found, true_graph());
  ASSERT_EQ(found.moral_edges.size(), 4u);
  EXPECT_EQ(result.moral_edges, found.moral_edges);
  for (std::size_t t = 0; t < 6; ++t) {
    const Boundary &before = found.boundaries[t], &after = result.boundaries[t];
    EXPECT_EQ(after.member_indices(), before.member_indices());
    EXPECT_EQ(after.entropy, before.entropy);
    EXPECT_EQ(after.near_misses.size(), before.near_misses.size());
    EXPECT_DOUBLE_EQ(after.conditional_entropy, before.conditional_entropy);
    for (std::size_t k = 0; k < after.members.size(); ++k) {
      EXPECT_FALSE(after.members[k].by_graph);
      EXPECT_NEAR(after.members[k].gain, before.members[k].gain, 1e-9);
      EXPECT_NEAR(after.members[k].unique, before.members[k].unique, 1e-9);
    }
  }
}

TEST(Refined, MembersThatStayKeepTheirOrderAndEvidence) {
  const GaussianEstimator estimator = collider();
  Boundaries found = find_boundaries(estimator);
  // An order and figures that no new search would give.
  Boundary& before = found.boundaries[2];
  ASSERT_EQ(before.members.size(), 3u);
  std::sort(before.members.begin(), before.members.end(),
            [](const Member& a, const Member& b) { return a.variable > b.variable; });
  for (Member& member : before.members) {
    member.p_value = 0.001 * (1 + member.variable);
    member.q_value = 0.002 * (1 + member.variable);
    member.by_symmetry = member.variable == 0;
    member.votes = 0.5;
  }
  const Boundary after = refined_by(estimator, found, other_graph()).boundaries[2];
  ASSERT_THAT(after.member_indices(), ElementsAre(3, 0, 4));
  for (const Member& member : {after.members[0], after.members[1]}) {
    EXPECT_EQ(member.p_value, 0.001 * (1 + member.variable));
    EXPECT_EQ(member.q_value, 0.002 * (1 + member.variable));
    EXPECT_EQ(member.by_symmetry, member.variable == 0);
    EXPECT_EQ(member.votes, 0.5);
    EXPECT_FALSE(member.by_graph);
  }
  expect_consistent(estimator, after);
}

TEST(Refined, MembersThatTheGraphAddsComeAfterTheOthersByWhatTheyGain) {
  const GaussianEstimator estimator = collider();
  Boundaries found = find_boundaries(estimator);
  // Boundary of x3 without its only member: three come by the graph, x2 worth far more than x0 and x4.
  found.boundaries[3].members.clear();
  found.boundaries[3].near_misses.clear();
  found.boundaries[0].members.clear();
  const Boundaries result = refined_by(estimator, found, Dag(6, {{0, 3}, {2, 3}, {4, 3}}));
  const std::vector<int> set = result.boundaries[3].member_indices();
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set[0], 2);
  const auto alone = [&](int z) { return entropy(estimator, 3, {}) - entropy(estimator, 3, {z}); };
  EXPECT_GT(alone(set[0]), alone(set[1]));
  EXPECT_GT(alone(set[1]), alone(set[2]));
  for (const Member& member : result.boundaries[3].members) {
    EXPECT_TRUE(member.by_graph);
    EXPECT_TRUE(std::isnan(member.q_value));
    EXPECT_TRUE(std::isnan(member.p_value));
  }
  expect_consistent(estimator, result.boundaries[3]);
}

TEST(Refined, AnAddedMemberHasThePValueOfItsTestAndIsNoNearMissAnyMore) {
  const GaussianEstimator estimator = collider();
  Boundaries found = find_boundaries(estimator);
  for (const int target : {2, 3}) found.boundaries[static_cast<std::size_t>(target)].near_misses.clear();
  NearMiss tested;
  tested.candidate.variable = 4;
  tested.p_value = 0.21;
  tested.q_value = 0.4;
  NearMiss other = tested;
  other.candidate.variable = 5;
  other.p_value = 0.77;
  found.boundaries[2].near_misses = {tested, other};
  const Boundaries result = refined_by(estimator, found, other_graph());
  const Member& added = result.boundaries[2].members.back();
  EXPECT_EQ(added.variable, 4);
  EXPECT_TRUE(added.by_graph);
  EXPECT_EQ(added.p_value, 0.21);
  EXPECT_TRUE(std::isnan(added.q_value));
  EXPECT_EQ(near_miss(result.boundaries[2], 4), nullptr);
  ASSERT_NE(near_miss(result.boundaries[2], 5), nullptr);  // the other one stays as it was
  EXPECT_EQ(near_miss(result.boundaries[2], 5)->p_value, 0.77);
  EXPECT_EQ(near_miss(result.boundaries[2], 5)->reason, NearMiss::Reason::chance);
  const Member& not_tested = result.boundaries[3].members.back();
  EXPECT_EQ(not_tested.variable, 4);
  EXPECT_TRUE(std::isnan(not_tested.p_value));
}

TEST(Refined, MembersThatTheGraphDropsBecomeNearMissesWithTheirEvidence) {
  const GaussianEstimator estimator = collider();
  const Boundaries found = find_boundaries(estimator);
  const Boundaries result = refined_by(estimator, found, other_graph());
  EXPECT_THAT(result.boundaries[0].member_indices(), ElementsAre(2));
  EXPECT_THAT(result.boundaries[1].member_indices(), IsEmpty());
  EXPECT_EQ(result.boundaries[1].conditional_entropy, result.boundaries[1].entropy);
  int dropped = 0;
  for (const auto& [target, variable] : {std::pair(0, 1), std::pair(1, 0), std::pair(1, 2), std::pair(2, 1)}) {
    for (const Member& member : found.boundaries[static_cast<std::size_t>(target)].members) {
      if (member.variable != variable) continue;
      const NearMiss* miss = near_miss(result.boundaries[static_cast<std::size_t>(target)], variable);
      ASSERT_NE(miss, nullptr) << target << " " << variable;
      EXPECT_EQ(miss->reason, NearMiss::Reason::graph);
      EXPECT_EQ(miss->p_value, member.p_value);
      EXPECT_EQ(miss->q_value, member.q_value);
      ++dropped;
    }
  }
  EXPECT_EQ(dropped, 4);
  EXPECT_FALSE(explain(NearMiss::Reason::graph).empty());
  EXPECT_NE(explain(NearMiss::Reason::graph), explain(NearMiss::Reason::chance));
  for (std::size_t t = 0; t < 5; ++t) expect_consistent(estimator, result.boundaries[t]);
}

TEST(Refined, AConstantColumnJoinsNoBoundary) {
  const GaussianEstimator estimator = collider();
  const Boundaries result = refined_by(estimator, find_boundaries(estimator), Dag(6, {{0, 2}, {1, 2}, {2, 3}, {5, 4}}));
  EXPECT_THAT(result.boundaries[4].member_indices(), IsEmpty());
}

TEST(Refined, OnlyTheTargetsThatWereSearchedAreThere) {
  const GaussianEstimator estimator = collider();
  NoProgress progress;
  const Boundaries found = find_boundaries(estimator, {}, {{3, 0}, {}, {}}, progress);
  const Boundaries result = refined(estimator, found, other_graph(), progress);
  ASSERT_EQ(result.boundaries.size(), 2u);
  EXPECT_EQ(result.boundaries[0].target, 3);
  EXPECT_THAT(result.boundaries[0].member_indices(), ElementsAre(2, 4));
  EXPECT_THAT(result.boundaries[1].member_indices(), ElementsAre(2));
  EXPECT_THAT(result.moral_edges, ElementsAre(std::pair(0, 2), std::pair(2, 3), std::pair(3, 4)));
}

TEST(Refined, NoBoundaryIsLargerThanTheEstimatorCanTell) {
  Random random(Key{3});
  Matrix values(8, 12);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
  const GaussianEstimator estimator(covariance(values));
  std::vector<std::pair<int, int>> star;
  for (int j = 1; j < 12; ++j) star.emplace_back(j, 0);
  const Boundaries result = refined_by(estimator, find_boundaries(estimator), Dag(12, star));
  ASSERT_LT(estimator.largest_set(), 11);
  EXPECT_EQ(static_cast<int>(result.boundaries[0].members.size()), estimator.largest_set());
  EXPECT_TRUE(std::isfinite(result.boundaries[0].conditional_entropy));
}

TEST(Refined, StopsWhenAsked) {
  const GaussianEstimator estimator = collider();
  Impatient progress;
  EXPECT_THROW(refined(estimator, find_boundaries(estimator), true_graph(), progress), Interrupted);
}

TEST(Links, HaveAPairThatEitherBoundaryNames) {
  Boundaries found;
  for (int target = 0; target < 4; ++target) found.boundaries.emplace_back().target = target;
  found.boundaries[0].members.emplace_back().variable = 2;
  found.boundaries[3].members.emplace_back().variable = 1;
  ByteMatrix expected = ByteMatrix::Zero(4, 4);
  expected(0, 2) = expected(2, 0) = expected(1, 3) = expected(3, 1) = 1;
  EXPECT_EQ(links(found, 4), expected);
  EXPECT_EQ(links(Boundaries(), 3), ByteMatrix::Zero(3, 3));
}

TEST(RefinedProperties, TheBoundariesAreTheGraphsWhateverWasFound) {
  EXPECT_TRUE(rc::check("sets, edges and links are the graph's, and all figures consistent", [] {
    constexpr int kNodes = 7;
    static const Simulation simulation = simulate_linear(kNodes, 1.5, 300, 4);
    static const GaussianEstimator estimator(covariance(simulation.data.values));
    static const Boundaries found = find_boundaries(estimator);
    ByteMatrix adjacency = ByteMatrix::Zero(kNodes, kNodes);
    const bool upwards = *rc::gen::arbitrary<bool>();
    for (int j = 1; j < kNodes; ++j) {
      for (int i = 0; i < j; ++i) {
        (upwards ? adjacency(i, j) : adjacency(j, i)) = *rc::gen::weightedElement<unsigned char>({{3, 0}, {1, 1}});
      }
    }
    const Dag graph(adjacency);
    const Boundaries result = refined_by(estimator, found, graph);
    for (std::size_t t = 0; t < result.boundaries.size(); ++t) {
      const Boundary& after = result.boundaries[t];
      std::vector<int> set = after.member_indices();
      // Members that stay, as they were; then those added.
      std::vector<int> stay;
      for (const int z : found.boundaries[t].member_indices()) {
        if (std::find(set.begin(), set.end(), z) != set.end()) stay.push_back(z);
      }
      RC_ASSERT(std::equal(stay.begin(), stay.end(), set.begin()));
      for (std::size_t k = 0; k < set.size(); ++k) RC_ASSERT(after.members[k].by_graph == (k >= stay.size()));
      std::sort(set.begin(), set.end());
      RC_ASSERT(set == graph.markov_boundary(after.target));
      expect_consistent(estimator, after);
    }
    expect_edges_of_the_boundaries(result);
    RC_ASSERT(links(result, kNodes) == graph.moral_graph());
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

// ---- What the graph does not explain --------------------------------------------------------------------------------

TEST(UnexplainedPairs, AreThoseThatTheGraphDropsAndTheDataStillShow) {
  const GaussianEstimator estimator = collider();
  const Boundaries found = find_boundaries(estimator);
  NoProgress silent;
  EXPECT_THAT(unexplained_pairs(estimator, found, true_graph(), silent), testing::IsEmpty());
  // An empty graph drops all, and explains nothing: pairs that are related without any condition show still.
  const auto shown = unexplained_pairs(estimator, found, Dag(6, {}), silent);
  ASSERT_FALSE(shown.empty());
  for (const auto& pair : shown) EXPECT_THAT(found.moral_edges, testing::Contains(pair));
}

TEST(UnexplainedPairs, StayAndKeepTheirNeighbourhoods) {
  const GaussianEstimator estimator = collider();
  const Boundaries found = find_boundaries(estimator);
  NoProgress silent;
  const auto shown = unexplained_pairs(estimator, found, Dag(6, {}), silent);
  const Boundaries result = refined(estimator, found, Dag(6, {}), shown, silent);
  for (const auto& [a, b] : shown) {
    for (const auto& [target, other] : {std::pair(a, b), std::pair(b, a)}) {
      const Boundary& before = found.boundaries[static_cast<std::size_t>(target)];
      const Boundary& after = result.boundaries[static_cast<std::size_t>(target)];
      EXPECT_EQ(after.member_indices(), before.member_indices());
      const auto member = std::find_if(after.members.begin(), after.members.end(),
                                       [&, other = other](const Member& m) { return m.variable == other; });
      ASSERT_NE(member, after.members.end());
      EXPECT_TRUE(member->against_graph);
    }
  }
  for (const Boundary& boundary : result.boundaries) {  // both ends agree still
    for (const int z : boundary.member_indices()) {
      EXPECT_THAT(result.boundaries[static_cast<std::size_t>(z)].member_indices(), testing::Contains(boundary.target));
    }
  }
}

}  // namespace
}  // namespace fansite
