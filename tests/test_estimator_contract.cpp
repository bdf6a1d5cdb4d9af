// SPDX-License-Identifier: Apache-2.0
//
// One contract for all entropy estimators of the list: closed forms on Gaussian data, the chain rule, what is not asked
// about does not count, the same bits for any number of threads, interrupted or not, and for a model written and read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/estimators.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/neural/estimators.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/entropy_model.h"
#include "tests/support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

constexpr double kNormal = 1.4189385332046727;  // ½ (1 + ln 2π), the entropy of a standard normal variable
constexpr double kRho = 0.8;

// Two networks each, with as much training as a second of one core allows.
EntropyParams quick(const std::string& estimator, std::int64_t steps = 0) {
  EntropyParams params(estimator);
  const auto set = [&](const char* name, const Value& value) {
    if (params.options.has(name)) params.options.set(name, value);
  };
  set("folds", std::int64_t{2});
  set("repeats", std::int64_t{1});
  set("evaluate_every", std::int64_t{200});
  set("steps", std::int64_t{estimator == "ace" ? 400 : estimator == "bnaf" ? 1500 : 800});
  set("polyak", 0.99);
  set("batch", std::int64_t{64});
  set("learning_rate", estimator == "flow" ? 2e-3 : 1e-2);
  set("hidden", std::int64_t{32});
  set("energy_hidden", std::int64_t{16});
  set("energy_blocks", std::int64_t{1});
  set("samples", std::int64_t{10});
  set("warm_up", std::int64_t{100});
  if (steps > 0) set("steps", steps);
  return params;
}

// x0 and x1 correlated, x2 alone; standard normal.
Dataset gaussian_table(Index rows) {
  Random random{Key{17}};
  Matrix values(rows, 3);
  for (Index i = 0; i < rows; ++i) {
    values(i, 0) = random.normal();
    values(i, 1) = kRho * values(i, 0) + std::sqrt(1 - kRho * kRho) * random.normal();
    values(i, 2) = random.normal();
  }
  return Dataset{{"a", "b", "c"}, values};
}

// A folder of its own, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() : folder_(std::filesystem::temp_directory_path() / fmt::format("fansite_contract_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

class Contract : public testing::TestWithParam<std::string> {
 protected:
  bool trains() const { return entropy_estimators().at(GetParam()).can.trains; }
};

// 2000 rows leave a standard error of 0.016 a variable, and networks of a second's training, judged on rows that they
// have not seen, some 0.03 more. NAF and BNAF see zeros for what is left out, and p(b | a = 0) is not p(b): what they
// can learn of both is a compromise, which the more flexible of them makes better. ACE's are too low besides.
TEST_P(Contract, EntropiesOfGaussianDataAreTheClosedForm) {
  const Dataset data = gaussian_table(2000);
  NoProgress silent;
  const EntropyModel model(data, quick(GetParam()), silent);
  const double one = trains() ? 0.06 : 0.04;
  const double given = GetParam() == "bnaf" ? 0.15 : GetParam() == "naf" ? 0.1 : one;
  const double explained = 0.5 * std::log(1 - kRho * kRho);
  EXPECT_NEAR(model.conditional_entropy("a", {}).value, kNormal, given);
  EXPECT_NEAR(model.conditional_entropy("c", {}).value, kNormal, one);
  EXPECT_NEAR(model.conditional_entropy("b", {"a"}).value, kNormal + explained, given);
  EXPECT_NEAR(model.conditional_entropy("c", {"a", "b"}).value, kNormal, given);
  EXPECT_NEAR(model.mutual_information("a", {"b"}, {}).value, -explained, given);
  EXPECT_NEAR(model.mutual_information("a", {"c"}, {}).value, 0, one);
  // Of k variables, each given those before it.
  const double all = model.conditional_entropy("a", {}).value + model.conditional_entropy("b", {"a"}).value +
                     model.conditional_entropy("c", {"a", "b"}).value;
  EXPECT_NEAR(all, 3 * kNormal + explained, 2 * given);
  if (trains()) {
    EXPECT_EQ(model.conditional_entropy("a", {}).rows, 2000);
  }
}

// H(a) + H(b|a) = H(b) + H(a|b): the two ways agree as far as a network is consistent.
TEST_P(Contract, ChainRuleInBothOrders) {
  const Dataset data = gaussian_table(1000);
  NoProgress silent;
  const EntropyModel model(data, quick(GetParam()), silent);
  const double forward = model.conditional_entropy("a", {}).value + model.conditional_entropy("b", {"a"}).value;
  const double backward = model.conditional_entropy("b", {}).value + model.conditional_entropy("a", {"b"}).value;
  EXPECT_NEAR(forward, backward, trains() ? 0.06 : 1e-9);
}

TEST_P(Contract, SameBitsForAnyNumberOfThreads) {
  const Dataset data = gaussian_table(300);
  NoProgress silent;
  std::vector<double> answers;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    const EntropyModel model(data, quick(GetParam(), 40), silent);
    answers.push_back(model.conditional_entropy("b", {"a", "c"}).value);
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0], answers[2]);
}

// Interrupted after so many reports.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(int reports) : left_(reports) {}
  void begin(std::string_view, long) override {}
  void advance(long) override { --left_; }
  bool interrupted() const override { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

TEST_P(Contract, InterruptedAndResumedTheSameBits) {
  if (!entropy_estimators().at(GetParam()).can.resumable) GTEST_SKIP();
  const TemporaryFolder folder;
  const Dataset data = gaussian_table(300);
  NoProgress silent;
  EntropyParams params = quick(GetParam(), GetParam() == "flow" ? 1000 : 200);
  params.options.set("evaluate_every", std::int64_t{50});
  const double whole = EntropyModel(data, params, silent).conditional_entropy("b", {"a", "c"}).value;
  params.run.checkpoint = folder.path("state");
  for (const int reports : {2, 2}) {
    StopAfter soon(reports);
    EXPECT_THROW(EntropyModel(data, params, soon), Interrupted);
    EXPECT_TRUE(std::filesystem::exists(params.run.checkpoint));
  }
  EXPECT_EQ(EntropyModel(data, params, silent).conditional_entropy("b", {"a", "c"}).value, whole);
}

TEST_P(Contract, ACheckpointOfAnotherTableOrSettingIsRefused) {
  if (!entropy_estimators().at(GetParam()).can.resumable) GTEST_SKIP();
  const TemporaryFolder folder;
  EntropyParams params = quick(GetParam(), 60);
  params.run.checkpoint = folder.path("state");
  StopAfter soon(1);
  EXPECT_THROW(EntropyModel(gaussian_table(300), params, soon), Interrupted);
  NoProgress silent;
  EXPECT_THROW(EntropyModel(gaussian_table(200), params, silent), Error);
  params.options.set("learning_rate", 0.5);
  EXPECT_THROW(EntropyModel(gaussian_table(300), params, silent), Error);
}

// On another device the pilot's last bits differ, and so might its choice: it is not asked again.
TEST(ResumedFlow, GoesOnWithWhatItsPilotChose) {
  const TemporaryFolder folder;
  const Dataset data = gaussian_table(300);
  NoProgress silent;
  EntropyParams params = quick("flow", 1000);
  params.options.set("evaluate_every", std::int64_t{50});
  params.options.set("base", std::string("none"));
  params.options.set("noise", 0.1);
  const double whole = EntropyModel(data, params, silent).conditional_entropy("b", {"a", "c"}).value;
  params.run.checkpoint = folder.path("state");
  StopAfter soon(2);
  EXPECT_THROW(EntropyModel(data, params, soon), Interrupted);
  params.options.set("base", std::string("gaussian"));
  params.options.set("noise", 0.0);
  params.options.set("pilot", true);
  EXPECT_EQ(EntropyModel(data, params, silent).conditional_entropy("b", {"a", "c"}).value, whole);
}

TEST_P(Contract, AModelIsTheSameAfterAFile) {
  if (!trains()) GTEST_SKIP();
  const TemporaryFolder folder;
  const Dataset data = gaussian_table(300);
  NoProgress silent;
  EntropyParams params = quick(GetParam(), 40);
  params.run.save_model = folder.path("model");
  const EntropyModel model(data, params, silent);
  EntropyParams with_model(GetParam());
  with_model.run.model = folder.path("model");
  const EntropyModel again(data, with_model, silent);
  EXPECT_EQ(again.conditional_entropy("b", {"a"}).value, model.conditional_entropy("b", {"a"}).value);
  EXPECT_TRUE(again.information("b", {"a"}).out_of_sample);

  // Another kind's model is named, and a damaged one refused, wherever it is damaged.
  EntropyParams other(GetParam() == "naf" ? "flow" : "naf");
  other.run.model = folder.path("model");
  EXPECT_THAT(message_of<DataError>([&] { EntropyModel(data, other, silent); }), HasSubstr(GetParam()));
  const std::string bytes(FileView(folder.path("model")).bytes());
  for (const std::size_t at : {std::size_t{9}, bytes.size() / 3, bytes.size() - 3}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    OutputFile file(folder.path("damaged"));
    file.write(damaged);
    file.commit();
    with_model.run.model = folder.path("damaged");
    EXPECT_THROW(EntropyModel(data, with_model, silent), DataError);
  }
}

TEST_P(Contract, TwoColumnsConstantsHugeCellsAndFewRows) {
  NoProgress silent;
  Dataset data = gaussian_table(40);
  data.values(3, 0) = 1e300;
  data.values.col(2).setConstant(7);
  const EntropyModel model(data, quick(GetParam(), 20), silent);
  EXPECT_TRUE(std::isfinite(model.conditional_entropy("a", {"b"}).value));
  EXPECT_TRUE(std::isfinite(model.conditional_entropy("b", {"c"}).value));
  EXPECT_EQ(model.conditional_entropy("c", {}).value, -std::numeric_limits<double>::infinity());

  // More columns than rows.
  Random random{Key{3}};
  Matrix wide(12, 15);
  for (Index i = 0; i < wide.size(); ++i) wide.data()[i] = random.normal();
  std::vector<std::string> names;
  for (int j = 0; j < 15; ++j) names.push_back("v" + std::to_string(j));
  const EntropyModel of_wide(Dataset{names, wide}, quick(GetParam(), 20), silent);
  EXPECT_FALSE(std::isnan(of_wide.conditional_entropy("v1", {"v0", "v14"}).value));
}

TEST_P(Contract, RowsWithMissingCellsCountWhereTheyHaveThem) {
  if (!entropy_estimators().at(GetParam()).can.handles_missing_cells) GTEST_SKIP();
  Dataset data = gaussian_table(600);
  Random random{Key{5}};
  for (Index i = 0; i < 600; ++i) {
    if (random.uniform() < 0.3) data.values(i, static_cast<Index>(random.below(3))) = std::nan("");
  }
  NoProgress silent;
  const EntropyModel model(data, quick(GetParam()), silent);
  EXPECT_NEAR(model.conditional_entropy("b", {"a"}).value, kNormal + 0.5 * std::log(1 - kRho * kRho), 0.25);
}

TEST_P(Contract, WeightsAndGroupsCount) {
  if (!entropy_estimators().at(GetParam()).can.handles_weights) GTEST_SKIP();
  Dataset data = gaussian_table(300);
  NoProgress silent;
  const double alike = EntropyModel(data, quick(GetParam(), 60), silent).conditional_entropy("b", {"a"}).value;
  data.weights = Vector::Ones(300);
  data.weights.head(150).setConstant(3);
  const double weighted = EntropyModel(data, quick(GetParam(), 60), silent).conditional_entropy("b", {"a"}).value;
  EXPECT_NE(alike, weighted);
  data.weights.resize(0);
  for (int i = 0; i < 300; ++i) data.groups.push_back(i / 10);
  const EntropyEstimate grouped = EntropyModel(data, quick(GetParam(), 60), silent).conditional_entropy("b", {"a"});
  EXPECT_TRUE(std::isfinite(grouped.value));
}

// What is not asked about does not count, row by row and bit by bit, and rows do not count for each other.
TEST_P(Contract, UnobservedCellsDoNotCount) {
  if (!trains() || GetParam() == "flow") GTEST_SKIP();  // the flow's own tests say so
  const Dataset data = gaussian_table(300);
  NoProgress silent;
  const EntropyParams params = quick(GetParam(), 30);
  const auto& row = entropy_estimators().at(GetParam());
  const Context context(data, Knowledge(), RunParams(), silent);
  const FittedEstimator fitted = row.fit(context, params.options, 1).value();
  Dataset other = data;
  other.values.col(2) = other.values.col(2).array().square() + 5;
  const Context changed(other, Knowledge(), RunParams(), silent);
  const std::string model = fitted.model();
  const FittedEstimator again = row.load(changed, model);
  const FittedEstimator own = row.load(Context(data, Knowledge(), RunParams(), silent), model);
  // Of another table all networks judge every row; so of both.
  Dataset third = data;
  third.values(0, 2) += 1;
  const FittedEstimator reference = row.load(Context(third, Knowledge(), RunParams(), silent), model);
  EXPECT_EQ(again.estimator->conditional_entropy(EntropyQuery{1, {0}}).value,
            reference.estimator->conditional_entropy(EntropyQuery{1, {0}}).value);
  EXPECT_NE(again.estimator->conditional_entropy(EntropyQuery{1, {2}}).value,
            reference.estimator->conditional_entropy(EntropyQuery{1, {2}}).value);
}

TEST_P(Contract, FindsTheBoundaryOfAPair) {
  const Dataset data = gaussian_table(600);
  BoundariesParams params;
  params.fansite().estimator = GetParam();
  params.fansite().folds = 2;
  params.fansite().repeats = 1;
  params.fansite().steps = GetParam() == "ace" ? 300 : 600;
  params.fansite().refine = Refine::none;
  params.fansite().search.fdr = 0.01;  // networks of so few steps take chance for a member on some processors
  if (!trains()) params.fansite().folds = params.fansite().repeats = 0;
  if (!trains()) params.fansite().steps = 0;
  const BoundariesResult result = markov_boundaries(data, params);
  ASSERT_EQ(result.found.boundaries.size(), 3u);
  EXPECT_EQ(result.found.boundaries[0].member_indices(), std::vector<int>{1});
  EXPECT_EQ(result.found.boundaries[1].member_indices(), std::vector<int>{0});
  EXPECT_EQ(result.found.boundaries[2].member_indices(), std::vector<int>{});
}

TEST_P(Contract, ATimeBudgetIsKept) {
  if (!trains()) GTEST_SKIP();
  const Dataset data = gaussian_table(400);
  const auto& row = entropy_estimators().at(GetParam());
  NoProgress silent;
  RunParams run;
  run.time_budget = 20;
  EntropyParams params = quick(GetParam(), 400000000);
  const Context context(data, Knowledge(), run, silent);
  const Context little = context.within(0.01, silent);
  EXPECT_FALSE(row.fit(little, params.options, 0.5).has_value());
}

std::vector<std::string> own_estimators() { return {"gaussian", "flow", "naf", "bnaf", "ace"}; }
INSTANTIATE_TEST_SUITE_P(Estimators, Contract, testing::ValuesIn(own_estimators()),
                         [](const auto& estimator) { return estimator.param; });

TEST(EstimatorContract, CoversTheList) { EXPECT_EQ(entropy_estimators().names(), own_estimators()); }

TEST(EstimatorContract, ValuesThatRepeatAreRefusedByNetworksOfContinuousColumns) {
  Dataset data = gaussian_table(200);
  for (Index i = 0; i < 200; ++i) data.values(i, 2) = static_cast<double>(i % 3);
  NoProgress silent;
  for (const char* estimator : {"naf", "bnaf", "ace"}) {
    const std::string message = message_of<DataError>([&] { EntropyModel(data, quick(estimator, 20), silent); });
    EXPECT_THAT(message, HasSubstr("'c'"));
    EXPECT_THAT(message, HasSubstr("--estimator flow"));
  }
}

TEST(EstimatorContract, AceSaysThatItsEntropiesAreTooLow) {
  NoProgress silent;
  const EntropyModel model(gaussian_table(100), quick("ace", 10), silent);
  EXPECT_THAT(model.information("a", {}).warnings, testing::Contains(HasSubstr("too low")));
}

}  // namespace
}  // namespace fansite
