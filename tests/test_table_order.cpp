// SPDX-License-Identifier: Apache-2.0
//
// The order of a table's rows and columns, and the names of these, do not matter to any answer.
#include "fansite/run/detail/table_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "fansite/run/causal_graph.h"
#include "fansite/run/entropy_model.h"
#include "fansite/simulate/simulate.h"
#include "fansite/table/content_order.h"

namespace fansite {
namespace {

// Six variables of a nonlinear graph, one of them twice, and a constant.
Dataset table() {
  SimulateParams params;
  params.nodes = 6;
  params.degree = 1.5;
  params.sem = Sem::mlp;
  params.rows = 250;
  params.seed = 3;
  const Dataset simulated = simulate(params).data;
  Dataset data = take_columns(simulated, {0, 1, 2, 3, 4, 5, 2, 0});
  data.values.col(7).setConstant(4);
  data.names = default_names(8);
  return data;
}

// Columns in this order under other names, and rows from the last to the first by fives.
const std::vector<int> kOrder = {7, 3, 2, 0, 6, 5, 1, 4};
Dataset shuffled(const Dataset& data) {
  Dataset other = take_columns(data, kOrder);
  std::vector<int> rows;
  for (int start = 4; start >= 0; --start) {
    for (int i = start; i < data.rows(); i += 5) rows.push_back(i);
  }
  other = take_rows(other, rows);
  for (std::string& name : other.names) name = "other_" + name;
  return other;
}

struct Told {
  double gain, unique, p_value, q_value, votes;
  bool operator==(const Told&) const = default;
};
double comparable(double x) { return std::isnan(x) ? -1 : x; }

// All that is said of pairs, by the numbers of the columns in the first table.
using Answers = std::map<std::tuple<int, int, bool>, Told>;
Answers answers(const BoundariesResult& result, const std::vector<int>& column) {
  const auto number = [&](int variable) {
    return column.empty() ? variable : column[static_cast<std::size_t>(variable)];
  };
  Answers all;
  for (const Boundary& boundary : result.found.boundaries) {
    for (const Member& m : boundary.members) {
      all[{number(boundary.target), number(m.variable), true}] = {m.gain, m.unique, comparable(m.p_value),
                                                                  comparable(m.q_value), comparable(m.votes)};
    }
    for (const NearMiss& m : boundary.near_misses) {
      all[{number(boundary.target), number(m.candidate.variable), false}] = {m.candidate.gain, 0, comparable(m.p_value),
                                                                             comparable(m.q_value), 0};
    }
  }
  return all;
}

BoundariesParams params(const std::string& estimator) {
  BoundariesParams params;
  params.fansite().estimator = estimator;
  params.fansite().repeats = 1;
  params.fansite().folds = 2;
  params.fansite().steps = 300;
  return params;
}

TEST(TableOrderTest, BoundariesAreTheSameBitForBit) {
  const Dataset data = table();
  for (const char* estimator : {"gaussian", "flow"}) {
    const BoundariesResult one = markov_boundaries(data, params(estimator));
    const BoundariesResult other = markov_boundaries(shuffled(data), params(estimator));
    EXPECT_FALSE(answers(one, {}).empty()) << estimator;
    // Of two equal columns the first is the original: x3 in one table, x3 again in the other, where x7 comes later.
    EXPECT_EQ(answers(one, {}), answers(other, kOrder)) << estimator;
    EXPECT_EQ(one.found.moral_edges.size(), other.found.moral_edges.size());
    EXPECT_TRUE(std::is_sorted(one.found.moral_edges.begin(), one.found.moral_edges.end()));
    ASSERT_EQ(one.graph.has_value(), other.graph.has_value());
    if (one.graph) {
      EXPECT_EQ(one.graph->score, other.graph->score);
    }
  }
}

TEST(TableOrderTest, AMethodThatGoesByTheTablesOrderHasIt) {
  BoundariesParams iamb("iamb");
  iamb.options.set("order", std::string("index"));
  std::size_t most = 0;
  for (const Boundary& boundary : markov_boundaries(table(), iamb).found.boundaries) {
    const std::vector<int> members = boundary.member_indices();
    EXPECT_TRUE(std::is_sorted(members.begin(), members.end())) << boundary.target;
    most = std::max(most, members.size());
  }
  EXPECT_GT(most, 1u);
}

TEST(TableOrderTest, TargetsComeAsTheyWereAskedFor) {
  const Dataset data = table();
  BoundariesParams some = params("gaussian");
  some.targets = {"x5", "x7", "x1"};
  const BoundariesResult result = markov_boundaries(data, some);
  std::vector<int> targets;
  for (const Boundary& boundary : result.found.boundaries) targets.push_back(boundary.target);
  EXPECT_THAT(targets, testing::ElementsAre(4, 6, 0));
  some.targets = {"x1", "x5", "x7"};
  EXPECT_EQ(answers(result, {}), answers(markov_boundaries(data, some), {}));
}

TEST(TableOrderTest, KnowledgeFollowsItsVariables) {
  const Dataset data = table();
  using Kind = Statement::Kind;
  const Knowledge knowledge(data.names, {{Kind::in_boundary, 1, 5},
                                         {Kind::not_in_boundary, 0, 1},
                                         {Kind::root, 4},
                                         {Kind::tier, 0, 3},
                                         {Kind::tier, 3, 7}});
  const std::vector<int> place = inverse(kOrder);
  const Knowledge moved = knowledge.in_order(kOrder);
  const auto at = [&](int variable) { return place[static_cast<std::size_t>(variable)]; };
  EXPECT_TRUE(moved.in_boundary(at(1), at(5)));
  EXPECT_TRUE(moved.out_of_boundary(at(0), at(1)));
  EXPECT_FALSE(moved.allows(at(2), at(4)));
  EXPECT_FALSE(moved.allows(at(3), at(0)));
  EXPECT_EQ(moved.in_order(place), knowledge);

  NoProgress silent;
  const BoundariesResult result = markov_boundaries(data, knowledge, params("gaussian"), silent);
  const std::vector<int> found = result.found.boundaries[1].member_indices();
  EXPECT_THAT(found, testing::Contains(5));
  EXPECT_THAT(found, testing::Not(testing::Contains(0)));
}

TEST(TableOrderTest, GraphsAreTheSameBitForBit) {
  const Dataset data = table();
  CausalGraphParams graph;
  graph.boundaries = params("gaussian");
  NoProgress silent;
  const CausalGraphResult one = causal_graph(data, nullptr, {}, graph, silent);
  const CausalGraphResult other = causal_graph(shuffled(data), nullptr, {}, graph, silent);
  const std::vector<int> place = inverse(kOrder);
  EXPECT_GT(one.graph.directed.cast<int>().sum() + one.graph.undirected.cast<int>().sum(), 3);
  EXPECT_EQ(one.graph.directed, ByteMatrix(other.graph.directed(place, place)));
  EXPECT_EQ(one.graph.undirected, ByteMatrix(other.graph.undirected(place, place)));
  EXPECT_EQ(one.weights, Matrix(other.weights(place, place)));
  EXPECT_EQ(one.links, ByteMatrix(other.links(place, place)));
  ASSERT_EQ(one.edges.size(), other.edges.size());
  for (const causal::GraphEdge& edge : one.edges) {
    EXPECT_TRUE(one.graph.directed(edge.from, edge.to) || one.graph.undirected(edge.from, edge.to));
  }
  EXPECT_TRUE(std::is_sorted(one.edges.begin(), one.edges.end(), [](const auto& x, const auto& y) {
    return std::tie(x.from, x.to) < std::tie(y.from, y.to);
  }));
}

TEST(TableOrderTest, EntropiesAreTheSameBitForBit) {
  const Dataset data = table();
  EntropyParams flow;
  flow.options.set("steps", std::int64_t{200});
  NoProgress silent;
  const EntropyModel one(data, flow, silent), other(shuffled(data), flow, silent);
  const EntropyEstimate a = one.conditional_entropy("x1", {"x2", "x4"});
  const EntropyEstimate b = other.conditional_entropy("other_x1", {"other_x4", "other_x2"});
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.standard_error, b.standard_error);
}

}  // namespace
}  // namespace fansite
