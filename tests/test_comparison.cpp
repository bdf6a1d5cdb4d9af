// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fansite/entropy/gaussian.h"
#include "tests/support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::IsEmpty;

struct Case {
  Dataset data = simulate_linear(8, 1.5, 800, 3).data;
  GaussianEstimator estimator{covariance(data.values)};
  Boundaries found = find_boundaries(estimator);
};

TEST(Comparison, OfTheSameBoundariesMissesNothing) {
  const Case c;
  const Comparison same = compare(c.estimator, c.found, c.found);
  EXPECT_EQ(same.missed, 0);
  EXPECT_GT(same.explained, 0);
  EXPECT_THAT(same.targets, IsEmpty());
  EXPECT_FALSE(same.fails());
}

TEST(Comparison, EmptyBoundariesFailAgainstThoseThatTellSomething) {
  const Case c;
  Boundaries empty = c.found;
  for (Boundary& boundary : empty.boundaries) {
    boundary.members.clear();
    boundary.conditional_entropy = boundary.entropy;
  }
  const Comparison lost = compare(c.estimator, empty, c.found);
  const Comparison whole = compare(c.estimator, c.found, empty);
  EXPECT_NEAR(lost.missed, whole.explained, 1e-9);
  EXPECT_EQ(lost.explained, 0);
  EXPECT_TRUE(lost.fails());
  EXPECT_FALSE(whole.fails());
  for (const Boundary& boundary : c.found.boundaries) {
    if (boundary.entropy - boundary.conditional_entropy < 0.1) continue;
    EXPECT_THAT(lost.targets, Contains(boundary.target));
  }
}

TEST(Comparison, ChecksThatTheTargetsAreTheSame) {
  const Case c;
  Boundaries fewer = c.found;
  fewer.boundaries.pop_back();
  EXPECT_THAT(message_of<UsageError>([&] { compare(c.estimator, c.found, fewer); }),
              testing::HasSubstr("8 boundaries and 7"));
}

}  // namespace
}  // namespace fansite
