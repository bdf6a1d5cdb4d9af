// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/imputation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fansite/base/parallel.h"
#include "graph_examples.h"

namespace fansite {
namespace {

using causal::linear_chain;
using causal::noise_table;

constexpr auto kNumber = ColumnKind::continuous;

/// The first column of every third row is missing.
Matrix holed(Matrix values) {
  for (Index i = 0; i < values.rows(); i += 3) values(i, 0) = std::nan("");
  return values;
}

double correlation(const Matrix& values) {
  const Matrix centred = values.rowwise() - values.colwise().mean();
  return centred.col(0).dot(centred.col(1)) / (centred.col(0).norm() * centred.col(1).norm());
}

TEST(Imputation, PresentCellsStayAndEveryCellIsThere) {
  const Matrix values = holed(linear_chain(200, 3, 1));
  for (const Matrix& draw : impute(values, {}, 3, Key{1})) {
    EXPECT_TRUE(draw.allFinite());
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) {
        EXPECT_TRUE(std::isnan(values(i, j)) || draw(i, j) == values(i, j)) << i << " " << j;
      }
    }
  }
}

TEST(Imputation, DrawnCellsGoWithTheOthersAsPresentOnesDo) {
  const Matrix complete = linear_chain(3000, 2, 1);
  const std::vector<Matrix> draws = impute(holed(complete), {}, 2, Key{1});
  for (const Matrix& draw : draws) EXPECT_NEAR(correlation(draw), correlation(complete), 0.02);
  EXPECT_NE(draws[0](0, 0), draws[1](0, 0));
}

TEST(Imputation, OrderedLevelsAreDrawnAmongThoseThatThereAre) {
  Matrix values = linear_chain(900, 2, 1);
  for (double& cell : values.col(0)) cell = cell > 1 ? 5 : cell > 0 ? 2 : 1;
  const Matrix complete = values;
  values = holed(values);
  const Matrix draw = impute(values, {ColumnKind::ordered, kNumber}, 1, Key{1}).front();
  for (const double level : {1.0, 2.0, 5.0}) {
    EXPECT_NEAR((draw.col(0).array() == level).cast<double>().mean(),
                (complete.col(0).array() == level).cast<double>().mean(), 0.03);
  }
  EXPECT_NEAR(correlation(draw), correlation(complete), 0.05);
}

TEST(Imputation, LevelsWithoutOrderFollowWhatTheOtherColumnsSay) {
  Random random(Key{2});
  Matrix values(1500, 2);
  for (auto row : values.rowwise()) {
    const auto level = random.below(3);
    row << static_cast<double>(level), (level == 0 ? 0.0 : level == 1 ? 3.0 : -3.0) + random.normal();
  }
  const Matrix draw = impute(holed(values), {ColumnKind::nominal, kNumber}, 1, Key{1}).front();
  double right = 0, drawn = 0;
  for (Index i = 0; i < values.rows(); i += 3, ++drawn) right += draw(i, 0) == values(i, 0);
  EXPECT_GT(right / drawn, 0.7);  // by chance 0.33; draws from the true probabilities would be right in 0.87
}

TEST(Imputation, OddColumnsAreFilledToo) {
  Matrix values = noise_table(40, 4, 1);
  values.col(0).setConstant(7);
  values.col(1).setConstant(std::nan(""));
  values.col(2).setConstant(1);
  values(3, 0) = values(4, 2) = values(5, 3) = std::nan("");
  values.row(6).setConstant(std::nan(""));
  const Matrix draw = impute(values, {kNumber, kNumber, ColumnKind::nominal, kNumber}, 1, Key{1}).front();
  EXPECT_TRUE(draw.allFinite());
  EXPECT_EQ(draw(3, 0), 7);
  EXPECT_EQ(draw(4, 2), 1);
}

TEST(Imputation, HasTheSameBitsForOneAndTwoThreads) {
  const Matrix values = holed(linear_chain(200, 3, 1));
  const auto with_threads = [&](int threads) {
    const ThreadLimit limit(threads);
    return impute(values, {}, 2, Key{1});
  };
  EXPECT_EQ(with_threads(1), with_threads(2));
}

}  // namespace
}  // namespace fansite
