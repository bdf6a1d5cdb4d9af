// SPDX-License-Identifier: Apache-2.0
//
// Runs that are killed, interrupted or short of time, and what becomes of them.
#include "tests/program.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

class ResumeTest : public ProgramTest {
 protected:
  void simulate(const Strings& options) const {
    Strings words = {"simulate", "--sem", "gp", "--seed", "5", "--out", "s", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    works(words);
  }

  /// Ended by a signal once the file is there.
  void end_when_there(const Strings& words, const std::string& file, int signal) const {
    Call call{.arguments = words};
    call.interrupted = [&] { return std::filesystem::exists(path(file)); };
    call.interrupt_signal = signal;
    const Outcome outcome = run(call);
    if (signal == SIGKILL) {
      ASSERT_EQ(outcome.signal, SIGKILL) << outcome.err;
    } else {
      ASSERT_EQ(outcome.code, 130) << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("add --resume to go on from there"));
    }
    ASSERT_TRUE(std::filesystem::exists(path(file)));
    EXPECT_FALSE(std::filesystem::exists(path("r.json")));
  }

  /// The result and nothing else is there, with the same bytes as straight through.
  void expect_to_go_on(Strings words, const std::string& straight) const {
    EXPECT_EQ(run(words).code, 2);  // takes over the lock that the killed run has left, so that it is gone
    EXPECT_FALSE(std::filesystem::exists(path("r.json.lock")));
    fails(words, 2, {"r.json.checkpoint is left from an interrupted run", "--resume", "delete it"});
    words.push_back("--resume");
    const Outcome outcome = works(words);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(without_timing(content("r.json")), straight);
    EXPECT_EQ(entries(), (Strings{"r.json", "s", "s/dag.csv", "s/data.csv", "s/simulation.json"}));
  }
};

Strings with_result(Strings words) {
  words.insert(words.end(), {"--out", "r.json"});
  return words;
}

TEST_F(ResumeTest, KilledInTraining) {
  simulate({"--nodes", "6", "--rows", "300"});
  const Strings words = {"mb", "s/data.csv", "--folds", "2", "--repeats", "1", "--steps", "16000", "--quiet"};
  const std::string straight = without_timing(works(words).out);
  end_when_there(with_result(words), "r.json.checkpoint", SIGKILL);
  expect_to_go_on(with_result(words), straight);
}

// A search of some seconds, with networks of few steps.
const Strings kLongSearch = {"mb",      "s/data.csv", "--estimator", "flow", "--folds",  "5",    "--repeats", "2",
                             "--steps", "200",        "--patience",  "12",   "--refine", "none", "--quiet"};

TEST_F(ResumeTest, KilledInTheSearch) {
  simulate({"--nodes", "16", "--rows", "1500"});
  const std::string straight = without_timing(works(kLongSearch).out);
  end_when_there(with_result(kLongSearch), "r.json.checkpoint.search", SIGKILL);
  ASSERT_TRUE(std::filesystem::exists(path("r.json.checkpoint")));
  expect_to_go_on(with_result(kLongSearch), straight);
}

TEST_F(ResumeTest, InterruptedInTheSearch) {
  simulate({"--nodes", "12", "--rows", "600"});
  end_when_there(with_result(kLongSearch), "r.json.checkpoint", SIGINT);  // complete when training has ended
  Strings words = with_result(kLongSearch);
  words.push_back("--resume");
  works(words);
  EXPECT_EQ(entries(), (Strings{"r.json", "s", "s/dag.csv", "s/data.csv", "s/simulation.json"}));
}

TEST_F(ResumeTest, AGraphIsKilledAndGoesOn) {
  simulate({"--nodes", "16", "--degree", "2", "--rows", "1500"});
  const Strings words = {"dag", "s/data.csv", "--estimator", "gaussian", "--quiet"};
  const std::string straight = without_timing(works(words).out);
  end_when_there(with_result(words), "r.json.checkpoint.graph", SIGKILL);
  expect_to_go_on(with_result(words), straight);
}

TEST_F(ResumeTest, WithoutAnythingToGoOnFromItBeginsAtTheBeginning) {
  simulate({"--nodes", "6", "--rows", "300"});
  const Outcome outcome = works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--resume"});
  EXPECT_THAT(outcome.err, HasSubstr("nothing to resume: there is no r.json.checkpoint; starting from the beginning"));
  const Strings words = {"mb", "s/data.csv", "--estimator", "gaussian", "--resume", "--out", "r.json"};
  EXPECT_THAT(works(words).err, HasSubstr("there is no r.json.checkpoint, and r.json is there already"));
  EXPECT_THAT(works({"mb", "s/data.csv", "--estimator", "gaussian", "--resume", "--checkpoint", "state"}).err,
              HasSubstr("nothing to resume: there is no state; starting from the beginning"));
  EXPECT_THAT(works({"compare", "s/data.csv", "--methods", "tc", "--resume", "--out", "c.json"}).err,
              HasSubstr("nothing to resume: there is neither c.json.checkpoint nor c.json"));
  fails({"mb", "s/data.csv", "--resume"}, 2, {"--out or --checkpoint"});
  fails({"mb", "s/data.csv", "--resume", "--out", "/dev/null"}, 2, {"--out or --checkpoint"});
}

// ---- Two runs -------------------------------------------------------------------------------------------------------

TEST_F(ResumeTest, ASecondRunWithTheSameResultIsRefused) {
  simulate({"--nodes", "4", "--rows", "100"});
  const auto before = entries();
  for (const Strings& second : {Strings{"mb", "s/data.csv"}, Strings{"dag", "s/data.csv"},
                                Strings{"entropy", "s/data.csv", "--target", "x1"}}) {
    Call first{.arguments = with_result({"mb", "-"}), .keep_input_open = true};  // waits for its table
    first.interrupted = [&] {
      if (!has_temporary_file()) return false;
      fails(with_result(second), 2, {"[--out] r.json is being written by another run (process ", "use another --out"});
      return true;
    };
    EXPECT_EQ(run(first).code, 130);
    EXPECT_EQ(entries(), before);
  }
}

// ---- A time budget --------------------------------------------------------------------------------------------------

TEST_F(ResumeTest, WithoutTimeForNetworksTheGaussianAnswerIsGivenAndMarked) {
  simulate({"--nodes", "12", "--rows", "500"});
  const Outcome outcome = works({"mb", "s/data.csv", "--time-budget", "0.05s", "--out", "r.json"});
  const Json result = json("r.json");
  EXPECT_EQ(result.at("estimator"), "gaussian");
  EXPECT_EQ(result.at("complete"), false);
  EXPECT_THAT(result.at("unfinished").get<std::string>(), HasSubstr("Gaussian"));
  EXPECT_THAT(outcome.err, HasSubstr("not finished: there was no time to train networks"));
  EXPECT_EQ(result.at("boundaries"), works({"mb", "s/data.csv", "--estimator", "gaussian"}).json().at("boundaries"));
  fails({"verify", "r.json", "s/data.csv"}, 3, {"r.json cannot be repeated", "time budget"});
}

TEST_F(ResumeTest, WithLittleTimeThereAreFewerNetworks) {
  simulate({"--nodes", "5", "--rows", "200"});  // small, so that a busy machine has time for some network, too
  const Outcome outcome = works({"mb", "s/data.csv", "--estimator", "flow", "--steps", "3000", "--folds", "5",
                                 "--repeats", "9000", "--time-budget", "10", "--out", "r.json"});
  const Json result = json("r.json");
  EXPECT_EQ(result.at("estimator"), "flow");
  EXPECT_EQ(result.at("complete"), false);
  EXPECT_LT(result.at("training").at("parameters").at("repeats"), 9000);
  EXPECT_EQ(result.at("settings").at("repeats"), 9000);  // as it was asked for
  EXPECT_THAT(outcome.err, HasSubstr("not finished: time allowed "));
  EXPECT_EQ(entries(), (Strings{"r.json", "s", "s/dag.csv", "s/data.csv", "s/simulation.json"}));
}

TEST_F(ResumeTest, WithTimeEnoughTheAnswerIsTheSame) {
  simulate({"--nodes", "6", "--rows", "300"});
  const Strings words = {"mb",        "s/data.csv", "--estimator", "flow", "--folds", "2",
                         "--repeats", "1",          "--steps",     "300",  "--quiet"};
  Strings hurried = words;
  hurried.insert(hurried.end(), {"--time-budget", "1h30m"});
  EXPECT_EQ(without_timing(works(words).out), without_timing(works(hurried).out));
}

TEST_F(ResumeTest, AGraphThatIsCutShortIsMarkedAndLeavesDirectionsOpen) {
  simulate({"--nodes", "16", "--degree", "2", "--rows", "1500"});
  const Json whole = works({"dag", "s/data.csv", "--estimator", "gaussian", "--quiet"}).json();
  EXPECT_EQ(whole.at("complete"), true);
  const Json cut = works({"dag", "s/data.csv", "--estimator", "gaussian", "--quiet", "--time-budget", "0.3"}).json();
  EXPECT_EQ(cut.at("complete"), false);
  EXPECT_THAT(cut.at("unfinished").get<std::string>(), HasSubstr("time ran out in the search for the graph"));
  bool open = cut.at("edges").empty();
  for (const Json& edge : cut.at("edges")) open = open || edge.at("direction").at("value").is_null();
  EXPECT_TRUE(open);
  fails({"dag", "s/data.csv", "--method", "sdcd", "--time-budget", "1m"}, 2, {"sdcd cannot be cut short"});
}

TEST_F(ResumeTest, ATimeBudgetIsALengthOfTime) {
  simulate({"--nodes", "6", "--rows", "300"});
  for (const char* bad : {"", "10x", "m", "0", "-5s", "1e9", "5m1h", "10 m", "nan", "inf", "1h1h"}) {
    if (*bad == '-') continue;  // taken for an option
    fails({"mb", "s/data.csv", std::string("--time-budget=") + bad}, 2, {bad[0] == 0 ? "--time-budget" : bad});
  }
  for (const char* good : {"90", "90s", "1.5m", "1h30m5s"}) {
    works({"mb", "s/data.csv", "--estimator", "gaussian", "--quiet", "--time-budget", good});
  }
}

}  // namespace
}  // namespace fansite
