// SPDX-License-Identifier: Apache-2.0
//
// The program: usage, streams, full disks and Ctrl-C. Bad tables are in test_cli_input.cpp, results in
// test_cli_results.cpp.
#include "fansite/base/random.h"
#include "fansite/base/version.h"
#include "fansite/table/dataset.h"
#include "program.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// x1 → x2 → x3 → …, linear.
Dataset chain(Index rows, int columns) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{7});
  for (int column = 0; column < columns; ++column) {
    for (Index row = 0; row < rows; ++row) {
      const double before = column == 0 ? 0.0 : data.values(row, column - 1);
      data.values(row, column) = 0.8 * before + random.normal();
    }
  }
  return data;
}

class CliTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    save(chain(200, 5), path("data.csv"));
  }
};

// ---- Usage ----------------------------------------------------------------------------------------------------------

TEST_F(CliTest, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(works({"--version"}).out, "fansite " FANSITE_VERSION "\n");
  for (const std::string command :
       {"", "simulate", "mb", "plan", "entropy", "eval", "methods", "verify", "report", "bench"}) {
    const Outcome help =
        works(command.empty() ? std::vector<std::string>{"--help"} : std::vector<std::string>{command, "--help"});
    EXPECT_THAT(help.out, HasSubstr("Usage: fansite " + command));
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(CliTest, WrongCommands) {
  fails({"markov"}, 2,
        {"no command 'markov'",
         "simulate, inspect, mb, plan, dag, entropy, compare, eval, methods, verify, report, bench, completion, help"});
  fails({"mb"}, 2, {"DATA is required", "fansite mb --help"});
  fails({"eval", "data.csv"}, 2, {"--truth is required"});
  fails({"simulate"}, 2, {"--out is required"});
  fails({"mb", "data.csv", "--colour", "red"}, 2, {"--colour", "fansite mb --help"});
  fails({"mb", "data.csv", "other.csv"}, 2, {"other.csv", "fansite mb --help"});
  fails({"mb", "data.csv", "--fdr"}, 2, {"--fdr"});
  fails({"mb", "data.csv", "--out"}, 2, {"--out"});
}

TEST_F(CliTest, MethodsAreListedAndShown) {
  const std::string all = works({"methods"}).out;
  for (const char* method : {"fansite", "fansite-anm", "fansite-dcd", "sdcd", "pc", "ges", "marvel", "dagma", "notears",
                             "cosmo", "dat", "dat-moral", "gaussian", "flow"}) {
    EXPECT_THAT(all, HasSubstr(std::string("\n  ") + method + " "));
    EXPECT_THAT(works({"methods", method}).out, HasSubstr(std::string(method) + ": "));
  }
  EXPECT_THAT(works({"methods", "sdcd"}).out, HasSubstr("--first-epochs"));
  EXPECT_EQ(Json::parse(works({"methods", "--json"}).out).at("graph_methods").size(), 10u);
  fails({"methods", "tarot"}, 2,
        {"no method 'tarot'", "fansite-anm, fansite-dcd, sdcd, pc, ges, marvel, dagma, notears, cosmo or dat"});
}

TEST_F(CliTest, OptionValuesOutOfRange) {
  const struct {
    const char *option, *value;
    std::vector<std::string> phrases;
  } cases[] = {
      {"--fdr", "0", {"[--fdr] 0 is out of range", "above 0 and below 1"}},
      {"--fdr", "1.5", {"[--fdr] 1.5 is out of range", "above 0 and below 1"}},
      {"--fdr", "-1", {"[--fdr] -1 is out of range", "above 0 and below 1"}},
      {"--fdr", "nan", {"[--fdr] nan is out of range", "above 0 and below 1"}},
      {"--fdr", "five", {"[--fdr] 'five' is not a number"}},
      {"--fdr", "", {"[--fdr] '' is not a number", "above 0 and below 1"}},
      {"--effort", "", {"[--effort] '' is unknown", "quick, normal or thorough"}},
      {"--time-budget", "", {"[--time-budget] '' is no length of time"}},
      {"--eps-grow", "-0.1", {"[--eps-grow] -0.1 is out of range"}},
      {"--eps-shrink", "-0.1", {"[--eps-shrink] -0.1 is out of range"}},
      {"--patience", "-2", {"[--patience] -2 is out of range", "-1 or more"}},
      {"--max-size", "-1", {"[--max-size] -1 is out of range", "0 or more"}},
      {"--threads", "-1", {"-1 threads", "0 for one per core"}},
      {"--seed", "-1", {"[--seed] -1 is negative"}},
      {"--seed", "x", {"[--seed] 'x' is not a whole number"}},
      {"--stop", "soon", {"'soon'", "calibrated or paper"}},
      {"--rule", "xor", {"'xor'", "or, and or none"}},
      {"--estimator", "tarot", {"'tarot'", "auto, gaussian, flow, naf, bnaf or ace"}},
      {"--effort", "heroic", {"'heroic'", "quick, normal or thorough"}},
      {"--repeats", "-3", {"[--repeats] -3 is out of range"}},
      {"--folds", "-2", {"[--folds] -2 is out of range"}},
      {"--steps", "-1", {"[--steps] -1 is out of range"}},
      {"--steps", "many", {"[--steps] 'many' is not a whole number"}},
      {"--missing", "guess", {"guess", "use", "drop", "error"}},
  };
  for (const auto& [option, value, phrases] : cases) {
    fails({"mb", "data.csv", "--out", "result.json", option, value}, 2, phrases);
  }
}

TEST_F(CliTest, SimulateOptionsOutOfRange) {
  const struct {
    std::vector<std::string> options;
    std::vector<std::string> phrases;
  } cases[] = {
      {{"--sem", "magic"}, {"[--sem] 'magic'", "linear, gp, mlp, pnl or gene"}},
      {{"--graph", "tree"}, {"[--graph] 'tree'", "er or sf"}},
      {{"--noise", "pink"}, {"[--noise] 'pink'", "gauss, uniform, laplace, gumbel, exponential or mixed"}},
      {{"--format", "xls"}, {"xls", "csv", "npy"}},
      {{"--nodes", "0"}, {"[--nodes] 0 is out of range", "1 or more"}},
      {{"--rows", "0"}, {"[--rows] 0 is out of range", "1 or more"}},
      {{"--degree", "-1"}, {"[--degree] -1 is out of range"}},
      {{"--degree", "40"}, {"degree 40", "largest possible is 14.5"}},
      {{"--seed", "-1"}, {"[--seed] -1 is negative"}},
      {{"--threads", "-1"}, {"-1 threads"}},
      {{"--hidden", "-1"}, {"[--hidden] -1 is out of range", "0 or more"}},
      {{"--nodes", "3", "--hidden", "4"}, {"hidden 4", "largest possible is 3"}},
      {{"--measurement-noise", "1"}, {"[--measurement-noise] 1 is out of range", "0 or more and below 1"}},
      {{"--sem", "gp", "--rows", "6000"}, {"6000 rows", "limit is 5000"}},
      {{"--sem", "gp", "--weight-low", "1"}, {"gp equations have no weights"}},
  };
  for (const auto& [options, phrases] : cases) {
    std::vector<std::string> arguments = {"simulate", "--out", "new/deep/folder"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    fails(arguments, 2, phrases);  // and the folders it made are gone
  }
}

TEST_F(CliTest, UnknownTargetSuggestsTheNearest) {
  save({{"TP53", "BRCA1", "age"}, chain(50, 3).values}, path("genes.csv"));
  fails({"mb", "genes.csv", "--target", "BRAC1", "--out", "r.json"}, 2, {"'BRAC1'", "Did you mean 'BRCA1'?"});
  fails({"mb", "genes.csv", "--target", "income", "--out", "r.json"}, 2, {"'income'", "'TP53', 'BRCA1', 'age'"});
}

// ---- Files that are not there or cannot be --------------------------------------------------------------------------

TEST_F(CliTest, InputsThatDoNotExist) {
  for (const std::string name : {"none.csv", "none.tsv", "none.npy", "none.npz", "no/such/folder.csv"}) {
    fails({"mb", name, "--out", "r.json"}, 2, {"'" + name + "'", "No such file", "Check the path"});
  }
  fails({"mb", "table.xlsx"}, 2, {"'table.xlsx'", ".csv, .tsv, .txt, .npy and .npz"});
  fs::create_directory(path("folder.csv"));
  fails({"mb", "folder.csv"}, 2, {"'folder.csv' is a directory"});
  put("dag.csv", "x1,x2\n0,1\n0,0\n");
  fails({"eval", "none.json", "--truth", "dag.csv"}, 2, {"'none.json'", "No such file"});
  fails({"eval", "dag.csv", "--truth", "none.csv"}, 2, {"'none.csv'", "No such file"});
}

TEST_F(CliTest, UnwritableOutputIsKnownBeforeAnyWork) {
  fs::create_directory(path("folder"));
  // The table is not there either: that the output is complained of shows that it comes first.
  fails({"mb", "none.csv", "--out", "no/such/r.json"}, 2, {"'no/such/r.json'", "No such file", "writable directory"});
  fails({"mb", "none.csv", "--out", "folder"}, 2, {"'folder' is a directory"});
  fails({"simulate", "--sem", "gp", "--rows", "5000", "--out", "data.csv"}, 2, {"'data.csv'", "choose another --out"});
  fs::create_directories(path("taken/data.csv"));
  fails({"simulate", "--sem", "gp", "--rows", "5000", "--out", "taken"}, 2, {"taken/data.csv' is a directory"});
}

TEST_F(CliTest, AFailedRunKeepsTheOldResult) {
  put("r.json", "precious");
  put("bad.csv", "a,b\n1,2\n1,x\n");
  fails({"mb", "bad.csv", "--out", "r.json"}, 3, {"bad.csv line 3"});
  EXPECT_EQ(content("r.json"), "precious");
}

TEST_F(CliTest, FullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fails({"mb", "data.csv", "--estimator", "gaussian", "--quiet", "--out", "/dev/full"}, 1,
        {"'/dev/full'", "No space left", "Free some space"});
  put("dag.csv", "x1,x2\n0,1\n0,0\n");
  const std::vector<std::vector<std::string>> printing = {{"mb", "data.csv", "--estimator", "gaussian", "--quiet"},
                                                          {"eval", "dag.csv", "--truth", "dag.csv"},
                                                          {"eval", "dag.csv", "--truth", "dag.csv", "--json"},
                                                          {"bench", "--quiet"},
                                                          {"--version"},
                                                          {"mb", "--help"}};
  for (const auto& arguments : printing) {
    fails(Call{.arguments = arguments, .output_to = "/dev/full"}, 1,
          {"standard output", "No space left", "write elsewhere"});
  }
  // One of three files cannot be written: the table does not come without its truth.
  fs::create_directory(path("half"));
  fs::create_symlink("/dev/full", path("half/dag.csv"));
  fails({"simulate", "--rows", "20", "--out", "half"}, 1, {"half/dag.csv", "No space left"});
}

// ---- Standard error -------------------------------------------------------------------------------------------------

TEST_F(CliTest, QuietSaysNothing) {
  EXPECT_EQ(works({"mb", "data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"}).err, "");
  EXPECT_EQ(works({"mb", "data.csv", "--estimator", "gaussian", "--quiet"}).err, "");
  EXPECT_EQ(works({"simulate", "--rows", "20", "--out", "s", "--quiet"}).err, "");
  EXPECT_EQ(works({"bench", "--quiet"}).err, "");
  put("gap.csv", "a,b\n,1\n1,2\n2,2\n3,1\n4,9\n5,6\n6,8\n7,7\n8,1\n");
  EXPECT_EQ(works({"mb", "gap.csv", "--missing", "drop", "--quiet"}).err, "");
  fails({"mb", "none.csv", "--quiet"}, 2, {"none.csv"});  // but errors it says
}

TEST_F(CliTest, SaysWhatItDidAndWhere) {
  const Outcome mb = works({"mb", "data.csv", "--estimator", "gaussian", "--out", "r.json"});
  EXPECT_EQ(mb.out, "");
  EXPECT_THAT(mb.err, HasSubstr("5 boundaries of 200 rows"));
  EXPECT_THAT(mb.err, HasSubstr("written to r.json"));
  const Outcome simulate = works({"simulate", "--rows", "20", "--nodes", "4", "--out", "s"});
  EXPECT_EQ(simulate.out, "");
  EXPECT_THAT(simulate.err, HasSubstr("s/data.csv: 20 rows of 4 variables"));
}

TEST_F(CliTest, NoProgressBarInAPipe) {
  // Long enough for a bar to appear on a terminal; works() looks for escape codes and carriage returns.
  const Outcome outcome = works({"simulate", "--sem", "gp", "--rows", "2000", "--nodes", "20", "--out", "s"});
  EXPECT_EQ(outcome.lines().size(), 1u);
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("simulating")));
}

// ---- Ctrl-C ---------------------------------------------------------------------------------------------------------

using namespace std::chrono_literals;

class InterruptTest : public ProgramTest {
 protected:
  /// Runs, sends SIGINT so long after the first temporary file is there, and expects a clean end.
  void is_interrupted(std::vector<std::string> arguments, std::chrono::milliseconds delay,
                      bool waits_for_input = false) {
    const auto before = entries();
    const Outcome outcome = run(Call{
        .arguments = std::move(arguments), .keep_input_open = waits_for_input, .interrupted = once_at_work(delay)});
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_EQ(outcome.err, "fansite: interrupted; nothing was written\n");
    EXPECT_EQ(outcome.out, "");
    EXPECT_GE(outcome.seconds_after_interrupt, 0);
    EXPECT_LT(outcome.seconds_after_interrupt, 1.0);
    EXPECT_EQ(entries(), before);
  }
};

TEST_F(InterruptTest, Simulation) {
  for (const auto delay : {0ms, 300ms}) {
    is_interrupted({"simulate", "--sem", "gp", "--rows", "5000", "--nodes", "60", "--out", "new/folder"}, delay);
  }
}

TEST_F(InterruptTest, Search) {
  Dataset noise{default_names(2500), Matrix(300, 2500)};
  Random random(Key{3});
  for (Index i = 0; i < noise.values.size(); ++i) noise.values.data()[i] = random.normal();
  save(noise, path("noise.npy"));
  for (const auto delay : {0ms, 100ms, 600ms}) {
    is_interrupted(
        {"mb", "noise.npy", "--estimator", "gaussian", "--stop", "paper", "--patience", "30", "--out", "r.json"},
        delay);
  }
}

TEST_F(InterruptTest, WaitForStandardInput) { is_interrupted({"mb", "-", "--out", "r.json"}, 100ms, true); }

}  // namespace
}  // namespace fansite
