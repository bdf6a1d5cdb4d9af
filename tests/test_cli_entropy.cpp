// SPDX-License-Identifier: Apache-2.0
//
// fansite entropy and fansite bench flow, as their users run them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/random.h"
#include "tests/program.h"

namespace fansite {
namespace {

using testing::HasSubstr;

class Entropy : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "5", "--degree", "1.5", "--rows", "300", "--seed", "4", "--out", "sim", "--quiet"});
  }

  /// A short training.
  static std::vector<std::string> quick(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"entropy", "sim/data.csv", "--target", "x2", "--given", "x1,x3"};
    for (const auto& [option, value] :
         {std::pair("--steps", "60"), std::pair("--folds", "2"), std::pair("--repeats", "1")}) {
      if (std::find(more.begin(), more.end(), option) != more.end()) continue;
      words.insert(words.end(), {option, value});
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(Entropy, TellsWhatEachVariableAdds) {
  const Outcome flow = works(quick({}));
  const Json result = flow.json();
  EXPECT_EQ(result.at("format"), "fansite.entropy/2");
  EXPECT_EQ(result.at("target"), "x2");
  EXPECT_EQ(result.at("unit"), "nat");
  EXPECT_EQ(result.at("scale"), "original");
  EXPECT_EQ(result.at("given").size(), 2u);
  EXPECT_EQ(result.at("given")[1].at("name"), "x3");
  EXPECT_EQ(result.at("model").at("networks"), 2);
  EXPECT_EQ(result.at("model").at("out_of_sample"), true);
  EXPECT_NEAR(result.at("entropy").get<double>() - result.at("conditional_entropy").get<double>(),
              result.at("information").get<double>(), 1e-5);
  EXPECT_THAT(flow.err, HasSubstr("together they tell"));

  const Json exact =
      works({"entropy", "sim/data.csv", "--target", "x2", "--given", "x1,x3", "--estimator", "gaussian"}).json();
  EXPECT_FALSE(exact.contains("model"));
  EXPECT_NEAR(exact.at("conditional_entropy").get<double>(), result.at("conditional_entropy").get<double>(), 0.05);
}

// The networks are those of `mb` with that effort, but for what is said besides.
TEST_F(Entropy, EffortChoosesTheNetworks) {
  const std::vector<std::string> words = {"entropy", "sim/data.csv", "--target", "x2",
                                          "--given", "x1",           "--steps",  "60"};
  const auto settings = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return works(more).json().at("settings");
  };
  EXPECT_EQ(settings({}).at("repeats"), 2);
  const Json quick = settings({"--effort", "quick"});
  EXPECT_EQ(quick.at("folds"), 5);
  EXPECT_EQ(quick.at("repeats"), 1);
  EXPECT_EQ(quick.at("steps"), 60);
  EXPECT_EQ(quick.at("pilot"), true);
  EXPECT_EQ(settings({"--effort", "normal"}).at("repeats"), 4);
  EXPECT_EQ(settings({"--effort", "thorough", "--folds", "2"}).at("repeats"), 8);
  EXPECT_EQ(settings({"--effort", "quick", "--estimator", "ace"}).at("steps"), 60);
  works({"entropy", "sim/data.csv", "--target", "x2", "--effort", "quick", "--steps", "60", "--save-model", "m",
         "--out", "r.json"});
  works({"verify", "r.json", "sim/data.csv"});
  fails({"entropy", "sim/data.csv", "--target", "x2", "--effort", "heroic"}, 2,
        {"'heroic'", "quick, normal or thorough"});
  fails({"entropy", "sim/data.csv", "--target", "x2", "--effort", "quick", "--estimator", "gaussian"}, 2,
        {"[--effort] gaussian trains nothing"});
  fails({"entropy", "sim/data.csv", "--target", "x2", "--effort", "quick", "--model", "m"}, 2,
        {"[--effort] a model is given"});
}

TEST_F(Entropy, WhatLevelsCannotTellIsNamed) {
  std::string table = "level,y\n";
  Random random(Key{2});
  for (int row = 0; row < 200; ++row) table += fmt::format("{},{}\n", row % 2, 5 * (row % 2) + 0.1 * random.normal());
  put("levels.csv", table);
  const Outcome told = works({"entropy", "levels.csv", "--target", "y", "--given", "level", "--estimator", "gaussian"});
  EXPECT_THAT(told.err, HasSubstr("'level' and 'y' cannot tell"));
}

// Two walks tell nothing of each other.
TEST_F(Entropy, RowsThatDependOnEachOtherCountAsWhatTheyAreWorth) {
  std::string walks = "x,y\n";
  double x = 0, y = 0;
  Random random(Key{1});
  for (int row = 0; row < 400; ++row) walks += fmt::format("{},{}\n", x += random.normal(), y += random.normal());
  put("walks.csv", walks);
  const auto asked = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"entropy", "walks.csv", "--target", "x", "--given", "y"};
    words.insert(words.end(), options.begin(), options.end());
    return works(words);
  };
  for (const std::vector<std::string>& estimator :
       {std::vector<std::string>{"--estimator", "gaussian"}, {"--steps", "200", "--folds", "2", "--repeats", "1"}}) {
    const Outcome told = asked(estimator);
    const Json result = told.json();
    EXPECT_EQ(result.at("settings").at("block"), "auto");
    EXPECT_THAT(told.err, HasSubstr("[entropy] rows are left out in 10 blocks"));
    EXPECT_LT(result.at("information").get<double>(), 2.5 * result.at("information_se").get<double>());
  }
  const Json as_if = asked({"--estimator", "gaussian", "--block", "none"}).json();
  EXPECT_GT(as_if.at("information").get<double>(), 2.5 * as_if.at("information_se").get<double>());
  fails({"entropy", "walks.csv", "--target", "x", "--block", "some"}, 2, {"[--block]", "'some' is no length"});
  works({"entropy", "walks.csv", "--target", "x", "--given", "y", "--estimator", "gaussian", "--out", "e.json"});
  works({"verify", "e.json", "walks.csv"});
}

TEST_F(Entropy, NothingGiven) {
  const Json result = works({"entropy", "sim/data.csv", "--target", "x2", "--estimator", "gaussian"}).json();
  EXPECT_TRUE(result.at("given").empty());
  EXPECT_EQ(result.at("entropy"), result.at("conditional_entropy"));
  EXPECT_EQ(result.at("information"), 0);
}

TEST_F(Entropy, NamesWithCommas) {
  put("odd.csv", "\"a,b\",c,d\n1,2,3\n2,1,5\n3,5,4\n4,4,1\n0,3,2\n5,2,4\n2,7,1\n6,1,1\n");
  const Json result = works({"entropy", "odd.csv", "--target", "d", "--given", "a,b", "--given", "c", "--estimator",
                             "gaussian", "--quiet"})
                          .json();
  EXPECT_EQ(result.at("given")[0].at("name"), "a,b");
}

TEST_F(Entropy, SameBytesForOneAndTwoThreadsAndForTheSameSeed) {
  const std::string one = without_timing(works(quick({"--threads", "1"})).out);
  EXPECT_EQ(one, without_timing(works(quick({"--threads", "2"})).out));
  EXPECT_NE(one, without_timing(works(quick({"--seed", "1"})).out));
}

TEST_F(Entropy, ASavedModelGivesTheSameAnswer) {
  const Json trained = works(quick({"--save-model", "flow.model"})).json();
  const Json loaded =
      works({"entropy", "sim/data.csv", "--target", "x2", "--given", "x1,x3", "--model", "flow.model"}).json();
  for (const char* key : {"entropy", "conditional_entropy", "information", "information_se", "given", "model"}) {
    EXPECT_EQ(trained.at(key), loaded.at(key)) << key;
  }
  // Another question to the same model, and another table, none of whose rows it has seen.
  works({"entropy", "sim/data.csv", "--target", "x5", "--model", "flow.model", "--quiet"});
  works({"simulate", "--nodes", "5", "--degree", "1.5", "--rows", "100", "--seed", "4", "--out", "more", "--quiet"});
  works({"entropy", "more/data.csv", "--target", "x5", "--model", "flow.model", "--quiet"});
}

TEST_F(Entropy, DamagedAndForeignModels) {
  works(quick({"--save-model", "flow.model", "--quiet"}));
  const std::string model = content("flow.model");
  put("short.model", model.substr(0, model.size() / 2));
  std::string flipped = model;
  flipped[flipped.size() / 2] ^= 1;
  put("flipped.model", flipped);
  const auto with = [](const std::string& file) {
    return std::vector<std::string>{"entropy", "sim/data.csv", "--target", "x2", "--model", file};
  };
  fails(with("short.model"), 3, {"short.model"});
  fails(with("flipped.model"), 3, {"flipped.model"});
  fails(with("sim/data.csv"), 3, {"sim/data.csv"});
  fails(with("nowhere.model"), 2, {"nowhere.model"});
  works({"simulate", "--nodes", "7", "--rows", "100", "--out", "wide", "--quiet"});
  fails({"entropy", "wide/data.csv", "--target", "x2", "--model", "flow.model"}, 2,
        {"does not know column 'x", "another table"});
}

TEST_F(Entropy, MistakesAreNamed) {
  fails({"entropy", "sim/data.csv"}, 2, {"--target"});
  fails({"entropy", "sim/data.csv", "--target", "y2"}, 2, {"y2"});
  fails(quick({"--given", "x9"}), 2, {"x9"});
  fails(quick({"--given", "x2"}), 2, {"'x2' is named twice"});
  fails(quick({"--given", "x1"}), 2, {"'x1' is named twice"});
  fails(quick({"--estimator", "magic"}), 2, {"[--estimator] 'magic'", "gaussian, flow, naf, bnaf or ace"});
  fails(quick({"--estimator", "auto"}), 2, {"[--estimator] 'auto'", "gaussian, flow, naf, bnaf or ace"});
  fails(quick({"--transform", "log"}), 2, {"log"});
  fails(quick({"--base", "wide"}), 2, {"wide", "gaussian or none"});
  fails(quick({"--schedule", "daily"}), 2, {"daily"});
  fails(quick({"--folds", "0"}), 2, {"[--folds] 0 is out of range"});
  fails(quick({"--folds", "200"}), 3, {"300 rows are too few for 200 folds"});
  fails(quick({"--steps", "-5"}), 2, {"[--steps] -5 is out of range"});
  fails(quick({"--held-out", "1"}), 2, {"[--held-out] 1 is out of range"});
  fails(quick({"--learning-rate", "0"}), 2, {"[--learning-rate] 0 is out of range"});
  fails(quick({"--save-model", "no/such/place"}), 2, {"no/such/place"});
  put("text.csv", "a,b\n1,2\n1,x\n");
  fails({"entropy", "text.csv", "--target", "a"}, 3, {"text.csv"});
  put("flat.csv", "a,b\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n");
  fails({"entropy", "flat.csv", "--target", "a"}, 3, {"constant"});
}

TEST_F(Entropy, AnAbsurdLearningRateIsReportedNotHidden) {
  const Outcome outcome = run(quick({"--learning-rate", "1e12", "--transform", "none"}));
  EXPECT_TRUE(outcome.code == 0 || outcome.code == 3) << outcome.err;
  if (outcome.code == 0) {
    EXPECT_TRUE(std::isfinite(outcome.json().at("entropy").get<double>()));
  }
}

TEST_F(Entropy, CtrlCStopsWithinASecondAndLeavesNothing) {
  Call call{.arguments = {"entropy", "sim/data.csv", "--target", "x2", "--steps", "10000000", "--out", "h.json",
                          "--save-model", "flow.model"}};
  call.interrupted = once_at_work(std::chrono::milliseconds(300));
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_LT(outcome.seconds_after_interrupt, 1.0);
  EXPECT_EQ(entries(), (std::vector<std::string>{"sim", "sim/dag.csv", "sim/data.csv", "sim/simulation.json"}));
}

// Killed without a chance to tidy up, between networks and in the middle of one: the same bytes as straight through.
TEST_F(Entropy, AKilledTrainingContinuesWithTheSameBits) {
  for (const auto& [steps, folds] : {std::pair("8000", "5"), std::pair("24000", "2")}) {
    std::vector<std::string> words = {"entropy", "sim/data.csv", "--target",    "x2",      "--given",
                                      "x1",      "--repeats",    "1",           "--steps", steps,
                                      "--folds", folds,          "--threads=1", "--quiet"};
    const std::string straight = without_timing(works(words).out);
    words.insert(words.end(), {"--checkpoint", "training.checkpoint"});
    Call call{.arguments = words};
    call.interrupted = [&] { return std::filesystem::exists(path("training.checkpoint")); };
    call.interrupt_signal = SIGKILL;
    const Outcome killed = run(call);
    EXPECT_EQ(killed.signal, SIGKILL);
    EXPECT_EQ(killed.out, "");
    ASSERT_TRUE(std::filesystem::exists(path("training.checkpoint")));
    std::vector<std::string> other = words;
    other.insert(other.end(), {"--seed", "9"});
    const Outcome refused = run(other);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("other settings"));
    *std::find(words.begin(), words.end(), "--threads=1") = "--threads=2";
    EXPECT_EQ(straight, without_timing(run(words).out));
    EXPECT_FALSE(std::filesystem::exists(path("training.checkpoint")));
  }
}

TEST_F(Entropy, BenchFlowMeasures) {
  const Json json = works({"bench", "flow", "--json", "--quick"}).json();
  EXPECT_GT(json.at("fma_peak_gflops").get<double>(), 0.1);
  for (const char* key : {"train_d30", "train_d100", "train_d100_compact"}) {
    EXPECT_GT(json.at(key).at("ensemble_steps_per_s").get<double>(), 0);
    EXPECT_GT(json.at(key).at("single_model_steps_per_s").get<double>(), 0);
    EXPECT_GT(json.at(key).at("share_of_peak").get<double>(), 0);
    EXPECT_LT(json.at(key).at("share_of_peak").get<double>(), 1);
  }
  EXPECT_GT(json.at("density_d30").at("subsets_per_s").get<double>(), 0);
  EXPECT_GT(json.at("authors_protocol").at("ratio").get<double>(), 0);
}

}  // namespace
}  // namespace fansite
