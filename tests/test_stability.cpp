// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/random.h"

namespace fansite {
namespace {

// x1 → x2, strongly or hardly at all, and x3 apart; each in the other's boundary.
struct Example {
  Dataset data;
  Boundaries found;

  Example(double slope, Index rows, double threshold) : data{{"x1", "x2", "x3"}, Matrix(rows, 3)} {
    Random random(Key{3});
    for (Index i = 0; i < rows; ++i) {
      const double x = random.normal();
      data.values.row(i) << x, slope * x + random.normal(), random.normal();
    }
    found.threshold = threshold;
    found.boundaries.resize(2);
    for (int t = 0; t < 2; ++t) {
      Member member;
      member.variable = 1 - t;
      found.boundaries[static_cast<std::size_t>(t)].target = t;
      found.boundaries[static_cast<std::size_t>(t)].members = {member};
    }
  }
  double stability() {
    add_stability(data, covariance(data.values), found);
    EXPECT_EQ(std::isnan(found.boundaries[0].members[0].stability),
              std::isnan(found.boundaries[1].members[0].stability));
    return found.boundaries[0].members[0].stability;
  }
};

TEST(Stability, IsOneOfWhatIsPlainAndLittleOfWhatIsNot) {
  EXPECT_EQ(Example(1, 300, 0.01).stability(), 1);
  EXPECT_LT(Example(0, 300, 1e-4).stability(), 0.1);
  const double between = Example(0.2, 300, 0.01).stability();
  EXPECT_GT(between, 0.3);
  EXPECT_LT(between, 1);
}

// A partial correlation that stands at the threshold is found in half of the resamples.
TEST(Stability, IsAHalfAtTheThreshold) {
  Example example(0.15, 2000, 0);
  const double r = covariance(example.data.values).correlation(0, 1);
  example.found.threshold = std::erfc(std::sqrt(2000.0 - 3) * std::atanh(r) / std::sqrt(2.0));
  EXPECT_NEAR(example.stability(), 0.5, 0.15);
}

TEST(Stability, RowsOfAGroupAreDrawnTogether) {
  Example apart(0.25, 400, 0.01), together(0.25, 400, 0.01);
  for (int i = 0; i < 400; ++i) together.data.groups.push_back(i / 100);
  EXPECT_NE(apart.stability(), together.stability());
}

TEST(Stability, OfWhatIsNotKnownIsNotKnown) {
  Example missing(1, 100, 0.01), unlimited(1, 100, 0.01), known(1, 100, 0.01);
  missing.data.values(3, 2) = std::numeric_limits<double>::quiet_NaN();
  unlimited.found.threshold.reset();
  for (Boundary& boundary : known.found.boundaries) boundary.members[0].by_knowledge = true;
  EXPECT_TRUE(std::isnan(missing.stability()));
  EXPECT_TRUE(std::isnan(unlimited.stability()));
  EXPECT_TRUE(std::isnan(known.stability()));
}

TEST(Stability, OfNetworksStays) {
  Example example(1, 100, 0.01);
  for (Boundary& boundary : example.found.boundaries) boundary.members[0].stability = 0.25;
  EXPECT_EQ(example.stability(), 0.25);
}

}  // namespace
}  // namespace fansite
