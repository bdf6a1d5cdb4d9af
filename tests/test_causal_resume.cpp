// SPDX-License-Identifier: Apache-2.0
//
// From a table to a graph, interrupted and continued, by every method.
#include "fansite/run/causal_graph.h"

#include "checkpoint_examples.h"
#include "fansite/causal/dcd/methods.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

class GraphCheckpointTest : public CheckpointTest {
 protected:
  GraphCheckpointTest() : data{{"a", "b", "c", "d", "e"}, curved_chain(120, 5, 1)} {
    choose("fansite-anm");
    links = all_pairs(5);
  }
  void choose(const std::string& method) {
    params = CausalGraphParams(method);
    params.boundaries.fansite().estimator = "gaussian";
    params.run.seed = 3;
    if (params.options.holds<FansiteAnmParams>()) params.options.as<FansiteAnmParams>().additive_noise = rough();
    if (params.options.holds<FansiteDcdParams>()) params.options.as<FansiteDcdParams>().networks = short_training();
    if (params.options.holds<SdcdParams>()) params.options.as<SdcdParams>().networks = short_training();
  }
  CausalGraphResult search(const std::string& checkpoint, Progress& progress, const ByteMatrix* among) {
    CausalGraphParams complete = params;
    complete.run.checkpoint = checkpoint;
    return causal_graph(data, among, knowledge, complete, progress);
  }
  static void expect_same_graphs(const CausalGraphResult& a, const CausalGraphResult& b) {
    EXPECT_EQ(a.graph.directed, b.graph.directed);
    EXPECT_EQ(a.graph.undirected, b.graph.undirected);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.links, b.links);
    EXPECT_EQ(a.warnings, b.warnings);
    expect_same(a.edges, b.edges);
    EXPECT_EQ(a.scale, b.scale);
    ASSERT_EQ(a.additivity.has_value(), b.additivity.has_value());
    if (a.additivity) expect_same(*a.additivity, *b.additivity);
    EXPECT_EQ(a.details, b.details);  // score and fits, or epochs and γ
    EXPECT_EQ(a.how, b.how);
  }

  Dataset data;
  Knowledge knowledge;
  CausalGraphParams params;
  ByteMatrix links;
};

TEST_F(GraphCheckpointTest, EveryMethodContinuesAndTidiesUp) {
  NoProgress silent;
  for (const char* method : {"fansite-anm", "fansite-dcd", "sdcd"}) {
    SCOPED_TRACE(method);
    choose(method);
    const CausalGraphResult straight = search("", silent, &links);
    EXPECT_EQ(files(), 0u);
    Limited some(20);
    EXPECT_THROW(search(path, some, &links), Interrupted);
    EXPECT_TRUE(fs::exists(path + ".graph"));
    EXPECT_EQ(files(), 1u);
    expect_same_graphs(search(path, silent, &links), straight);
    EXPECT_EQ(files(), 0u);
  }
}

// What is known may take several searches, one after the other in the same file.
TEST_F(GraphCheckpointTest, SearchesThatKnowledgeMakesContinueToo) {
  knowledge = Knowledge::parse("in-boundary a e\nforbid a -- e\nforbid a -> b\n", "k", data.names);
  Limited whole;
  NoProgress silent;
  const CausalGraphResult straight = search("", whole, &links);
  EXPECT_GE(whole.searches, 2);
  for (const long limit : {10L, whole.asked / 2, whole.asked * 3 / 4, whole.asked - 2}) {
    Limited some(limit);
    try {  // the second search finds scores of the first, so it may well end
      search(path, some, &links);
    } catch (const Interrupted&) {
      EXPECT_TRUE(fs::exists(path + ".graph"));
    }
    expect_same_graphs(search(path, silent, &links), straight);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(GraphCheckpointTest, WhatIsWrongWithItIsKnownBeforeBoundariesAreSought) {
  const auto refusal = [&](const std::string& checkpoint) {
    Limited progress;
    std::string message = "nothing was thrown";
    try {
      search(checkpoint, progress, nullptr);
    } catch (const UsageError& error) {
      message = error.what();
    } catch (const DataError& error) {
      message = error.what();
    }
    EXPECT_EQ(progress.begun, 0) << checkpoint;
    return message;
  };
  EXPECT_THAT(refusal(path + "/no/such/place"), HasSubstr("no/such/place"));
  for (const char* method : {"fansite-anm", "fansite-dcd"}) {
    choose(method);
    put(path + ".graph", "something else");
    EXPECT_THAT(refusal(path), HasSubstr(path + ".graph: "));
    put(path + ".graph", to_bytes(small_scores()));
    EXPECT_THAT(refusal(path), HasSubstr(path + ".graph is the checkpoint of another table"));
  }
  fs::remove(path + ".graph");
  EXPECT_EQ(files(), 0u);
  NoProgress silent;
  search(path, silent, nullptr);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace fansite::causal
