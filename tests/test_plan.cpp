// SPDX-License-Identifier: Apache-2.0
//
// What a plan is made of. How near it comes is bench_plan's question: nothing here depends on the machine's speed.
#include "fansite/run/boundaries.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/flow/model_file.h"
#include "tests/support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A chain whose links bend, and a variable apart.
Dataset bent(Index rows = 300) {
  Random random(Key{5});
  Dataset data;
  data.names = {"a", "b", "c", "d", "apart"};
  data.values.resize(rows, 5);
  for (Index i = 0; i < rows; ++i) {
    const double a = random.normal(), b = std::sin(2 * a) + 0.3 * random.normal();
    const double c = b * b + 0.3 * random.normal(), d = std::cos(2 * c) + 0.3 * random.normal();
    data.values.row(i) << a, b, c, d, random.normal();
  }
  return data;
}

BoundariesParams flow_params() {
  BoundariesParams params;
  params.fansite().estimator = "flow";
  params.fansite().effort = Effort::quick;
  params.fansite().folds = 2;
  params.fansite().steps = 1000;
  return params;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedPhase& phase : plan.phases) names.push_back(phase.name);
  return names;
}

TEST(Plan, OfAGaussianRunTrainsNothing) {
  const Plan found = plan(simulate_linear(10, 1.5, 500, 1).data);
  EXPECT_EQ(found.estimator, "gaussian");
  EXPECT_THAT(names_of(found), ElementsAre("preparing", "searching"));
  EXPECT_EQ(found.training_steps, 0);
  EXPECT_EQ(found.networks, 0);
  EXPECT_EQ(found.rows, 500);
  EXPECT_EQ(found.variables, 10);
  EXPECT_GT(found.boundary_size, 1);
  EXPECT_GT(found.peak_memory_mb, 1);
}

TEST(Plan, HasThePhasesOfARunWithFlows) {
  const Plan found = plan(bent(), flow_params());
  EXPECT_EQ(found.estimator, "flow");
  EXPECT_THAT(names_of(found), ElementsAre("preparing", "training", "searching", "graph"));
  EXPECT_EQ(found.networks, 2);
  EXPECT_EQ(found.training_steps, 2000);
  EXPECT_EQ(found.threads, thread_count());
  double sum = 0;
  for (const PlannedPhase& phase : found.phases) {
    EXPECT_GT(phase.seconds, 0) << phase.name;
    EXPECT_FALSE(phase.what.empty()) << phase.name;
    sum += phase.seconds;
  }
  EXPECT_DOUBLE_EQ(found.total_seconds(), sum);
  EXPECT_GT(found.evaluations, 0);
  EXPECT_GT(found.boundary_size, 0.5);
  EXPECT_GT(found.peak_memory_mb, 1);
}

// Text in a table is what people's own tables have.
TEST(Plan, HasTimesForATableWithANominalColumn) {
  Dataset data = bent();
  for (Index i = 0; i < data.rows(); ++i) data.values(i, 4) = static_cast<double>(i % 3);
  data.columns.resize(5);
  data.columns[4].kind = ColumnKind::nominal;
  data.columns[4].levels = {"north", "south", "west"};
  for (const bool context : {false, true}) {
    data.columns[4].context = context;
    const Plan found = plan(data, flow_params());
    EXPECT_THAT(names_of(found), ElementsAre("preparing", "training", "searching"));
    EXPECT_GT(found.training_steps, 0);
    EXPECT_GT(found.evaluations, 0);
  }
}

TEST(Plan, TakesTheEstimatorThatTheRunWould) {
  BoundariesParams params = flow_params();
  params.fansite().estimator = "auto";
  EXPECT_EQ(plan(bent(), params).estimator, "flow");
  EXPECT_EQ(plan(simulate_linear(5, 1, 300, 1).data, params).estimator, "gaussian");
}

// A thousand times the steps against the noise of any machine.
TEST(Plan, MoreStepsCostMore) {
  BoundariesParams few = flow_params(), many = flow_params();
  many.fansite().steps = 1000 * few.fansite().steps;
  const Plan cheap = plan(bent(), few), dear = plan(bent(), many);
  EXPECT_EQ(dear.training_steps, 1000 * cheap.training_steps);
  EXPECT_GT(dear.phases[1].seconds, 10 * cheap.phases[1].seconds);
  EXPECT_GT(dear.total_seconds(), cheap.total_seconds());
}

TEST(Plan, FewerTargetsAskForFewerDensities) {
  BoundariesParams all = flow_params(), one = flow_params();
  all.fansite().refine = one.fansite().refine = Refine::none;
  one.targets = {"b"};
  const Plan of_all = plan(bent(), all), of_one = plan(bent(), one);
  EXPECT_THAT(names_of(of_all), ElementsAre("preparing", "training", "searching"));
  EXPECT_LT(of_one.evaluations, of_all.evaluations);
  EXPECT_LE(of_one.tested_pairs, of_all.tested_pairs);
  EXPECT_EQ(of_one.training_steps, of_all.training_steps) << "networks know every variable";
}

TEST(Plan, PatienceAsksForMoreDensities) {
  BoundariesParams hasty = flow_params(), patient = flow_params();
  hasty.fansite().refine = patient.fansite().refine = Refine::none;
  hasty.fansite().search.patience = 0;
  patient.fansite().search.patience = 2;
  EXPECT_LT(plan(bent(), hasty).evaluations, plan(bent(), patient).evaluations);
}

// What another kind of networks takes is measured as a flow's is.
TEST(Plan, OfNetworksThatOthersHavePublished) {
  for (const char* estimator : {"naf", "bnaf", "ace"}) {
    BoundariesParams params = flow_params();
    params.fansite().estimator = estimator;
    params.fansite().refine = Refine::none;
    const Plan found = plan(bent(100), params);
    EXPECT_EQ(found.estimator, estimator);
    EXPECT_THAT(names_of(found), ElementsAre("preparing", "training", "searching")) << estimator;
    EXPECT_EQ(found.networks, 2);
    EXPECT_EQ(found.training_steps, 2000);
    EXPECT_THAT(found.phases[1].what, HasSubstr("at most 1000 steps")) << "rows held out may end it";
    EXPECT_GT(found.phases[1].seconds, 0);
    EXPECT_GT(found.phases[2].seconds, 0);
    EXPECT_GT(found.evaluations, 0);
    EXPECT_GT(found.peak_memory_mb, 1);

    const std::string path =
        std::filesystem::temp_directory_path() / fmt::format("fansite_test_plan_{}.model", estimator);
    BoundariesParams short_run = params;
    short_run.fansite().steps = 5;
    short_run.run.save_model = path;
    markov_boundaries(bent(100), short_run);
    params.run.model = path;
    const Plan with_model = plan(bent(100), params);
    EXPECT_THAT(names_of(with_model), ElementsAre("preparing", "loading", "searching")) << estimator;
    EXPECT_EQ(with_model.training_steps, 0);
    EXPECT_EQ(with_model.networks, 2);
    std::filesystem::remove(path);
  }
}

TEST(Plan, AModelThatIsGivenIsNotTrained) {
  const std::string path = std::filesystem::temp_directory_path() / "fansite_test_plan.model";
  flow::EnsembleParams settings;
  settings.folds = 3;
  settings.repeats = 1;
  settings.train.steps = 10;
  NoProgress silent;
  flow::save_model(flow::train_ensemble(bent(), settings, silent), path);
  BoundariesParams params;
  params.run.model = path;
  const Plan found = plan(bent(), params);
  EXPECT_THAT(names_of(found), ElementsAre("preparing", "loading", "searching", "graph"));
  EXPECT_EQ(found.networks, 3);
  EXPECT_EQ(found.training_steps, 0);
  std::filesystem::remove(path);
}

// Word for word what the run says.
TEST(Plan, RefusesWhatTheRunRefuses) {
  const auto expect_same = [](const Dataset& data, const BoundariesParams& params) {
    const std::string of_run = message_of<Error>([&] { markov_boundaries(data, params); });
    EXPECT_EQ(message_of<Error>([&] { plan(data, params); }), of_run);
    EXPECT_NE(of_run, "nothing was thrown");
  };
  BoundariesParams params;
  params.targets = {"nobody"};
  expect_same(bent(), params);
  params.targets = {"a", "a"};
  expect_same(bent(), params);
  params = {};
  params.fansite().steps = -1;
  expect_same(bent(), params);
  params = {};
  params.fansite().search.fdr = 2;
  expect_same(bent(), params);
  params = flow_params();
  params.fansite().folds = 1;
  expect_same(bent(), params);
  params = flow_params();
  params.fansite().folds = 200;
  expect_same(bent(), params);  // more than the rows allow
  params = {};
  params.run.model = "/nowhere/at/all";
  expect_same(bent(), params);
  Dataset broken = bent();
  broken.values(3, 1) = INFINITY;
  expect_same(broken, {});
}

TEST(Plan, WarnsOfWhatTheRunWarnsOf) {
  Dataset data = bent();
  data.values.col(4) = data.values.col(0);
  const Plan found = plan(data, flow_params());
  EXPECT_THAT(found.warnings, testing::Contains(HasSubstr("'apart' is a copy of 'a'")));
  EXPECT_EQ(found.variables, 5);
}

TEST(Plan, StopsWhenAsked) {
  Impatient impatient;
  EXPECT_THROW(plan(bent(), Knowledge(), flow_params(), impatient), Interrupted);
}

}  // namespace
}  // namespace fansite
