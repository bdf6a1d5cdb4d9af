// SPDX-License-Identifier: Apache-2.0
//
// Known partial graphs, and every small graph against all those with the same links and colliders.
#include "fansite/causal/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Edges = std::vector<std::pair<int, int>>;

ByteMatrix matrix_of(int nodes, const Edges& edges) {
  ByteMatrix result = ByteMatrix::Zero(nodes, nodes);
  for (const auto& [i, j] : edges) result(i, j) = 1;
  return result;
}

/// "0>1" is directed, "0-1" is not; by the smaller node, then the larger.
std::vector<std::string> written(const PartialDag& graph) {
  std::vector<std::string> result;
  for (int i = 0; i < graph.directed.rows(); ++i) {
    for (int j = i + 1; j < graph.directed.rows(); ++j) {
      const auto edge = [&](int from, char sign, int to) {
        result.push_back(std::to_string(from) + sign + std::to_string(to));
      };
      if (graph.directed(i, j)) edge(i, '>', j);
      if (graph.directed(j, i)) edge(j, '>', i);
      if (graph.undirected(i, j)) edge(i, '-', j);
      EXPECT_EQ(graph.undirected(i, j), graph.undirected(j, i));
    }
  }
  return result;
}

std::vector<std::string> oriented_edges(int nodes, const Edges& edges, const Edges& decided = {}) {
  return written(oriented(Dag(nodes, edges), matrix_of(nodes, decided)));
}

// ---- Known graphs ---------------------------------------------------------------------------------------------------

TEST(Orientation, OfChainsAndForksIsUnknown) {
  EXPECT_THAT(oriented_edges(3, {{0, 1}, {1, 2}}), ElementsAre("0-1", "1-2"));
  EXPECT_THAT(oriented_edges(3, {{1, 0}, {1, 2}}), ElementsAre("0-1", "1-2"));
  EXPECT_THAT(oriented_edges(2, {{1, 0}}), ElementsAre("0-1"));
  EXPECT_THAT(oriented_edges(4, {}), IsEmpty());
}

TEST(Orientation, OfCollidersIsKnown) {
  EXPECT_THAT(oriented_edges(3, {{0, 2}, {1, 2}}), ElementsAre("0>2", "1>2"));
  // Not if the parents are linked.
  EXPECT_THAT(oriented_edges(3, {{0, 2}, {1, 2}, {0, 1}}), ElementsAre("0-1", "0-2", "1-2"));
  // One unlinked pair of three parents is enough for two of them; the third follows by rule 3.
  EXPECT_THAT(oriented_edges(4, {{0, 3}, {1, 3}, {2, 3}, {2, 0}, {2, 1}}),
              ElementsAre("0-2", "0>3", "1-2", "1>3", "2>3"));
}

TEST(Orientation, OfADiamondIsKnownBelow) {
  EXPECT_THAT(oriented_edges(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), ElementsAre("0-1", "0-2", "1>3", "2>3"));
}

TEST(Orientation, DecidedEdgesKeepTheirDirection) {
  EXPECT_THAT(oriented_edges(2, {{1, 0}}, {{1, 0}}), ElementsAre("1>0"));
  // The other direction and edges that are not there are passed over.
  EXPECT_THAT(oriented_edges(3, {{0, 1}}, {{1, 0}, {1, 2}}), ElementsAre("0-1"));
  // What was decided downstream says nothing of what is upstream.
  EXPECT_THAT(oriented_edges(3, {{0, 1}, {1, 2}}, {{1, 2}}), ElementsAre("0-1", "1>2"));
}

TEST(Orientation, AnythingButZeroIsDecided) {
  ByteMatrix decided = ByteMatrix::Zero(2, 2);
  decided(0, 1) = 7;
  const PartialDag result = oriented(Dag(2, {{0, 1}}), decided);
  EXPECT_EQ(result.directed, matrix_of(2, {{0, 1}}));
  EXPECT_EQ(result.undirected, matrix_of(2, {}));
}

// ---- Meek's rules ---------------------------------------------------------------------------------------------------

TEST(MeekRules, OneNoNewCollider) {
  EXPECT_THAT(oriented_edges(3, {{0, 1}, {1, 2}}, {{0, 1}}), ElementsAre("0>1", "1>2"));
  // Down a tree.
  EXPECT_THAT(oriented_edges(6, {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {0, 5}}, {{0, 1}}),
              UnorderedElementsAre("0>1", "1>2", "2>3", "2>4", "0-5"));
}

TEST(MeekRules, TwoNoCycle) {
  EXPECT_THAT(oriented_edges(3, {{0, 1}, {1, 2}, {0, 2}}, {{0, 1}, {1, 2}}), ElementsAre("0>1", "0>2", "1>2"));
  EXPECT_THAT(oriented_edges(3, {{0, 1}, {1, 2}, {0, 2}}, {{0, 1}}), ElementsAre("0>1", "0-2", "1-2"));
}

TEST(MeekRules, ThreeNeitherCycleNorCollider) {
  // Were it 2 → 3, then 0 → 3 and 1 → 3 to avoid cycles: a collider that is not there.
  EXPECT_THAT(oriented_edges(4, {{0, 2}, {1, 2}, {3, 0}, {3, 1}, {3, 2}}),
              ElementsAre("0>2", "0-3", "1>2", "1-3", "3>2"));
}

TEST(MeekRules, FourAChainOfTwoBesideIt) {
  // 0 → 1 → 2 and 3 linked to all. Were it 2 → 3, then 3 → 0 to avoid a collider: the cycle 0 1 2 3.
  EXPECT_THAT(oriented_edges(4, {{3, 0}, {0, 1}, {1, 2}, {3, 1}, {3, 2}}, {{0, 1}}),
              ElementsAre("0>1", "0-3", "1>2", "1-3", "3>2"));
}

// ---- Against all graphs ---------------------------------------------------------------------------------------------

bool collider(const ByteMatrix& a, int i, int k, int j) { return a(i, k) && a(j, k) && !a(i, j) && !a(j, i); }

bool same_colliders(const ByteMatrix& a, const ByteMatrix& b) {
  const auto n = static_cast<int>(a.rows());
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        if (collider(a, i, k, j) != collider(b, i, k, j)) return false;
      }
    }
  }
  return true;
}

/// An edge is directed if all graphs agree on it that have the same links, the same colliders and the decided edges.
PartialDag by_all_graphs(const Dag& dag, const ByteMatrix& decided) {
  Edges edges;
  for (int i = 0; i < dag.nodes(); ++i) {
    for (const int j : dag.children(i)) edges.emplace_back(i, j);
  }
  ByteMatrix seen = ByteMatrix::Zero(dag.nodes(), dag.nodes());
  for (unsigned turned = 0; turned < 1u << edges.size(); ++turned) {
    ByteMatrix other = ByteMatrix::Zero(dag.nodes(), dag.nodes());
    bool agrees = true;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [i, j] = edges[e];
      const bool turn = (turned >> e & 1u) != 0;
      agrees = agrees && !(turn && decided(i, j));
      (turn ? other(j, i) : other(i, j)) = 1;
    }
    if (agrees && same_colliders(other, dag.adjacency()) && find_cycle(other).empty()) seen = seen.cwiseMax(other);
  }
  PartialDag result{seen, ByteMatrix::Zero(dag.nodes(), dag.nodes())};
  for (const auto& [i, j] : edges) {
    if (!seen(i, j) || !seen(j, i)) continue;
    result.directed(i, j) = result.directed(j, i) = 0;
    result.undirected(i, j) = result.undirected(j, i) = 1;
  }
  return result;
}

bool equal(const PartialDag& a, const PartialDag& b) {
  return a.directed == b.directed && a.undirected == b.undirected;
}

TEST(Orientation, OfEveryGraphOfFourNodesAndEveryDecisionIsWhatAllGraphsShare) {
  Edges pairs;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) pairs.emplace_back(i, j);
  }
  int cases = 0;
  // Every graph is one of those whose edges go to larger nodes, under other names; names only order the work.
  for (const std::vector<int>& names : {std::vector{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}) {
    for (unsigned chosen = 0; chosen < 1u << 6; ++chosen) {
      Edges edges;
      for (std::size_t e = 0; e < 6; ++e) {
        const auto [i, j] = pairs[e];
        if (chosen >> e & 1u)
          edges.emplace_back(names[static_cast<std::size_t>(i)], names[static_cast<std::size_t>(j)]);
      }
      const Dag dag(4, edges);
      for (unsigned some = 0; some < 1u << edges.size(); ++some) {
        Edges decided;
        for (std::size_t e = 0; e < edges.size(); ++e) {
          if (some >> e & 1u) decided.push_back(edges[e]);
        }
        const ByteMatrix given = matrix_of(4, decided);
        const PartialDag found = oriented(dag, given), expected = by_all_graphs(dag, given);
        ASSERT_TRUE(equal(found, expected))
            << testing::PrintToString(edges) << " with " << testing::PrintToString(decided) << ": "
            << testing::PrintToString(written(found)) << ", not " << testing::PrintToString(written(expected));
        ++cases;
      }
    }
  }
  EXPECT_EQ(cases, 3 * 729);  // Σ_k C(6, k) 2^k = 3⁶
}

Dag random_dag(Random& random, int nodes, double density) {
  const std::vector<int> order = random.permutation(nodes);
  Edges edges;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (random.uniform() < density) edges.emplace_back(order[i], order[j]);
    }
  }
  return Dag(nodes, edges);
}

ByteMatrix random_decisions(Random& random, const Dag& dag) {
  const double share = random.uniform(0, 0.6);
  ByteMatrix decided = dag.adjacency();
  for (unsigned char& cell : decided.reshaped()) cell = cell && random.uniform() < share;
  return decided;
}

// Complete with background knowledge: Meek, UAI 1995, theorem 4.
TEST(OrientationProperty, IsWhatAllGraphsShare) {
  EXPECT_TRUE(rc::check("an edge is directed if and only if no graph has it the other way", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Dag dag = random_dag(random, 2 + static_cast<int>(random.below(4)), random.uniform(0.3, 1));
      const ByteMatrix decided = random_decisions(random, dag);
      const PartialDag found = oriented(dag, decided), expected = by_all_graphs(dag, decided);
      RC_LOG() << testing::PrintToString(written(found)) << ", not " << testing::PrintToString(written(expected));
      RC_ASSERT(equal(found, expected));
    }
  }));
}

TEST(OrientationProperty, WithAllDecidedIsTheGraph) {
  EXPECT_TRUE(rc::check("nothing stays undirected", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Dag dag = random_dag(random, 1 + static_cast<int>(random.below(12)), random.uniform(0, 1));
    const PartialDag result = oriented(dag, ByteMatrix::Ones(dag.nodes(), dag.nodes()));
    RC_ASSERT(result.directed == dag.adjacency());
    RC_ASSERT(result.undirected.cast<int>().sum() == 0);
  }));
}

TEST(OrientationProperty, OfLargeGraphsKeepsLinksAndGrowsWithDecisions) {
  EXPECT_TRUE(rc::check("each link once, directed as in the graph; deciding more directs no less", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Dag dag = random_dag(random, 30, random.uniform(0.02, 0.3));
    const ByteMatrix more = random_decisions(random, dag);
    ByteMatrix fewer = more;
    for (unsigned char& cell : fewer.reshaped()) cell = cell && random.coin();
    const PartialDag a = oriented(dag, fewer), b = oriented(dag, more);
    RC_ASSERT((dag.adjacency().array() >= b.directed.array()).all());
    RC_ASSERT((b.directed.array() >= a.directed.array()).all());
    RC_ASSERT((b.directed.array() >= more.array()).all());
    const ByteMatrix links = dag.adjacency() + ByteMatrix(dag.adjacency().transpose());
    RC_ASSERT(ByteMatrix(b.directed + ByteMatrix(b.directed.transpose()) + b.undirected) == links);
    // Its own directed edges lead to nothing new.
    RC_ASSERT(equal(oriented(dag, b.directed), b));
  }));
}

// ---- Extensions -----------------------------------------------------------------------------------------------------

TEST(Extension, OfAClassIsOneOfItsGraphs) {
  EXPECT_TRUE(rc::check("the same links, the same class, every decided edge", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Dag dag = random_dag(random, 1 + static_cast<int>(random.below(12)), random.uniform(0, 1));
    const ByteMatrix none = ByteMatrix::Zero(dag.nodes(), dag.nodes());
    const PartialDag graph = oriented(dag, random_decisions(random, dag));
    const std::optional<Dag> found = consistent_extension(graph);
    RC_ASSERT(found.has_value());
    RC_ASSERT((found->adjacency().array() >= graph.directed.array()).all());
    RC_ASSERT(equal(oriented(*found, none), oriented(dag, none)));
  }));
}

TEST(Extension, ThereIsNoneOfASquareWithoutDirections) {
  // However a square is directed, it has a cycle or a collider.
  const ByteMatrix links = matrix_of(4, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 0}, {0, 3}});
  EXPECT_FALSE(consistent_extension({ByteMatrix::Zero(4, 4), links}).has_value());
  EXPECT_FALSE(consistent_extension({matrix_of(3, {{0, 1}, {1, 2}, {2, 0}}), ByteMatrix::Zero(3, 3)}).has_value());
}

TEST(MeekRules, CloseAGraphAsTheyDoThatOfADag) {
  EXPECT_TRUE(rc::check("from a class and decisions to what they make certain", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Dag dag = random_dag(random, 1 + static_cast<int>(random.below(10)), random.uniform(0, 1));
    PartialDag graph = oriented(dag, ByteMatrix::Zero(dag.nodes(), dag.nodes()));
    const ByteMatrix decided = random_decisions(random, dag);
    for (int i = 0; i < dag.nodes(); ++i) {
      for (int j = 0; j < dag.nodes(); ++j) {
        if (!decided(i, j)) continue;
        graph.directed(i, j) = 1;
        graph.undirected(i, j) = graph.undirected(j, i) = 0;
      }
    }
    RC_ASSERT(equal(closed_under_meek_rules(graph), oriented(dag, decided)));
  }));
}

}  // namespace
}  // namespace fansite::causal
