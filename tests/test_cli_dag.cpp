// SPDX-License-Identifier: Apache-2.0
//
// fansite dag on small tables, as its users run it. What is found is in test_causal_graph.cpp; here it is what is said,
// written and refused.
#include <fmt/core.h>

#include <set>

#include "fansite/base/random.h"
#include "fansite/table/dataset.h"
#include "program.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

/// A curved table with known truth in s/, and its boundaries in b.json.
class DagTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--sem", "gp", "--nodes", "6", "--rows", "300", "--seed", "5", "--out", "s", "--quiet"});
    works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "b.json", "--quiet"});
  }

  static Strings dag(const Strings& more = {}) {
    Strings words = {"dag", "s/data.csv", "--boundaries", "b.json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Linear and Gaussian, so that directions are left open.
  void simulate_linear() const {
    works({"simulate", "--nodes", "6", "--rows", "300", "--seed", "5", "--out", "linear", "--quiet"});
  }
};

/// "x1 → x2", or "x1 – x2" in the order of names.
std::set<std::string> edges_of(const Json& result) {
  std::set<std::string> edges;
  for (const Json& edge : result.at("edges")) {
    std::string from = edge.at("from"), to = edge.at("to");
    const bool directed = edge.at("directed");
    if (!directed && to < from) std::swap(from, to);
    edges.insert(from + (directed ? " → " : " – ") + to);
  }
  return edges;
}

/// Pairs of names, each in order.
std::set<std::string> links_of(const Json& result) {
  std::set<std::string> links;
  for (const Json& edge : result.at("edges")) {
    const std::string from = edge.at("from"), to = edge.at("to");
    links.insert(std::min(from, to) + " – " + std::max(from, to));
  }
  return links;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// ---- What is written ------------------------------------------------------------------------------------------------

TEST_F(DagTest, WritesTheGraphInFourForms) {
  const Outcome outcome = works(dag({"--out", "g.json", "--graphml", "g.graphml", "--dot", "g.dot", "--csv", "g.csv"}));
  EXPECT_EQ(outcome.out, "");
  const Json result = json("g.json");
  EXPECT_EQ(result.at("format"), "fansite.graph/2");
  EXPECT_EQ(result.at("settings").at("method"), "fansite-anm");
  EXPECT_EQ(result.at("rows"), 300);
  const std::size_t count = result.at("edges").size();
  ASSERT_GE(count, 4u);
  const std::string graphml = content("g.graphml"), dot = content("g.dot"), csv = content("g.csv");
  EXPECT_THAT(graphml, HasSubstr("<graphml"));
  EXPECT_EQ(occurrences(graphml, "<edge "), count);
  EXPECT_THAT(dot, HasSubstr("digraph"));
  EXPECT_EQ(occurrences(dot, " -> "), count);
  EXPECT_TRUE(csv.starts_with("x1,x2,x3,x4,x5,x6\n"));
  std::size_t undirected = 0;
  for (const Json& edge : result.at("edges")) {
    const std::string from = edge.at("from"), to = edge.at("to");
    EXPECT_THAT(graphml, HasSubstr("source=\"" + from + "\" target=\"" + to + "\""));
    EXPECT_THAT(dot, HasSubstr("\"" + from + "\" -> \"" + to + "\""));
    undirected += !edge.at("directed");
  }
  EXPECT_EQ(occurrences(csv.substr(csv.find('\n')), "1"), count + undirected);
}

TEST_F(DagTest, WritesToStandardOutputIfNoFileIsNamed) {
  const Json result = works(dag({"--quiet"})).json();
  works(dag({"--quiet", "--out", "g.json"}));
  EXPECT_EQ(result.at("edges"), json("g.json").at("edges"));
}

TEST_F(DagTest, SaysWhatWasFound) {
  const Outcome outcome = works(dag({"--out", "g.json"}));
  EXPECT_THAT(outcome.err, ContainsRegex("[0-9]+ edges of 300 rows × 6 variables in .* of undecided direction:\n"));
  EXPECT_THAT(outcome.err, ContainsRegex("  x[1-6] → x[1-6]   [0-9.]+ nats, direction "));
  EXPECT_THAT(outcome.err, ContainsRegex("fansite-anm; .*additive noise.*[0-9]+ regressions; [0-9]+ MB\n"));
  EXPECT_THAT(outcome.err, HasSubstr("written to g.json"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));
  EXPECT_EQ(works(dag({"--out", "g.json", "--quiet"})).err, "");
}

TEST_F(DagTest, IsEvaluated) {
  works(dag({"--out", "g.json", "--csv", "g.csv", "--dag", "--quiet"}));
  const std::string text = works({"eval", "g.json", "--truth", "s/dag.csv"}).out;
  EXPECT_THAT(text, ContainsRegex("SHD +[0-9]+\n"));
  EXPECT_THAT(text, ContainsRegex("AUC-PR +[0-9]+\\.[0-9][0-9]\n"));
  const Json scores = works({"eval", "g.json", "--truth", "s/dag.csv", "--json"}).json();
  EXPECT_LE(scores.at("SHD"), 2);  // of 6 edges
  EXPECT_EQ(works({"eval", "g.csv", "--truth", "s/dag.csv"}).out, text);
}

TEST_F(DagTest, AMatrixWithUndecidedEdgesIsEvaluatedLikeItsJson) {
  simulate_linear();
  works({"dag", "linear/data.csv", "--estimator", "gaussian", "--out", "g.json", "--csv", "g.csv", "--quiet"});
  ASSERT_LT(links_of(json("g.json")).size(), occurrences(content("g.csv").substr(18), "1"));
  const std::string text = works({"eval", "g.json", "--truth", "linear/dag.csv"}).out;
  EXPECT_EQ(works({"eval", "g.csv", "--truth", "linear/dag.csv"}).out, text);
}

TEST_F(DagTest, ADirectionForEveryEdgeIfAskedFor) {
  simulate_linear();
  const Strings words = {"dag", "linear/data.csv", "--estimator", "gaussian", "--quiet"};
  const Json open = works(words).json();
  Strings forced_words = words;
  forced_words.insert(forced_words.end(), {"--dag", "--dot", "g.dot"});
  const Json forced = works(forced_words).json();
  EXPECT_EQ(open.at("settings").at("dag"), false);
  EXPECT_EQ(forced.at("settings").at("dag"), true);
  EXPECT_THAT(edges_of(open), testing::Contains(HasSubstr(" – ")));
  EXPECT_THAT(edges_of(forced), testing::Each(HasSubstr(" → ")));
  EXPECT_EQ(links_of(forced), links_of(open));
  EXPECT_THAT(content("g.dot"), Not(HasSubstr("dir=none")));
}

TEST_F(DagTest, FindsBoundariesFirstIfNoneAreGiven) {
  const Json found = works({"dag", "s/data.csv", "--estimator", "gaussian", "--quiet"}).json();
  const Json given = works(dag({"--quiet"})).json();
  EXPECT_EQ(found.at("edges"), given.at("edges"));
  EXPECT_GT(found.at("timing").at("boundary_seconds"), 0.0);
  EXPECT_EQ(given.at("timing").at("boundary_seconds"), 0.0);
}

TEST_F(DagTest, MethodsAsPublishedRun) {
  const Outcome dcd = works(dag({"--method", "fansite-dcd", "--epochs", "20", "--threshold", "0.001"}));
  EXPECT_EQ(dcd.json().at("settings").at("method"), "fansite-dcd");
  EXPECT_EQ(dcd.json().at("settings").at("epochs"), 20);
  EXPECT_THAT(dcd.err, HasSubstr("fansite-dcd; directions as published"));
  EXPECT_THAT(dcd.err, HasSubstr("; 20 epochs;"));
  std::set<std::string> moral;
  const Json boundaries = json("b.json");
  for (const Json& edge : boundaries.at("moral_edges")) {
    moral.insert(edge.at(0).get<std::string>() + " – " + edge.at(1).get<std::string>());
  }
  const std::set<std::string> links = links_of(dcd.json());
  EXPECT_GT(links.size(), 0u);
  EXPECT_THAT(links, testing::IsSubsetOf(moral));
  const Json sdcd = works({"dag", "s/data.csv", "--method", "sdcd", "--epochs", "20", "--quiet"}).json();
  EXPECT_EQ(sdcd.at("settings").at("method"), "sdcd");
  EXPECT_TRUE(sdcd.at("settings").contains("first_epochs"));
  EXPECT_FALSE(dcd.json().at("settings").contains("first_epochs"));
}

TEST_F(DagTest, SameBytesForOneAndTwoThreads) {
  for (const Strings& method : {Strings{}, Strings{"--method", "fansite-dcd", "--epochs", "20"}}) {
    Strings one = dag(method), two = one;
    one.insert(one.end(), {"--threads", "1", "--csv", "1.csv"});
    two.insert(two.end(), {"--threads", "2", "--csv", "2.csv"});
    EXPECT_EQ(without_timing(works(one).out), without_timing(works(two).out));
    EXPECT_EQ(content("1.csv"), content("2.csv"));
  }
}

TEST_F(DagTest, ScalesOfColumnsDoNotMatter) {
  const std::set<std::string> edges = edges_of(works(dag({"--quiet"})).json());
  Dataset data = load(path("s/data.csv"));
  Random random(Key{1});
  for (Index j = 0; j < data.values.cols(); ++j) {
    data.values.col(j) *= std::exp(random.uniform(-7, 7));
    data.values.col(j).array() += random.uniform(-1, 1);
  }
  save(data, path("scaled.csv"));
  EXPECT_EQ(edges_of(works({"dag", "scaled.csv", "--boundaries", "b.json", "--quiet"}).json()), edges);
}

TEST_F(DagTest, ColumnsInAnotherOrderFindTheirBoundariesByName) {
  const std::set<std::string> links = links_of(works(dag({"--quiet"})).json());
  const Dataset data = load(path("s/data.csv"));
  Dataset turned = data;
  for (Index j = 0; j < 6; ++j) {
    turned.values.col(j) = data.values.col(5 - j);
    turned.names[static_cast<std::size_t>(j)] = data.names[static_cast<std::size_t>(5 - j)];
  }
  save(turned, path("turned.csv"));
  EXPECT_EQ(links_of(works({"dag", "turned.csv", "--boundaries", "b.json", "--quiet"}).json()), links);
}

TEST_F(DagTest, OddColumnsAreNamed) {
  Dataset data = load(path("s/data.csv"));
  data.names.insert(data.names.end(), {"flat", "copy"});
  data.values.conservativeResize(Eigen::NoChange, 8);
  data.values.col(6).setConstant(7);
  data.values.col(7) = data.values.col(0);
  save(data, path("odd.csv"));
  const Outcome outcome = works({"dag", "odd.csv", "--estimator", "gaussian"});
  EXPECT_EQ(occurrences(outcome.err, "warning: "), 2u);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'flat' is constant"), HasSubstr("'copy' is a copy of 'x1'")));
  EXPECT_EQ(edges_of(outcome.json()), edges_of(works(dag({"--quiet"})).json()));
}

// ---- Knowledge ------------------------------------------------------------------------------------------------------

// Two independent random walks are related as far as rows on their own can tell.
TEST_F(DagTest, RowsThatDependOnEachOtherCountAsWhatTheyAreWorth) {
  // Two series that go back to 0 slowly. (Walks do not, and seem related in any ten blocks.)
  std::string series = "id,x,y\n";
  double x = 0, y = 0;
  Random random(Key{9});
  for (int row = 0; row < 600; ++row) {
    x = 0.95 * x + random.normal();
    y = 0.95 * y + random.normal();
    series += fmt::format("{},{},{}\n", row / 60, x, y);
  }
  put("series.csv", series);
  const auto edges = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"dag",         "series.csv", "--drop", "id",
                                      "--estimator", "gaussian",   "--out",  "w.json"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = works(words);
    return std::pair(json("w.json")["edges"].size(), outcome.err);
  };
  EXPECT_EQ(edges({"--block", "none", "--graph-block", "none"}).first, 1u);
  const auto [in_blocks, told] = edges({"--block", "none", "--graph-block", "60"});
  EXPECT_EQ(in_blocks, 0u);
  EXPECT_THAT(told, HasSubstr("600 rows tell as much as 10 equal and independent ones"));
  // With the link that rows as they come have in their boundaries, it is for the graph to see.
  works({"mb", "series.csv", "--drop", "id", "--estimator", "gaussian", "--block", "none", "--out", "links.json"});
  works(
      {"dag", "series.csv", "--drop", "id", "--boundaries", "links.json", "--graph-block", "none", "--out", "w.json"});
  EXPECT_EQ(json("w.json")["edges"].size(), 1u);
  works({"dag", "series.csv", "--group", "id", "--boundaries", "links.json", "--out", "w.json"});
  EXPECT_EQ(json("w.json")["edges"].size(), 0u);
  fails({"dag", "series.csv", "--graph-block", "long"}, 2, {"[--graph-block]", "'long' is no length"});
  fails({"dag", "series.csv", "--group", "id", "--graph-block", "5"}, 2, {"rows are in groups already"});
  fails({"dag", "series.csv", "--graph-block", "600"}, 2, {"all 600 rows are one block", "use 300 at most"});
  fails({"mb", "series.csv", "--block", "1000"}, 2, {"[--block]", "all 600 rows are one block"});
}

TEST_F(DagTest, KnowledgeIsSatisfied) {
  ASSERT_THAT(edges_of(works(dag({"--quiet"})).json()), testing::Contains("x5 → x4"));
  put("rules.txt", "# what is known\nforbid x5 -> x4\nrequire x1 -> x3\ntier 1: x2\ntier 2: x4\n");
  const std::set<std::string> edges = edges_of(works(dag({"--knowledge", "rules.txt", "--quiet"})).json());
  EXPECT_THAT(edges, testing::Contains("x1 → x3"));
  for (const char* excluded : {"x5 → x4", "x4 – x5", "x4 → x2", "x2 – x4"}) {
    EXPECT_THAT(edges, Not(testing::Contains(excluded)));
  }
}

TEST_F(DagTest, AContradictionNamesItsLine) {
  put("rules.txt", "root x6\nrequire x1 -> x2\nforbid x1 -> x2\n");
  fails(dag({"--knowledge", "rules.txt", "--out", "g.json"}), 3, {"rules.txt line 2", "'x1' → 'x2'", "line 3"});
  put("rules.txt", "forbid x1 -> x7\n");
  fails(dag({"--knowledge", "rules.txt", "--out", "g.json"}), 3, {"rules.txt line 1", "'x7'"});
  fails(dag({"--knowledge", "nowhere.txt", "--out", "g.json"}), 2, {"nowhere.txt"});
  put("rules.txt", "forbid x1 -> x2\n");
  fails(dag({"--knowledge", "rules.txt", "--method", "fansite-dcd"}), 2, {"fansite-dcd", "fansite-anm"});
}

// ---- Mistakes -------------------------------------------------------------------------------------------------------

TEST_F(DagTest, MistakesAreNamed) {
  fails(dag({"--method", "nonsense"}), 2,
        {"'nonsense'", "fansite-anm, fansite-dcd, sdcd, pc, ges, marvel, dagma, notears, cosmo or dat"});
  fails(dag({"--noise", "nonsense"}), 2, {"'nonsense'", "any or gaussian"});
  fails(dag({"--estimator", "nonsense"}), 2, {"'nonsense'", "auto, gaussian, flow, naf, bnaf or ace"});
  fails(dag({"--max-parents", "0"}), 2, {"[--max-parents] 0 is out of range"});
  fails(dag({"--penalty", "-1"}), 2, {"[--penalty] -1 is out of range"});
  fails(dag({"--confidence", "-1"}), 2, {"[--confidence] -1 is out of range"});
  fails(dag({"--max-rows", "-5"}), 2, {"[--max-rows] -5 is out of range"});
  fails(dag({"--fdr", "2"}), 2, {"[--fdr] 2 is out of range"});
  fails(dag({"--method", "fansite-dcd", "--epochs", "-1"}), 2, {"[--epochs] -1 is out of range"});
  fails({"dag", "s/data.csv", "--method", "sdcd", "--noise", "gaussian"}, 2,
        {"[--noise] sdcd has no such option; fansite-anm has it"});
  fails(dag({"--hidden", "3"}), 2,
        {"[--hidden] fansite-anm has no such option; fansite-dcd, sdcd, dagma or cosmo has it"});
  fails({"dag", "nowhere.csv"}, 2, {"nowhere.csv"});
}

TEST_F(DagTest, BoundariesOfAnotherTableAreRefused) {
  works({"simulate", "--nodes", "8", "--rows", "200", "--out", "wide", "--quiet"});
  works({"mb", "wide/data.csv", "--estimator", "gaussian", "--out", "wide.json", "--quiet"});
  fails({"dag", "s/data.csv", "--boundaries", "wide.json", "--out", "g.json", "--csv", "g.csv"}, 2, {"'x7'"});
  fails({"dag", "wide/data.csv", "--boundaries", "b.json", "--out", "g.json"}, 3, {"b.json", "6 of the table's 8"});
  works(dag({"--out", "graph.json", "--quiet"}));
  fails({"dag", "s/data.csv", "--boundaries", "graph.json", "--out", "g.json"}, 3,
        {"graph.json", "fansite.boundaries/2"});
  fails({"dag", "s/data.csv", "--boundaries", "s/data.csv", "--out", "g.json"}, 3, {"s/data.csv"});
  fails({"dag", "s/data.csv", "--boundaries", "nowhere.json", "--out", "g.json"}, 2, {"nowhere.json"});
}

TEST_F(DagTest, BoundariesOfSomeTargetsAreRefused) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--target", "x1", "--target", "x4", "--out", "some.json",
         "--quiet"});
  fails({"dag", "s/data.csv", "--boundaries", "some.json", "--out", "g.json", "--dot", "g.dot"}, 3,
        {"some.json", "2 of the table's 6 variables"});
}

TEST_F(DagTest, APlaceThatCannotBeWrittenIsKnownAtOnceAndNothingIsWritten) {
  for (const char* option : {"--out", "--graphml", "--dot", "--csv"}) {
    Strings words = dag();
    for (const auto& [name, file] : {std::pair("--out", "g.json"), std::pair("--graphml", "g.graphml"),
                                     std::pair("--dot", "g.dot"), std::pair("--csv", "g.csv")}) {
      words.insert(words.end(), {name, std::string(name) == option ? "no/such/place" : file});
    }
    fails(words, 2, {"no/such/place"});
  }
}

TEST_F(DagTest, OnlyOneResultGoesToStandardOutput) {
  for (const char* option : {"--graphml", "--dot", "--csv"}) {
    const Outcome outcome = run(dag({option, "-", "--quiet"}));
    EXPECT_NE(outcome.code, 0) << option;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(works(dag({"--dot", "-", "--out", "g.json", "--quiet"})).out.starts_with("digraph"));
}

// ---- Interrupted and continued --------------------------------------------------------------------------------------

/// Searches of a few seconds, each inside boundaries that are found beforehand.
class LongDagTest : public ProgramTest {
 protected:
  Strings additive_noise() const {
    return prepared("curved", {"--sem", "gp", "--nodes", "16", "--degree", "2", "--rows", "1500"});
  }
  Strings networks() const {
    Strings words = prepared("long", {"--sem", "mlp", "--nodes", "20", "--degree", "3", "--rows", "10000"});
    words.insert(words.end(), {"--method", "fansite-dcd"});
    return words;
  }

  /// Ends the search by a signal once it has a checkpoint.
  Outcome interrupted(const Strings& words, int signal) const {
    Call call{.arguments = words};
    call.interrupted = [&] { return std::filesystem::exists(path("c.graph")); };
    call.interrupt_signal = signal;
    return run(call);
  }

  /// Killed without a chance to tidy up: the same bytes as straight through.
  void expect_to_survive_a_kill(Strings words) const {
    const std::string straight = without_timing(works(words).out);
    words.insert(words.end(), {"--checkpoint", "c"});
    const Outcome killed = interrupted(words, SIGKILL);
    EXPECT_EQ(killed.signal, SIGKILL) << killed.err;
    EXPECT_EQ(killed.out, "");
    ASSERT_TRUE(std::filesystem::exists(path("c.graph")));
    EXPECT_FALSE(std::filesystem::exists(path("c")));

    Strings other = words;
    other.insert(other.end(), {"--seed", "9"});
    fails(other, 2, {"c.graph", "other settings", "delete it"});
    *std::find(words.begin(), words.end(), "--threads=1") = "--threads=2";
    EXPECT_EQ(straight, without_timing(run(words).out));
    EXPECT_FALSE(std::filesystem::exists(path("c.graph")));
  }

 private:
  Strings prepared(const std::string& name, const Strings& options) const {
    Strings words = {"simulate", "--seed", "2", "--out", name, "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    works(words);
    works({"mb", name + "/data.csv", "--estimator", "gaussian", "--out", name + ".json", "--quiet"});
    return {"dag", name + "/data.csv", "--boundaries", name + ".json", "--quiet", "--threads=1"};
  }
};

TEST_F(LongDagTest, AKilledSearchContinuesWithTheSameBytes) { expect_to_survive_a_kill(additive_noise()); }
TEST_F(LongDagTest, AKilledTrainingContinuesWithTheSameBytes) { expect_to_survive_a_kill(networks()); }

TEST_F(LongDagTest, CtrlCLeavesTheCheckpointAndNothingElse) {
  for (Strings words : {additive_noise(), networks()}) {
    words.insert(words.end(), {"--checkpoint", "c", "--out", "g.json"});
    const auto before = entries();
    const Outcome outcome = interrupted(words, SIGINT);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_LT(outcome.seconds_after_interrupt, 5.0);
    auto after = entries();
    EXPECT_EQ(std::erase(after, "c.graph"), 1u);
    EXPECT_EQ(after, before);
    std::filesystem::remove(path("c.graph"));
  }
}

TEST_F(DagTest, ACheckpointThatIsWrongIsNamed) {
  put("c.graph", "x1,x2\n1,2\n");
  fails(dag({"--checkpoint", "c", "--out", "g.json"}), 3, {"c.graph", "a table of data, not a checkpoint"});
  fails({"dag", "s/data.csv", "--checkpoint", "c"}, 3, {"c.graph", "a table of data, not a checkpoint"});
  fails(dag({"--checkpoint", "c", "--method", "fansite-dcd"}), 3, {"c.graph", "a table of data, not a checkpoint"});
  fails(dag({"--checkpoint", "no/such/place", "--out", "g.json"}), 2, {"no/such/place.graph"});
  fails({"dag", "s/data.csv", "--checkpoint", "no/such/place"}, 2, {"no/such/place"});
}

TEST_F(DagTest, ACheckpointChangesNothingAndGoes) {
  const Strings sdcd = {"dag", "s/data.csv", "--quiet", "--method", "sdcd", "--epochs", "20"};
  for (const Strings& command : {dag({"--quiet"}), sdcd}) {
    Strings words = command;
    const std::string straight = without_timing(works(words).out);
    words.insert(words.end(), {"--checkpoint", "c"});
    EXPECT_EQ(without_timing(works(words).out), straight);
    EXPECT_EQ(entries(), (Strings{"b.json", "s", "s/dag.csv", "s/data.csv", "s/simulation.json"}));
  }
}

TEST_F(DagTest, CtrlCLeavesWhatItNeedsToGoOn) {
  works({"simulate", "--sem", "mlp", "--nodes", "40", "--degree", "3", "--rows", "2000", "--out", "large", "--quiet"});
  auto expected = entries();
  expected.insert(expected.begin() + 1, "g.json.checkpoint.graph");
  Call call{.arguments = {"dag", "large/data.csv", "--estimator", "gaussian", "--out", "g.json", "--dot", "g.dot"}};
  call.interrupted = [&] { return std::filesystem::exists(path("g.json.checkpoint.graph")); };
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_LT(outcome.seconds_after_interrupt, 5.0);
  EXPECT_THAT(outcome.err, testing::HasSubstr("add --resume"));
  EXPECT_EQ(entries(), expected);
}

}  // namespace
}  // namespace fansite
