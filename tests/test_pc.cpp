// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/pc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classical_graphs.h"
#include "fansite/base/parallel.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Edges = std::vector<std::pair<int, int>>;

PcResult by_oracle(const Dag& dag, const PcParams& params = {}, const Knowledge& knowledge = {}) {
  NoProgress progress;
  return pc(SeparationOracle(dag), all_links(dag.nodes()), knowledge, params, progress);
}

std::vector<std::string> edges_by_oracle(int nodes, const Edges& edges) {
  return written(by_oracle(Dag(nodes, edges)).graph);
}

// ---- With a test that makes no mistake ------------------------------------------------------------------------------

TEST(Pc, KnownGraphs) {
  EXPECT_THAT(edges_by_oracle(3, {{0, 1}, {1, 2}}), ElementsAre("0-1", "1-2"));  // a chain
  EXPECT_THAT(edges_by_oracle(3, {{0, 2}, {1, 2}}), ElementsAre("0>2", "1>2"));  // a collider
  EXPECT_THAT(edges_by_oracle(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), ElementsAre("0-1", "0-2", "1>3", "2>3"));
  // An M: 2 is a collider of 0 and 1, which 3 and 4 have as another cause each.
  EXPECT_THAT(edges_by_oracle(5, {{0, 2}, {1, 2}, {0, 3}, {1, 4}}), ElementsAre("0>2", "0-3", "1>2", "1-4"));
  EXPECT_THAT(edges_by_oracle(4, {}), IsEmpty());
}

TEST(Pc, IsExactWithAnOracle) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Dag dag = some_dag(seed);
    const PcResult found = by_oracle(dag);
    const PartialDag expected = class_of(dag);
    ASSERT_EQ(written(found.graph), written(expected)) << "seed " << seed;
    ASSERT_FALSE(found.limited);
    ASSERT_EQ(found.conflicts + found.undone, 0);
  }
}

TEST(Pc, SaysWhenItsTestsWereLimited) {
  // 0 and 1 are separated by both 2 and 3 only.
  const Dag dag(4, {{0, 2}, {0, 3}, {2, 1}, {3, 1}});
  EXPECT_FALSE(by_oracle(dag, {.max_given = 2}).limited);
  const PcResult few = by_oracle(dag, {.max_given = 1});
  EXPECT_TRUE(few.limited);
  EXPECT_EQ(few.largest_given, 1);
  EXPECT_THAT(written(few.graph), testing::Contains("0>1"));
  EXPECT_FALSE(by_oracle(Dag(3, {}), {.max_given = 0}).limited);
}

/// Answers as told, independent of what is given; else dependent.
class Told final : public IndependenceTest {
 public:
  Told(int variables, std::map<std::pair<int, int>, double> p_values)
      : variables_(variables), p_values_(std::move(p_values)) {}
  int variables() const override { return variables_; }
  IndependenceVerdict test(int a, int b, std::span<const int>) const override {
    const auto found = p_values_.find(std::minmax(a, b));
    return found == p_values_.end() ? IndependenceVerdict{0, 0.9} : IndependenceVerdict{found->second, 0.01};
  }

 private:
  int variables_;
  std::map<std::pair<int, int>, double> p_values_;
};

// 0 – 1 – 2 – 3 with 0 ⊥ 2 and 1 ⊥ 3: 0 → 1 ← 2 and 1 → 2 ← 3 cannot both be.
TEST(Pc, OfCollidersThatContradictEachOtherTheMoreProbableCounts) {
  NoProgress progress;
  const auto found = [&](double first, double second) {
    const Told test(4, {{{0, 2}, first}, {{1, 3}, second}, {{0, 3}, 0.5}});
    return pc(test, all_links(4), {}, {}, progress);
  };
  EXPECT_THAT(written(found(0.9, 0.4).graph), ElementsAre("0>1", "2>1", "2-3"));
  EXPECT_THAT(written(found(0.4, 0.9).graph), ElementsAre("0-1", "1>2", "3>2"));
  EXPECT_EQ(found(0.4, 0.9).conflicts, 1);
}

// ---- Knowledge ------------------------------------------------------------------------------------------------------

Knowledge told(const std::string& lines, int nodes) {
  std::vector<std::string> names;
  for (int k = 0; k < nodes; ++k) names.push_back(fmt::format("x{}", k));
  return Knowledge::parse(lines, "k.txt", names);
}

TEST(Pc, DirectsWhatTheKnowledgeDecides) {
  const Dag chain(3, {{0, 1}, {1, 2}});
  EXPECT_THAT(written(by_oracle(chain, {}, told("require x0 -> x1\n", 3)).graph), ElementsAre("0>1", "1>2"));
  EXPECT_THAT(written(by_oracle(chain, {}, told("forbid x0 -> x1\n", 3)).graph), ElementsAre("1>0", "1-2"));
  EXPECT_THAT(written(by_oracle(chain, {}, told("forbid x0 -> x1\nforbid x1 -> x0\n", 3)).graph), ElementsAre("1-2"));
  EXPECT_THAT(written(by_oracle(chain, {}, told("require x0 -> x2\n", 3)).graph), testing::Contains("0>2"));
}

TEST(Pc, KnowledgeWinsOverColliders) {
  const Dag collider(3, {{0, 2}, {1, 2}});
  const PcResult found = by_oracle(collider, {}, told("require x2 -> x0\n", 3));
  EXPECT_THAT(written(found.graph), ElementsAre("2>0", "1-2"));
  EXPECT_EQ(found.conflicts, 1);
}

TEST(Pc, WhatIsForbiddenRoundACycleLosesItsWeakestLink) {
  const Told test(3, {});
  NoProgress progress;
  const PcResult found =
      pc(test, all_links(3), told("forbid x1 -> x0\nforbid x2 -> x1\nforbid x0 -> x2\n", 3), {}, progress);
  EXPECT_EQ(found.broken, 1);
  EXPECT_EQ(found.graph.directed.cast<int>().sum(), 2);
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

TEST(Pc, FindsALinearGraph) {
  const Simulation made = simulate_linear(20, 1.5, 5000, 3);
  const CausalGraphResult found = found_by("pc", made.data);
  const ByteMatrix links = made.dag.adjacency() + ByteMatrix(made.dag.adjacency().transpose());
  const ByteMatrix own = found.graph.directed + ByteMatrix(found.graph.directed.transpose()) + found.graph.undirected;
  EXPECT_LE((links.cast<int>() - own.cast<int>()).cwiseAbs().sum() / 2, 5);
  EXPECT_EQ((found.weights.array() > 0).cast<int>().sum(),
            found.graph.directed.cast<int>().sum() + found.graph.undirected.cast<int>().sum());
}

TEST(Pc, DoesNotDependOnTheOrderOfColumns) {
  const Simulation made = simulate_linear(25, 2, 400, 5);  // few rows: tests contradict each other
  const CausalGraphResult found = found_by("pc", made.data);
  EXPECT_GT(std::get<std::int64_t>(found.details.at(3).second), 0) << "no colliders contradict each other";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<int> order = Random(Key{seed}).permutation(25);
    const CausalGraphResult other = found_by("pc", with_columns(made.data, order));
    EXPECT_EQ(ByteMatrix(found.graph.directed(order, order)), other.graph.directed);
    EXPECT_EQ(ByteMatrix(found.graph.undirected(order, order)), other.graph.undirected);
  }
}

TEST(Pc, HasTheSameBitsForAnyNumberOfThreads) {
  const Simulation made = simulate_linear(30, 2, 500, 6);
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return found_by("pc", made.data);
  };
  const CausalGraphResult one = with(1), two = with(2);
  EXPECT_EQ(one.graph.directed, two.graph.directed);
  EXPECT_EQ(one.graph.undirected, two.graph.undirected);
  EXPECT_EQ(one.weights, two.weights);
}

TEST(Pc, DirectsEveryEdgeIfAsked) {
  const CausalGraphResult found = found_by("pc", simulate_linear(25, 2, 400, 5).data, {{"dag", true}});
  EXPECT_EQ(found.graph.undirected.cast<int>().sum(), 0);
  EXPECT_TRUE(find_cycle(found.graph.directed).empty());
}

TEST(Pc, ConstantsAndCopiesTakeNoPartAndMoreColumnsThanRowsAreFine) {
  Dataset data = simulate_linear(6, 1.5, 300, 7).data;
  data.values.conservativeResize(Eigen::NoChange, 8);
  data.values.col(6).setConstant(3);
  data.values.col(7) = data.values.col(0);
  data.names.insert(data.names.end(), {"constant", "copy"});
  const CausalGraphResult found = found_by("pc", data);
  EXPECT_EQ(found.graph.directed.rightCols(2).cast<int>().sum() + found.graph.undirected.rightCols(2).cast<int>().sum(),
            0);
  EXPECT_GT(found.graph.directed.cast<int>().sum() + found.graph.undirected.cast<int>().sum(), 0);
  EXPECT_NO_THROW(found_by("pc", simulate_linear(40, 1, 20, 8).data));
}

TEST(Pc, StatementsAboutBoundariesAreRefused) {
  const Dataset data = simulate_linear(4, 1, 100, 1).data;
  const Knowledge knowledge(data.names, {{Statement::Kind::in_boundary, 0, 1}});
  EXPECT_THAT(message_of<UsageError>([&] { found_by("pc", data, {}, knowledge); }), HasSubstr("pc cannot be held to"));
}

TEST(Pc, CanBeInterrupted) {
  Impatient impatient;
  EXPECT_THROW(pc(SeparationOracle(some_dag(1)), all_links(some_dag(1).nodes()), {}, {}, impatient), Interrupted);
}

}  // namespace
}  // namespace fansite::causal
