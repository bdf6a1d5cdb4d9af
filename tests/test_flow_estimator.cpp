// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "fansite/base/error.h"
#include "fansite/base/special.h"
#include "fansite/entropy/gaussian.h"
#include "tests/support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

FlowEstimator trained_on(const Dataset& data, const flow::EnsembleParams& params) {
  NoProgress silent;
  return FlowEstimator(data, flow::train_ensemble(learnable(data), params, silent));
}

flow::EnsembleParams quick(int steps) {
  flow::EnsembleParams params;
  params.repeats = 1;
  params.train.steps = steps;
  params.train.evaluate_every = std::max(1, steps / 10);
  return params;
}

// Every target with every set of up to `most` others.
std::vector<EntropyQuery> all_queries(int variables, int most) {
  std::vector<EntropyQuery> queries;
  for (unsigned set = 0; set < (1u << variables); ++set) {
    if (std::popcount(set) > most) continue;
    std::vector<int> given;
    for (int v = 0; v < variables; ++v) {
      if ((set >> v & 1u) != 0) given.push_back(v);
    }
    for (int t = 0; t < variables; ++t) {
      if ((set >> t & 1u) == 0) queries.push_back({t, given});
    }
  }
  return queries;
}

TEST(FlowEstimator, GaussianDataWithin003OfTheClosedFormForAllSetsOfUpToFive) {
  const Dataset data = simulate_linear(10, 1.5, 5000, 11).data;
  const FlowEstimator flow = trained_on(data, quick(1000));
  EXPECT_TRUE(flow.out_of_sample());
  const GaussianEstimator exact(covariance(data.values));
  const std::vector<EntropyQuery> queries = all_queries(10, 5);
  ASSERT_EQ(queries.size(), 3820u);
  const auto found = flow.conditional_entropy(queries);
  const auto expected = exact.conditional_entropy(queries);
  double worst = 0;
  for (std::size_t q = 0; q < queries.size(); ++q)
    worst = std::max(worst, std::abs(found[q].value - expected[q].value));
  EXPECT_LT(worst, 0.03);
  // The standard errors are those of a log-density over 5000 rows: √(½/5000).
  EXPECT_NEAR(found.front().standard_error, 0.01, 0.002);
}

// y is bimodal, and its spread depends on x: y = s·(2 + x²/2) + (0.3 + 0.4·logistic(2x))·noise with a fair sign s, x
// normal. H(y|x) by numerical integration.
double bimodal_density(double y, double x) {
  const double mode = 2 + 0.5 * x * x, spread = 0.3 + 0.4 * portable::sigmoid(2 * x);
  const auto normal = [&](double m) {
    const double u = (y - m) / spread;
    return std::exp(-0.5 * u * u) / (spread * std::sqrt(2 * std::numbers::pi));
  };
  return 0.5 * normal(mode) + 0.5 * normal(-mode);
}

double bimodal_entropy_given_x() {
  double entropy = 0;
  constexpr double kStep = 0.02;
  for (int i = -250; i <= 250; ++i) {
    const double x = kStep * i;
    const double weight = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi) * kStep;
    for (int j = -1200; j <= 1200; ++j) {
      const double p = bimodal_density(kStep * j, x);
      if (p > 1e-300) entropy -= weight * p * std::log(p) * kStep;
    }
  }
  return entropy;
}

Dataset bimodal_table(Index rows) {
  Dataset data;
  data.names = {"x", "y", "noise"};
  data.values.resize(rows, 3);
  Random random(Key{21});
  for (Index i = 0; i < rows; ++i) {
    const double x = random.normal();
    data.values(i, 0) = x;
    const double spread = 0.3 + 0.4 * portable::sigmoid(2 * x);
    data.values(i, 1) = (random.coin() ? 1 : -1) * (2 + 0.5 * x * x) + spread * random.normal();
    data.values(i, 2) = random.normal();
  }
  return data;
}

TEST(FlowEstimator, BimodalHeteroscedasticDataWithin005OfTheIntegral) {
  const double exact = bimodal_entropy_given_x();
  const Dataset data = bimodal_table(5000);
  flow::EnsembleParams params = quick(12000);
  params.repeats = 2;
  const FlowEstimator flow = trained_on(data, params);
  EXPECT_NEAR(flow.conditional_entropy(EntropyQuery{1, {0}}).value, exact, 0.05);
  EXPECT_NEAR(flow.conditional_entropy(EntropyQuery{1, {0, 2}}).value, exact, 0.05);
  // x is normal, and noise tells nothing about y.
  EXPECT_NEAR(flow.conditional_entropy(EntropyQuery{0, {}}).value,
              0.5 * std::log(2 * std::numbers::pi * std::numbers::e), 0.05);
  const EntropyEstimate nothing = flow.mutual_information(InformationQuery{1, {2}, {0}});
  EXPECT_NEAR(nothing.value, 0, 4 * nothing.standard_error + 0.01);
  const EntropyEstimate something = flow.mutual_information(InformationQuery{1, {0}, {}});
  EXPECT_GT(something.value, 10 * something.standard_error);
}

TEST(FlowEstimator, InformationIsTheDifferenceOfEntropiesWithAPairedError) {
  const Dataset data = bimodal_table(600);
  const FlowEstimator flow = trained_on(data, quick(200));
  const EntropyEstimate before = flow.conditional_entropy(EntropyQuery{1, {2}});
  const EntropyEstimate after = flow.conditional_entropy(EntropyQuery{1, {2, 0}});
  const EntropyEstimate information = flow.mutual_information(InformationQuery{1, {0}, {2}});
  EXPECT_NEAR(information.value, before.value - after.value, 1e-6);
  EXPECT_LT(information.standard_error, std::hypot(before.standard_error, after.standard_error));
  // The order of what is given does not matter.
  EXPECT_EQ(flow.conditional_entropy(EntropyQuery{1, {0, 2}}).value, after.value);
}

TEST(FlowEstimator, ConstantsAndCopiesAreUnderstood) {
  Dataset data = bimodal_table(300);
  data.names = {"x", "y", "noise", "constant", "x_again"};
  data.values.conservativeResize(300, 5);
  data.values.col(3).setConstant(7);
  data.values.col(4) = data.values.col(0);
  EXPECT_EQ(learnable(data).names, (std::vector<std::string>{"x", "y", "noise"}));
  const FlowEstimator flow = trained_on(data, quick(100));
  EXPECT_EQ(flow.variables(), 5);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(flow.conditional_entropy(EntropyQuery{3, {0}}).value, -kInfinity);
  EXPECT_EQ(flow.conditional_entropy(EntropyQuery{4, {0}}).value, -kInfinity);
  EXPECT_EQ(flow.conditional_entropy(EntropyQuery{1, {4, 3}}).value,
            flow.conditional_entropy(EntropyQuery{1, {0}}).value);
  EXPECT_EQ(flow.mutual_information(InformationQuery{1, {3}, {0}}).value, 0);
  EXPECT_EQ(flow.mutual_information(InformationQuery{1, {4}, {0}}).value, 0);
  EXPECT_EQ(flow.mutual_information(InformationQuery{0, {4}, {}}).value, kInfinity);
}

TEST(FlowEstimator, ScaleIsTheColumnsOwnWhereThatIsDefined) {
  Dataset data = bimodal_table(2000);
  data.values.col(0) *= 100;  // H grows by ln 100
  for (Index i = 0; i < 2000; ++i) data.values(i, 2) = data.values(i, 2) > 0 ? 1 : 0;
  const FlowEstimator flow = trained_on(data, quick(200));
  EXPECT_TRUE(flow.original_scale(0));
  EXPECT_FALSE(flow.original_scale(2));
  EXPECT_NEAR(flow.conditional_entropy(EntropyQuery{0, {}}).value,
              0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + std::log(100), 0.07);
  EXPECT_TRUE(std::isfinite(flow.conditional_entropy(EntropyQuery{2, {}}).value));
}

TEST(FlowEstimator, RefusesTheWrongTable) {
  NoProgress silent;
  const Dataset data = bimodal_table(100);
  const flow::Ensemble ensemble = flow::train_ensemble(data, quick(20), silent);
  Dataset other = data;
  other.names = {"x", "z", "noise"};
  EXPECT_THAT(message_of<UsageError>([&] { FlowEstimator(other, ensemble); }), HasSubstr("does not know column 'z'"));
  Dataset fewer = data;
  fewer.names = {"x", "y"};
  fewer.values.conservativeResize(100, 2);
  EXPECT_THAT(message_of<UsageError>([&] { FlowEstimator(fewer, ensemble); }), HasSubstr("'noise' is missing"));
  const FlowEstimator flow(data, ensemble);
  EXPECT_THROW(flow.conditional_entropy(EntropyQuery{3, {}}), UsageError);
  EXPECT_THROW(flow.conditional_entropy(EntropyQuery{0, {0}}), UsageError);
}

// From 4000 rows on 1000 are asked first, and decide if they leave no doubt.
TEST(FlowEstimator, ManyRowsAreAskedOnlyWhereSomeLeaveADoubt) {
  Random random(Key{21});
  Dataset data{{"a", "strong", "weak", "none"}, Matrix(5000, 4)};
  for (auto row : data.values.rowwise()) {
    const double a = random.normal();
    row << a, a + random.normal(), 0.06 * a + random.normal(), random.normal();
  }
  flow::EnsembleParams params = quick(300);
  params.folds = 2;
  const FlowEstimator flow = trained_on(data, params);
  const auto asked = [&](const PairEvidence& evidence) { return (evidence.scores != 0).count(); };
  const PairEvidence strong = flow.pair_evidence({0, 1, {}, {}});
  EXPECT_LT(strong.p_value, 1e-9);
  EXPECT_EQ(asked(strong), 1000);
  const PairEvidence weak = flow.pair_evidence({0, 2, {}, {}});
  EXPECT_EQ(asked(weak), 5000);
  EXPECT_LT(weak.p_value, 0.05);
  const PairEvidence none = flow.pair_evidence({1, 3, {}, {}});
  EXPECT_TRUE(asked(none) == 5000 || none.p_value > 0.5) << none.p_value;
  EXPECT_GT(none.p_value, 0.01);
}

// Few enough to be asked at once, or many that are asked in looks: no more than the query says.
TEST(FlowEstimator, PairsAreAskedOnSoManyRowsAtMost) {
  Random random(Key{23});
  Dataset data{{"a", "weak"}, Matrix(6000, 2)};
  for (auto row : data.values.rowwise()) {
    const double a = random.normal();
    row << a, 0.08 * a + random.normal();
  }
  flow::EnsembleParams params = quick(300);
  params.folds = 2;
  const FlowEstimator flow = trained_on(data, params);
  for (const Index most : {Index{500}, Index{4500}}) {
    PairQuery query{0, 1, {}, {}};
    query.most_rows = most;
    EXPECT_EQ((flow.pair_evidence(query).scores != 0).count(), most);
    query.most_rows = 6000 + most;
    EXPECT_EQ((flow.pair_evidence(query).scores != 0).count(), 6000);
  }
}

// A first look at a sixteenth of the rows gives up what is less than it would show of four standard errors, but for one
// time in a hundred: a pair that is simply weaker than nothing there is asked on.
TEST(FlowEstimator, FewOfManyRowsGiveUpOnlyWhatCannotBeThere) {
  constexpr Index kRows = 16000;
  Random random(Key{22});
  Dataset data{{"a", "b", "c", "d", "e", "f", "g", "h"}, Matrix(kRows, 8)};
  for (double& cell : data.values.reshaped()) cell = random.normal();
  flow::EnsembleParams params = quick(200);
  params.folds = 2;
  const FlowEstimator flow = trained_on(data, params);
  int given_up = 0, asked_on = 0;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < a; ++b) {
      const PairEvidence evidence = flow.pair_evidence({a, b, {}, {}});
      const auto asked = static_cast<double>((evidence.scores != 0).count());
      if (asked == kRows) {
        ++asked_on;
        continue;
      }
      ++given_up;
      EXPECT_GT(evidence.p_value, normal_tail(4 * std::sqrt(asked / kRows) - 2.33)) << asked;
    }
  }
  EXPECT_GT(given_up, 0);
  EXPECT_GT(asked_on, 0);
}

}  // namespace
}  // namespace fansite
