// SPDX-License-Identifier: Apache-2.0
//
// Small tables whose equations are known, from values to graph and JSON. How directions are found is in
// test_dag_additive_noise.cpp; here it is what goes in, what is satisfied and what comes out.
#include "fansite/run/causal_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/links.h"
#include "fansite/causal/dcd/methods.h"
#include "fansite/report/json.h"
#include "fansite/table/findings.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::ordered_json;

enum { a, b, c, d };

// ---- Tables and calls -----------------------------------------------------------------------------------------------

/// a → b → c, a → d ← c, all curved.
Dataset curved() {
  Random random(Key{2});
  Dataset data{{"a", "b", "c", "d"}, Matrix(300, 4)};
  for (auto row : data.values.rowwise()) {
    const double x = random.normal();
    const double y = std::sin(2 * x) + 0.3 * random.normal();
    const double z = std::cos(2 * y) + 0.3 * random.normal();
    row << x, y, z, x * x + std::sin(2 * z) + 0.4 * random.normal();
  }
  return data;
}

const Dag& truth() {
  static const Dag dag(4, {{a, b}, {b, c}, {a, d}, {c, d}});
  return dag;
}

/// a → b → c and d apart, linear and Gaussian: no table tells the directions.
Dataset chain() {
  Random random(Key{1});
  Dataset data{{"a", "b", "c", "d"}, Matrix(400, 4)};
  for (auto row : data.values.rowwise()) {
    const double x = random.normal(), y = x + random.normal();
    row << x, y, y + random.normal(), random.normal();
  }
  return data;
}

Dataset with_column(Dataset data, const std::string& name, const Vector& values) {
  data.names.push_back(name);
  data.values.conservativeResize(Eigen::NoChange, data.values.cols() + 1);
  data.values.col(data.values.cols() - 1) = values;
  return data;
}

constexpr const char* kMethods[] = {"fansite-anm", "fansite-dcd", "sdcd"};
constexpr const char* kNetworks[] = {"fansite-dcd", "sdcd"};

CausalGraphParams method(const std::string& name = "fansite-anm") {
  CausalGraphParams params(name);
  params.boundaries.fansite().estimator = "gaussian";
  // Few epochs, and every weight that has grown is an edge: the graph need not be true, but must have some.
  for (const char* epochs : {"first_epochs", "epochs"}) {
    if (params.options.has(epochs)) params.options.set(epochs, std::int64_t{30});
  }
  for (const char* threshold : {"mask_threshold", "threshold"}) {
    if (params.options.has(threshold)) params.options.set(threshold, 0.01);
  }
  return params;
}

CausalGraphResult find(const Dataset& data, const ByteMatrix* links, const CausalGraphParams& params = method(),
                       const Knowledge& knowledge = {}) {
  NoProgress progress;
  return causal_graph(data, links, knowledge, params, progress);
}

/// The curved table inside its moral graph.
CausalGraphResult find_satisfying(const std::string& rules) {
  const Dataset data = curved();
  const ByteMatrix links = truth().moral_graph();
  return find(data, &links, method(), Knowledge::parse(rules, "rules.txt", data.names));
}

bool linked(const PartialDag& graph, int i, int j) {
  return graph.directed(i, j) || graph.directed(j, i) || graph.undirected(i, j);
}

ByteMatrix skeleton(const PartialDag& graph) {
  return (graph.directed + graph.directed.transpose() + graph.undirected).cwiseMin(1);
}

std::optional<Value> detail(const CausalGraphResult& result, const std::string& name) {
  for (const auto& [key, value] : result.details) {
    if (key == name) return value;
  }
  return std::nullopt;
}

long count(const ByteMatrix& matrix) { return matrix.cast<long>().sum(); }

ByteMatrix all_pairs(int variables) {
  ByteMatrix pairs = ByteMatrix::Ones(variables, variables);
  pairs.diagonal().setZero();
  return pairs;
}

// ---- Finding --------------------------------------------------------------------------------------------------------

TEST(CausalGraph, OfCurvedEquationsIsTheTrueOne) {
  const ByteMatrix moral = truth().moral_graph(), all = all_pairs(4);
  for (const ByteMatrix* links : {&moral, &all}) {
    const CausalGraphResult result = find(curved(), links);
    EXPECT_EQ(result.graph.directed, truth().adjacency());
    EXPECT_EQ(count(result.graph.undirected), 0);
    EXPECT_EQ(result.links, *links);
    EXPECT_EQ(result.names, curved().names);
    EXPECT_EQ(result.rows, 300);
    EXPECT_FALSE(result.boundaries.has_value());
    ASSERT_TRUE(result.additivity.has_value());
    EXPECT_TRUE(result.additivity->additive);
    EXPECT_FALSE(detail(result, "epochs_taken").has_value());
    EXPECT_THAT(result.warnings, IsEmpty());
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) EXPECT_EQ(result.weights(i, j) > 0, truth().has_edge(i, j)) << i << " " << j;
    }
  }
}

TEST(CausalGraph, StaysInsideTheLinks) {
  ByteMatrix links = truth().moral_graph();
  links(a, b) = links(b, a) = 0;
  const CausalGraphResult result = find(curved(), &links);
  EXPECT_FALSE(linked(result.graph, a, b));
  EXPECT_TRUE(linked(result.graph, a, d));
  EXPECT_EQ(skeleton(result.graph).cwiseMin(links), skeleton(result.graph));
}

TEST(CausalGraph, WithoutLinksFindsBoundariesFirst) {
  CausalGraphParams params = method();
  params.run.seed = 7;
  const CausalGraphResult result = find(chain(), nullptr, params);
  ASSERT_TRUE(result.boundaries.has_value());
  EXPECT_EQ(result.boundaries->estimator, "gaussian");
  EXPECT_EQ(result.boundaries->params.run.seed, 7u);
  EXPECT_FALSE(result.boundaries->refined);
  EXPECT_EQ(result.links, links(result.boundaries->found, 4));
  EXPECT_EQ(result.links, Dag(4, {{a, b}, {b, c}}).moral_graph());
  EXPECT_EQ(skeleton(result.graph), result.links);
  EXPECT_GT(result.boundary_seconds, 0);
  EXPECT_GT(result.graph_seconds, 0);
}

TEST(CausalGraph, LeavesOpenWhatLinearTablesDoNotTellUnlessADagIsAskedFor) {
  CausalGraphParams params = method();
  const PartialDag open = find(chain(), nullptr, params).graph;
  EXPECT_EQ(count(open.undirected), 4);
  EXPECT_EQ(open.undirected, open.undirected.transpose());
  params.options.as<causal::FansiteAnmParams>().dag = true;
  const CausalGraphResult forced = find(chain(), nullptr, params);
  EXPECT_EQ(count(forced.graph.undirected), 0);
  EXPECT_EQ(count(forced.graph.directed), 2);
  EXPECT_THAT(find_cycle(forced.graph.directed), IsEmpty());
  EXPECT_EQ(skeleton(forced.graph), skeleton(open));
  std::vector<std::pair<int, int>> best;
  for (const causal::GraphEdge& edge : forced.edges) best.emplace_back(edge.from, edge.to);
  EXPECT_EQ(forced.graph.directed, Dag(4, best).adjacency());
}

TEST(CausalGraph, WarnsWhereNoiseDoesNotJustAdd) {
  Random random(Key{2});
  Dataset data{{"a", "b"}, Matrix(400, 2)};
  for (auto row : data.values.rowwise()) {
    const double x = random.normal();
    row << x, std::sin(x) + std::exp(x) * random.normal();
  }
  const ByteMatrix links = all_pairs(2);
  CausalGraphParams params = method();
  params.options.as<causal::FansiteAnmParams>().additive_noise.penalty = 0;
  const CausalGraphResult result = find(data, &links, params, Knowledge::parse("require a -> b", "r", data.names));
  EXPECT_FALSE(result.additivity->additive);
  EXPECT_THAT(result.warnings, Contains(AllOf(HasSubstr("'b' depends on 'a'"), HasSubstr("does not just add"))));
}

TEST(CausalGraph, HasTheSameBitsForOneAndTwoThreads) {
  const ByteMatrix links = all_pairs(4);
  for (const char* each : kMethods) {
    const auto with_threads = [&](int threads) {
      const ThreadLimit limit(threads);
      const CausalGraphResult result = find(curved(), &links, method(each));
      EXPECT_GT(count(result.graph.directed), 0) << each;
      Json json = Json::parse(to_json(result, {}));
      json.erase("timing");
      return json.dump();
    };
    EXPECT_EQ(with_threads(1), with_threads(2)) << each;
  }
}

// ---- Knowledge ------------------------------------------------------------------------------------------------------

TEST(CausalGraphKnowledge, AForbiddenEdgeIsAbsent) {
  const CausalGraphResult result = find_satisfying("forbid a -> b");
  EXPECT_FALSE(result.graph.directed(a, b));
  EXPECT_FALSE(result.graph.undirected(a, b));
  EXPECT_FALSE(linked(find_satisfying("forbid a -- b").graph, a, b));
}

TEST(CausalGraphKnowledge, ARequiredEdgeIsPresentAgainstTheDataAndOutsideTheLinks) {
  EXPECT_TRUE(find_satisfying("require d -> a").graph.directed(d, a));
  const CausalGraphResult result = find_satisfying("require b -> d");  // which no link allows
  EXPECT_FALSE(result.links(b, d));
  EXPECT_TRUE(result.graph.directed(b, d));
  for (const causal::GraphEdge& edge : result.edges) {
    const bool given = edge.from == b && edge.to == d;
    EXPECT_EQ(edge.by == causal::DirectionBy::knowledge, given) << edge.from << " " << edge.to;
  }
}

TEST(CausalGraphKnowledge, ARequiredLinkIsPresentInOneDirection) {
  const PartialDag graph = find_satisfying("require b -- d").graph;
  EXPECT_TRUE(linked(graph, b, d));
  EXPECT_EQ(graph.directed(b, d) + graph.directed(d, b) + graph.undirected(b, d), 1);
  const PartialDag one_way = find_satisfying("require b -- d\nforbid b -> d").graph;
  EXPECT_TRUE(one_way.directed(d, b));
}

TEST(CausalGraphKnowledge, TiersAreSatisfied) {
  const PartialDag graph = find_satisfying("tier 1: c d\ntier 2: a b").graph;
  for (const int early : {c, d}) {
    for (const int late : {a, b}) {
      EXPECT_FALSE(graph.directed(late, early));
      EXPECT_FALSE(graph.undirected(late, early));
    }
  }
  EXPECT_TRUE(graph.directed(c, b));  // turned round, not lost
  const PartialDag within = find_satisfying("tier 1: c d\ntier 2: a b\ntier 1 within forbidden").graph;
  EXPECT_FALSE(linked(within, c, d));
}

TEST(CausalGraphKnowledge, RootsHaveNoParentsAndSinksNoChildren) {
  const PartialDag graph = find_satisfying("root d\nsink a").graph;
  EXPECT_EQ(count(graph.directed.col(d)) + count(graph.undirected.col(d)), 0);
  EXPECT_EQ(count(graph.directed.row(a)) + count(graph.undirected.row(a)), 0);
  EXPECT_TRUE(graph.directed(d, a));
}

TEST(CausalGraphKnowledge, APairThatIsNotInOneBoundaryHasNoLinkAndNoCommonChild) {
  const PartialDag graph = find_satisfying("not-in-boundary a c").graph;
  EXPECT_FALSE(linked(graph, a, c));
  for (const int child : {b, d}) EXPECT_FALSE(graph.directed(a, child) && graph.directed(c, child)) << child;
  EXPECT_TRUE(linked(graph, a, d) || linked(graph, c, d));
}

// The links in their first directions would make the pair parents of one child.
TEST(CausalGraphKnowledge, RequiredLinksMakeNoCommonChildOfAPairThatIsNotInOneBoundary) {
  const PartialDag graph = find_satisfying("require a -- d\nrequire c -- d\nnot-in-boundary a c").graph;
  EXPECT_TRUE(linked(graph, a, d));
  EXPECT_TRUE(linked(graph, c, d));
  EXPECT_FALSE(linked(graph, a, c));
  EXPECT_FALSE(graph.directed(a, d) && graph.directed(c, d));
}

TEST(CausalGraphKnowledge, APairInOneBoundaryHasALinkOrACommonChild) {
  const PartialDag graph = find_satisfying("in-boundary b d").graph;
  bool together = linked(graph, b, d);
  for (const int child : {a, c}) together = together || (graph.directed(b, child) && graph.directed(d, child));
  EXPECT_TRUE(together);
}

TEST(CausalGraphKnowledge, ThatAgreesChangesNoEdge) {
  const CausalGraphResult result = find_satisfying("require a -> b\nforbid d -> *\ntier 1: a\ntier 2: b c d");
  EXPECT_EQ(result.graph.directed, truth().adjacency());
  EXPECT_TRUE(result.edges.at(0).by == causal::DirectionBy::knowledge);
  EXPECT_EQ(result.edges.at(0).direction.value, INFINITY);
}

TEST(CausalGraphKnowledge, IsNotForTheMethodsThatTakeNone) {
  const Dataset data = curved();
  const ByteMatrix links = all_pairs(4);
  const Knowledge knowledge = Knowledge::parse("forbid a -> b", "rules.txt", data.names);
  for (const char* each : kNetworks) {
    EXPECT_THAT(message_of<UsageError>([&] { find(data, &links, method(each), knowledge); }),
                AllOf(HasSubstr(each), HasSubstr("fansite-anm")));
  }
}

TEST(CausalGraphKnowledge, OfAnotherTableIsRefused) {
  const Knowledge knowledge = Knowledge::parse("forbid a -> b", "rules.txt", {"a", "b", "c"});
  EXPECT_THAT(message_of<UsageError>([&] { find(curved(), nullptr, method(), knowledge); }),
              HasSubstr("it is about 3 variables, the table has 4"));
}

// ---- Odd tables -----------------------------------------------------------------------------------------------------

// Methods without boundaries hear of the table from nobody else.
TEST(GraphsOfRows, WhatIsOddAboutThemIsSaidByEveryMethod) {
  Random random(Key{7});
  Dataset data{{"a", "b", "c"}, Matrix(60, 3)};
  for (int j = 0; j < 3; ++j) {
    double x = 0;
    for (Index i = 0; i < 60; ++i) data.values(i, j) = x += random.normal();
  }
  NoProgress silent;
  EXPECT_THAT(causal_graph(data, nullptr, {}, CausalGraphParams("pc"), silent).warnings,
              testing::ElementsAre(HasSubstr("neighbouring rows are alike"),
                                   HasSubstr("pc takes rows as independent all the same"),
                                   AllOf(HasSubstr("[dag]"), HasSubstr("independent rows show strong relations only"),
                                         HasSubstr("a missing edge says little"))));
  EXPECT_THAT(causal_graph(chain(), nullptr, {}, CausalGraphParams("pc"), silent).warnings, IsEmpty());
}

TEST(CausalGraphOfOddTables, ConstantAndCopiedColumnsTakeNoPart) {
  const Dataset plain = curved();
  Dataset data = with_column(plain, "flat", Vector::Constant(300, 7));
  data = with_column(data, "b again", plain.values.col(b));
  const ByteMatrix links = all_pairs(6);
  for (const char* each : kMethods) {
    SCOPED_TRACE(each);
    const CausalGraphResult result = find(data, &links, method(each));
    EXPECT_GT(count(result.graph.directed), 0);
    for (const int odd : {4, 5}) {
      EXPECT_EQ(count(skeleton(result.graph).col(odd)), 0) << data.names[static_cast<std::size_t>(odd)];
    }
    EXPECT_THAT(result.warnings, Contains(HasSubstr("'flat' is constant")));
    EXPECT_THAT(result.warnings, Contains(HasSubstr("'b again' is a copy of 'b'")));
  }
  EXPECT_EQ(find(data, &links).graph.directed.topLeftCorner(4, 4), truth().adjacency());
}

TEST(CausalGraphOfOddTables, EachWarningIsSaidOnceIfBoundariesAreFoundToo) {
  const Dataset data = with_column(chain(), "flat", Vector::Constant(400, 7));
  const CausalGraphResult result = find(data, nullptr);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], HasSubstr("'flat' is constant"));
  EXPECT_EQ(count(skeleton(result.graph).col(4)), 0);
}

TEST(CausalGraphOfOddTables, ATableOfConstantsOrOneColumnHasNoEdges) {
  const Dataset one{{"a"}, curved().values.leftCols(1)};
  const ByteMatrix none = ByteMatrix::Zero(1, 1), both = all_pairs(2);
  EXPECT_EQ(count(skeleton(find(one, &none).graph)), 0);
  const Dataset flat{{"a", "b"}, Matrix::Constant(50, 2, 3.0)};
  const CausalGraphResult result = find(flat, &both);
  EXPECT_EQ(count(skeleton(result.graph)), 0);
  EXPECT_THAT(result.warnings, testing::Not(IsEmpty()));
  EXPECT_EQ(parse_graph(to_json(result, {}), "r").adjacency, ByteMatrix::Zero(2, 2));
}

TEST(CausalGraphOfOddTables, MissingAndInfiniteCellsAllowNoAnswerWhereTheMethodCannot) {
  const ByteMatrix links = all_pairs(4);
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    Dataset data = curved();
    data.values(17, c) = bad;
    for (const char* each : kMethods) {
      if (std::isnan(bad) && graph_methods().at(each).can.handles_missing_cells) continue;
      EXPECT_THROW(find(data, &links, method(each)), DataError) << each;
      EXPECT_THROW(find(data, nullptr, method(each)), DataError) << each;
    }
  }
}

TEST(CausalGraphOfOddTables, MissingCellsAreDrawn) {
  const ByteMatrix links = all_pairs(4);
  Dataset data = curved();
  for (Index row = 0; row < 20; ++row) data.values(row, row % 4) = std::nan("");
  const CausalGraphResult result = find(data, &links);
  EXPECT_EQ(result.graph.directed, truth().adjacency());
  EXPECT_EQ(detail(result, "draws"), Value(std::int64_t{5}));
  EXPECT_THAT(result.how, HasSubstr("5 draws of the missing cells"));
  EXPECT_EQ(result.weights, find(data, &links).weights);
}

TEST(CausalGraphOfOddTables, LevelsAreWarnedOfAndTheirDirectionsRestOnColliders) {
  Random random(Key{3});
  Dataset data{{"dose", "sex", "ill"}, Matrix(500, 3)};
  for (auto row : data.values.rowwise()) {
    const double dose = random.normal(), sex = random.coin() ? 1 : 0;
    row << dose, sex, random.uniform() < 1 / (1 + std::exp(-2 * dose - 3 * sex + 1.5)) ? 1 : 0;
  }
  const ByteMatrix links = all_pairs(3);
  const CausalGraphResult result = find(data, &links);
  EXPECT_EQ(result.graph.directed, Dag(3, {{0, 2}, {1, 2}}).adjacency());
  EXPECT_THAT(result.warnings, Contains(AllOf(HasSubstr("'sex'"), HasSubstr("'ill'"), HasSubstr("are discrete"),
                                              HasSubstr("colliders and knowledge"))));
  EXPECT_FALSE(result.additivity->applicable);
  const Json json = Json::parse(to_json(result, {}));
  EXPECT_TRUE(json.at("additivity").at("additive").is_null());
  EXPECT_EQ(json.at("additivity").at("tested"), 0);
}

// ---- As published ---------------------------------------------------------------------------------------------------

TEST(CausalGraphAsPublished, TheSecondStageStaysInsideTheLinksWithoutCycles) {
  ByteMatrix links = truth().moral_graph();
  links(a, c) = links(c, a) = 0;
  const Dataset table = in_order(curved(), content_order(curved()));  // as the method has it
  const CausalGraphResult result = find(table, &links, method("fansite-dcd"));
  EXPECT_FALSE(result.additivity.has_value());
  EXPECT_THAT(result.edges, IsEmpty());
  EXPECT_EQ(detail(result, "epochs_taken"), Value(std::int64_t{30}));
  NoProgress progress;
  const causal::DifferentiableResult stage = causal::fansite_dcd(
      table.values, links, method("fansite-dcd").options.as<causal::FansiteDcdParams>().networks, progress);
  EXPECT_EQ(stage.first.epochs, 0);
  EXPECT_EQ(stage.second.epochs, 30);
  EXPECT_EQ(result.weights, stage.weights);
  EXPECT_GT(count(result.graph.directed), 0);
  EXPECT_EQ(count(result.graph.undirected), 0);
  EXPECT_THAT(find_cycle(result.graph.directed), IsEmpty());
  EXPECT_EQ(result.graph.directed.cwiseMin(links), result.graph.directed);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_TRUE(links(i, j) || result.weights(i, j) == 0) << i << " " << j;
  }
}

TEST(CausalGraphAsPublished, TheSecondStageFindsBoundariesIfNoneAreGiven) {
  const CausalGraphResult result = find(chain(), nullptr, method("fansite-dcd"));
  ASSERT_TRUE(result.boundaries.has_value());
  EXPECT_EQ(result.links, Dag(4, {{a, b}, {b, c}}).moral_graph());
  EXPECT_EQ(skeleton(result.graph).cwiseMin(result.links), skeleton(result.graph));
}

TEST(CausalGraphAsPublished, BothStagesNeedNoLinksAndMakeNoCycles) {
  const Dataset table = in_order(curved(), content_order(curved()));  // as the method has it
  const CausalGraphResult result = find(table, nullptr, method("sdcd"));
  EXPECT_FALSE(result.boundaries.has_value());
  NoProgress progress;
  const causal::DifferentiableResult stages =
      causal::sdcd(table.values, method("sdcd").options.as<causal::SdcdParams>().networks, progress);
  EXPECT_EQ(stages.first.epochs, 30);
  EXPECT_EQ(detail(result, "epochs_taken"), Value(std::int64_t{stages.second.epochs}));
  EXPECT_EQ(result.weights, stages.weights);
  EXPECT_EQ(result.links, all_pairs(4));
  EXPECT_GT(count(result.graph.directed), 0);
  EXPECT_THAT(find_cycle(result.graph.directed), IsEmpty());
  EXPECT_EQ(result.graph.directed.cwiseMin(stages.mask), result.graph.directed);
}

TEST(CausalGraphAsPublished, AnotherSeedGivesOtherWeights) {
  CausalGraphParams params = method("sdcd");
  const Matrix first = find(curved(), nullptr, params).weights;
  params.run.seed = 1;
  EXPECT_NE(first, find(curved(), nullptr, params).weights);
}

// ---- Calls that are wrong -------------------------------------------------------------------------------------------

TEST(CausalGraphCalls, MethodsHaveNamesAndBack) {
  EXPECT_TRUE(CausalGraphParams("fansite-anm").options.holds<causal::FansiteAnmParams>());
  EXPECT_TRUE(CausalGraphParams("fansite-dcd").options.holds<causal::FansiteDcdParams>());
  EXPECT_TRUE(CausalGraphParams("sdcd").options.holds<causal::SdcdParams>());
  for (const char* each : kMethods) {
    EXPECT_EQ(graph_methods().at(each).name, each);
    EXPECT_EQ(CausalGraphParams(each).method, each);
  }
  for (const char* unknown : {"", "SDCD", "fansite", "sdcd "}) {
    EXPECT_THAT(message_of<UsageError>([&] { CausalGraphParams{unknown}; }),
                AllOf(HasSubstr(unknown), HasSubstr(either(graph_methods().names()))));
  }
}

TEST(CausalGraphCalls, LinksOfAnotherSizeAreRefused) {
  for (const auto& [rows, columns] : {std::pair(3, 3), std::pair(5, 5), std::pair(4, 3), std::pair(3, 4)}) {
    const ByteMatrix links = ByteMatrix::Ones(rows, columns);
    for (const char* each : {"fansite-anm", "fansite-dcd"}) {
      EXPECT_THAT(message_of<UsageError>([&] { find(curved(), &links, method(each)); }), HasSubstr("for a table of 4"));
    }
  }
}

// Boundaries may take hours.
TEST(CausalGraphCalls, BlocksThatDoNotFitAreRefusedBeforeTheBoundaries) {
  Dataset data = curved();
  for (int row = 0; row < 300; ++row) data.groups.push_back(row / 3);
  class Idle final : public Progress {
   public:
    void begin(std::string_view stage, long) override { ADD_FAILURE() << stage; }
    void advance(long) override {}
    bool interrupted() const override { return false; }
  } progress;
  CausalGraphParams params;
  params.options.set("graph_block", std::string("5"));
  EXPECT_THAT(message_of<Error>([&] { causal_graph(data, nullptr, {}, params, progress); }),
              HasSubstr("rows are in groups already"));
}

TEST(CausalGraphCalls, StopWhenAsked) {
  const ByteMatrix links = all_pairs(4);
  Impatient progress;
  for (const char* each : kMethods) {
    EXPECT_THROW(causal_graph(curved(), &links, {}, method(each), progress), Interrupted) << each;
  }
  EXPECT_THROW(causal_graph(chain(), nullptr, {}, method(), progress), Interrupted);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

TEST(CausalGraphJson, ReadsBackAsTheSameGraph) {
  const ByteMatrix links = all_pairs(4);
  for (const char* each : kMethods) {
    const CausalGraphResult result = find(curved(), &links, method(each));
    const SavedGraph saved = parse_graph(to_json(result, {}), "here");
    EXPECT_EQ(saved.names, result.names);
    EXPECT_GT(count(saved.adjacency), 0);
    EXPECT_EQ(saved.adjacency, result.graph.directed + result.graph.undirected) << each;
  }
}

TEST(CausalGraphJson, AnUndecidedEdgeHasBothEntries) {
  CausalGraphParams params = method();
  const CausalGraphResult open = find(chain(), nullptr, params);
  ASSERT_EQ(count(open.graph.undirected), 4);
  EXPECT_EQ(parse_graph(to_json(open, {}), "here").adjacency, open.graph.undirected);
  const Json json = Json::parse(to_json(open, {}));
  ASSERT_EQ(json.at("edges").size(), 2u);
  for (const Json& edge : json.at("edges")) {
    EXPECT_EQ(edge.at("directed"), false);
    EXPECT_EQ(edge.at("direction_by"), "undecided");
    const double stability = edge.at("direction").at("stability"), existence = edge.at("existence").at("value");
    EXPECT_NEAR(edge.at("weight"), stability * existence, 1e-12);
  }
  EXPECT_EQ(json.at("roles").at(b).at("members").at(0), Json::parse(R"({"name": "a", "role": "undecided"})"));
  params.options.as<causal::FansiteAnmParams>().dag = true;
  const CausalGraphResult forced = find(chain(), nullptr, params);
  EXPECT_EQ(parse_graph(to_json(forced, {}), "here").adjacency, forced.graph.directed);
  EXPECT_EQ(Json::parse(to_json(forced, {})).at("settings").at("dag"), true);
}

TEST(CausalGraphJson, HasEveryFieldOfTheFormat) {
  CausalGraphParams params = method();
  params.run.seed = 5;
  const Dataset data = with_column(curved(), "flat", Vector::Constant(300, 7));
  const ByteMatrix links = all_pairs(5);
  const CausalGraphResult result = find(data, &links, params);
  RunTiming timing;
  timing.total_seconds = 1.5;
  timing.peak_memory_mb = 12;
  timing.threads = 2;
  const Json json = Json::parse(to_json(result, timing));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("format", "version", "variables", "rows", "settings", "warnings", "manifest",
                                         "complete", "additivity", "details", "hidden_causes", "links", "edges",
                                         "roles", "weights", "timing"));
  EXPECT_EQ(json.at("links").size(), 10u);
  EXPECT_EQ(json.at("format"), "fansite.graph/2");
  EXPECT_EQ(result_format(to_json(result, timing), "here"), "fansite.graph/2");
  EXPECT_EQ(json.at("variables"), Json(data.names));
  EXPECT_EQ(json.at("rows"), 300);
  EXPECT_EQ(json.at("details").at("rows_used"), 300);
  EXPECT_EQ(json.at("settings").at("method"), "fansite-anm");
  EXPECT_EQ(json.at("settings").at("seed"), 5);
  EXPECT_EQ(json.at("warnings").size(), 1u);
  EXPECT_EQ(json.at("additivity").at("additive"), true);
  EXPECT_GT(json.at("additivity").at("p_value"), 0.01);
  EXPECT_TRUE(json.at("additivity").at("child").is_string());
  EXPECT_TRUE(json.at("additivity").at("parent").is_string());
  EXPECT_GT(json.at("details").at("fits"), 0);
  EXPECT_TRUE(json.at("details").at("score").is_number());

  ASSERT_EQ(json.at("edges").size(), 4u);
  for (const Json& edge : json.at("edges")) {
    for (const char* evidence : {"existence", "direction"}) {
      EXPECT_GT(edge.at(evidence).at("value"), 0.0);
      EXPECT_GT(edge.at(evidence).at("se"), 0.0);
      EXPECT_LE(edge.at(evidence).at("stability"), 1.0);
    }
    EXPECT_EQ(edge.at("directed"), true);
    EXPECT_EQ(edge.at("weight"), edge.at("existence").at("value"));
    EXPECT_THAT(edge.at("direction_by"), testing::AnyOf("score", "collider", "consequence"));
  }
  EXPECT_EQ(json.at("edges").at(0).at("from"), "a");
  EXPECT_EQ(json.at("edges").at(0).at("to"), "b");

  ASSERT_EQ(json.at("weights").size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(json.at("weights").at(i).size(), 5u);
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_EQ(json.at("weights").at(i).at(j), result.weights(static_cast<Index>(i), static_cast<Index>(j)));
    }
  }
  ASSERT_EQ(json.at("roles").size(), 5u);
  EXPECT_EQ(json.at("roles").at(a), Json::parse(R"({"target": "a", "members": [
      {"name": "b", "role": "child"}, {"name": "c", "role": "spouse", "through": ["d"]},
      {"name": "d", "role": "child"}]})"));
  EXPECT_EQ(json.at("roles").at(4), Json::parse(R"({"target": "flat", "members": []})"));
  const Json& times = json.at("timing");
  EXPECT_GT(times.at("graph_seconds"), 0.0);
  EXPECT_EQ(times.at("boundary_seconds"), 0.0);
  EXPECT_EQ(times.at("total_seconds"), 1.5);
  EXPECT_EQ(times.at("peak_memory_mb"), 12.0);
  EXPECT_EQ(times.at("threads"), 2);
}

TEST(CausalGraphJson, WhatIsCertainIsNullAndNotANumber) {
  const Json json = Json::parse(to_json(find_satisfying("require a -> b"), {}));
  const Json& edge = json.at("edges").at(0);
  EXPECT_EQ(edge.at("direction_by"), "knowledge");
  EXPECT_TRUE(edge.at("direction").at("value").is_null());
  EXPECT_EQ(edge.at("direction").at("stability"), 1.0);
}

TEST(CausalGraphJson, OfNetworksHasTheirSettingsAndNoEvidence) {
  const CausalGraphResult result = find(curved(), nullptr, method("sdcd"));
  const Json json = Json::parse(to_json(result, {}));
  EXPECT_EQ(json.at("settings").at("method"), "sdcd");
  EXPECT_EQ(json.at("settings").at("first_epochs"), 30);
  EXPECT_EQ(json.at("settings").at("threshold"), 0.01);
  EXPECT_FALSE(json.contains("additivity"));
  for (const Json& edge : json.at("edges")) {
    EXPECT_EQ(edge.at("directed"), true);
    EXPECT_GE(edge.at("weight"), 0.01);
    EXPECT_FALSE(edge.contains("existence"));
  }
}

}  // namespace
}  // namespace fansite
