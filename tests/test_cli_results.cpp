// SPDX-License-Identifier: Apache-2.0
//
// What the program computes: mb, simulate, eval and bench, from files to files.
#include <cmath>
#include <map>
#include <set>

#include "fansite/base/random.h"
#include "fansite/base/version.h"
#include "fansite/table/dataset.h"
#include "fansite/table/npy.h"
#include "program.h"
#include "zip_writer.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using Strings = std::vector<std::string>;

std::vector<std::string> operator+(Strings first, const Strings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- mb -------------------------------------------------------------------------------------------------------------

/// Linear data with known truth in s/.
class MbTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "20", "--degree", "1.5", "--rows", "400", "--seed", "5", "--out", "s", "--quiet"});
  }
  Json mb(const Strings& options = {}) {
    return works(Strings{"mb", "s/data.csv", "--quiet", "--estimator", "gaussian"} + options).json();
  }
  const Strings small_ = {"--repeats", "1", "--folds", "2", "--steps", "10"};  // in case flows are chosen by mistake
};

std::map<std::string, std::set<std::string>> sets_of(const Json& result) {
  std::map<std::string, std::set<std::string>> sets;
  for (const Json& boundary : result.at("boundaries")) {
    const std::string target = boundary.at("target");
    const auto members = members_of(result, target);
    sets[target] = {members.begin(), members.end()};
  }
  return sets;
}

std::size_t size_of(const Json& result) {
  std::size_t size = 0;
  for (const auto& [target, set] : sets_of(result)) size += set.size();
  return size;
}

bool is_symmetric(const Json& result) {
  auto sets = sets_of(result);
  for (const auto& [target, set] : sets) {
    for (const std::string& member : set) {
      if (!sets[member].contains(target)) return false;
    }
  }
  return true;
}

bool is_within(const Json& small, const Json& large) {
  auto outer = sets_of(large);
  for (const auto& [target, set] : sets_of(small)) {
    if (!std::includes(outer[target].begin(), outer[target].end(), set.begin(), set.end())) return false;
  }
  return true;
}

TEST_F(MbTest, WritesEveryFieldOfTheFormat) {
  const Json result = mb();
  EXPECT_EQ(result.at("format"), "fansite.boundaries/2");
  EXPECT_EQ(result.at("version"), FANSITE_VERSION);
  EXPECT_EQ(result.at("variables").size(), 20u);
  EXPECT_EQ(result.at("rows"), 400);
  for (const char* setting : {"estimator", "stop", "fdr", "patience", "max_size", "rule", "targets", "seed"}) {
    EXPECT_TRUE(result.at("settings").contains(setting)) << setting;
  }
  EXPECT_EQ(result.at("estimator"), "gaussian");
  EXPECT_GT(result.at("timing").at("peak_memory_mb"), 1.0);
  for (const char* time : {"prepare_seconds", "search_seconds", "total_seconds", "threads"}) {
    EXPECT_TRUE(result.at("timing").contains(time)) << time;
  }
  EXPECT_EQ(result.at("timing").at("device"), "cpu");           // whatever there is
  EXPECT_FALSE(result.at("timing").contains("train_seconds"));  // a closed form has no such phase
  EXPECT_TRUE(result.at("warnings").is_array());
  ASSERT_EQ(result.at("boundaries").size(), 20u);
  ASSERT_GT(size_of(result), 20u);
  std::set<std::set<std::string>> pairs;
  for (std::size_t i = 0; i < 20; ++i) {
    const Json& boundary = result.at("boundaries")[i];
    EXPECT_EQ(boundary.at("target"), result.at("variables")[i]);
    double gains = 0;
    for (const Json& member : boundary.at("members")) {
      for (const char* figure : {"gain", "se", "unique", "p_value", "q_value"}) {
        EXPECT_TRUE(member.at(figure).is_number()) << figure;
      }
      gains += member.at("gain").get<double>();
      pairs.insert({boundary.at("target").get<std::string>(), member.at("name").get<std::string>()});
    }
    const double drop = boundary.at("entropy").get<double>() - boundary.at("conditional_entropy").get<double>();
    EXPECT_NEAR(gains, drop, 1e-9) << boundary.at("target");
  }
  std::set<std::set<std::string>> edges;
  for (const Json& edge : result.at("moral_edges"))
    edges.insert({edge.at(0).get<std::string>(), edge.at(1).get<std::string>()});
  EXPECT_EQ(edges, pairs);
}

TEST_F(MbTest, TheEstimatorIsChosenByATestThatIsPartOfTheResult) {
  const Outcome chosen = works(Strings{"mb", "s/data.csv"} + small_);
  const Json automatic = chosen.json(), asked = mb();
  EXPECT_EQ(automatic.at("settings").at("estimator"), "auto");
  EXPECT_EQ(automatic.at("estimator"), "gaussian");
  EXPECT_EQ(automatic.at("linearity").at("linear_equations"), true);
  EXPECT_THAT(chosen.err, HasSubstr("gaussian estimator, since nothing speaks against linear relations"));
  EXPECT_FALSE(asked.contains("linearity"));
  EXPECT_EQ(automatic.at("boundaries"), asked.at("boundaries"));
}

TEST_F(MbTest, GainsAddUpUnderEveryRule) {
  for (const char* stop : {"calibrated", "paper"}) {
    for (const char* rule : {"or", "and", "none"}) {
      const Json result = mb({"--stop", stop, "--rule", rule});
      for (const Json& boundary : result.at("boundaries")) {
        double gains = 0;
        for (const Json& member : boundary.at("members")) gains += member.at("gain").get<double>();
        EXPECT_NEAR(gains, boundary.at("entropy").get<double>() - boundary.at("conditional_entropy").get<double>(),
                    1e-9)
            << stop << ' ' << rule << ' ' << boundary.at("target");
      }
    }
  }
}

TEST_F(MbTest, EveryFormatGivesTheSameBoundaries) {
  const std::string expected = without_timing(works({"mb", "s/data.csv", "--quiet", "--estimator", "gaussian"}).out);
  const Dataset data = load(path("s/data.csv"));
  save(data, path("t.tsv"));
  save(data, path("t.npy"));
  put("t.npz", ZipWriter().add("other.npy", to_npy(Matrix::Ones(3, 3))).add("data.npy", to_npy(data.values)).finish());
  put("z.npz", ZipWriter().add("X.npy", to_npy(data.values), true).finish());
  for (const char* name : {"t.tsv", "t.npy", "t.npz", "z.npz"}) {
    EXPECT_EQ(without_timing(works({"mb", name, "--quiet", "--estimator", "gaussian"}).out), expected) << name;
  }
  const Outcome piped =
      works(Call{.arguments = {"mb", "-", "--quiet", "--estimator", "gaussian"}, .input = content("s/data.csv")});
  EXPECT_EQ(without_timing(piped.out), expected);
  EXPECT_EQ(without_timing(works({"mb", "s/data.csv", "--quiet", "--estimator", "gaussian", "--out", "-"}).out),
            expected);
  works({"mb", "s/data.csv", "--quiet", "--estimator", "gaussian", "--out", "r.json"});
  EXPECT_EQ(without_timing(content("r.json")), expected);
}

TEST_F(MbTest, SameBytesForAnyThreadsAndEveryTime) {
  for (const Strings& options : {small_, Strings{"--estimator", "gaussian", "--stop", "paper"}}) {
    const auto text = [&](const char* threads) {
      return without_timing(works(Strings{"mb", "s/data.csv", "--quiet", "--threads", threads} + options).out);
    };
    const std::string expected = text("1");
    for (const char* threads : {"1", "2", "2", "0", "7"}) EXPECT_EQ(text(threads), expected) << threads;
  }
}

TEST_F(MbTest, TargetsRestrictAndKeepNames) {
  const Json result = mb({"--target", "x7", "--target", "x2"});
  ASSERT_EQ(result.at("boundaries").size(), 2u);
  EXPECT_EQ(result.at("boundaries")[0].at("target"), "x7");
  EXPECT_EQ(result.at("boundaries")[1].at("target"), "x2");
  EXPECT_EQ(result.at("variables").size(), 20u);
  EXPECT_EQ(result.at("settings").at("targets"), Json({"x7", "x2"}));
  // A search that stands alone does not know of the others.
  const Strings alone = {"--stop", "paper", "--rule", "none"};
  const Json all = mb(alone);
  const Json one = mb(alone + Strings{"--target", "x7"});
  EXPECT_EQ(members_of(one, "x7"), members_of(all, "x7"));
  // A target does not swallow the name of the file after it.
  EXPECT_EQ(works({"mb", "--estimator", "gaussian", "--target", "x7", "s/data.csv"}).json().at("boundaries").size(),
            1u);
}

TEST_F(MbTest, SymmetryRules) {
  for (const char* stop : {"calibrated", "paper"}) {
    const Json either = mb({"--stop", stop, "--rule", "or"}), both = mb({"--stop", stop, "--rule", "and"});
    EXPECT_TRUE(is_symmetric(either)) << stop;
    EXPECT_TRUE(is_symmetric(both)) << stop;
    EXPECT_TRUE(is_within(both, either)) << stop;
    EXPECT_EQ(either.at("settings").at("rule"), "or");
  }
  const Json none = mb({"--stop", "paper", "--rule", "none"});
  EXPECT_TRUE(is_within(none, mb({"--stop", "paper", "--rule", "or"})));
  EXPECT_TRUE(is_within(mb({"--stop", "paper", "--rule", "and"}), none));
  EXPECT_FALSE(is_symmetric(none));
}

TEST_F(MbTest, StoppingOptionsMatter) {
  const Json paper = mb({"--stop", "paper"});
  EXPECT_EQ(paper.at("settings").at("eps_grow"), 0.005);
  EXPECT_EQ(paper.at("settings").at("eps_shrink"), 0.002);
  EXPECT_EQ(paper.at("settings").at("fdr"), 0.05);  // of every parameter, in use or not
  EXPECT_NE(sets_of(paper), sets_of(mb()));
  EXPECT_EQ(size_of(mb({"--stop", "paper", "--eps-grow", "10"})), 0u);
  EXPECT_EQ(size_of(mb({"--stop", "paper", "--eps-shrink", "10"})), 0u);
  EXPECT_GT(size_of(mb({"--stop", "paper", "--eps-grow", "0", "--eps-shrink", "0"})), size_of(paper));
  EXPECT_EQ(mb({"--stop", "paper", "--rho", "3"}).at("settings").at("patience"), 3);
  EXPECT_GE(size_of(mb({"--fdr", "0.9"})), size_of(mb({"--fdr", "1e-9"})));
  for (const auto& [target, set] : sets_of(mb({"--max-size", "1", "--rule", "none"}))) EXPECT_LE(set.size(), 1u);
}

// ---- simulate -------------------------------------------------------------------------------------------------------

class SimulateTest : public ProgramTest {};

TEST_F(SimulateTest, WritesThreeFiles) {
  works({"simulate", "--graph", "sf", "--nodes", "8", "--degree", "2", "--sem", "gp", "--noise", "laplace", "--rows",
         "50", "--seed", "9", "--out", "a/b"});
  EXPECT_THAT(entries(), ElementsAre("a", "a/b", "a/b/dag.csv", "a/b/data.csv", "a/b/simulation.json"));
  const Json description = json("a/b/simulation.json");
  EXPECT_EQ(description.at("format"), "fansite.simulation/2");
  const Json& settings = description.at("settings");
  EXPECT_EQ(settings.at("graph"), "sf");
  EXPECT_EQ(settings.at("nodes"), 8);
  EXPECT_EQ(settings.at("degree"), 2.0);
  EXPECT_EQ(settings.at("sem"), "gp");
  EXPECT_EQ(settings.at("noise"), "laplace");
  EXPECT_EQ(settings.at("rows"), 50);
  EXPECT_EQ(settings.at("seed"), 9);
  const Dataset data = load(path("a/b/data.csv")), dag = load(path("a/b/dag.csv"));
  EXPECT_EQ(data.rows(), 50);
  EXPECT_EQ(data.names, default_names(8));
  EXPECT_EQ(dag.names, data.names);
  EXPECT_EQ(dag.values.sum(), static_cast<double>(description.at("edges").size()));
  for (const Json& edge : description.at("edges")) {
    EXPECT_EQ(dag.values(dag.index_of(std::string(edge.at("from"))), dag.index_of(std::string(edge.at("to")))), 1);
  }
}

TEST_F(SimulateTest, NamesThePairsThatShareAHiddenCause) {
  const auto told = [&](const Strings& more) {
    works(Strings{"simulate", "--nodes", "6", "--degree", "0", "--rows", "20", "--out", "s"} + more);
    return json("s/simulation.json");
  };
  EXPECT_THAT(told({}).at("hidden_cause_pairs"), IsEmpty());
  const Json description = told({"--hidden", "2", "--measurement-noise", "0.25"});
  EXPECT_EQ(description.at("settings").at("hidden"), 2);
  EXPECT_EQ(description.at("settings").at("measurement_noise"), 0.25);
  EXPECT_THAT(description.at("edges"), IsEmpty());
  const Dataset data = load(path("s/data.csv")), dag = load(path("s/dag.csv"));
  EXPECT_EQ(data.names, default_names(6));
  EXPECT_EQ(dag.names, data.names);
  EXPECT_EQ(dag.values.sum(), 0);
  EXPECT_GE(description.at("hidden_cause_pairs").size(), 2u);
  for (const Json& pair : description.at("hidden_cause_pairs")) {
    ASSERT_EQ(pair.size(), 2u);
    EXPECT_LT(data.index_of(std::string(pair[0])), data.index_of(std::string(pair[1])));
  }
}

TEST_F(SimulateTest, SameSeedSameBytes) {
  const auto simulate = [&](const std::string& folder, const char* seed, const char* threads) {
    works({"simulate", "--sem", "gp", "--noise", "mixed", "--rows", "60", "--nodes", "10", "--seed", seed, "--threads",
           threads, "--out", folder});
    return content(folder + "/data.csv") + content(folder + "/dag.csv") + content(folder + "/simulation.json");
  };
  const std::string first = simulate("a", "1", "1");
  EXPECT_EQ(simulate("b", "1", "2"), first);
  EXPECT_EQ(simulate("a", "1", "0"), first);  // in the place of the first
  simulate("c", "2", "1");
  EXPECT_NE(content("c/data.csv"), content("a/data.csv"));
  EXPECT_NE(content("c/dag.csv"), content("a/dag.csv"));
}

TEST_F(SimulateTest, EveryCombinationRuns) {
  for (const char* graph : {"er", "sf"}) {
    for (const char* sem : {"linear", "gp", "mlp", "pnl", "gene"}) {
      for (const char* noise : {"gauss", "uniform", "laplace", "gumbel", "exponential", "mixed"}) {
        SCOPED_TRACE(std::string(graph) + ' ' + sem + ' ' + noise);
        works({"simulate", "--graph", graph, "--sem", sem, "--noise", noise, "--rows", "30", "--nodes", "6", "--out",
               "s", "--quiet"});
        const Dataset data = load(path("s/data.csv"));
        EXPECT_EQ(data.rows(), 30);
        EXPECT_TRUE(data.values.allFinite());
      }
    }
  }
}

TEST_F(SimulateTest, NpyHoldsTheSameNumbers) {
  for (const char* format : {"csv", "npy"}) works({"simulate", "--rows", "40", "--format", format, "--out", format});
  EXPECT_EQ(load(path("npy/data.npy")).values, load(path("csv/data.csv")).values);
  EXPECT_FALSE(fs::exists(path("npy/data.csv")));
}

// ---- eval -----------------------------------------------------------------------------------------------------------

/// a → c ← b, c → d, and e by itself. Boundaries: a {b, c}, b {a, c}, c {a, b, d}, d {c}, e {}.
class EvalTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    put("dag.csv", "a,b,c,d,e\n0,0,1,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,0\n0,0,0,0,0\n");
  }

  void put_boundaries(const std::string& name, const std::map<std::string, Strings>& sets,
                      const std::map<std::string, Strings>& paths = {}) const {
    Json result = {{"format", "fansite.boundaries/2"}, {"variables", {"a", "b", "c", "d", "e"}}};
    result["boundaries"] = Json::array();
    for (const auto& [target, members] : sets) {
      Json boundary = {{"target", target}, {"members", Json::array()}};
      for (const std::string& member : members) boundary["members"].push_back({{"name", member}});
      if (const auto path = paths.find(target); path != paths.end()) {
        boundary["path"] = Json::array();
        for (const std::string& step : path->second) {
          boundary["path"].push_back({{"name", step}, {"conditional_entropy", 1.0}});
        }
      }
      result["boundaries"].push_back(boundary);
    }
    put(name, result.dump());
  }

  void put_graph(const std::string& name, const std::vector<std::pair<std::string, std::string>>& edges,
                 bool directed = true) const {
    Json result = {{"format", "fansite.graph/2"}, {"variables", {"a", "b", "c", "d", "e"}}, {"edges", Json::array()}};
    for (const auto& [from, to] : edges) {
      result["edges"].push_back({{"from", from}, {"to", to}, {"directed", directed}});
    }
    put(name, result.dump());
  }

  Json scores(const std::string& result, const std::string& truth = "dag.csv") const {
    return works({"eval", result, "--truth", truth, "--json"}).json();
  }

  const std::map<std::string, Strings> truth_ = {
      {"a", {"c", "b"}}, {"b", {"a", "c"}}, {"c", {"d", "a", "b"}}, {"d", {"c"}}, {"e", {}}};
};

TEST_F(EvalTest, TheTruthScoresFull) {
  put_boundaries("r.json", truth_);
  const Outcome outcome = works({"eval", "r.json", "--truth", "dag.csv"});
  EXPECT_EQ(outcome.err, "");
  for (const char* figure : {"nDCG", "AveP", "F1", "precision", "recall"}) {
    EXPECT_THAT(outcome.out, testing::ContainsRegex(std::string(figure) + " +100.00\n"));
  }
  EXPECT_THAT(outcome.out, testing::ContainsRegex("FDR +0.00\n"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("targets +4\n"));
  EXPECT_EQ(scores("r.json").at("F1"), 1.0);
}

TEST_F(EvalTest, CountsWhatIsWrong) {
  auto sets = truth_;
  sets["a"] = {"c"};       // one of two: precision 1, recall 1/2, F1 2/3
  sets["d"] = {"e", "c"};  // a false one first: precision 1/2, recall 1, F1 2/3
  put_boundaries("r.json", sets);
  const Json score = scores("r.json");
  EXPECT_NEAR(score.at("F1").get<double>(), (2.0 / 3 + 1 + 1 + 2.0 / 3) / 4, 1e-12);
  EXPECT_NEAR(score.at("precision").get<double>(), 3.5 / 4, 1e-12);
  EXPECT_NEAR(score.at("recall").get<double>(), 3.5 / 4, 1e-12);
  EXPECT_NEAR(score.at("FDR").get<double>(), 1.0 / 8, 1e-12);
  EXPECT_NEAR(score.at("AveP").get<double>(), (0.5 + 1 + 1 + 0) / 4, 1e-12);  // d has one place, and e is in it
}

// How good a ranking is, apart from where it was cut: the first of each path, as many as the truth has.
TEST_F(EvalTest, PathsAreScoredAtTheTrueSize) {
  const std::map<std::string, Strings> nothing = {{"a", {}}, {"b", {}}, {"c", {}}, {"d", {}}, {"e", {}}};
  put_boundaries("r.json", nothing,
                 {{"a", {"c", "b", "d"}}, {"b", {"a", "e", "c"}}, {"c", {"a", "b"}}, {"d", {"e", "c"}}, {"e", {"a"}}});
  const Json score = scores("r.json");
  EXPECT_EQ(score.at("F1"), 0.0);
  // a both of two; b one of two; c two of three, and its path ends there; d none; e has no true boundary.
  EXPECT_NEAR(score.at("oracle-size F1").get<double>(), (1 + 0.5 + 0.8 + 0) / 4, 1e-12);
  EXPECT_NEAR(score.at("oracle-size AveP").get<double>(), (1 + 0.5 + 2.0 / 3 + 0) / 4, 1e-12);
  EXPECT_LT(score.at("oracle-size nDCG").get<double>(), 1.0);
  const std::string out = works({"eval", "r.json", "--truth", "dag.csv"}).out;
  EXPECT_THAT(out, testing::ContainsRegex("\nF1 +0.00\n"));
  EXPECT_THAT(out, testing::ContainsRegex("oracle-size F1 +57.50\n"));
  EXPECT_THAT(out, HasSubstr("oracle-size nDCG"));
  EXPECT_THAT(out, HasSubstr("oracle-size AveP"));

  put_boundaries("plain.json", truth_);
  EXPECT_THAT(works({"eval", "plain.json", "--truth", "dag.csv"}).out, testing::Not(HasSubstr("oracle")));
}

// A constant column, or a table of one, grows no path; the others still have theirs.
TEST_F(EvalTest, ATargetWithoutAPathDoesNotTakeThoseOfTheOthersAway) {
  put_boundaries("r.json", truth_, {{"a", {"c", "b"}}, {"b", {"a", "c"}}, {"c", {"a", "b", "d"}}, {"d", {"c"}}});
  EXPECT_EQ(scores("r.json").value("oracle-size F1", -1.0), 1.0);
}

TEST_F(EvalTest, MatchesByNameOrInArraysByPosition) {
  auto sets = truth_;
  sets["a"] = {"c"};
  put_boundaries("r.json", sets);
  const Json expected = scores("r.json");
  put("other.csv", "d,e,c,b,a\n0,0,0,0,0\n0,0,0,0,0\n1,0,0,0,0\n0,0,1,0,0\n0,0,1,0,0\n");
  EXPECT_EQ(scores("r.json", "other.csv"), expected);
  put("truth.npz", ZipWriter().add("dag.npy", to_npy(load(path("dag.csv")).values)).finish());
  EXPECT_EQ(scores("r.json", "truth.npz"), expected);
}

TEST_F(EvalTest, ScoresOnlyTheTargetsThere) {
  put_boundaries("r.json", {{"c", {"a", "b", "d"}}});
  EXPECT_EQ(scores("r.json").at("targets"), 1);
  EXPECT_EQ(scores("r.json").at("F1"), 1.0);
  put_boundaries("e.json", {{"e", {}}});
  fails({"eval", "e.json", "--truth", "dag.csv"}, 3, {"empty true boundary", "dag.csv"});
}

TEST_F(EvalTest, Graphs) {
  EXPECT_EQ(scores("dag.csv").at("SHD"), 0);
  EXPECT_EQ(scores("dag.csv").at("AUC-ROC"), 1.0);
  EXPECT_EQ(scores("dag.csv").at("AUC-PR"), 1.0);
  // c → a is the wrong way, b → c right, c → d missing, a → e extra.
  put_graph("g.json", {{"c", "a"}, {"b", "c"}, {"a", "e"}});
  put("g.csv", "a,b,c,d,e\n0,0,0,0,1\n0,0,1,0,0\n1,0,0,0,0\n0,0,0,0,0\n0,0,0,0,0\n");
  const Json score = scores("g.json");
  EXPECT_EQ(score.at("SHD"), 3);
  EXPECT_EQ(score.at("extra"), 1);
  EXPECT_EQ(score.at("missing"), 1);
  EXPECT_EQ(score.at("reversed"), 1);
  EXPECT_NEAR(score.at("AUC-ROC").get<double>(), (1.0 / 3 + 1.0 - 2.0 / 22) / 2, 1e-12);
  EXPECT_EQ(scores("g.csv"), score);
  EXPECT_THAT(works({"eval", "g.json", "--truth", "dag.csv"}).out, testing::ContainsRegex("SHD +3\n"));
  put_graph("u.json", {{"a", "c"}, {"b", "c"}, {"c", "d"}}, false);  // right but undecided: each costs one
  EXPECT_EQ(scores("u.json").at("SHD"), 3);
}

TEST_F(EvalTest, RefusesWhatItCannotRead) {
  const std::pair<std::string, std::string> texts[] = {
      {"", "not a JSON result of fansite"},
      {"{\"format\":\"fansite.boundaries/2\",\"vari", "not a JSON result of fansite; was it written completely?"},
      {"[1, 2]", "not a JSON result of fansite"},
      {"{\"a\": 1}", "'format' not found"},
      {"{\"format\": 1}", "wrong type"},
      {"{\"format\": \"fansite.boundaries/9\"}", "fansite.boundaries/9"},
      {"{\"format\": \"fansite.boundaries/2\"}", "'variables' not found"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": 3}", "wrong type"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\", \"a\"]}", "'a' is listed twice"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\"], \"boundaries\": [{\"target\": \"z\"}]}",
       "'z' is not among its variables"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\"], \"boundaries\": [{\"target\": \"a\"}]}",
       "'members' not found"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\", \"b\"], \"boundaries\": "
       "[{\"target\": \"a\", \"members\": [{\"name\": \"b\"}, {\"name\": \"b\"}]}]}",
       "'a' names 'b' twice"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\", \"b\"], \"boundaries\": "
       "[{\"target\": \"a\", \"members\": [], \"path\": [{\"name\": \"b\"}, {\"name\": \"b\"}]}]}",
       "the path of 'a' names 'b' twice"},
      {"{\"format\": \"fansite.graph/2\", \"variables\": [\"a\"]}", "'edges' not found"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\"], \"boundaries\": []}", "1 variables"},
      {"{\"format\": \"fansite.boundaries/2\", \"variables\": [\"a\",\"b\",\"c\",\"d\",\"z\"], \"boundaries\": []}",
       "'z'"},
  };
  for (const auto& [text, phrase] : texts) {
    put("r.json", text);
    fails({"eval", "r.json", "--truth", "dag.csv"}, 3, {"r.json", phrase});
  }
  put_boundaries("r.json", truth_);
  put("cycle.csv", "a,b\n0,1\n1,0\n");
  fails({"eval", "r.json", "--truth", "cycle.csv"}, 3, {"cycle.csv", "cycle", "a", "b"});
  put("flat.csv", "a,b\n0,1\n");
  fails({"eval", "r.json", "--truth", "flat.csv"}, 3, {"flat.csv", "square"});
  put("data.npz", ZipWriter().add("data.npy", to_npy(Matrix::Ones(3, 3))).finish());
  fails({"eval", "r.json", "--truth", "data.npz"}, 3, {"data.npz", "no array 'dag'"});
}

// ---- bench ----------------------------------------------------------------------------------------------------------

class BenchTest : public ProgramTest {};

TEST_F(BenchTest, OneFingerprint) {
  const std::string line = works({"bench", "--threads", "1"}).out;
  EXPECT_THAT(line, MatchesRegex("fingerprint [0-9a-f]+\n"));
  EXPECT_EQ(line.size(), std::string("fingerprint 01234567\n").size());
  EXPECT_EQ(works({"bench", "--threads", "2"}).out, line);
  EXPECT_EQ(works({"bench"}).out, line);
  const Json json = works({"bench", "--json"}).json();
  EXPECT_EQ("fingerprint " + std::string(json.at("fingerprint")) + "\n", line);
  EXPECT_GT(json.at("seconds"), 0.0);
}

// ---- The shared data ------------------------------------------------------------------------------------------------

class SharedDataTest : public ProgramTest {
 protected:
  double f1(const std::string& data, const std::string& truth, const Strings& options = {}) const {
    works(Strings{"mb", data, "--quiet", "--estimator", "gaussian", "--out", "r.json"} + options);
    return works({"eval", "r.json", "--truth", truth, "--json"}).json().at("F1");
  }
  const std::string root_ = fs::absolute(fs::path(FANSITE_SHARED_DIR) / "data").string();
};

TEST_F(SharedDataTest, LinearGraphsAreFoundByEitherRule) {
  for (const char* seed : {"42", "123"}) {
    const std::string file = root_ + "/linear_d100_seed" + seed + ".npz";
    if (!fs::exists(file)) GTEST_SKIP() << "the shared data set " << file << " is not there";
    EXPECT_GE(f1(file, file), 0.995) << seed;
    EXPECT_GE(f1(file, file, {"--stop", "paper"}), 0.995) << seed;
  }
}

TEST_F(SharedDataTest, Arth150) {
  const std::string folder = root_ + "/arth150";
  if (!fs::exists(folder)) GTEST_SKIP() << "the shared data set " << folder << " is not there";
  EXPECT_GE(f1(folder + "/data.csv", folder + "/dag.csv"), 0.95);
}

}  // namespace
}  // namespace fansite
