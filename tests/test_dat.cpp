// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_examples.h"
#include "fansite/base/parallel.h"
#include "fansite/graph/dag.h"
#include "fansite/report/json.h"
#include "fansite/run/causal_graph.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using DatTest = CheckpointTest;
using Edges = std::vector<std::pair<int, int>>;

Dataset table(Index rows, int columns) {
  Dataset data;
  data.names = default_names(columns);
  Random random(Key{11});
  data.values = Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
  return data;
}

// 0 → 1 ← 2.
Dataset collider(Index rows) {
  Dataset data = table(rows, 3);
  data.values.col(1) = data.values.col(0) + data.values.col(2) + 0.5 * data.values.col(1);
  return data;
}

CausalGraphParams short_test(int steps = 1500) {
  CausalGraphParams params("dat");
  auto& dat = params.options.as<DatParams>();
  dat.networks.width = 16;
  dat.networks.rate = 4e-3;
  dat.networks.steps = steps;
  dat.networks.batch = 128;
  dat.scoring = std::max(steps / 8, 1);
  return params;
}

CausalGraphResult graph_of(const Dataset& data, const CausalGraphParams& params, const ByteMatrix& links) {
  NoProgress silent;
  return causal_graph(data, &links, {}, params, silent);
}
CausalGraphResult graph_of(const Dataset& data, const CausalGraphParams& params) {
  return graph_of(data, params, all_pairs(data.values.cols()));
}

Edges edges(const CausalGraphResult& result) {
  Edges list;
  for (int i = 0; i < result.graph.directed.rows(); ++i) {
    for (int j = 0; j < result.graph.directed.cols(); ++j) {
      if (result.graph.directed(i, j)) list.emplace_back(i, j);
    }
  }
  return list;
}

std::string text_of(const CausalGraphResult& result) {
  const std::string json = to_json(result, {});
  return json.substr(0, json.find("\"timing\""));
}

TEST_F(DatTest, BothOrdersOfEveryLinkWithPaddedMembers) {
  ByteMatrix links = ByteMatrix::Zero(4, 4);  // 0 − 1 − 2, and 3 alone
  links(0, 1) = links(1, 0) = links(1, 2) = links(2, 1) = 1;
  const std::vector<OrderedPair> pairs = pairs_of(links);
  ASSERT_EQ(pairs.size(), 4u);
  const std::vector<std::tuple<int, int, int>> expected = {{0, 1, -1}, {1, 0, 2}, {1, 2, 0}, {2, 1, -1}};
  for (std::size_t p = 0; p < 4; ++p) {
    const auto [i, j, member] = expected[p];
    EXPECT_EQ(pairs[p].i, i);
    EXPECT_EQ(pairs[p].j, j);
    EXPECT_THAT(pairs[p].members, testing::ElementsAre(member));
  }
  EXPECT_TRUE(pairs_of(ByteMatrix::Zero(3, 3)).empty());
}

TEST_F(DatTest, FindsACollider) {
  CausalGraphParams params = short_test();
  params.options.set("skeleton_threshold", 0.01);  // what so few steps leave over
  const CausalGraphResult result = graph_of(collider(800), params);
  EXPECT_EQ(edges(result), (Edges{{0, 1}, {2, 1}}));
  EXPECT_GT(result.weights(0, 1), 0.01);
  EXPECT_EQ(result.weights(1, 0), 0);
  EXPECT_THAT(result.how, HasSubstr("2 of 3 links kept, 1 collider"));
}

TEST_F(DatTest, WhereAllLinksStayItSaysSo) {
  CausalGraphParams params = short_test(20);
  params.options.set("skeleton_threshold", 0.0);
  const CausalGraphResult result = graph_of(collider(200), params);
  EXPECT_EQ(edges(result).size(), 3u);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("dat kept all 3 links")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("edges by chance")));
}

TEST_F(DatTest, GoesByTheLinksOfAnyBoundaryMethod) {
  CausalGraphParams params = short_test(20);
  params.boundaries = BoundariesParams("tc");
  NoProgress silent;
  const CausalGraphResult result = causal_graph(collider(300), nullptr, {}, params, silent);
  ASSERT_TRUE(result.boundaries);
  EXPECT_EQ(result.boundaries->params.method, "tc");
  EXPECT_EQ(result.links.cast<int>().sum(), 6);

  // The graph can be resumed though the boundaries cannot.
  params.run.checkpoint = path;
  const ThreadLimit alone(1);
  bool kept = false;
  for (long limit = 4; !kept && limit < 40; ++limit) {  // until a pair has ended before the interruption
    Limited progress(limit);
    EXPECT_THROW(causal_graph(collider(300), nullptr, {}, params, progress), Interrupted) << limit;
    kept = fs::exists(path + ".graph");
  }
  EXPECT_TRUE(kept);
  EXPECT_EQ(text_of(causal_graph(collider(300), nullptr, {}, params, silent)), text_of(result));
  EXPECT_EQ(files(), 0u);
}

TEST_F(DatTest, TooManyNetworksAreRefusedBeforeAnyWork) {
  const Dataset data = table(50, 120);
  CausalGraphParams params = short_test();
  EXPECT_THAT(message_of<ParameterError>([&] { graph_of(data, params); }),
              testing::AllOf(HasSubstr("[max_networks] 7140 links ask for 28560 networks of 118 inputs and 16 units"),
                             HasSubstr("more than 10000")));
}

// ---- Tables that are hard -------------------------------------------------------------------------------------------

TEST_F(DatTest, TwoColumns) {
  Dataset data = table(200, 2);
  data.values.col(1) += 2 * data.values.col(0);
  const CausalGraphResult result = graph_of(data, short_test(300));
  EXPECT_EQ(edges(result).size(), 1u);
}

TEST_F(DatTest, NoLinks) {
  const CausalGraphResult result = graph_of(table(100, 3), short_test(10), ByteMatrix::Zero(3, 3));
  EXPECT_TRUE(edges(result).empty());
  EXPECT_EQ(result.how, "no links to test");
}

TEST_F(DatTest, AConstantHasNoEdges) {
  Dataset data = collider(200);
  data.values.col(2).setConstant(1);
  const CausalGraphResult result = graph_of(data, short_test(50));
  for (const auto& [from, to] : edges(result)) EXPECT_TRUE(from != 2 && to != 2);
}

TEST_F(DatTest, FewRowsManyColumnsAndHugeCells) {
  Dataset data = table(8, 9);
  data.values.col(2) *= 1e300;
  data.values(3, 4) = 1e300;
  const CausalGraphResult result = graph_of(data, short_test(20));
  EXPECT_TRUE(result.weights.allFinite());
  EXPECT_THAT(result.warnings, Contains(HasSubstr("8 rows are fewer than a batch of 128")));
}

// ---- The same bits --------------------------------------------------------------------------------------------------

TEST_F(DatTest, ForAnyNumberOfThreads) {
  const Dataset data = collider(200);
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 3}) {
    const ThreadLimit limit(threads);
    texts.push_back(text_of(graph_of(data, short_test(20))));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  CausalGraphParams seeded = short_test(20);
  seeded.run.seed = 5;
  EXPECT_NE(graph_of(data, seeded).weights, graph_of(data, short_test(20)).weights);
}

TEST_F(DatTest, InterruptedAndResumed) {
  const ThreadLimit alone(1);
  const Dataset data = collider(200);
  CausalGraphParams params = short_test(16);  // two batches score
  const std::string straight = text_of(graph_of(data, params));
  params.run.checkpoint = path;
  const ByteMatrix links = all_pairs(3);
  int runs = 0;
  for (std::string text; text.empty(); ++runs) {
    ASSERT_LT(runs, 20);
    Limited progress(8 + runs);  // a pair asks three times
    try {
      text = text_of(causal_graph(data, &links, {}, params, progress));
      EXPECT_EQ(text, straight);
    } catch (const Interrupted&) {
      EXPECT_TRUE(fs::exists(path + ".graph"));
    }
  }
  EXPECT_GT(runs, 2);
  EXPECT_EQ(files(), 0u);
}

TEST_F(DatTest, ACheckpointIsOfOneSearchAmongTheSameLinks) {
  const ThreadLimit alone(1);
  const Dataset data = collider(200);
  CausalGraphParams params = short_test(16);
  params.run.checkpoint = path;
  const ByteMatrix links = all_pairs(3);
  Limited progress(8);
  EXPECT_THROW(causal_graph(data, &links, {}, params, progress), Interrupted);
  ByteMatrix fewer = links;
  fewer(0, 2) = fewer(2, 0) = 0;
  EXPECT_THAT(message_of<UsageError>([&] { graph_of(data, params, fewer); }), HasSubstr("is of other links"));
  params.options.set("dat_width", std::int64_t{17});
  EXPECT_THAT(message_of<UsageError>([&] { graph_of(data, params); }), HasSubstr("other settings"));
}

TEST_F(DatTest, ATimeBudgetCutsTheSteps) {
  CausalGraphParams params = short_test(1000000);
  params.run.time_budget = 0.6;
  const CausalGraphResult result = graph_of(collider(200), params);
  EXPECT_THAT(result.unfinished, HasSubstr("of 1125000 steps"));
  EXPECT_TRUE(find_cycle(result.graph.directed).empty());
  params.run.time_budget = 1e-6;
  const CausalGraphResult none = graph_of(collider(200), params);
  EXPECT_THAT(none.unfinished, HasSubstr("6 of 6 not at all; their links stay as they were"));
  EXPECT_EQ(edges(none).size(), 3u);
}

}  // namespace
}  // namespace fansite::causal
