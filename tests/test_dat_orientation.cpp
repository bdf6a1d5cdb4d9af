// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dat_orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "fansite/graph/dag.h"
#include "properties.h"

namespace fansite::causal {
namespace {

using Edges = std::vector<std::pair<int, int>>;

ByteMatrix adjacency(int nodes, const Edges& edges, bool both_ways) {
  ByteMatrix matrix = ByteMatrix::Zero(nodes, nodes);
  for (const auto& [from, to] : edges) {
    matrix(from, to) = 1;
    if (both_ways) matrix(to, from) = 1;
  }
  return matrix;
}

PartialDag graph(int nodes, const Edges& directed, const Edges& undirected) {
  return {adjacency(nodes, directed, false), adjacency(nodes, undirected, true)};
}

Edges directed_edges(const ByteMatrix& directed) {
  Edges edges;
  for (int i = 0; i < directed.rows(); ++i) {
    for (int j = 0; j < directed.cols(); ++j) {
      if (directed(i, j)) edges.emplace_back(i, j);
    }
  }
  return edges;
}

TEST(DatOrientation, ScoresAreSumsOfSquaresOfBothOrders) {
  const Matrix scores = skeleton_scores({{0, 1, 0.3, {}, {}}, {1, 0, -0.4, {}, {}}, {0, 2, 1, {}, {}}}, 3);
  EXPECT_NEAR(scores(0, 1), 0.25, 1e-15);
  EXPECT_NEAR(scores(1, 0), 0.25, 1e-15);
  EXPECT_TRUE(std::isnan(scores(0, 2)));  // tested in one order alone
  EXPECT_TRUE(std::isnan(scores(1, 2)));
}

// 0 and 2 are apart, 1 between them; 3 is in one boundary alone.
std::vector<TestedPair> apart(double psi_there, double psi_back) {
  return {{0, 2, 0, {1, 3}, {psi_there, 0}}, {2, 0, 0, {1}, {psi_back}}};
}

TEST(DatOrientation, ACommonNeighbourThatIsKeptOutIsACollider) {
  for (const auto& [there, back, is_one] : {std::tuple{0.3, 0.3, true}, {0.3, 0.34, false}, {0.5, 0.5, false}}) {
    PartialDag found = graph(4, {}, {{0, 1}, {1, 2}, {0, 3}, {2, 3}});
    EXPECT_EQ(direct_colliders(apart(there, back), 0.2, found), is_one ? 1 : 0);
    EXPECT_EQ(directed_edges(found.directed), is_one ? (Edges{{0, 1}, {2, 1}}) : Edges{}) << there << " " << back;
    EXPECT_EQ(found.undirected(0, 1), is_one ? 0 : 1);
    EXPECT_EQ(found.undirected(0, 3), 1);
  }
}

// As published the two lists of ψ are added place by place, whatever stands there; here by who it is.
TEST(DatOrientation, PsiAreAlignedByWhoseTheyAre) {
  const std::vector<TestedPair> tested = {{0, 1, 0, {2, 3}, {0.1, 0.9}}, {1, 0, 0, {3, 2}, {0.9, 0.1}}};
  PartialDag found = graph(4, {}, {{0, 2}, {1, 2}, {0, 3}, {1, 3}});
  EXPECT_EQ(direct_colliders(tested, 0.2, found), 1);
  EXPECT_EQ(directed_edges(found.directed), (Edges{{0, 2}, {1, 2}}));
}

TEST(DatOrientation, NoColliderWhereTheTwoAreLinkedOrWereNotTestedBothWays) {
  PartialDag linked = graph(3, {}, {{0, 1}, {1, 2}, {0, 2}});
  EXPECT_EQ(direct_colliders(apart(0, 0), 0.2, linked), 0);
  PartialDag half = graph(4, {}, {{0, 1}, {1, 2}});
  EXPECT_EQ(direct_colliders({apart(0, 0).front()}, 0.2, half), 0);
}

TEST(DatOrientation, ALaterColliderTurnsAnEdgeRound) {
  // 0 → 1 ← 2 by the pair (0, 2), then 1 → 2 ← 3 by the pair (1, 3).
  const std::vector<TestedPair> tested = {
      {0, 2, 0, {1}, {0}}, {2, 0, 0, {1}, {0}}, {1, 3, 0, {2}, {0}}, {3, 1, 0, {2}, {0}}};
  PartialDag found = graph(4, {}, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(direct_colliders(tested, 0.2, found), 2);
  EXPECT_EQ(directed_edges(found.directed), (Edges{{0, 1}, {1, 2}, {3, 2}}));
}

TEST(DatOrientation, RuleA) {
  PartialDag chain = graph(4, {{0, 1}}, {{1, 2}, {2, 3}});
  apply_dat_rules(chain);
  EXPECT_EQ(directed_edges(chain.directed), (Edges{{0, 1}, {1, 2}, {2, 3}}));
  PartialDag shielded = graph(3, {{0, 1}}, {{1, 2}, {0, 2}});
  apply_dat_rules(shielded);
  EXPECT_EQ(directed_edges(shielded.directed), (Edges{{0, 1}}));
}

TEST(DatOrientation, RuleB) {
  PartialDag path = graph(4, {{0, 1}, {1, 2}, {2, 3}}, {{0, 2}, {0, 3}, {1, 3}});
  apply_dat_rules(path);
  EXPECT_TRUE(path.undirected.isZero());
  EXPECT_EQ(directed_edges(path.directed), (Edges{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
}

TEST(DatOrientation, ACoinDirectsTheRestWithoutCycles) {
  const PartialDag open = graph(6, {},
                                {{0, 1},
                                 {0, 2},
                                 {0, 3},
                                 {0, 4},
                                 {0, 5},
                                 {1, 2},
                                 {1, 3},
                                 {1, 4},
                                 {1, 5},
                                 {2, 3},
                                 {2, 4},
                                 {2, 5},
                                 {3, 4},
                                 {3, 5},
                                 {4, 5}});
  std::set<Edges> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PartialDag directed = open, again = open;
    const int count = direct_at_random(directed, Key{seed});
    EXPECT_GE(count, 5);  // a spanning tree is
    EXPECT_LT(count, 15);
    EXPECT_TRUE(directed.undirected.isZero());
    EXPECT_EQ(directed_edges(directed.directed).size(), 15u);
    EXPECT_TRUE(find_cycle(directed.directed).empty());
    direct_at_random(again, Key{seed});
    EXPECT_EQ(directed.directed, again.directed);
    seen.insert(directed_edges(directed.directed));
  }
  EXPECT_GT(seen.size(), 10u);
}

// Two triangles 0 → 1 → 2 → 0 and 2 → 3 → 4 → 2: most walks return at 2. Of its edges 1 → 2, 2 → 0, 2 → 3 and 4 → 2 all
// break one triangle alike, and the first by child and parent goes; then the other triangle.
TEST(DatOrientation, CyclesAreBrokenAtTheNodeWhereMostMeet) {
  ByteMatrix directed = adjacency(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}}, false);
  EXPECT_EQ(break_cycles(directed), 2);
  EXPECT_TRUE(find_cycle(directed).empty());
  EXPECT_EQ(directed_edges(directed).size(), 4u);
  EXPECT_EQ(directed(0, 1), 1);  // not at the meeting point
}

// 0 → 1 is in both cycles 0 → 1 → 2 → 0 and 0 → 1 → 3 → 0; taking it away breaks both.
TEST(DatOrientation, TheEdgeInMostCyclesGoes) {
  ByteMatrix directed = adjacency(5, {{0, 1}, {1, 2}, {2, 0}, {1, 3}, {3, 0}, {4, 0}}, false);
  EXPECT_EQ(break_cycles(directed), 1);
  EXPECT_EQ(directed_edges(directed), (Edges{{1, 2}, {1, 3}, {2, 0}, {3, 0}, {4, 0}}));
}

TEST(DatOrientation, WalksBeyondAnyNumberAreCompared) {
  const int nodes = 150;  // one cycle through all of them
  ByteMatrix directed = ByteMatrix::Zero(nodes, nodes);
  for (int i = 0; i < nodes; ++i) directed(i, (i + 1) % nodes) = 1;
  EXPECT_EQ(break_cycles(directed), 1);
  EXPECT_TRUE(find_cycle(directed).empty());
}

TEST(DatOrientation, AChainWithoutACollider) {
  // 0 − 1 − 2 with ψ of 1 near 1: no collider, so some direction without one.
  const DatGraph found = direct_skeleton(adjacency(3, {{0, 1}, {1, 2}}, true),
                                         {{0, 2, 0, {1}, {0.8}}, {2, 0, 0, {1}, {0.8}}}, 0.2, Key{1});
  EXPECT_EQ(found.colliders, 0);
  EXPECT_EQ(found.by_chance, 1);
  EXPECT_EQ(found.removed, 0);
  EXPECT_FALSE(found.directed(0, 1) && found.directed(2, 1));
  EXPECT_EQ(directed_edges(found.directed).size(), 2u);
}

TEST(DatOrientation, WhateverPsiSayTheGraphHasNoCycleAndOnlyLinksOfTheSkeleton) {
  EXPECT_TRUE(rc::check([] {
    const int nodes = *rc::gen::inRange(2, 8);
    ByteMatrix skeleton = ByteMatrix::Zero(nodes, nodes);
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < i; ++j) skeleton(i, j) = skeleton(j, i) = *rc::gen::inRange<unsigned char>(0, 2);
    }
    std::vector<TestedPair> tested;
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        if (i == j) continue;
        TestedPair pair{i, j, 0, {}, {}};
        for (int k = 0; k < nodes; ++k) {
          if (k == i || k == j) continue;
          pair.members.push_back(k);
          pair.psi.push_back(random.uniform());
        }
        tested.push_back(pair);
      }
    }
    const DatGraph found = direct_skeleton(skeleton, tested, 0.5, Key{3});
    RC_ASSERT(find_cycle(found.directed).empty());
    int edges = 0;
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        if (!found.directed(i, j)) continue;
        ++edges;
        RC_ASSERT(skeleton(i, j) != 0);
      }
    }
    RC_ASSERT(2 * (edges + found.removed) == skeleton.cast<int>().sum());
  }));
}

}  // namespace
}  // namespace fansite::causal
