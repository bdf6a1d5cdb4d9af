// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/marvel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "classical_graphs.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/independence/total_conditioning.h"
#include "fansite/run/causal_graph.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MarvelResult by_oracle(const Dag& dag, const MarvelParams& params) {
  NoProgress progress;
  return marvel(SeparationOracle(dag), dag.moral_graph(), params, progress);
}

std::vector<std::string> edges_by_oracle(int nodes, const std::vector<std::pair<int, int>>& edges) {
  return written(by_oracle(Dag(nodes, edges), {}).graph);
}

TEST(Marvel, ThresholdOfTotalConditioning) {
  EXPECT_NEAR(total_conditioning_threshold(30, 1000, 1.0 / 900), 0.104369, 5e-7);
}

TEST(Marvel, KnownGraphs) {
  EXPECT_THAT(edges_by_oracle(3, {{0, 1}, {1, 2}}), ElementsAre("0-1", "1-2"));
  EXPECT_THAT(edges_by_oracle(3, {{0, 2}, {1, 2}}), ElementsAre("0>2", "1>2"));
  EXPECT_THAT(edges_by_oracle(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), ElementsAre("0-1", "0-2", "1>3", "2>3"));
  EXPECT_THAT(edges_by_oracle(5, {{0, 2}, {1, 2}, {0, 3}, {1, 4}}), ElementsAre("0>2", "0-3", "1>2", "1-4"));
}

TEST(Marvel, IsExactWithAnOracle) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Dag dag = some_dag(seed);
    const MarvelResult found = by_oracle(dag, {.max_members = -1});
    ASSERT_EQ(written(found.graph), written(class_of(dag))) << "seed " << seed;
    ASSERT_FALSE(found.limited);
    // Some variable is removable as long as there is one.
    ASSERT_EQ(found.forced, 0) << "seed " << seed;
    ASSERT_EQ(found.conflicts + found.undone, 0);
  }
}

TEST(Marvel, GrowsItsBoundariesByATestThatCannotBeGivenAllOthers) {
  NoProgress progress;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Dag dag = some_dag(seed);
    std::vector<int> columns(static_cast<std::size_t>(dag.nodes()));
    std::iota(columns.begin(), columns.end(), 0);
    EXPECT_EQ(grown_boundaries(SeparationOracle(dag), columns, 0.05, progress), dag.moral_graph()) << seed;
  }
}

// y bends with x and no line tells of it; z is apart.
TEST(Marvel, SeesRelationsThatAreNoLineByTheFlowTest) {
  Random random(Key{4});
  Dataset data{{"x", "y", "z"}, Matrix(400, 3)};
  for (Index i = 0; i < 400; ++i) {
    const double x = random.normal();
    data.values.row(i) << x, x * x + 0.3 * random.normal(), random.normal();
  }
  CausalGraphParams params("marvel");
  NoProgress progress;
  const auto links = [&] {
    const CausalGraphResult found = causal_graph(data, nullptr, {}, params, progress);
    return ByteMatrix(found.graph.directed + found.graph.directed.transpose() + found.graph.undirected);
  };
  EXPECT_EQ(links()(0, 1), 0);
  params.options.set("edge_test", std::string("flow"));
  params.options.set("edge_effort", std::string("quick"));
  const ByteMatrix bent = links();
  EXPECT_NE(bent(0, 1), 0);
  EXPECT_EQ(bent(0, 2) + bent(1, 2), 0);
}

TEST(Marvel, ASinkWhoseParentsAreAllLinkedGoesFirst) {
  EXPECT_EQ(by_oracle(Dag(3, {{0, 1}, {0, 2}, {1, 2}}), {}).forced, 0);
  // Of a collider the ends and the sink have boundaries of two; an end is no less removable: nothing else links.
  EXPECT_EQ(by_oracle(Dag(3, {{0, 2}, {1, 2}}), {}).removed.size(), 3u);
}

TEST(Marvel, SaysWhenItsTestsWereLimited) {
  const Dag dag = random_dag(5, 1, 1);  // every pair is linked
  EXPECT_FALSE(by_oracle(dag, {.max_members = 3}).limited);
  EXPECT_TRUE(by_oracle(dag, {.max_members = 1}).limited);
}

TEST(Marvel, FindsALinearGraph) {
  const Simulation made = simulate_linear(20, 1.5, 5000, 3);
  const CausalGraphResult found = found_by("marvel", made.data);
  const ByteMatrix links = made.dag.adjacency() + ByteMatrix(made.dag.adjacency().transpose());
  const ByteMatrix own = found.graph.directed + ByteMatrix(found.graph.directed.transpose()) + found.graph.undirected;
  EXPECT_LE((links.cast<int>() - own.cast<int>()).cwiseAbs().sum() / 2, 3);
}

TEST(Marvel, DirectsEveryEdgeIfAskedAndHasTheSameBitsForAnyNumberOfThreads) {
  const Dataset data = simulate_linear(25, 2, 400, 5).data;
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return found_by("marvel", data, {{"dag", true}});
  };
  const CausalGraphResult one = with(1), two = with(2);
  EXPECT_EQ(one.graph.undirected.cast<int>().sum(), 0);
  EXPECT_TRUE(find_cycle(one.graph.directed).empty());
  EXPECT_EQ(one.graph.directed, two.graph.directed);
  EXPECT_EQ(one.weights, two.weights);
}

TEST(Marvel, ConstantsAndCopiesTakeNoPart) {
  Dataset data = simulate_linear(6, 1.5, 300, 7).data;
  data.values.conservativeResize(Eigen::NoChange, 8);
  data.values.col(6).setConstant(3);
  data.values.col(7) = data.values.col(0);
  data.names.insert(data.names.end(), {"constant", "copy"});
  const CausalGraphResult found = found_by("marvel", data);
  EXPECT_EQ(found.graph.directed.rightCols(2).cast<int>().sum() + found.graph.undirected.rightCols(2).cast<int>().sum(),
            0);
  EXPECT_GT(found.graph.directed.cast<int>().sum() + found.graph.undirected.cast<int>().sum(), 0);
}

TEST(Marvel, WhereBoundariesAreUndefinedASentenceSaysSo) {
  const auto message = [](const Dataset& data) { return message_of<DataError>([&] { found_by("marvel", data); }); };
  EXPECT_THAT(message(simulate_linear(40, 1, 20, 8).data), HasSubstr("20 rows for 40 columns"));
  Dataset determined = simulate_linear(4, 1, 200, 8).data;
  determined.values.col(3) = determined.values.col(0) + determined.values.col(1);
  EXPECT_THAT(message(determined), HasSubstr("determined by others"));
}

TEST(Marvel, CanBeInterrupted) {
  Impatient impatient;
  const Dag dag = some_dag(1);
  EXPECT_THROW(marvel(SeparationOracle(dag), dag.moral_graph(), {}, impatient), Interrupted);
}

}  // namespace
}  // namespace fansite::causal
