// SPDX-License-Identifier: Apache-2.0
//
// fansite verify repeats the run of any result from the result alone.
#include "tests/program.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

class VerifyTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--sem", "gp", "--nodes", "6", "--rows", "300", "--seed", "5", "--out", "s", "--quiet"});
  }

  void expect_to_agree(Strings words, const Strings& more = {}) const {
    words.insert(words.end(), {"--out", "r.json", "--quiet"});
    works(words);
    Strings verify = {"verify", "r.json", "s/data.csv"};
    verify.insert(verify.end(), more.begin(), more.end());
    EXPECT_THAT(works(verify).err, HasSubstr("the bits agree: r.json is what this table gives"));
  }
};

const Strings kFlow = {"--estimator", "flow", "--folds", "2", "--repeats", "1", "--steps", "300"};

Strings with_flow(Strings words) {
  words.insert(words.end(), kFlow.begin(), kFlow.end());
  return words;
}

TEST_F(VerifyTest, BoundariesWhateverTheSettings) {
  put("rules.txt", "require x1 -> x6\nnot-in-boundary x2 x3\n");
  expect_to_agree({"mb", "s/data.csv", "--estimator", "gaussian"});
  expect_to_agree({"mb", "s/data.csv", "--estimator", "gaussian", "--stop", "paper", "--eps-grow", "0.01",
                   "--eps-shrink", "0.003", "--rho", "3", "--max-size", "4", "--rule", "and"});
  expect_to_agree({"mb", "s/data.csv", "--estimator", "gaussian", "--target", "x3", "--target", "x1", "--fdr", "0.2"});
  expect_to_agree({"mb", "s/data.csv", "--estimator", "gaussian", "--refine", "graph", "--effort", "quick"});
  expect_to_agree(with_flow({"mb", "s/data.csv", "--seed", "18446744073709551615"}));
  expect_to_agree(with_flow({"mb", "s/data.csv", "--knowledge", "rules.txt", "--refine", "none"}));
  expect_to_agree({"mb", "s/data.csv", "--effort", "quick", "--steps", "300"});
}

TEST_F(VerifyTest, ModelsThatWereGiven) {
  works(with_flow({"mb", "s/data.csv", "--save-model", "m", "--quiet"}));
  works(with_flow({"mb", "s/data.csv", "--save-model", "other", "--seed", "3", "--quiet"}));
  expect_to_agree({"mb", "s/data.csv", "--model", "m"}, {"--model", "m"});
  fails({"verify", "r.json", "s/data.csv"}, 3, {"--model"});
  fails({"verify", "r.json", "s/data.csv", "--model", "other"}, 1, {"the bits differ", "in \"manifest\""});
  expect_to_agree({"mb", "s/data.csv", "--estimator", "gaussian"});
  fails({"verify", "r.json", "s/data.csv", "--model", "m"}, 3, {"without a trained model"});
}

// It says what a GPU could not do on another machine, and the answer is the processor's.
TEST_F(VerifyTest, AWarningAboutAGpuIsNoPartOfTheAnswer) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"});
  std::string result = content("r.json");
  const std::string key = "\"warnings\": [";
  const auto place = result.find(key);
  ASSERT_NE(place, std::string::npos);
  const bool others = result.at(place + key.size()) != ']';
  result.insert(place + key.size(),
                std::string("\n\"[device] the GPU is lost; the processor did the rest\"") + (others ? "," : "\n"));
  put("told.json", result);
  EXPECT_THAT(works({"verify", "told.json", "s/data.csv"}).err, HasSubstr("the bits agree"));
  result.replace(result.find("the GPU is lost") - 9, 9, "[nothing]");
  put("told.json", result);
  fails({"verify", "told.json", "s/data.csv"}, 1, {"the bits differ", "in \"warnings\""});
}

TEST_F(VerifyTest, Graphs) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "b.json", "--quiet"});
  expect_to_agree({"dag", "s/data.csv", "--boundaries", "b.json"});
  expect_to_agree({"dag", "s/data.csv", "--estimator", "flow", "--effort", "quick"});
  put("rules.txt", "forbid x1 -> x2\n");
  expect_to_agree({"dag",
                   "s/data.csv",
                   "--boundaries",
                   "b.json",
                   "--knowledge",
                   "rules.txt",
                   "--dag",
                   "--noise",
                   "gaussian",
                   "--scale",
                   "normal-scores",
                   "--penalty",
                   "0.5",
                   "--confidence",
                   "1",
                   "--max-parents",
                   "2",
                   "--max-rows",
                   "200",
                   "--seed",
                   "7"});
  expect_to_agree({"dag", "s/data.csv", "--boundaries", "b.json", "--method", "fansite-dcd", "--epochs", "20"});
  expect_to_agree({"dag", "s/data.csv", "--method", "sdcd", "--standardise", "--epochs", "20", "--threshold", "0.1"});
}

TEST_F(VerifyTest, Entropies) {
  expect_to_agree({"entropy", "s/data.csv", "--target", "x1", "--given", "x2,x3", "--estimator", "gaussian"});
  expect_to_agree(with_flow({"entropy", "s/data.csv", "--target", "x1", "--given", "x2,x3", "--base", "none",
                             "--schedule", "constant", "--blocks", "3", "--batch", "32", "--held-out", "0.2"}));
}

TEST_F(VerifyTest, ADifferenceIsShownWhereItIs) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"});
  std::string text = content("r.json");
  const std::size_t place = text.find("\"gain\":0.") + 9;
  text[place] = text[place] == '7' ? '8' : '7';
  put("forged.json", text);
  fails({"verify", "forged.json", "s/data.csv"}, 1, {"[verify] the bits differ", "in \"boundaries\"", "gain"});
}

TEST_F(VerifyTest, ATableHasTheHashThatItsSimulationSays) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"});
  EXPECT_EQ(json("r.json").at("manifest").at("data_hash"), json("s/simulation.json").at("data_hash"));
}

TEST_F(VerifyTest, WhatCannotBeRepeatedIsRefused) {
  works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"});
  works({"simulate", "--nodes", "6", "--rows", "300", "--seed", "6", "--out", "t", "--quiet"});
  fails({"verify", "r.json", "t/data.csv"}, 3, {"r.json is the result of another table"});
  fails({"verify", "s/simulation.json", "s/data.csv"}, 3, {"fansite.simulation/2", "mb, dag or entropy"});
  fails({"verify", "s/data.csv", "s/data.csv"}, 3, {"not a JSON result"});
  fails({"verify", "nowhere.json", "s/data.csv"}, 2, {"nowhere.json"});
  fails({"verify", "-", "-"}, 2, {"standard input"});
  Json result = json("r.json");
  result.erase("manifest");
  put("old.json", result.dump());
  fails({"verify", "old.json", "s/data.csv"}, 3, {"does not say what it was made from"});
  result = json("r.json");
  result.at("settings").erase("rule");
  put("damaged.json", result.dump());
  fails({"verify", "damaged.json", "s/data.csv"}, 3, {"lacks a field", "rule"});
}

}  // namespace
}  // namespace fansite
