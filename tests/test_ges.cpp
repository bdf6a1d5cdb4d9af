// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/ges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classical_graphs.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/detail/equivalence_class.h"
#include "fansite/independence/gaussian_bic.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Edges = std::vector<std::pair<int, int>>;

// With fewer, some of the drawn coefficients nearly cancel along two paths, and what they hide costs less than a
// parameter: of 400 graphs 35 are missed with 1e6 rows, 2 with 1e8, none with 1e11.
constexpr Index kManyRows = 100'000'000'000;

GesResult at_infinity(const Dag& dag, std::uint64_t seed, const GesParams& params = {.max_parents = 12},
                      const Knowledge& knowledge = {}) {
  NoProgress progress;
  return ges(GaussianBic(population(dag, kManyRows, seed)), 0, all_links(dag.nodes()), knowledge, params, progress);
}

std::vector<std::string> edges_at_infinity(int nodes, const Edges& edges) {
  return written(at_infinity(Dag(nodes, edges), 1).graph);
}

// ---- Equivalence classes --------------------------------------------------------------------------------------------

TEST(EquivalenceClass, OfADagHasTheDirectionsThatAllItsGraphsShare) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Dag dag = some_dag(seed);
    ASSERT_EQ(written(EquivalenceClass(dag).graph()), written(class_of(dag))) << "seed " << seed;
  }
}

TEST(EquivalenceClass, SemiDirectedPathsAreBlockedByWhatIsOnThem) {
  const EquivalenceClass chain(Dag(4, {{0, 1}, {1, 2}, {2, 3}}));  // undirected
  EXPECT_THAT(chain.open_path(0, 3, {}), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(chain.is_path({0, 1, 2, 3}));
  EXPECT_THAT(chain.open_path(0, 3, {2}), IsEmpty());
  const EquivalenceClass collider(Dag(3, {{0, 2}, {1, 2}}));
  EXPECT_THAT(collider.open_path(0, 1, {}), IsEmpty());
  EXPECT_FALSE(collider.is_path({0, 2, 1}));
  EXPECT_THAT(collider.open_path(0, 2, {}), ElementsAre(0, 2));
}

TEST(GaussianBic, OfCandidatesTogetherIsThatOfEachAlone) {
  const Dag dag = random_dag(8, 0.6, 4);
  const GaussianBic score(population(dag, 1000, 4));
  const std::vector<int> parents = {5, 1, 3}, candidates = {0, 2, 4, 6};
  const std::vector<double> together = score.score_each(7, parents, candidates);
  ASSERT_EQ(together.size(), candidates.size());
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    EXPECT_NEAR(together[k], score.score(7, std::vector<int>{5, 1, 3, candidates[k]}), 1e-8);
  }
}

// ---- With the score of infinitely many rows -------------------------------------------------------------------------

TEST(Ges, KnownGraphs) {
  EXPECT_THAT(edges_at_infinity(3, {{0, 1}, {1, 2}}), ElementsAre("0-1", "1-2"));
  EXPECT_THAT(edges_at_infinity(3, {{0, 2}, {1, 2}}), ElementsAre("0>2", "1>2"));
  EXPECT_THAT(edges_at_infinity(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), ElementsAre("0-1", "0-2", "1>3", "2>3"));
  EXPECT_THAT(edges_at_infinity(5, {{0, 2}, {1, 2}, {0, 3}, {1, 4}}), ElementsAre("0>2", "0-3", "1>2", "1-4"));
  EXPECT_THAT(edges_at_infinity(4, {}), IsEmpty());
}

TEST(Ges, IsExactWithInfinitelyManyRows) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Dag dag = some_dag(seed);
    const GesResult found = at_infinity(dag, seed);
    ASSERT_EQ(written(found.graph), written(class_of(dag))) << "seed " << seed;
    ASSERT_EQ(written(class_of(found.dag)), written(found.graph));
  }
}

TEST(Ges, SaysWhenParentsWereLimited) {
  const Dag dag(4, {{0, 3}, {1, 3}, {2, 3}});
  EXPECT_FALSE(at_infinity(dag, 1, {.max_parents = 3}).limited);
  const GesResult few = at_infinity(dag, 1, {.max_parents = 2});
  EXPECT_TRUE(few.limited);
  EXPECT_LE(few.dag.adjacency().cast<int>().colwise().sum().maxCoeff(), 2);
}

// ---- Knowledge ------------------------------------------------------------------------------------------------------

TEST(Ges, AnswersSatisfyTheKnowledge) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Dag dag = some_dag(seed);
    std::vector<std::string> names;
    for (int k = 0; k < dag.nodes(); ++k) names.push_back(fmt::format("x{}", k));
    // Partly true, partly not: what is required and what is forbidden is drawn.
    Random random(Key{seed}.split(3));
    std::vector<Statement> statements;
    const std::vector<int> order = random.permutation(dag.nodes());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        if (random.uniform() < 0.05) statements.push_back({Statement::Kind::require, order[i], order[j]});
        if (random.uniform() < 0.3) statements.push_back({Statement::Kind::forbid, order[j], order[i]});
      }
    }
    const Knowledge knowledge(names, statements);
    const GesResult found = at_infinity(dag, seed, {}, knowledge);
    ASSERT_THAT(knowledge.violations(found.graph.directed, found.graph.undirected), IsEmpty()) << "seed " << seed;
    ASSERT_THAT(knowledge.violations(found.dag.adjacency()), IsEmpty()) << "seed " << seed;
    refused += found.refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(Ges, DirectsWhatTheKnowledgeDecides) {
  const Dag chain(3, {{0, 1}, {1, 2}});
  const auto with = [&](const char* lines) {
    return written(at_infinity(chain, 1, {}, Knowledge::parse(lines, "k.txt", {"a", "b", "c"})).graph);
  };
  EXPECT_THAT(with("require a -> b\n"), ElementsAre("0>1", "1>2"));
  EXPECT_THAT(with("forbid a -> b\n"), ElementsAre("1>0", "1-2"));
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

TEST(Ges, FindsALinearGraph) {
  const Simulation made = simulate_linear(20, 1.5, 5000, 3);
  const CausalGraphResult found = found_by("ges", made.data);
  const ByteMatrix links = made.dag.adjacency() + ByteMatrix(made.dag.adjacency().transpose());
  const ByteMatrix own = found.graph.directed + ByteMatrix(found.graph.directed.transpose()) + found.graph.undirected;
  EXPECT_LE((links.cast<int>() - own.cast<int>()).cwiseAbs().sum() / 2, 3);
  EXPECT_EQ((found.weights.array() > 0).cast<int>().sum(),
            found.graph.directed.cast<int>().sum() + found.graph.undirected.cast<int>().sum());
}

TEST(Ges, ALargerPenaltyLeavesFewerEdges) {
  const Dataset data = simulate_linear(20, 1.5, 200, 3).data;
  const auto edges = [&](double penalty) {
    const CausalGraphResult found = found_by("ges", data, {{"penalty", penalty}, {"dag", true}});
    EXPECT_EQ(found.graph.undirected.cast<int>().sum(), 0);
    return found.graph.directed.cast<int>().sum();
  };
  EXPECT_GT(edges(0.5), edges(1));
  EXPECT_GT(edges(1), edges(20));
}

TEST(Ges, HasTheSameBitsForAnyNumberOfThreadsAndOrderOfColumns) {
  const Simulation made = simulate_linear(30, 2, 500, 6);
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return found_by("ges", made.data);
  };
  const CausalGraphResult one = with(1), two = with(2);
  EXPECT_EQ(one.graph.directed, two.graph.directed);
  EXPECT_EQ(one.graph.undirected, two.graph.undirected);
  EXPECT_EQ(one.weights, two.weights);
  const std::vector<int> order = Random(Key{1}).permutation(30);
  const CausalGraphResult other = found_by("ges", with_columns(made.data, order));
  EXPECT_EQ(ByteMatrix(one.graph.directed(order, order)), other.graph.directed);
  EXPECT_EQ(ByteMatrix(one.graph.undirected(order, order)), other.graph.undirected);
}

TEST(Ges, ConstantsAndCopiesTakeNoPartAndMoreColumnsThanRowsAreFine) {
  Dataset data = simulate_linear(6, 1.5, 300, 7).data;
  data.values.conservativeResize(Eigen::NoChange, 8);
  data.values.col(6).setConstant(3);
  data.values.col(7) = data.values.col(0);
  data.names.insert(data.names.end(), {"constant", "copy"});
  const CausalGraphResult found = found_by("ges", data);
  EXPECT_EQ(found.graph.directed.rightCols(2).cast<int>().sum() + found.graph.undirected.rightCols(2).cast<int>().sum(),
            0);
  EXPECT_GT(found.graph.directed.cast<int>().sum() + found.graph.undirected.cast<int>().sum(), 0);
  EXPECT_NO_THROW(found_by("ges", simulate_linear(40, 1, 20, 8).data, {{"max_parents", std::int64_t{3}}}));
  EXPECT_NO_THROW(found_by("ges", simulate_linear(40, 1, 20, 8).data));
}

TEST(Ges, CanBeInterrupted) {
  Impatient impatient;
  const Dag dag = some_dag(1);
  const GaussianBic score(population(dag, 1000, 1));
  EXPECT_THROW(ges(score, 0, all_links(dag.nodes()), {}, {}, impatient), Interrupted);
}

}  // namespace
}  // namespace fansite::causal
