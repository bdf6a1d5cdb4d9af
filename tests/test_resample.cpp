// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/resample.h"

#include <gtest/gtest.h>

namespace fansite {
namespace {

TEST(Resample, DrawsPoissonNumbersOfMeanOne) {
  const Eigen::MatrixXf weights = resampling_weights(2000);
  ASSERT_EQ(weights.cols(), kResamples);
  EXPECT_NEAR(weights.mean(), 1, 0.01);
  EXPECT_NEAR((weights.array() - 1).square().mean(), 1, 0.02);
  EXPECT_EQ(weights, weights.array().round().matrix());
  EXPECT_GE(weights.minCoeff(), 0);
}

TEST(Resample, IsAFunctionOfTheKeyAndOfMoreUnitsBeginsTheSame) {
  EXPECT_EQ(resampling_weights(50), resampling_weights(50));
  EXPECT_NE(resampling_weights(50), resampling_weights(50, Key{1}));
  EXPECT_EQ(resampling_weights(80).topRows(50), resampling_weights(50));
}

}  // namespace
}  // namespace fansite
