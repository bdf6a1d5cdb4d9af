// SPDX-License-Identifier: Apache-2.0
//
// fansite plan, as its users run it.
#include "tests/program.h"

namespace fansite {
namespace {

using testing::HasSubstr;

class PlanCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "5", "--degree", "1.5", "--rows", "200", "--seed", "4", "--out", "sim", "--quiet"});
  }
};

TEST_F(PlanCommand, SaysTimeAndMemoryInLines) {
  const Outcome outcome = works({"plan", "sim/data.csv", "--estimator", "flow", "--effort", "quick", "--threads", "1"});
  for (const std::string word : {"200 rows × 5 variables, flow estimator, 1 thread", "reading", "preparing", "training",
                                 "searching", "graph", "total", "between", "memory", "MB"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  EXPECT_THAT(outcome.err, HasSubstr("planned in"));
  EXPECT_EQ(works({"plan", "sim/data.csv", "--quiet"}).err, "");
}

TEST_F(PlanCommand, IsJsonForPrograms) {
  const Json plan = works({"plan", "sim/data.csv", "--estimator", "flow", "--steps", "100", "--folds", "2", "--repeats",
                           "1", "--json", "--quiet"})
                        .json();
  EXPECT_EQ(plan.at("format"), "fansite.plan/2");
  EXPECT_EQ(plan.at("estimator"), "flow");
  EXPECT_EQ(plan.at("networks"), 2);
  EXPECT_EQ(plan.at("training_steps"), 200);
  double sum = 0;
  for (const Json& phase : plan.at("phases")) sum += phase.at("seconds").get<double>();
  EXPECT_NEAR(plan.at("total_seconds").get<double>(), sum, 1e-9 * sum);
  EXPECT_GT(plan.at("peak_memory_mb"), 1);
  works({"plan", "sim/data.csv", "--out", "plan.json"});
  EXPECT_EQ(json("plan.json").at("format"), "fansite.plan/2");
}

TEST_F(PlanCommand, RefusesWhatMbRefuses) {
  fails({"plan", "nowhere.csv"}, 2, {"nowhere.csv"});
  fails({"plan", "sim/data.csv", "--target", "x9"}, 2, {"x9"});
  fails({"plan", "sim/data.csv", "--effort", "some"}, 2, {"[--effort] 'some' is unknown"});
  fails({"plan"}, 2, {"DATA is required"});
}

}  // namespace
}  // namespace fansite
