// SPDX-License-Identifier: Apache-2.0
//
// Absent cells drawn by networks: what they look like, and that they are conditions and never evidence.
#include "fansite/entropy/flow/detail/completion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/estimator.h"
#include "tests/support.h"

namespace fansite {
namespace {

/// y = x² + noise, w = y + noise; a third of y is missing.
Dataset curved(Index rows) {
  Random random(Key{4});
  Dataset data{{"x", "y", "w"}, Matrix(rows, 3)};
  for (Index i = 0; i < rows; ++i) {
    const double x = random.normal();
    const double y = x * x + 0.3 * random.normal();
    data.values.row(i) << x, y, y + random.normal();
    if (i % 3 == 0) data.values(i, 1) = std::nan("");
  }
  return data;
}

FlowEstimator trained_on(const Dataset& data, int steps) {
  flow::EnsembleParams params;
  params.folds = 3;
  params.repeats = 1;
  params.train.steps = steps;
  params.train.evaluate_every = steps;
  NoProgress silent;
  return {data, flow::train_ensemble(learnable(data), params, silent)};
}

double correlation(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  return x.dot(y) / (x.norm() * y.norm());
}

using Sets = std::vector<std::vector<int>>;

TEST(Completion, KeepsPresentCellsAndDrawsTheOthersAsNetworksSeeThem) {
  NoProgress silent;
  const Dataset data = curved(600);
  FlowEstimator estimator = trained_on(data, 1500);
  const TableFacts facts(data);
  ASSERT_TRUE(estimator.complete(data, facts, {}, Key{1}, silent));
  const std::vector<Matrix> linear = estimator.completions(data);
  ASSERT_TRUE(estimator.complete(data, facts, Sets{{}, {0, 2}, {}}, Key{2}, silent));
  const std::vector<Matrix> by_networks = estimator.completions(data);
  ASSERT_EQ(by_networks.size(), 5u);
  for (std::size_t d = 0; d < by_networks.size(); ++d) {
    ASSERT_TRUE(by_networks[d].allFinite());
    Vector x(200), linear_y(200), flow_y(200);
    for (Index i = 0; i < data.rows(); ++i) {
      EXPECT_EQ(by_networks[d](i, 0), data.values(i, 0));
      if (i % 3 != 0) {
        EXPECT_EQ(by_networks[d](i, 1), data.values(i, 1));
        continue;
      }
      x[i / 3] = data.values(i, 0) * data.values(i, 0);
      linear_y[i / 3] = linear[d](i, 1);
      flow_y[i / 3] = by_networks[d](i, 1);
    }
    // corr(x², y) = √2 / √(2 + 0.09) = 0.98; of w alone, which is what a line sees, 0.8² or so.
    EXPECT_GT(correlation(x, flow_y), 0.85) << d;
    EXPECT_LT(correlation(x, linear_y), 0.8) << d;
  }
  EXPECT_NE(by_networks[0](0, 1), by_networks[1](0, 1));
}

TEST(Completion, OfAWholeTableIsNone) {
  NoProgress silent;
  Dataset data = curved(120);
  for (Index i = 0; i < data.rows(); i += 3) data.values(i, 1) = 0.5 * static_cast<double>(i);
  FlowEstimator estimator = trained_on(data, 50);
  EXPECT_FALSE(estimator.complete(data, TableFacts(data), {}, Key{1}, silent));
  EXPECT_TRUE(estimator.completions(data).empty());
}

TEST(Completion, DrawnCellsAreConditionsAndNoEvidence) {
  NoProgress silent;
  const Dataset data = curved(300);
  FlowEstimator estimator = trained_on(data, 200);
  const EntropyEstimate before = estimator.conditional_entropy({1, {0}});
  EXPECT_EQ(estimator.conditional_entropy({2, {1}}).rows, 200);
  EXPECT_EQ(estimator.mutual_information(InformationQuery{2, {0}, {1}}).rows, 200);
  estimator.complete(data, TableFacts(data), Sets{{}, {0}, {}}, Key{1}, silent);
  EXPECT_EQ(estimator.rows(), 300);
  EXPECT_EQ(estimator.conditional_entropy({2, {1}}).rows, 300);                      // a condition
  EXPECT_EQ(estimator.mutual_information(InformationQuery{2, {0}, {1}}).rows, 300);  // likewise
  EXPECT_EQ(estimator.mutual_information(InformationQuery{2, {1}, {0}}).rows, 200);  // what is asked about
  const EntropyEstimate after = estimator.conditional_entropy({1, {0}});             // the target: same rows as before
  EXPECT_EQ(after.rows, before.rows);
  EXPECT_NEAR(after.value, before.value, 1e-6);
  EXPECT_NEAR(after.standard_error, before.standard_error, 1e-6);
  const PairEvidence evidence = estimator.pair_evidence({0, 1, {}, {}});
  ASSERT_EQ(evidence.scores.size(), 300);
  for (Index i = 0; i < 300; ++i) EXPECT_EQ(evidence.scores[i] == 0, i % 3 == 0) << i;
  EXPECT_EQ((estimator.pair_evidence({0, 2, {1}, {1}}).scores != 0.0f).count(), 300);
}

TEST(Completion, LevelsAreDrawnAmongThoseThatThereAre) {
  NoProgress silent;
  Random random(Key{7});
  Dataset data{{"u", "rating", "group"}, Matrix(400, 3)};
  for (Index i = 0; i < data.rows(); ++i) {
    const double u = random.normal();
    data.values.row(i) << u, (u > 0.5 ? 3.0 : u > -0.5 ? 2.0 : 1.0), (random.uniform() < 0.3 ? 2.0 : u > 0 ? 1.0 : 0.0);
    if (i % 4 == 1) data.values(i, 1) = std::nan("");
    if (i % 4 == 2) data.values(i, 2) = std::nan("");
  }
  data.columns = {{}, {}, {}};
  data.columns[1].kind = ColumnKind::ordered;
  data.columns[2].kind = ColumnKind::nominal;
  data.columns[2].levels = {"a", "b", "c"};
  const TableFacts facts(data);
  flow::EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.train.steps = 600;
  const LearnableTable table(data, facts);
  std::vector<flow::Factor> factors;
  for (const NominalLevels& levels : table.nominal) factors.push_back({"group", levels.labels, levels.indicators});
  FlowEstimator estimator(data, facts, flow::train_ensemble(table.data, params, silent, {}, {}, factors));
  ASSERT_TRUE(estimator.complete(data, facts, Sets{{}, {0, 2}, {0, 1}}, Key{3}, silent));
  double agree = 0;
  for (const Matrix& draw : estimator.completions(data)) {
    for (Index i = 0; i < data.rows(); ++i) {
      EXPECT_TRUE(std::set<double>({1, 2, 3}).contains(draw(i, 1))) << draw(i, 1);
      const double u = data.values(i, 0);
      agree += draw(i, 1) == (u > 0.5 ? 3.0 : u > -0.5 ? 2.0 : 1.0) ? 1.0 / (5 * 400) : 0.0;
    }
  }
  EXPECT_GT(agree, 0.9);  // three quarters are there; of the others a third would by chance
  EXPECT_EQ(estimator.conditional_entropy({0, {1, 2}}).rows, 400);
  EXPECT_EQ(estimator.conditional_entropy({2, {0}}).rows, 300);
}

TEST(Completion, HasTheSameBitsForOneAndTwoThreads) {
  const Dataset data = curved(150);
  const auto drawn = [&](int threads) {
    const ThreadLimit limit(threads);
    NoProgress silent;
    FlowEstimator estimator = trained_on(data, 60);
    estimator.complete(data, TableFacts(data), Sets{{1}, {0, 2}, {1}}, Key{1}, silent);
    return estimator.completions(data);
  };
  const auto one = drawn(1), two = drawn(2);
  for (std::size_t d = 0; d < one.size(); ++d) EXPECT_EQ(one[d], two[d]);
}

TEST(Completion, CanBeStopped) {
  const Dataset data = curved(120);
  FlowEstimator estimator = trained_on(data, 20);
  const Impatient impatient;
  EXPECT_THROW(estimator.complete(data, TableFacts(data), Sets{{}, {0}, {}}, Key{1}, impatient), Interrupted);
}

}  // namespace
}  // namespace fansite
