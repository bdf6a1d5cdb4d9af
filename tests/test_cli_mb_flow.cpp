// SPDX-License-Identifier: Apache-2.0
//
// fansite mb with flows, on a small nonlinear table, as its users run it. What is found is in test_boundaries.cpp; here
// it is what is said, written, kept and refused.
#include <cmath>
#include <set>

#include "tests/program.h"

namespace fansite {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using Strings = std::vector<std::string>;

class MbFlow : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--sem", "gp", "--nodes", "6", "--rows", "300", "--seed", "5", "--out", "s", "--quiet"});
  }

  /// Two networks of 300 steps, if nothing else is said.
  static Strings mb(const Strings& more = {}) {
    Strings words = {"mb", "s/data.csv"};
    for (const auto& [option, value] :
         {std::pair("--repeats", "1"), std::pair("--folds", "2"), std::pair("--steps", "300")}) {
      if (std::find(more.begin(), more.end(), option) != more.end()) continue;
      words.insert(words.end(), {option, value});
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(MbFlow, SaysWhichEstimatorAndWhy) {
  const Outcome outcome = works(mb());
  EXPECT_THAT(outcome.err, HasSubstr("6 boundaries of 300 rows × 6 variables"));
  EXPECT_THAT(outcome.err, ContainsRegex("flow estimator, since x[1-6] and x[1-6] are not related linearly \\(p = "));
  EXPECT_THAT(outcome.err, HasSubstr("2 networks, 6e+02 training steps"));
  EXPECT_THAT(outcome.err, ContainsRegex("[0-9]+ pairs? tested; .*graph.*; [0-9]+ MB\n"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("warning")));
  const Outcome asked = works(mb({"--estimator", "flow"}));
  EXPECT_THAT(asked.err, HasSubstr("flow estimator; 2 networks"));
  EXPECT_THAT(asked.err, testing::Not(HasSubstr("since")));
  EXPECT_EQ(asked.json().at("linearity"), outcome.json().at("linearity"));
  EXPECT_EQ(asked.json().at("boundaries"), outcome.json().at("boundaries"));
}

TEST_F(MbFlow, QuietSaysNothing) { EXPECT_EQ(works(mb({"--quiet", "--out", "r.json"})).err, ""); }

TEST_F(MbFlow, SatisfiesKnowledge) {
  put("rules.txt", "require x1 -> x6\nnot-in-boundary x2 x3\n");
  const Json result = works(mb({"--knowledge", "rules.txt", "--quiet"})).json();
  EXPECT_EQ(result.at("settings").at("knowledge"), Json({"require x1 -> x6", "not-in-boundary x2 x3"}));
  for (const Json& boundary : result.at("boundaries")) {
    const std::string target = boundary.at("target");
    bool has_known = false;
    for (const Json& member : boundary.at("members")) {
      const std::set<std::string> pair = {target, member.at("name")};
      EXPECT_NE(pair, (std::set<std::string>{"x2", "x3"}));
      const bool known = pair == std::set<std::string>{"x1", "x6"};
      EXPECT_EQ(member.contains("by_knowledge"), known);
      EXPECT_EQ(member.at("q_value").is_null(), known || member.contains("by_graph"));
      has_known = has_known || known;
    }
    EXPECT_EQ(has_known, target == "x1" || target == "x6");
  }
  put("rules.txt", "require x1 -> x2\nforbid x1 -- x2\n");
  fails(mb({"--knowledge", "rules.txt", "--out", "r.json"}), 3, {"rules.txt line 1", "line 2"});
  put("rules.txt", "root x9\n");
  fails(mb({"--knowledge", "rules.txt", "--out", "r.json"}), 3, {"rules.txt line 1", "'x9'"});
  fails(mb({"--knowledge", "nowhere.txt", "--out", "r.json"}), 2, {"nowhere.txt"});
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

TEST_F(MbFlow, WritesEveryFieldOfTheFormat) {
  const Json result = works(mb({"--quiet"})).json();
  EXPECT_EQ(result.at("format"), "fansite.boundaries/2");
  EXPECT_EQ(result.at("estimator"), "flow");
  const Json& settings = result.at("settings");
  EXPECT_EQ(settings.at("estimator"), "auto");
  EXPECT_EQ(settings.at("effort"), "normal");
  for (const Json* parameters : {&settings, &result.at("training").at("parameters")}) {
    EXPECT_EQ(parameters->at("repeats"), 1);
    EXPECT_EQ(parameters->at("folds"), 2);
    EXPECT_EQ(parameters->at("steps"), 300);
  }
  EXPECT_EQ(result.at("linearity").at("linear_equations"), false);
  EXPECT_EQ(result.at("linearity").at("pair").size(), 2u);
  EXPECT_LT(result.at("linearity").at("pair_p_value"), 0.01);
  EXPECT_EQ(result.at("training").at("networks"), 2);
  EXPECT_EQ(result.at("training").at("steps"), 600);
  EXPECT_GT(result.at("tested_pairs"), 0);
  EXPECT_GT(result.at("timing").at("evaluations"), 1000);
  EXPECT_GT(result.at("timing").at("train_seconds"), 0.0);
  EXPECT_GT(result.at("timing").at("peak_memory_mb"), 1.0);
  ASSERT_GT(result.at("moral_edges").size(), 0u);
  std::size_t members = 0;
  for (const Json& boundary : result.at("boundaries")) {
    EXPECT_LE(boundary.at("near_misses").size(), 4u);
    for (const Json& miss : boundary.at("near_misses")) EXPECT_TRUE(miss.at("reason").is_string());
    ASSERT_GE(boundary.at("path").size(), 1u);
    for (const Json& step : boundary.at("path")) EXPECT_TRUE(step.at("conditional_entropy").is_number());
    for (const Json& member : boundary.at("members")) {
      ++members;
      if (member.contains("by_graph")) {  // no search tested it
        EXPECT_TRUE(member.at("q_value").is_null());
        continue;
      }
      for (const char* share : {"votes", "stability"}) {
        EXPECT_GE(member.at(share), 0.0);
        EXPECT_LE(member.at(share), 1.0);
      }
      EXPECT_LE(member.at("q_value"), 0.05);
    }
  }
  EXPECT_EQ(members, 2 * result.at("moral_edges").size());
}

TEST_F(MbFlow, SameBytesForOneAndTwoThreadsAndForTheSameSeed) {
  const std::string one = without_timing(works(mb({"--threads", "1"})).out);
  EXPECT_EQ(one, without_timing(works(mb({"--threads", "2"})).out));
  EXPECT_NE(one, without_timing(works(mb({"--seed", "1"})).out));
}

TEST_F(MbFlow, IsEvaluatedAtTheTrueSizeToo) {
  works(mb({"--out", "r.json", "--quiet"}));
  const std::string text = works({"eval", "r.json", "--truth", "s/dag.csv"}).out;
  for (const char* figure : {"nDCG", "AveP", "F1"}) {
    EXPECT_THAT(text, ContainsRegex(std::string("oracle-size ") + figure + " +[0-9]+\\.[0-9][0-9]\n"));
  }
  const Json scores = works({"eval", "r.json", "--truth", "s/dag.csv", "--json"}).json();
  EXPECT_GT(scores.at("oracle-size F1"), 0.3);
  EXPECT_LE(scores.at("oracle-size F1"), 1.0);
}

TEST_F(MbFlow, MistakesAreNamed) {
  fails(mb({"--estimator", "nonsense"}), 2, {"'nonsense'", "auto, gaussian, flow, naf, bnaf or ace"});
  fails(mb({"--effort", "nonsense"}), 2, {"'nonsense'", "quick, normal or thorough"});
  fails(mb({"--estimator", "flow", "--folds", "2000"}), 2, {"[--folds] 2000 is out of range", "1 to 1000"});
  fails(mb({"--estimator", "flow", "--folds", "200"}), 3, {"300 rows are too few for 200 folds"});
  fails(mb({"--estimator", "flow", "--folds", "1"}), 2, {"two folds or more", "--stop paper"});
  fails(mb({"--estimator", "flow", "--save-model", "no/such/place"}), 2, {"no/such/place"});
  fails(mb({"--estimator", "flow", "--model", "nowhere.model"}), 2, {"nowhere.model"});
  fails(mb({"--estimator", "flow", "--model", "s/data.csv"}), 3, {"s/data.csv"});
}

TEST_F(MbFlow, ASavedModelGivesTheSameBoundaries) {
  const Json trained = works(mb({"--save-model", "flow.model", "--quiet"})).json();
  const Json loaded = works({"mb", "s/data.csv", "--model", "flow.model", "--quiet"}).json();
  for (const char* key : {"boundaries", "moral_edges", "threshold", "training"}) {
    EXPECT_EQ(trained.at(key), loaded.at(key)) << key;
  }
  works({"simulate", "--sem", "gp", "--nodes", "7", "--rows", "200", "--seed", "5", "--out", "wide", "--quiet"});
  fails({"mb", "wide/data.csv", "--estimator", "flow", "--model", "flow.model"}, 2, {"'x7'", "another table"});
}

TEST_F(MbFlow, CtrlCStopsWithinASecondAndLeavesWhatItNeedsToGoOn) {
  Call call{.arguments = mb({"--estimator", "flow", "--steps", "10000000", "--out", "r.json", "--save-model", "m"})};
  // Once the ways of training have been tried and the first state is kept.
  call.interrupted = [&] { return std::filesystem::exists(path("r.json.checkpoint")); };
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_LT(outcome.seconds_after_interrupt, 1.0);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted; r.json.checkpoint has what was done, add --resume"));
  EXPECT_EQ(entries(), (Strings{"r.json.checkpoint", "s", "s/dag.csv", "s/data.csv", "s/simulation.json"}));
}

// Killed without a chance to tidy up, then asked to stop: the same bytes as straight through.
TEST_F(MbFlow, AnInterruptedTrainingContinuesWithTheSameBits) {
  Strings words = mb({"--estimator", "flow", "--steps", "16000", "--quiet", "--threads=1"});
  const std::string straight = without_timing(works(words).out);
  words.insert(words.end(), {"--checkpoint", "training.checkpoint"});
  Call call{.arguments = words};
  call.interrupted = [&] { return std::filesystem::exists(path("training.checkpoint")); };
  call.interrupt_signal = SIGKILL;
  const Outcome killed = run(call);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.out, "");
  ASSERT_TRUE(std::filesystem::exists(path("training.checkpoint")));

  Strings other = words;
  other.insert(other.end(), {"--seed", "9"});
  const Outcome refused = run(other);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("other settings"));

  call.arguments.insert(call.arguments.end(), {"--out", "r.json"});
  call.interrupted = once_at_work(std::chrono::milliseconds(200));
  call.interrupt_signal = SIGINT;
  const Outcome stopped = run(call);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_EQ(stopped.out, "");
  ASSERT_TRUE(std::filesystem::exists(path("training.checkpoint")));

  *std::find(words.begin(), words.end(), "--threads=1") = "--threads=2";
  EXPECT_EQ(straight, without_timing(works(words).out));
  EXPECT_FALSE(std::filesystem::exists(path("training.checkpoint")));
}

}  // namespace
}  // namespace fansite
