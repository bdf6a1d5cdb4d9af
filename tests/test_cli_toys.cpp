// SPDX-License-Identifier: Apache-2.0
//
// A method is one source and one row: the program with the two of tests/toys knows them everywhere, without another
// edit.
#include "program.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ToyMethods : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "6", "--rows", "200", "--seed", "3", "--out", "."});
  }
  Json result(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--quiet"});
    return works(arguments).json();
  }
};

TEST_F(ToyMethods, AreListedWithCitationAndParameters) {
  const std::string list = works({"methods"}).out;
  EXPECT_THAT(list, HasSubstr("most-correlated"));
  EXPECT_THAT(list, HasSubstr("name-order"));
  const std::string one = works({"methods", "most-correlated"}).out;
  EXPECT_THAT(one, HasSubstr("--least"));
  EXPECT_THAT(one, HasSubstr("absolute correlation of a member"));
  EXPECT_THAT(one, HasSubstr("a number, 0 to 1; default 0.1"));
}

TEST_F(ToyMethods, AreInTheHelp) {
  const std::string mb = works({"mb", "--help"}).out, dag = works({"dag", "--help"}).out;
  EXPECT_THAT(mb, HasSubstr("dat-moral or most-correlated"));
  EXPECT_THAT(mb, HasSubstr("Options of most-correlated:"));
  EXPECT_THAT(mb, HasSubstr("--size INT=2"));
  EXPECT_THAT(dag, HasSubstr("name-order"));
  EXPECT_THAT(dag, HasSubstr("--backwards"));
}

TEST_F(ToyMethods, FindBoundariesThatCanBeVerifiedAndReported) {
  const Json found = result({"mb", "data.csv", "--method", "most-correlated", "--size", "1", "--out", "-"});
  EXPECT_EQ(found["settings"]["method"], "most-correlated");
  EXPECT_EQ(found["settings"]["size"], 1);
  EXPECT_EQ(found["settings"]["least"], 0.1);
  EXPECT_EQ(found["details"]["correlations"], 36);
  EXPECT_TRUE(found["estimator"].is_null());
  for (const Json& boundary : found["boundaries"]) EXPECT_LE(boundary["members"].size(), 1u);
  works({"mb", "data.csv", "--method", "most-correlated", "--size", "1", "--quiet", "--out", "toy.json"});
  EXPECT_THAT(works({"verify", "toy.json", "data.csv"}).err, HasSubstr("the bits agree"));
  works({"report", "toy.json", "--out", "toy.html"});
  EXPECT_THAT(works({"eval", "toy.json", "--truth", "dag.csv"}).out, HasSubstr("F1"));
}

TEST_F(ToyMethods, FindGraphsAmongLinksOfEachOther) {
  const std::vector<std::string> command = {
      "dag",    "data.csv", "--method",   "name-order", "--boundary-method", "most-correlated",
      "--size", "2",        "--backwards"};
  const Json found = result(command);
  EXPECT_EQ(found["settings"]["backwards"], true);
  EXPECT_EQ(found["settings"]["boundaries"]["size"], 2);
  EXPECT_FALSE(found["edges"].empty());
  for (const Json& edge : found["edges"]) {
    EXPECT_GT(edge["from"].get<std::string>(), edge["to"].get<std::string>());  // x1 … x6
  }
  std::vector<std::string> kept = command;
  kept.insert(kept.end(), {"--out", "toy.json", "--quiet"});
  works(kept);
  EXPECT_THAT(works({"verify", "toy.json", "data.csv"}).err, HasSubstr("the bits agree"));
}

TEST_F(ToyMethods, RefuseWhatTheyDoNotHaveOrCannotDo) {
  const auto refusal = [&](std::vector<std::string> arguments) {
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.lines().size(), 1u);
    return outcome.err;
  };
  EXPECT_THAT(refusal({"mb", "data.csv", "--method", "most-correlated", "--fdr", "0.1"}),
              HasSubstr("[--fdr] most-correlated has no such option; fansite has it"));
  EXPECT_THAT(refusal({"mb", "data.csv", "--size", "3"}),
              HasSubstr("[--size] fansite has no such option; most-correlated has it"));
  EXPECT_THAT(refusal({"mb", "data.csv", "--method", "most-correlated", "--least", "2"}),
              HasSubstr("[--least] 2 is out of range; use a number, 0 to 1"));
  EXPECT_THAT(refusal({"mb", "data.csv", "--method", "most-correlated", "--time-budget", "5s"}),
              HasSubstr("[--method] most-correlated cannot be cut short; fansite or dat-moral can"));
  EXPECT_THAT(refusal({"mb", "data.csv", "--method", "most-correlated", "--resume", "--out", "toy.json"}),
              HasSubstr("[--method] most-correlated cannot be resumed; fansite or dat-moral can"));
  put("known.txt", "forbid x1 -> x2\n");
  EXPECT_THAT(refusal({"mb", "data.csv", "--method", "most-correlated", "--knowledge", "known.txt"}),
              HasSubstr("most-correlated cannot satisfy prior knowledge; fansite, iamb,"));
  EXPECT_THAT(refusal({"plan", "data.csv", "--method", "most-correlated"}),
              HasSubstr("[plan] what most-correlated costs is not known beforehand"));
}

}  // namespace
}  // namespace fansite
