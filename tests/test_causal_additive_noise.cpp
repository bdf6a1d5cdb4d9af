// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose equations are known: what is found, what speaks for it and what is left undecided.
#include "fansite/causal/additive_noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fansite/base/parallel.h"
#include "graph_examples.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Ne;
using testing::SizeIs;

AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params, const GraphConstraints& constraints) {
  NoProgress silent;
  return find_additive_noise_graph(values, constraints, params, silent);
}

AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params = {}) {
  return find(values, params, anything(values.cols()));
}

/// Enough for what is linear or nearly so.
AdditiveNoiseParams few_landmarks() {
  AdditiveNoiseParams params;
  params.regression.max_landmarks = 40;
  return params;
}

/// Directions that the score does not decide, and links that no sampling error makes.
AdditiveNoiseParams undecided() {
  AdditiveNoiseParams params;
  params.confidence = 1e9;
  params.penalty = 3;
  return params;
}

AdditiveNoiseParams gaussian() {
  AdditiveNoiseParams params;
  params.noise = NoiseDistribution::gaussian;
  return params;
}

AdditiveNoiseParams on(NoiseScale scale) {
  AdditiveNoiseParams params;
  params.scale = scale;
  return params;
}

Edges edges(const AdditiveNoiseResult& result) {
  Edges edges;
  for (const GraphEdge& edge : result.edges) edges.emplace_back(edge.from, edge.to);
  return edges;
}

std::vector<DirectionBy> reasons(const AdditiveNoiseResult& result) {
  std::vector<DirectionBy> reasons;
  for (const GraphEdge& edge : result.edges) reasons.push_back(edge.by);
  return reasons;
}

/// Found as they are, and the data decide every direction.
void expect_decided(const AdditiveNoiseResult& result, const Edges& expected) {
  EXPECT_EQ(edges(result), expected);
  EXPECT_THAT(reasons(result), Each(DirectionBy::score));
  EXPECT_EQ(result.partial.directed, result.dag.adjacency());
  for (const GraphEdge& edge : result.edges) {
    EXPECT_GT(edge.existence.value, 3 * edge.existence.standard_error);
    EXPECT_GT(edge.direction.value, 2 * edge.direction.standard_error);
    EXPECT_GE(edge.direction.stability, 0.9);
  }
}

bool same(const Evidence& a, const Evidence& b) {
  return a.value == b.value && a.standard_error == b.standard_error && a.stability == b.stability;
}

void expect_same(const AdditiveNoiseResult& a, const AdditiveNoiseResult& b) {
  ASSERT_EQ(edges(a), edges(b));
  EXPECT_EQ(reasons(a), reasons(b));
  for (std::size_t e = 0; e < a.edges.size(); ++e) {
    EXPECT_TRUE(same(a.edges[e].existence, b.edges[e].existence)) << e;
    EXPECT_TRUE(same(a.edges[e].direction, b.edges[e].direction)) << e;
  }
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.fits, b.fits);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.additivity.p_value, b.additivity.p_value);
}

// ---- Known graphs ---------------------------------------------------------------------------------------------------

TEST(AdditiveNoise, DirectsAPairByItsCurve) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix values = table(300, 2, seed, [](Random&, auto&& x) { x[0] = x[1] + x[1] * x[1] + 0.5 * x[0]; });
    expect_decided(find(values), {{1, 0}});
    expect_decided(find(values, gaussian()), {{1, 0}});
  }
}

TEST(AdditiveNoise, DirectsAFork) {
  const Matrix values = table(400, 3, 1, [](Random&, auto&& x) {
    x[0] = std::sin(2 * x[1]) + 0.3 * x[0];
    x[2] = std::exp(-x[1] * x[1]) + 0.2 * x[2];
  });
  expect_decided(find(values), {{1, 0}, {1, 2}});
}

TEST(AdditiveNoise, DirectsACollider) {
  const Matrix values =
      table(400, 3, 2, [](Random&, auto&& x) { x[1] = x[0] * x[0] + std::sin(2 * x[2]) + 0.5 * x[1]; });
  expect_decided(find(values), {{0, 1}, {2, 1}});
}

TEST(AdditiveNoise, DirectsAChainAndWhatClosesIt) {
  expect_decided(find(curved_table(400, 1)), {{0, 1}, {0, 3}, {1, 2}, {2, 3}});
}

TEST(AdditiveNoise, SeesAnInteractionThatNeitherParentShowsAlone) {
  const Matrix values = table(400, 3, 3, [](Random&, auto&& x) { x[2] = x[0] * x[1] + 0.3 * x[2]; });
  GraphConstraints constraints = anything(3);
  constraints.required = {{0, 2}};  // the first step alone gains nothing
  EXPECT_THAT(edges(find(values, {}, constraints)), ElementsAre(Edge(0, 2), Edge(1, 2)));
}

// A linear relation shows its direction if noise is not normal (LiNGAM), and only to who models its distribution.
TEST(AdditiveNoise, DirectsALinearPairByItsNoise) {
  int by_any = 0, by_gaussian = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix values = table(400, 2, seed, [](Random& random, auto&& x) {
      x[1] = random.uniform(-1, 1);
      x[0] = x[1] + random.uniform(-1, 1);
    });
    const AdditiveNoiseResult result = find(values), other = find(values, gaussian());
    by_any += edges(result) == Edges{{1, 0}} && result.edges[0].by == DirectionBy::score;
    by_gaussian += other.edges.at(0).by == DirectionBy::score;
  }
  EXPECT_EQ(by_any, 5);
  EXPECT_LE(by_gaussian, 3);
}

// At the penalty for one parameter a tenth of all pairs look linked: the best of two directions and thirteen fits does.
TEST(AdditiveNoise, FindsFewEdgesAmongIndependentColumnsAndNoneAtAHigherPenalty) {
  int found = 0;
  AdditiveNoiseParams dear;
  dear.penalty = 3;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Matrix values = noise_table(150, 4, seed);
    found += find(values).dag.edges();
    const AdditiveNoiseResult none = find(values, dear);
    EXPECT_THAT(none.edges, IsEmpty()) << seed;
    EXPECT_EQ(none.weights.cwiseAbs().maxCoeff(), 0);
    EXPECT_EQ(none.additivity.p_value, 1);
    EXPECT_EQ(none.additivity.child, -1);
    EXPECT_TRUE(none.additivity.additive);
  }
  EXPECT_LE(found, 8);  // of 36 pairs; 4 expected
}

// Of a column that is mostly 0 a regression on noise moves the quartiles a little apart.
TEST(AdditiveNoise, FindsNoEdgesAmongIndependentBinaryColumns) {
  for (const double share : {0.5, 0.2, 0.1}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Matrix values = table(200, 3, seed, [&](Random& random, auto&& x) {
        for (double& cell : x) cell = random.uniform() < share;
      });
      found += find(values).dag.edges();
    }
    EXPECT_LE(found, 1) << share;  // of 18 pairs
  }
}

// ---- What nobody can know -------------------------------------------------------------------------------------------

TEST(AdditiveNoise, LeavesLinearGaussianChainsUndirected) {
  int links = 0, decided = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const AdditiveNoiseResult result = find(linear_chain(500, 4, seed), few_landmarks(), chain_links(4));
    for (int j = 1; j < 4; ++j) EXPECT_TRUE(result.dag.has_edge(j - 1, j) || result.dag.has_edge(j, j - 1)) << seed;
    for (const GraphEdge& edge : result.edges) {
      ++links;
      decided += edge.by != DirectionBy::nothing;
      // All of its evidence is for one direction or the other.
      EXPECT_NEAR(result.weights(edge.from, edge.to) + result.weights(edge.to, edge.from), edge.existence.value, 1e-12);
      EXPECT_EQ(result.partial.undirected(edge.from, edge.to), edge.by == DirectionBy::nothing);
    }
  }
  EXPECT_EQ(links, 60);
  EXPECT_LE(decided, 3);  // 5 %
}

// To turn one edge of a long chain all before it must turn, and half the way is worse than none.
TEST(AdditiveNoise, LeavesLongLinearGaussianChainsUndirected) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const AdditiveNoiseResult result = find(linear_chain(200, 7, seed), gaussian(), chain_links(7));
    EXPECT_THAT(reasons(result), AllOf(SizeIs(6), Each(DirectionBy::nothing))) << seed;
    for (const GraphEdge& edge : result.edges) EXPECT_LT(std::abs(edge.direction.value), 0.1) << seed;
  }
}

TEST(AdditiveNoise, DirectsALinearGaussianColliderByItsParents) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix values = table(300, 3, seed, [](Random&, auto&& x) { x[1] = x[0] + x[2] + 0.7 * x[1]; });
    const AdditiveNoiseResult result = find(values, undecided());
    EXPECT_THAT(edges(result), ElementsAre(Edge(0, 1), Edge(2, 1)));
    EXPECT_THAT(reasons(result), Each(DirectionBy::collider));
    EXPECT_EQ(result.partial.directed, result.dag.adjacency());
    EXPECT_EQ(result.weights(1, 0), 0);
    EXPECT_EQ(result.weights(0, 1), result.edges[0].existence.value);
  }
}

TEST(AdditiveNoise, WhatFollowsFromACollidersArrowsIsAConsequence) {
  const Matrix values = table(300, 4, 1, [](Random&, auto&& x) {
    x[2] = x[0] + x[1] + 0.7 * x[2];
    x[3] = 0.9 * x[2] + 0.7 * x[3];
  });
  const AdditiveNoiseResult result = find(values, undecided());
  EXPECT_THAT(edges(result), ElementsAre(Edge(0, 2), Edge(1, 2), Edge(2, 3)));
  EXPECT_THAT(reasons(result), ElementsAre(DirectionBy::collider, DirectionBy::collider, DirectionBy::consequence));
}

TEST(AdditiveNoise, WhatFollowsFromAGivenArrowIsAConsequence) {
  GraphConstraints constraints = chain_links(4);
  constraints.required = {{0, 1}};
  const AdditiveNoiseResult result = find(linear_chain(300, 4, 1), undecided(), constraints);
  EXPECT_THAT(edges(result), ElementsAre(Edge(0, 1), Edge(1, 2), Edge(2, 3)));
  EXPECT_THAT(reasons(result), ElementsAre(DirectionBy::knowledge, DirectionBy::consequence, DirectionBy::consequence));
  EXPECT_EQ(result.edges[0].direction.value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.edges[0].direction.stability, 1);
  EXPECT_TRUE(std::isfinite(result.edges[1].direction.value));
}

// ---- Constraints ----------------------------------------------------------------------------------------------------

GraphConstraints random_constraints(Random& random, int variables) {
  GraphConstraints constraints = anything(variables);
  for (unsigned char& cell : constraints.allowed.reshaped()) cell = random.uniform() < 0.6;
  const std::vector<int> order = random.permutation(variables);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (random.uniform() < 0.2) constraints.required.emplace_back(order[i], order[j]);
    }
  }
  return constraints;
}

TEST(AdditiveNoiseProperty, ConstraintsAreSatisfied) {
  const Matrix values = curved_table(60, 2);
  EXPECT_TRUE(rc::check("allowed or required edges only, required ones all, no cycle, not too many parents", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const GraphConstraints constraints = random_constraints(random, 4);
    AdditiveNoiseParams params = rough();
    params.seed = random.bits();
    params.penalty = random.uniform(0, 2);
    const AdditiveNoiseResult result = find(values, params, constraints);
    ByteMatrix may = constraints.allowed;
    for (const auto& [i, j] : constraints.required) {
      RC_ASSERT(result.dag.has_edge(i, j));
      may(i, j) = 1;
    }
    RC_ASSERT(find_cycle(result.dag.adjacency()).empty());
    RC_ASSERT(static_cast<int>(result.edges.size()) == result.dag.edges());
    for (const GraphEdge& edge : result.edges) {
      RC_ASSERT(may(edge.from, edge.to));
      RC_ASSERT(result.dag.has_edge(edge.from, edge.to));
      RC_ASSERT(std::isfinite(edge.existence.value));
      // Turning it round is out of the question if it is required or its opposite not allowed.
      const bool given = std::count(constraints.required.begin(), constraints.required.end(), Edge(edge.from, edge.to));
      if (given || !may(edge.to, edge.from)) {
        RC_ASSERT(edge.by == DirectionBy::knowledge);
        RC_ASSERT(std::isinf(edge.direction.value));
      }
      RC_ASSERT(bool(result.partial.directed(edge.from, edge.to)) == (edge.by != DirectionBy::nothing));
    }
    RC_ASSERT(result.fits > 0);
  }));
}

TEST(AdditiveNoiseProperty, RequiredLinksAndPairsApartAreSatisfied) {
  const Matrix values = curved_table(60, 3);
  EXPECT_TRUE(rc::check("a link in one direction or the other; no common child of what is apart", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    GraphConstraints constraints = anything(4);
    constraints.apart = ByteMatrix::Zero(4, 4);
    const int i = static_cast<int>(random.below(4)), j = (i + 1 + static_cast<int>(random.below(3))) % 4;
    const int k = static_cast<int>(random.below(4)), l = (k + 1 + static_cast<int>(random.below(3))) % 4;
    constraints.apart(i, j) = constraints.apart(j, i) = 1;
    constraints.required_links = {{k, l}};
    const AdditiveNoiseResult result = find(values, rough(), constraints);
    RC_ASSERT(result.dag.has_edge(k, l) || result.dag.has_edge(l, k));
    for (int child = 0; child < 4; ++child) {
      RC_ASSERT(!(result.dag.has_edge(i, child) && result.dag.has_edge(j, child)));
    }
  }));
}

TEST(AdditiveNoise, HasNoMoreParentsThanItMay) {
  for (const int most : {1, 2}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix values = table(100, 5, seed, [](Random&, auto&& x) {
        x[4] = x[0] + x[1] * x[1] + x[2] + std::tanh(2 * x[3]) + 0.2 * x[4];
        x[1] += 0.5 * x[0] * x[0];
      });
      AdditiveNoiseParams params = rough();
      params.max_parents = most;
      const AdditiveNoiseResult result = find(values, params);
      for (int j = 0; j < 5; ++j) EXPECT_LE(result.dag.parents(j).size(), static_cast<std::size_t>(most)) << seed;
      // That there is no room for the other direction is not knowledge.
      EXPECT_THAT(reasons(result), Each(Ne(DirectionBy::knowledge))) << seed;
    }
  }
}

// 1 → 2 is given. 0 → 2 is not: it may be turned round if 0 → 1 is too.
TEST(AdditiveNoise, ARequiredEdgeOnAnotherPathIsNoKnowledge) {
  const Matrix values = table(200, 3, 4, [](Random&, auto&& x) {
    x[1] = std::sin(2 * x[0]) + 0.4 * x[1];
    x[2] = std::cos(2 * x[0]) + std::sin(2 * x[1]) + 0.4 * x[2];
  });
  GraphConstraints constraints = anything(3);
  constraints.required = {{1, 2}};
  const AdditiveNoiseResult result = find(values, {}, constraints);
  EXPECT_THAT(edges(result), ElementsAre(Edge(0, 1), Edge(0, 2), Edge(1, 2)));
  EXPECT_THAT(reasons(result), ElementsAre(DirectionBy::score, DirectionBy::score, DirectionBy::knowledge));
}

TEST(AdditiveNoise, NamingAnEdgeTwiceIsHarmless) {
  GraphConstraints once = anything(4), twice = anything(4);
  once.required = {{2, 0}};
  twice.required = {{2, 0}, {2, 0}};
  expect_same(find(curved_table(100, 5), rough(), twice), find(curved_table(100, 5), rough(), once));
}

// ---- Evidence -------------------------------------------------------------------------------------------------------

TEST(AdditiveNoise, EvidenceIsFinite) {
  Matrix values = curved_table(150, 6);
  values.conservativeResize(Eigen::NoChange, 7);
  values.col(4).setConstant(3);
  values.col(5) = values.col(0);                               // a copy
  values.col(6) = (values.col(1).array() > 0).cast<double>();  // and what another determines
  const AdditiveNoiseResult result = find(values, rough());
  EXPECT_GE(result.edges.size(), 4u);
  for (const GraphEdge& edge : result.edges) {
    for (const Evidence& evidence : {edge.existence, edge.direction}) {
      EXPECT_TRUE(std::isfinite(evidence.value));
      EXPECT_TRUE(std::isfinite(evidence.standard_error));
      EXPECT_GE(evidence.standard_error, 0);
      EXPECT_THAT(evidence.stability, AllOf(Ge(0), Le(1)));
    }
    EXPECT_NE(edge.from, 4);
    EXPECT_NE(edge.to, 4);
  }
  EXPECT_TRUE(result.weights.allFinite());
  EXPECT_TRUE(std::isfinite(result.score));
  EXPECT_THAT(result.additivity.p_value, AllOf(Ge(0), Le(1)));
}

TEST(AdditiveNoise, EvidenceGrowsWithTheSignalAndItsErrorFallsWithRows) {
  const auto edge_of = [](Index rows, double noise) {
    const Matrix values = table(rows, 2, 7, [&](Random&, auto&& x) { x[1] = std::sin(2 * x[0]) + noise * x[1]; });
    return find(values).edges.at(0);
  };
  const GraphEdge few = edge_of(100, 0.5), many = edge_of(900, 0.5), clear = edge_of(900, 0.1);
  EXPECT_GT(clear.existence.value, many.existence.value + 1);  // ln 5, less what must be learnt
  EXPECT_GT(clear.direction.value, many.direction.value);
  EXPECT_THAT(few.existence.standard_error / many.existence.standard_error, AllOf(Ge(2), Le(5)));  // 3
  EXPECT_EQ(many.existence.stability, 1);
}

TEST(AdditiveNoise, ExistenceIsWhatTheChildsEntropyLoses) {
  const Matrix values = curved_table(200, 8);
  const AdditiveNoiseResult result = find(values);
  const Regression regression(standardised(values), {}, Key{99});  // other landmarks
  for (const GraphEdge& edge : result.edges) {
    const std::vector<int>& with = result.dag.parents(edge.to);
    std::vector<int> without = with;
    std::erase(without, edge.from);
    const auto entropy = [&](const std::vector<int>& parents) {
      const int child = edge.to;
      return surprisals(regression.residuals(std::span(&child, 1), parents).left_out.col(0), NoiseDistribution::any)
          .mean();
    };
    EXPECT_NEAR(edge.existence.value, entropy(without) - entropy(with), 0.02);
  }
}

// ---- Does noise add? ------------------------------------------------------------------------------------------------

TEST(Additivity, HoldsWhereNoiseAddsAndNotWhereItMultiplies) {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix plus = table(400, 2, seed, [](Random&, auto&& x) { x[1] = std::tanh(2 * x[0]) + 0.4 * x[1]; });
    const Matrix times = table(400, 2, seed, [](Random&, auto&& x) { x[1] = (0.3 + std::abs(x[0])) * x[1] + x[0]; });
    accepted += find(plus, {}, exactly(2, {{0, 1}})).additivity.additive;
    const AdditivityTest test = find(times, on(NoiseScale::original), exactly(2, {{0, 1}})).additivity;
    EXPECT_FALSE(test.additive) << seed;
    EXPECT_LT(test.p_value, 1e-4) << seed;
    EXPECT_EQ(test.child, 1);
    EXPECT_EQ(test.parent, 0);
  }
  EXPECT_GE(accepted, 4);
}

TEST(Additivity, SeesAPureProductWithoutAMean) {
  const Matrix values = table(400, 3, 1, [](Random&, auto&& x) {
    x[1] = std::sin(2 * x[0]) + 0.5 * x[1];
    x[2] = x[0] * x[2];
  });
  const AdditivityTest test = find(values, {}, exactly(3, {{0, 1}, {0, 2}})).additivity;
  EXPECT_FALSE(test.additive);
  EXPECT_EQ(test.child, 2);
  EXPECT_EQ(test.parent, 0);
}

TEST(Additivity, HoldsItsLevelWhereRelationsAreLinear) {
  // 2.5 of 50 expected below 0.05; more than 7 have a chance of 0.3 %.
  int below = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const AdditiveNoiseResult result =
        find(linear_chain(120, 4, seed), few_landmarks(), exactly(4, {{0, 1}, {1, 2}, {2, 3}}));
    below += result.additivity.p_value < 0.05;
  }
  EXPECT_LE(below, 7);
}

// ---- On which scale? ------------------------------------------------------------------------------------------------

double cubed(double y) { return y * y * y + 0.2 * y; }

/// 0 → 1 → 2 with a last monotone function over function and noise.
Matrix post_nonlinear_table(Index rows, std::uint64_t seed) {
  return table(rows, 3, seed, [](Random&, auto&& x) {
    x[1] = cubed(x[0] + 0.5 * std::sin(3 * x[0]) + 0.5 * x[1]);
    x[2] = std::exp(std::sin(2 * std::cbrt(x[1])) + 0.4 * x[2]);
  });
}

TEST(NoiseScale, WhereNoiseAddsItIsTheColumnsOwn) {
  const AdditiveNoiseResult result = find(curved_table(400, 3));
  EXPECT_TRUE(result.additivity.additive);
  EXPECT_EQ(result.scale, NoiseScale::original);
  expect_same(result, find(curved_table(400, 3), on(NoiseScale::original)));
}

TEST(NoiseScale, NormalScoresUndoALastMonotoneFunction) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrix values = post_nonlinear_table(600, seed);
    const AdditiveNoiseResult as_it_is = find(values, on(NoiseScale::original), chain_links(3));
    EXPECT_TRUE(as_it_is.additivity.suspicious) << as_it_is.additivity.correlation;
    const AdditiveNoiseResult result = find(values, {}, chain_links(3));
    EXPECT_EQ(result.scale, NoiseScale::normal_scores);
    EXPECT_TRUE(result.additivity.additive) << seed;
    EXPECT_LT(result.additivity.correlation, as_it_is.additivity.correlation);
    EXPECT_GT(result.fits, as_it_is.fits);  // both searches are counted
    expect_decided(result, {{0, 1}, {1, 2}});
  }
}

TEST(NoiseScale, WhereNoiseMultipliesNeitherIsAdditive) {
  const Matrix values = table(400, 2, 1, [](Random&, auto&& x) { x[1] = (0.1 + x[0] * x[0]) * x[1]; });
  for (const NoiseScale scale : {NoiseScale::automatic, NoiseScale::original, NoiseScale::normal_scores}) {
    EXPECT_FALSE(find(values, on(scale), exactly(2, {{0, 1}})).additivity.additive);
  }
}

TEST(NoiseScale, OfAdditiveNoiseTheOwnScaleExplainsMoreEvenIfItLooksSuspicious) {
  // A step that kernels smooth over: with many rows that shows, but on normal scores it is no better.
  const Matrix values = table(3000, 2, 1, [](Random&, auto&& x) { x[1] = std::tanh(20 * x[0]) + 0.3 * x[1]; });
  const AdditiveNoiseResult result = find(values, few_landmarks(), exactly(2, {{0, 1}}));
  EXPECT_TRUE(result.additivity.suspicious);
  EXPECT_EQ(result.scale, NoiseScale::original);
}

TEST(NoiseScale, OnNormalScoresNoMonotoneFunctionMatters) {
  const Matrix values = curved_table(200, 4);
  Matrix bent = values;
  bent.col(0) = values.col(0).array().exp();
  bent.col(2) = values.col(2).array().cube() + values.col(2).array();
  expect_same(find(values, on(NoiseScale::normal_scores)), find(bent, on(NoiseScale::normal_scores)));
}

TEST(NoiseScale, NamesComeBack) {
  for (const NoiseScale scale : {NoiseScale::automatic, NoiseScale::original, NoiseScale::normal_scores}) {
    EXPECT_EQ(parse<NoiseScale>(name(scale)), scale);
  }
  EXPECT_THAT(message_of<UsageError>([] { parse<NoiseScale>("log"); }), HasSubstr("normal-scores"));
}

// ---- Units, rows, threads -------------------------------------------------------------------------------------------

TEST(AdditiveNoiseProperty, UnitsDoNotMatter) {
  const Matrix values = curved_table(60, 9);
  const AdditiveNoiseResult expected = find(values, rough());
  ASSERT_GE(expected.edges.size(), 3u);
  EXPECT_TRUE(rc::check("factors and shifts leave edges and evidence as they were", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Matrix scaled = values;
    for (auto column : scaled.colwise()) {
      const double factor = std::exp(random.uniform(-10, 10));
      column = (factor * (column.array() + random.uniform(-10, 10))).matrix();
    }
    const AdditiveNoiseResult result = find(scaled, rough());
    RC_ASSERT(edges(result) == edges(expected));
    RC_ASSERT(reasons(result) == reasons(expected));
    RC_ASSERT((result.weights - expected.weights).cwiseAbs().maxCoeff() < 1e-3);
  }));
}

TEST(AdditiveNoise, SameBitsForAnyNumberOfThreads) {
  const Matrix values = curved_table(80, 10);
  const auto with_threads = [&](int threads) {
    const ThreadLimit limit(threads);
    return find(values);
  };
  const AdditiveNoiseResult one = with_threads(1);
  EXPECT_GE(one.edges.size(), 3u);
  for (const int threads : {2, 3}) expect_same(with_threads(threads), one);
}

TEST(AdditiveNoise, TakesNoMoreRowsThanItMay) {
  const Matrix values = curved_table(300, 11);
  AdditiveNoiseParams params = rough();
  EXPECT_EQ(find(values, params).rows, 300);
  params.max_rows = 0;
  EXPECT_EQ(find(values, params).rows, 300);
  params.max_rows = 100;
  const AdditiveNoiseResult drawn = find(values, params);
  EXPECT_EQ(drawn.rows, 100);
  params.seed = 1;  // other rows
  EXPECT_NE(find(values, params).score, drawn.score);
  params.seed = 0;
  EXPECT_EQ(find(values, params).score, drawn.score);
}

// ---- Interruption and mistakes --------------------------------------------------------------------------------------

/// Stops the work once a stage begins.
class StopsAt final : public Progress {
 public:
  explicit StopsAt(std::string_view stage) : stage_(stage) {}
  void begin(std::string_view stage, long) override { stopped_ = stopped_ || stage == stage_; }
  void advance(long) override {}
  bool interrupted() const override { return stopped_; }

 private:
  std::string_view stage_;
  bool stopped_ = false;
};

TEST(AdditiveNoise, StopsWhenAsked) {
  const Matrix values = curved_table(60, 12);
  Impatient at_once;
  EXPECT_THROW(find_additive_noise_graph(values, anything(4), rough(), at_once), Interrupted);
  for (const char* stage : {"searching graphs", "weighing directions"}) {
    StopsAt later(stage);
    EXPECT_THROW(find_additive_noise_graph(values, anything(4), rough(), later), Interrupted) << stage;
  }
}

TEST(AdditiveNoise, MistakesAreNamed) {
  const auto message = [](auto change) {
    AdditiveNoiseParams params;
    change(params);
    const std::string found = message_of<UsageError>([&] { find(Matrix::Zero(3, 2), params); });
    EXPECT_EQ(found, message_of<UsageError>([&] { validate(params); }));
    return found;
  };
  using Params = AdditiveNoiseParams;
  EXPECT_EQ(message([](Params& p) { p.penalty = -0.5; }), "[penalty] -0.5 is out of range; use a number, 0 or more");
  EXPECT_EQ(message([](Params& p) { p.penalty = std::nan(""); }),
            "[penalty] nan is out of range; use a number, 0 or more");
  EXPECT_EQ(message([](Params& p) { p.max_parents = 0; }),
            "[max_parents] 0 is out of range; use a whole number, 1 or more");
  EXPECT_EQ(message([](Params& p) { p.confidence = -1; }), "[confidence] -1 is out of range; use a number, 0 or more");
  EXPECT_EQ(message([](Params& p) { p.max_rows = -7; }),
            "[max_rows] -7 is out of range; use a whole number, 0 or more");
  EXPECT_NO_THROW(validate(AdditiveNoiseParams{}));
  EXPECT_THAT(message_of<UsageError>([] { find(Matrix::Zero(3, 2), {}, anything(3)); }),
              HasSubstr("3×3 allowed edges for 2 variables"));
}

TEST(AdditiveNoise, RequiredCyclesAreRefused) {
  GraphConstraints constraints = anything(3);
  constraints.required = {{0, 1}, {1, 2}, {2, 0}};
  EXPECT_THROW(find(noise_table(30, 3, 1), rough(), constraints), Error);
}

TEST(AdditiveNoise, NamesAreReadBack) {
  for (const NoiseDistribution distribution : {NoiseDistribution::any, NoiseDistribution::gaussian})
    EXPECT_EQ(parse<NoiseDistribution>(name(distribution)), distribution);
  EXPECT_THAT(message_of<UsageError>([] { parse<NoiseDistribution>("cauchy"); }),
              AllOf(HasSubstr("'cauchy'"), HasSubstr("any or gaussian")));
  EXPECT_EQ(name(DirectionBy::score), "score");
  EXPECT_EQ(name(DirectionBy::collider), "collider");
  EXPECT_EQ(name(DirectionBy::consequence), "consequence");
  EXPECT_EQ(name(DirectionBy::knowledge), "knowledge");
  EXPECT_EQ(name(DirectionBy::nothing), "undecided");
}

TEST(AdditiveNoise, OfAHandfulOfRowsIsFinite) {
  for (const Index rows : {2, 3, 5}) {
    const AdditiveNoiseResult result = find(noise_table(rows, 3, 1));
    EXPECT_EQ(result.rows, rows);
    EXPECT_TRUE(std::isfinite(result.score)) << rows;
    EXPECT_TRUE(result.weights.allFinite()) << rows;
  }
}

}  // namespace
}  // namespace fansite::causal
