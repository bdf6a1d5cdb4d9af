// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/robust_scale.h"

#include <gtest/gtest.h>

#include "fansite/base/random.h"

namespace fansite {
namespace {

TEST(RobustScale, QuantilesAreValuesInTheirOrder) {
  std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.25), 2);
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_EQ(quantile(values, 1), 5);
}

TEST(RobustScale, OfNormalValuesIsTheirDeviationWhateverAFewAre) {
  Random random(Key{4});
  std::vector<double> values(20'000);
  for (double& value : values) value = 3 * random.normal() + 100;
  EXPECT_NEAR(robust_scale(values), 3, 0.1);
  for (std::size_t i = 0; i < 200; ++i) values[i] = 1e300;
  EXPECT_NEAR(robust_scale(values), 3, 0.15);
}

TEST(RobustScale, OfMostlyEqualValuesIsThatOfTheOthersOrNone) {
  std::vector<double> values(100, 0.0);
  for (std::size_t i = 0; i < 20; ++i) values[i] = 3.29;
  EXPECT_DOUBLE_EQ(robust_scale(values), 1);
  std::fill(values.begin(), values.end(), 7.0);
  EXPECT_EQ(robust_scale(values), 0);
}

}  // namespace
}  // namespace fansite
