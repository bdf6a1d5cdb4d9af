// SPDX-License-Identifier: Apache-2.0
//
// fansite compare as its users run it: what it writes, what it refuses, and how it goes on.
#include "program.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using testing::Not;

class CompareCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "8", "--rows", "300", "--seed", "3", "--out", ".", "--quiet"});
  }
  // A table with a missing cell.
  void put_holes() const {
    std::string table = content("data.csv");
    const std::size_t row = table.find('\n') + 1;
    table.replace(row, table.find(',', row) - row, "");
    put("holes.csv", table);
  }
};

TEST_F(CompareCommand, WritesJsonAndCsvAndShowsATable) {
  const Outcome outcome = works({"compare", "data.csv", "--truth", "dag.csv", "--methods", "iamb,iamb:alpha=1e-4,tc",
                                 "--orders", "2", "--out", "c.json", "--csv", "c.csv"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("3 methods on 300 rows × 8 variables, 2 orders"));
  EXPECT_THAT(outcome.err, HasSubstr("iamb:alpha=1e-4"));
  EXPECT_THAT(outcome.err, HasSubstr("nDCG"));
  const Json found = json("c.json");
  EXPECT_EQ(found["format"], "fansite.comparison/1");
  EXPECT_EQ(found["complete"], true);
  EXPECT_EQ(found["settings"]["kind"], "boundaries");
  EXPECT_EQ(found["cells"].size(), 6u);
  EXPECT_EQ(found["methods"][1]["settings"]["alpha"], 1e-4);
  EXPECT_EQ(found["agreement"]["overlap"][0][0], 1.0);
  EXPECT_EQ(found["timing"]["cell_seconds"].size(), 6u);
  // One answer, scored as `eval` scores it.
  works({"mb", "data.csv", "--method", "tc", "--out", "tc.json", "--quiet"});
  const Json score = Json::parse(works({"eval", "tc.json", "--truth", "dag.csv", "--json"}).out);
  for (const char* name : {"nDCG", "AveP", "F1", "precision", "recall", "FDR"}) {
    EXPECT_EQ(found["cells"][2]["scores"][name], score[name]) << name;
  }
  const std::string csv = content("c.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  EXPECT_THAT(entries(), Not(testing::Contains("c.json.checkpoint")));
}

TEST_F(CompareCommand, WithoutTruthItShowsAgreement) {
  const Json found = works({"compare", "data.csv", "--methods", "iamb,gs", "--orders", "1", "--quiet"}).json();
  EXPECT_FALSE(found["cells"][0].contains("scores"));
  EXPECT_EQ(found["agreement"]["overlap"].size(), 2u);
  EXPECT_EQ(found["alone"].size(), 2u);
  EXPECT_THAT(works({"compare", "data.csv", "--methods", "iamb,gs", "--out", "/dev/null"}).err, HasSubstr("overlap"));
}

TEST_F(CompareCommand, SimulatesASettingOverSeeds) {
  const Json found = works({"compare", "--simulate", "nodes=6,sem=mlp,noise=uniform,rows=200", "--seeds", "1-2,7",
                            "--methods", "iamb", "--orders", "1", "--quiet"})
                         .json();
  ASSERT_EQ(found["tables"].size(), 3u);
  EXPECT_EQ(found["tables"][2]["seed"], 7);
  EXPECT_EQ(found["settings"]["simulate"]["sem"], "mlp");
  EXPECT_EQ(found["summary"][0]["done"], 3);
  EXPECT_TRUE(found["summary"][0]["scores"]["F1"]["mean"].is_number());
  EXPECT_FALSE(found.contains("alone"));  // the pairs of different tables are different pairs
}

TEST_F(CompareCommand, GraphsAreComparedWithGraphs) {
  const Json found = works({"compare", "data.csv", "--truth", "dag.csv", "--methods",
                            "fansite-anm,fansite-anm:boundary-method=iamb", "--orders", "1", "--quiet"})
                         .json();
  EXPECT_EQ(found["settings"]["kind"], "graph");
  EXPECT_TRUE(found["cells"][0]["scores"]["SHD"].is_number());
  EXPECT_EQ(found["methods"][1]["settings"]["boundaries"]["method"], "iamb");
  EXPECT_EQ(found["agreement"]["directions"][0][0], 1.0);
}

// ---- What is refused, before any work -------------------------------------------------------------------------------

TEST_F(CompareCommand, BadRequestsAreOneSentence) {
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), "compare");
    more.insert(more.end(), {"--out", "c.json"});
    return more;
  };
  fails(with({"data.csv", "--methods", "imab"}), 2, {"[--methods]", "'imab' is unknown; did you mean 'iamb'?"});
  fails(with({"data.csv", "--methods", "iamb,sdcd"}), 2, {"iamb finds boundaries and sdcd a graph"});
  fails(with({"data.csv", "--methods", "iamb:alpha=high"}), 2, {"[--methods]", "alpha"});
  fails(with({"data.csv", "--orders", "0"}), 2, {"[--orders]", "0 is out of range"});
  fails(with({"data.csv", "--limit", "soon"}), 2, {"[--limit]"});
  fails(with({"data.csv", "--simulate", "nodes=5"}), 2, {"leave DATA out"});
  fails(with({"data.csv", "--seeds", "1-5"}), 2, {"[--seeds]", "the table is given"});
  fails(with({}), 2, {"give a table, or a setting with --simulate"});
  fails(with({"--simulate", "nodes=5", "--truth", "dag.csv"}), 2, {"[--truth]"});
  fails(with({"--simulate", "nodez=5"}), 2, {"[--simulate]", "'nodez' is unknown"});
  fails(with({"--simulate", "nodes=many"}), 2, {"[--simulate] nodes: "});
  fails(with({"--simulate", "nodes=5,seed=1"}), 2, {"--seeds"});
  fails(with({"--simulate", "nodes=5", "--seeds", "5-1"}), 2, {"[--seeds]", "ends before it begins"});
  fails(with({"--simulate", "nodes=5", "--seeds", "x"}), 2, {"[--seeds]", "'x' is no seed"});
  fails(with({"data.csv", "--csv", "c.json"}), 2, {"two results cannot both go to c.json"});
  fails(with({"nowhere.csv"}), 2, {"nowhere.csv"});
  fails({"compare", "data.csv", "--resume"}, 2, {"nothing to go on from without --out"});
}

TEST_F(CompareCommand, ATruthOfOtherVariablesIsRefused) {
  put("other.csv", "a,b\n0,1\n0,0\n");
  fails({"compare", "data.csv", "--truth", "other.csv", "--out", "c.json"}, 3,
        {"the table has 8 variables and other.csv has 2"});
  std::string renamed = content("dag.csv");
  renamed.replace(0, 2, "y1");
  put("renamed.csv", renamed);
  fails({"compare", "data.csv", "--truth", "renamed.csv", "--out", "c.json"}, 3,
        {"the table has no variable 'y1', which renamed.csv has"});
}

// ---- Methods without an answer --------------------------------------------------------------------------------------

TEST_F(CompareCommand, AMethodThatCannotTakeTheTableSaysSoInItsRow) {
  put_holes();
  const Outcome outcome = works(
      {"compare", "holes.csv", "--methods", "kmb,fansite:estimator=gaussian", "--orders", "1", "--out", "c.json"});
  EXPECT_THAT(outcome.err, HasSubstr("1 refused"));
  EXPECT_THAT(outcome.err, HasSubstr("kmb: [mb] the table has missing cells, which kmb cannot use"));
  const Json found = json("c.json");
  EXPECT_EQ(found["cells"][0]["status"], "refused");
  EXPECT_EQ(found["cells"][1]["status"], "done");
  EXPECT_EQ(found["summary"][0]["refused"], 1);
}

TEST_F(CompareCommand, ATableThatNoMethodCanTakeIsBadData) {
  put_holes();
  fails({"compare", "holes.csv", "--methods", "kmb", "--out", "c.json"}, 3, {"missing cells, which kmb cannot use"});
}

TEST_F(CompareCommand, AMethodThatRunsOutOfTimeIsADash) {
  works({"simulate", "--nodes", "40", "--rows", "3000", "--sem", "gp", "--seed", "3", "--out", "gp", "--quiet"});
  const Outcome outcome = works({"compare", "gp/data.csv", "--methods", "fansite:estimator=flow,tc", "--orders", "1",
                                 "--limit", "0.3s", "--out", "c.json"});
  const Json found = json("c.json");
  EXPECT_EQ(found["cells"][0]["status"], "timeout");
  EXPECT_LT(found["timing"]["cell_seconds"][0], 20);
  EXPECT_EQ(found["cells"][1]["status"], "done");
  EXPECT_THAT(outcome.err, HasSubstr("1 out of time"));
  EXPECT_THAT(outcome.err, HasSubstr("–"));
}

// ---- Interrupted, and gone on with ----------------------------------------------------------------------------------

// While networks train, which takes much longer than a second.
std::function<bool()> a_second_after(std::string checkpoint) {
  using Clock = std::chrono::steady_clock;
  return [checkpoint = std::move(checkpoint), seen = Clock::time_point::max()]() mutable {
    if (seen == Clock::time_point::max() && std::filesystem::exists(checkpoint)) seen = Clock::now();
    return seen != Clock::time_point::max() && Clock::now() - seen > std::chrono::seconds(1);
  };
}

class LongComparison : public CompareCommand {
 protected:
  void SetUp() override {
    CompareCommand::SetUp();
    works({"simulate", "--nodes", "40", "--rows", "2000", "--sem", "gp", "--seed", "3", "--out", "gp", "--quiet"});
  }
  std::function<bool()> after_the_quick_ones() const { return a_second_after(path("c.json.checkpoint")); }
};

TEST_F(LongComparison, AKilledOneLeavesWhatWasDone) {
  const std::vector<std::string> command = {"compare",  "gp/data.csv", "--methods", "tc,fansite:estimator=flow",
                                            "--orders", "1",           "--out",     "c.json"};
  const Outcome killed =
      run(Call{.arguments = command, .interrupted = after_the_quick_ones(), .interrupt_signal = SIGKILL});
  EXPECT_EQ(killed.signal, SIGKILL);
  ASSERT_EQ(json("c.json.checkpoint")["cells"].size(), 1u);
  works({"compare", "gp/data.csv", "--methods", "tc", "--orders", "1", "--out", "c.json", "--resume", "--quiet"});
  EXPECT_EQ(json("c.json")["complete"], true);
}

TEST_F(LongComparison, AnInterruptedOneGoesOn) {
  const std::vector<std::string> command = {"compare",  "gp/data.csv", "--methods", "tc,iamb,fansite:estimator=flow",
                                            "--orders", "1",           "--out",     "c.json",
                                            "--verbose"};
  const Outcome stopped = run(Call{.arguments = command, .interrupted = after_the_quick_ones()});
  EXPECT_EQ(stopped.code, 130);
  EXPECT_THAT(stopped.lines().back(), HasSubstr("c.json.checkpoint has what was done, add --resume"));
  EXPECT_FALSE(has_temporary_file());
  EXPECT_THAT(entries(), Not(testing::Contains("c.json")));
  const Json kept = json("c.json.checkpoint");
  EXPECT_EQ(kept["complete"], false);
  ASSERT_EQ(kept["cells"].size(), 2u);
  fails(command, 2, {"c.json.checkpoint is left from an interrupted comparison; add --resume"});

  std::vector<std::string> resumed = {"compare", "gp/data.csv", "--methods", "tc,iamb",  "--orders",
                                      "1",       "--out",       "c.json",    "--resume", "--quiet"};
  works(resumed);
  works({"compare", "gp/data.csv", "--methods", "tc,iamb", "--orders", "1", "--out", "once.json", "--quiet"});
  EXPECT_EQ(without_timing(content("c.json")), without_timing(content("once.json")));
  EXPECT_EQ(json("c.json")["timing"]["cell_seconds"], kept["timing"]["cell_seconds"]);  // they were not run again
  EXPECT_THAT(entries(), Not(testing::Contains("c.json.checkpoint")));
  // A finished comparison is gone on with too: one more method.
  resumed[3] = "tc,iamb,gs";
  works(resumed);
  EXPECT_EQ(json("c.json")["cells"].size(), 3u);
  EXPECT_EQ(json("c.json")["timing"]["cell_seconds"][0], kept["timing"]["cell_seconds"][0]);
}

TEST_F(CompareCommand, WhatIsLeftOfAnotherTableIsRefused) {
  works({"compare", "data.csv", "--methods", "tc", "--orders", "1", "--out", "c.json", "--quiet"});
  works({"simulate", "--nodes", "8", "--rows", "300", "--seed", "4", "--out", "o", "--quiet"});
  fails({"compare", "o/data.csv", "--methods", "tc", "--orders", "1", "--out", "c.json", "--resume"}, 3,
        {"c.json is of another table"});
}

}  // namespace
}  // namespace fansite
