// SPDX-License-Identifier: Apache-2.0
//
// Help in its forms, and what is said of words that mean nothing.
#include "tests/program.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class UsageTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::string text = "a,b,c\n";
    for (int row = 0; row < 40; ++row) {
      text +=
          std::to_string(row * 37 % 101) + "," + std::to_string(row * 53 % 97) + "," + std::to_string(row % 5) + "\n";
    }
    put("study.csv", text);
  }
};

// ---- Help -----------------------------------------------------------------------------------------------------------

TEST_F(UsageTest, TheProgramAloneAndHelpShowTheHelp) {
  const std::string help = works({"--help"}).out;
  EXPECT_THAT(help, HasSubstr("Exit codes: 0 done"));
  EXPECT_EQ(works(std::vector<std::string>{}).out, help);
  EXPECT_EQ(works({"help"}).out, help);
  for (const char* command : {"simulate", "inspect", "mb", "plan", "dag", "entropy", "compare", "eval", "methods",
                              "verify", "report", "bench", "completion", "help"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + command + " "));
    EXPECT_EQ(works({"help", command}).out, works({command, "--help"}).out);
  }
  EXPECT_EQ(works({"help", "bench", "flow"}).out, works({"bench", "flow", "--help"}).out);
}

TEST_F(UsageTest, ManualPagesHaveTheWordsOfTheHelp) {
  const std::string page = works({"help", "mb", "--man"}).out;
  EXPECT_THAT(page, StartsWith(".TH FANSITE\\-MB 1"));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nfansite\\-mb \\- find the Markov boundary of every variable\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-drop\\fR \\fICOLUMN\\fR\na column that is left out, whatever it holds"));
  EXPECT_THAT(page, HasSubstr("(default: use)"));
  EXPECT_THAT(page, HasSubstr("130 interrupted"));
  works({"help", "--man-pages", "pages/man1"});
  EXPECT_EQ(content("pages/man1/fansite-mb.1"), page);
  EXPECT_THAT(content("pages/man1/fansite.1"), HasSubstr(".BR fansite\\-mb (1)"));
  EXPECT_EQ(content("pages/man1/fansite-bench-flow.1"), works({"help", "bench", "flow", "--man"}).out);
  for (const std::string& name : entries()) {
    if (!name.ends_with(".1")) continue;
    // No line begins with a command that troff does not know, or begins by chance with one.
    std::istringstream lines(content(name));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_THAT(line, testing::Not(testing::ContainsRegex("^'")));
      if (!line.starts_with(".")) continue;
      EXPECT_THAT(line, testing::ContainsRegex("^\\.(TH|SH|TP|BR) ?"));
    }
  }
  fails({"help", "mb", "--man-pages", "elsewhere"}, 2, {"name none"});
}

// ---- Wrong words ----------------------------------------------------------------------------------------------------

TEST_F(UsageTest, CommandsThatAreNearlyRight) {
  fails({"mbb"}, 2, {"no command 'mbb'; did you mean 'mb'?", "fansite --help"});
  fails({"help", "entropi"}, 2, {"no command 'entropi'; did you mean 'entropy'?"});
  fails({"bench", "flwo"}, 2, {"no command 'flwo'; did you mean 'flow'?", "fansite bench --help"});
}

TEST_F(UsageTest, AnErrorNamesTheOptionAndNoOtherWord) {
  const auto blames_only = [&](std::vector<std::string> words, const std::vector<std::string>& phrases) {
    fails(words, 2, phrases);
    EXPECT_THAT(run(words).err, Not(HasSubstr("study.csv")));
    EXPECT_THAT(run(words).err, Not(HasSubstr("gaussian")));
  };
  const std::vector<std::string> said = {"`fansite mb` has no option '--estimatr'; did you mean '--estimator'?",
                                         "fansite mb --help"};
  blames_only({"mb", "study.csv", "--estimatr", "gaussian"}, said);
  blames_only({"mb", "--estimatr", "gaussian", "study.csv"}, said);
  blames_only({"mb", "study.csv", "--estimatr=gaussian"}, said);
  blames_only({"mb", "study.csv", "--estimator", "gaussian", "-q"}, {"no option '-q'. See"});
  blames_only({"mb", "study.csv", "--colour", "gaussian"}, {"no option '--colour'. See"});
  blames_only({"bench", "flow", "--jsn"}, {"`fansite bench flow` has no option '--jsn'; did you mean '--json'?"});
  blames_only({"--verison"}, {"no option '--verison'; did you mean '--version'?"});
  // Not that --truth is required, which is nearly there.
  blames_only({"eval", "study.csv", "--truht", "x.csv"}, {"no option '--truht'; did you mean '--truth'?"});
  fails({"mb", "study.csv", "other.csv", "third.csv"}, 2, {"does not know what to do with 'other.csv', 'third.csv'."});
  EXPECT_THAT(run({"mb", "study.csv", "other.csv"}).err, Not(HasSubstr("study.csv'")));
}

TEST_F(UsageTest, ValuesThatAreMissingOrWrong) {
  fails({"mb", "study.csv", "--fdr"}, 2, {"--fdr needs a value. See"});
  fails({"mb", "study.csv", "--fdr", "0.1", "--fdr", "0.2"}, 2, {"--fdr can be given once only"});
  fails({"mb", "study.csv", "--threads", "x"}, 2, {"[--threads] 'x' is not a whole number"});
  // A value may look like an option.
  fails({"mb", "study.csv", "--fdr", "-1"}, 2, {"[--fdr] -1 is out of range"});
  fails({"mb", "study.csv", "--target", "--estimatr"}, 2, {"no column is called '--estimatr'"});
}

// ---- Columns that are left out --------------------------------------------------------------------------------------

TEST_F(UsageTest, EveryCommandThatReadsATableLeavesColumnsOut) {
  const std::vector<std::string> quick = {"--estimator", "gaussian", "--quiet"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const std::vector<std::string>& choice :
       {std::vector<std::string>{"--drop", "c"}, std::vector<std::string>{"--only", "a", "--only", "b"}}) {
    const Json mb = works(with(with({"mb", "study.csv"}, quick), choice)).json();
    EXPECT_EQ(mb.at("variables"), Json::parse(R"(["a", "b"])"));
    const Json dag = works(with(with({"dag", "study.csv"}, quick), choice)).json();
    EXPECT_EQ(dag.at("variables"), Json::parse(R"(["a", "b"])"));
    works(with(with({"entropy", "study.csv", "--target", "a", "--given", "b"}, quick), choice));
    fails(with(with({"entropy", "study.csv", "--target", "a", "--given", "c"}, quick), choice), 2, {"'c'"});
    EXPECT_THAT(works(with({"inspect", "study.csv"}, choice)).out, HasSubstr("40 rows × 2 columns"));
    EXPECT_THAT(works(with({"plan", "study.csv"}, choice)).out, HasSubstr("40 rows × 2 variables"));
    EXPECT_THAT(works(with({"compare", "study.csv", "--methods", "tc,gs"}, choice)).err, HasSubstr("40 rows × 2"));
  }
  EXPECT_THAT(works({"inspect", "study.csv", "--drop", "c"}).out, HasSubstr("without 'c', as asked for"));
  EXPECT_THAT(works({"inspect", "study.csv", "--only", "a"}).out, HasSubstr("without the columns that were not asked"));
  fails({"mb", "study.csv", "--drop", "d"}, 2, {"no column is called 'd'", "'a', 'b', 'c'"});
}

// What is left out is part of the run: it is kept with the result, and verify and --resume repeat it.
TEST_F(UsageTest, WhatIsLeftOutIsPartOfTheRun) {
  works({"mb", "study.csv", "--estimator", "gaussian", "--drop", "c", "--out", "r.json"});
  EXPECT_EQ(json("r.json").at("settings").at("table"), Json::parse(R"({"drop": ["c"]})"));
  works({"verify", "r.json", "study.csv"});
  works({"verify", "r.json", "study.csv", "--drop", "c"});
  fails({"verify", "r.json", "study.csv", "--drop", "b"}, 3, {"another table"});
  works({"mb", "study.csv", "--estimator", "gaussian", "--only", "a", "--only", "c", "--out", "o.json"});
  EXPECT_EQ(json("o.json").at("settings").at("table"), Json::parse(R"({"only": ["a", "c"]})"));
  works({"verify", "o.json", "study.csv"});
  works({"dag", "study.csv", "--boundaries", "r.json", "--drop", "c", "--out", "g.json"});
  works({"verify", "g.json", "study.csv"});
  fails({"dag", "study.csv", "--boundaries", "r.json"}, 3, {"r.json"});
}

}  // namespace
}  // namespace fansite
