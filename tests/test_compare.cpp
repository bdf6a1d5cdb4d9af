// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "fansite/base/file.h"
#include "fansite/base/stopwatch.h"
#include "fansite/graph/metrics.h"
#include "fansite/report/compare_report.h"
#include "fansite/run/compare_summary.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- Methods that only a test wants ---------------------------------------------------------------------------------

BoundaryAnswer empty_answer(const BoundaryProblem& problem) {
  BoundaryAnswer answer;
  for (const int target : problem.targets.searched) answer.found.boundaries.emplace_back().target = target;
  return answer;
}

int endless_runs = 0;
bool endless_ends = false;

void add_toys() {
  static const bool added = [] {
    BoundaryMethod endless;
    endless.name = "endless";
    endless.run = [](const BoundaryProblem& problem, const Parameters&) {
      ++endless_runs;
      while (!endless_ends) {
        throw_if_interrupted(problem.context.progress());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return empty_answer(problem);
    };
    boundary_methods().add(endless);
    BoundaryMethod broken;
    broken.name = "broken";
    broken.run = [](const BoundaryProblem&, const Parameters&) -> BoundaryAnswer { throw std::runtime_error("oh no"); };
    boundary_methods().add(broken);
    BoundaryMethod first;  // its answer is decided by the order of the columns alone
    first.name = "first-column";
    first.can.keeps_table_order = true;
    first.run = [](const BoundaryProblem& problem, const Parameters&) {
      BoundaryAnswer answer = empty_answer(problem);
      for (Boundary& boundary : answer.found.boundaries) {
        if (boundary.target != 0) boundary.members.emplace_back().variable = 0;
      }
      return answer;
    };
    boundary_methods().add(first);
    return true;
  }();
  EXPECT_TRUE(added);
}

class Compare : public testing::Test {
 protected:
  void SetUp() override {
    add_toys();
    endless_runs = 0;
    endless_ends = false;
  }
  ComparedTables table(bool with_truth = true) const {
    ComparedTables tables;
    tables.data = &made_.data;
    if (with_truth) tables.truth = made_.dag;
    return tables;
  }
  static CompareParams params(std::vector<std::string> methods, int orders = 1, double limit = 60) {
    CompareParams params;
    params.methods = std::move(methods);
    params.orders = orders;
    params.limit = limit;
    return params;
  }
  Simulation made_ = simulate_linear(8, 1, 400, 3);
};

std::vector<std::string> labels(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const ComparedMethod& method : compared_methods(words)) names.push_back(method.label);
  return names;
}

// ---- Names ----------------------------------------------------------------------------------------------------------

TEST_F(Compare, NamesStandForMethodsOfTheLists) {
  EXPECT_THAT(labels({"paper-mb"}), ElementsAre("fansite", "tc", "iamb", "eemb", "s2tmb", "kmb", "dat-moral"));
  EXPECT_EQ(labels({"all"}), boundary_methods().names());
  EXPECT_EQ(labels({"all-dag"}), graph_methods().names());
  EXPECT_EQ(labels({"sdcd", "all"}).size(), graph_methods().names().size());
  EXPECT_EQ(compared_methods({"paper-dag"}).front().kind, CompareKind::graph);
  EXPECT_THAT(labels({"iamb", "iamb:alpha=0.001"}), ElementsAre("iamb", "iamb:alpha=0.001"));
}

TEST_F(Compare, OptionsAreThoseOfTheMethod) {
  const ComparedMethod method = compared_methods({"iamb:alpha=0.001"}).front();
  EXPECT_EQ(method.method(), "iamb");
  EXPECT_EQ(std::get<double>(method.boundaries.options.get("alpha")), 0.001);
  const ComparedMethod graph = compared_methods({"fansite-anm:boundary-method=tc:alpha=0.002"}).front();
  EXPECT_EQ(graph.graph.boundaries.method, "tc");
  EXPECT_EQ(std::get<double>(graph.graph.boundaries.options.get("alpha")), 0.002);
}

TEST_F(Compare, WrongNamesAreOneSentence) {
  const auto sentence = [](std::vector<std::string> words) {
    return message_of<ParameterError>([&] { compared_methods(words); });
  };
  EXPECT_THAT(sentence({"imab"}), HasSubstr("'imab' is unknown; did you mean 'iamb'?"));
  EXPECT_THAT(sentence({"iamb", "sdcd"}), HasSubstr("iamb finds boundaries and sdcd a graph"));
  EXPECT_THAT(sentence({"iamb", "iamb"}), HasSubstr("iamb is named twice"));
  EXPECT_THAT(sentence({"iamb:alpha=2"}), HasSubstr("alpha: 2 is out of range"));
  EXPECT_THAT(sentence({"iamb:alhpa=0.1"}), HasSubstr("did you mean 'alpha'?"));
  EXPECT_THAT(sentence({}), HasSubstr("none are named"));
  EXPECT_THAT(message_of<UsageError>([] { compared_methods({"iamb:alpha"}); }), HasSubstr("iamb:KEY=VALUE"));
}

// ---- Cells ----------------------------------------------------------------------------------------------------------

TEST_F(Compare, ScoresAreThoseOfTheMetrics) {
  const CompareResult result = compare(table(), params({"iamb"}));
  ASSERT_EQ(result.cells.size(), 1u);
  std::vector<std::vector<int>> found, expected;
  for (const Boundary& boundary : markov_boundaries(made_.data, BoundariesParams("iamb")).found.boundaries) {
    found.push_back(boundary.member_indices());
    expected.push_back(made_.dag.markov_boundary(boundary.target));
  }
  EXPECT_EQ(result.cells[0].found, found);
  const BoundariesScore score = score_boundaries(found, expected);
  EXPECT_THAT(result.cells[0].scores, ElementsAre(score.mean.ndcg, score.mean.average_precision, score.mean.f1,
                                                  score.mean.precision, score.mean.recall, score.false_discovery_rate));
  EXPECT_EQ(summaries(result)[0].scores[2].mean, score.mean.f1);
}

TEST_F(Compare, GraphsAreScoredAsGraphs) {
  const CompareResult result = compare(table(), params({"fansite-anm:boundary-method=iamb"}, 2));
  CausalGraphParams own("fansite-anm");
  own.boundaries = BoundariesParams("iamb");
  NoProgress silent;
  const PartialDag graph = causal_graph(made_.data, nullptr, Knowledge(), own, silent).graph;
  const GraphScore score = score_graph(graph.directed + graph.undirected, made_.dag.adjacency());
  EXPECT_EQ(result.cells[0].scores[0], score.shd);
  EXPECT_EQ(result.cells[0].scores[3], score.skeleton_f1);
  EXPECT_EQ(same_directions(result)(0, 0), 1.0);
}

TEST_F(Compare, AnswersAreInTheColumnsOfTheTable) {
  const CompareResult result = compare(table(false), params({"iamb", "first-column"}, 4));
  ASSERT_EQ(result.cells.size(), 8u);
  std::set<std::vector<std::vector<int>>> iamb, first;
  for (const CompareCell& cell : result.cells) {
    (cell.method == 0 ? iamb : first).insert(cell.found);
    EXPECT_THAT(cell.scores, IsEmpty());
  }
  EXPECT_EQ(iamb.size(), 1u);  // a sharp table, whatever the order
  EXPECT_GT(first.size(), 1u);
  const std::vector<MethodSummary> all = summaries(result);
  EXPECT_EQ(all[0].over_orders, 1.0);
  EXPECT_LT(*all[1].over_orders, 1.0);
}

TEST_F(Compare, TheLimitStopsWhatDoesNotEnd) {
  const Stopwatch watch;
  const CompareResult result = compare(table(), params({"endless", "iamb"}, 1, 0.05));
  EXPECT_LT(watch.seconds(), 5);
  ASSERT_EQ(result.cells.size(), 2u);
  EXPECT_EQ(result.cells[0].status, CellStatus::timeout);
  EXPECT_GE(result.cells[0].seconds, 0.05);
  EXPECT_THAT(result.cells[0].found, IsEmpty());
  EXPECT_EQ(result.cells[1].status, CellStatus::done);
  EXPECT_THAT(comparison_lines(result)[1], HasSubstr("–"));
  EXPECT_THAT(comparison_lines(result)[1], HasSubstr("1 out of time"));
  EXPECT_TRUE(std::isnan(overlaps(result)(0, 1)));
}

TEST_F(Compare, WhoRefusesOrFailsSaysWhyAndTheOthersGoOn) {
  Dataset holes = made_.data;
  holes.values(3, 2) = std::nan("");
  ComparedTables tables;
  tables.data = &holes;
  const CompareResult result = compare(tables, params({"kmb", "broken", "fansite"}));
  EXPECT_EQ(result.cells[0].status, CellStatus::refused);
  EXPECT_THAT(result.cells[0].reason, HasSubstr("missing cells, which kmb cannot use"));
  EXPECT_EQ(result.cells[1].status, CellStatus::refused);  // it claims nothing about missing cells either
  EXPECT_EQ(result.cells[2].status, CellStatus::done);
  EXPECT_THAT(reasons(result)[0], HasSubstr("kmb: [mb] the table has missing cells"));
  const CompareResult whole = compare(table(), params({"broken", "tc"}));
  EXPECT_EQ(whole.cells[0].status, CellStatus::failed);
  EXPECT_EQ(whole.cells[0].reason, "oh no");
  EXPECT_EQ(whole.cells[1].status, CellStatus::done);
}

TEST_F(Compare, SimulatedTablesHaveASeedEach) {
  ComparedTables tables;
  tables.setting.nodes = 6;
  tables.setting.rows = 200;
  tables.seeds = {4, 9};
  const CompareResult result = compare(tables, params({"tc"}, 2));
  ASSERT_EQ(result.cells.size(), 4u);
  EXPECT_EQ(result.tables[1].seed, 9u);
  EXPECT_EQ(result.tables[1].hash, hash_of(simulate_linear(6, 1, 200, 9).data));
  EXPECT_FALSE(result.cells[3].scores.empty());
}

// ---- Agreement ------------------------------------------------------------------------------------------------------

// Of answers that are made up: two variables and their neighbours.
CompareResult made_up(CompareKind kind, const std::vector<std::vector<std::vector<int>>>& answers) {
  CompareResult result;
  result.kind = kind;
  result.params.orders = 1;
  result.expected_tables = 1;
  result.tables.resize(1);
  result.names = {"a", "b", "c"};
  for (std::size_t m = 0; m < answers.size(); ++m) {
    ComparedMethod method;
    method.label = fmt::format("m{}", m);
    method.kind = kind;
    result.methods.push_back(method);
    CompareCell cell;
    cell.method = static_cast<int>(m);
    cell.found = answers[m];
    result.cells.push_back(cell);
  }
  return result;
}

TEST_F(Compare, OverlapIsTheShareOfPairsInCommon) {
  const CompareResult result =
      made_up(CompareKind::boundaries, {{{1, 2}, {0}, {}}, {{1}, {0}, {}}, {{1, 2}, {0}, {}}, {{}, {}, {}}});
  const Matrix overlap = overlaps(result);
  EXPECT_EQ(overlap(0, 2), 1.0);  // the same answer
  EXPECT_DOUBLE_EQ(overlap(0, 1), 2.0 / 3);
  EXPECT_EQ(overlap(0, 3), 0.0);
  EXPECT_EQ(overlap(3, 3), 1.0);
  EXPECT_TRUE(overlap.isApprox(overlap.transpose()));
}

TEST_F(Compare, DirectionsAreComparedWhereBothHaveTheLink) {
  const CompareResult result =
      made_up(CompareKind::graph, {{{1}, {2}, {}}, {{1}, {}, {1}}, {{1}, {0}, {}}});  // a→b→c, a→b←c, a–b
  EXPECT_EQ(overlaps(result)(0, 1), 1.0);
  EXPECT_DOUBLE_EQ(same_directions(result)(0, 1), 0.5);
  EXPECT_EQ(same_directions(result)(0, 2), 0.0);  // open there, decided here
}

TEST_F(Compare, WhatOneAloneClaimsIsListed) {
  CompareResult result = made_up(CompareKind::boundaries, {{{1, 2}, {0}, {}}, {{1}, {0}, {1}}});
  result.tables[0].truth = Dag(3, {{0, 2}});
  const std::vector<AloneClaims> alone = alone_claims(result);
  EXPECT_THAT(alone[0].of_table, ElementsAre(std::pair(0, 2)));
  EXPECT_THAT(alone[1].of_table, ElementsAre(std::pair(2, 1)));
  EXPECT_EQ(alone[0].true_pairs, 1);
  EXPECT_EQ(alone[1].true_pairs, 0);
}

// ---- Kept and gone on from ------------------------------------------------------------------------------------------

std::string without_timing(const std::string& json) { return json.substr(0, json.find("\"timing\"")); }

class StopsAfter final : public Progress {
 public:
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return stop; }
  bool stop = false;
};

class StopsAt final : public CompareWatcher {
 public:
  StopsAt(StopsAfter& progress, std::size_t cells) : progress_(progress), cells_(cells) {}
  void ended(const CompareResult& so_far) override { progress_.stop = so_far.cells.size() >= cells_; }

 private:
  StopsAfter& progress_;
  std::size_t cells_;
};

class CompareFile : public Compare {
 protected:
  void SetUp() override {
    Compare::SetUp();
    file_ = testing::TempDir() + "compare.checkpoint";
    std::filesystem::remove(file_);
  }
  void TearDown() override { std::filesystem::remove(file_); }
  CompareResult with_file(const CompareParams& how) const {
    NoProgress silent;
    CompareWatcher nobody;
    return compare_with_file(table(), how, file_, "", silent, nobody);
  }
  void interrupt(const CompareParams& how, std::size_t cells) const {
    StopsAfter progress;
    StopsAt watcher(progress, cells);
    EXPECT_THROW(compare_with_file(table(), how, file_, "", progress, watcher), Interrupted);
  }
  std::string file_;
};

TEST_F(CompareFile, AnInterruptedComparisonGoesOnWithWhatIsMissing) {
  const CompareParams how = params({"iamb", "first-column", "fansite"}, 3);
  const std::string whole = to_json(compare(table(), how), {});
  interrupt(how, 4);
  const nlohmann::json kept = nlohmann::json::parse(FileView(file_).bytes());
  EXPECT_EQ(kept["complete"], false);
  EXPECT_EQ(kept["cells"].size(), 4u);
  EXPECT_EQ(kept["unfinished"], "5 of 9 cells are missing");
  EXPECT_EQ(without_timing(to_json(with_file(how), {})), without_timing(whole));
}

TEST_F(CompareFile, CellsThatAreThereAreNotRunAgain) {
  const CompareParams how = params({"endless", "tc"}, 1, 0.02);
  with_file(how);
  EXPECT_EQ(endless_runs, 1);
  const CompareResult more_methods = with_file(params({"endless", "tc", "iamb"}, 1, 0.02));
  EXPECT_EQ(endless_runs, 1);
  EXPECT_EQ(more_methods.cells.size(), 3u);
  endless_ends = true;  // and has more time
  EXPECT_EQ(with_file(params({"endless"}, 1, 30)).cells[0].status, CellStatus::done);
  EXPECT_EQ(endless_runs, 2);
}

TEST_F(CompareFile, AnotherTableIsRefused) {
  with_file(params({"tc"}));
  const auto refusal = [&](const CompareParams& how) { return message_of<DataError>([&] { with_file(how); }); };
  CompareParams other_seed = params({"tc"});
  other_seed.seed = 5;
  EXPECT_THAT(refusal(other_seed), HasSubstr("is of seed 0"));
  made_.data.values(0, 0) += 1;
  EXPECT_THAT(refusal(params({"tc"})), HasSubstr("is of another table"));
  std::ofstream(file_) << "{\"format\": \"fansite.graph/2\"}";
  EXPECT_THAT(refusal(params({"tc"})), HasSubstr("no comparison of methods"));
  nlohmann::json short_of_times = nlohmann::json::parse(to_json(compare(table(), params({"tc"})), {}));
  short_of_times["timing"]["cell_seconds"].clear();
  std::ofstream(file_) << short_of_times;
  EXPECT_THAT(refusal(params({"tc"})), HasSubstr("lacks a field"));
  short_of_times["cells"][0]["found"][0] = {99};
  std::ofstream(file_) << short_of_times;
  EXPECT_THAT(refusal(params({"tc"})), HasSubstr("names variables that it does not have"));
  std::ofstream(file_) << "not JSON";
  EXPECT_THAT(refusal(params({"tc"})), HasSubstr("not a JSON result"));
}

// ---- Truth ----------------------------------------------------------------------------------------------------------

TEST_F(Compare, TheTruthIsMatchedByName) {
  const NamedDag truth = {{"c", "a", "b"}, Dag(3, {{0, 1}})};  // c → a
  EXPECT_TRUE(truth_in_columns(truth, {"a", "b", "c"}, "t.csv").has_edge(2, 0));
  EXPECT_TRUE(truth_in_columns(truth, {"a", "b", "c"}, "t.npz", true).has_edge(0, 1));
  EXPECT_THAT(message_of<DataError>([&] {
                truth_in_columns(truth, {"a", "b", "d"}, "t.csv");
              }),
              HasSubstr("the table has no variable 'c', which t.csv has"));
  EXPECT_THAT(message_of<DataError>([&] {
                truth_in_columns(truth, {"a", "b"}, "t.csv");
              }),
              HasSubstr("the table has 2 variables and t.csv has 3"));
}

TEST_F(Compare, ATruthWithoutEdgesIsRefused) {
  ComparedTables tables = table();
  tables.truth = Dag(8, {});
  EXPECT_THAT(message_of<DataError>([&] { compare(tables, params({"tc"})); }), HasSubstr("the truth has no edge"));
}

// ---- CSV ------------------------------------------------------------------------------------------------------------

TEST_F(Compare, CsvHasARowForEachCell) {
  const std::string csv = to_csv(compare(table(), params({"broken", "tc"}, 2)));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_TRUE(csv.starts_with("order,method,status,seconds,peak_memory_mb,pairs,nDCG,")) << csv;
  EXPECT_THAT(csv, HasSubstr("0,\"broken\",failed,"));
  EXPECT_THAT(csv, HasSubstr(",\"oh no\"\n"));
}

}  // namespace
}  // namespace fansite
