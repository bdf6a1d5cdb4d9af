// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/robustness.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/random.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/table/covariance.h"
#include "properties.h"

namespace fansite {
namespace {

/// Of a partial correlation in a normal distribution.
double information(double r) { return -0.5 * std::log1p(-r * r); }

TEST(Robustness, ToAHiddenCauseIsThatOfCinelliAndHazlett) {
  // r = 0.6: f² = 0.5625, ½ (√(0.5625² + 4·0.5625) − 0.5625) = 0.51975.
  EXPECT_NEAR(robustness_to_hidden_cause(information(0.6)), 0.51975, 1e-5);
  EXPECT_EQ(robustness_to_hidden_cause(0), 0);
  EXPECT_EQ(robustness_to_hidden_cause(-0.01), 0);  // held-out gains may be negative
  EXPECT_EQ(robustness_to_hidden_cause(std::numeric_limits<double>::infinity()), 1);
}

// A cause that explains the share R of what is left of both makes a partial correlation r with r²/(1 − r²) = R²/(1 −
// R).
TEST(RobustnessProperty, IsTheStrengthThatMakesThePartialCorrelation) {
  EXPECT_TRUE(rc::check("for any correlation", [] {
    const double r = 0.01 + 0.0097 * *rc::gen::inRange(0, 100);
    const double strength = robustness_to_hidden_cause(information(r)), f2 = r * r / (1 - r * r);
    RC_ASSERT(strength > 0 && strength < 1);
    RC_ASSERT(std::abs(strength * strength / (1 - strength) - f2) < 1e-9 * (1 + f2));
  }));
}

// T = S + e, z = S + u, and S is measured with noise: exactly that share of noise explains what is left.
TEST(Robustness, ToNoiseIsTheShareThatThereIs) {
  for (const double share : {0.1, 0.3, 0.6}) {
    const double loading = 0.8,
                 seen = std::sqrt(1 - share);  // correlations of T and z with the true S, of S with its measure
    Matrix correlation(3, 3);
    correlation << 1, loading * loading, loading * seen, loading * loading, 1, loading * seen, loading * seen,
        loading * seen, 1;
    EXPECT_NEAR(robustness_to_noise(correlation), share, 0.0101) << share;
  }
}

TEST(Robustness, ToNoiseIsNoneWhereNothingElseIsGivenOrNoShareWouldDo) {
  EXPECT_TRUE(std::isnan(robustness_to_noise((Matrix(2, 2) << 1, 0.5, 0.5, 1).finished())));
  Matrix unrelated = Matrix::Identity(3, 3);
  unrelated(0, 1) = unrelated(1, 0) = 0.5;
  EXPECT_TRUE(std::isnan(robustness_to_noise(unrelated)));
}

// T = S + e and z = S + u again, beside a second member that has nothing to do with them: the same share, exactly.
TEST(Robustness, ToNoiseInOneIsTheShareThatThereIs) {
  for (const double share : {0.05, 0.1, 0.3}) {
    const double loading = 0.8, seen = std::sqrt(1 - share);
    Matrix correlation = Matrix::Identity(4, 4);
    correlation(0, 1) = correlation(1, 0) = loading * loading;
    for (const Index end : {0, 1}) correlation(end, 2) = correlation(2, end) = loading * seen;
    EXPECT_NEAR(robustness_to_noise_in_one(correlation), share, 1e-12) << share;
  }
  // T follows the other so closely that little noise there makes it all of T.
  Matrix close(3, 3);
  close << 1, 0.2, 0.98, 0.2, 1, 0.1, 0.98, 0.1, 1;
  EXPECT_NEAR(robustness_to_noise_in_one(close), 1 - 0.98 * 0.98, 1e-12);
  EXPECT_EQ(robustness_to_noise_in_one((Matrix(2, 2) << 1, 0.5, 0.5, 1).finished()),
            std::numeric_limits<double>::infinity());
}

// Noisy measures of one quantity, and what is plainly one beside the other.
TEST(Robustness, MostMembersMustBeCloseToBeMarkedSo) {
  Random random(Key{4});
  Dataset measures{default_names(4), Matrix(1000, 4)}, others = measures;
  for (Index i = 0; i < 1000; ++i) {
    const double quantity = random.normal();
    for (Index j = 0; j < 4; ++j) {
      measures.values(i, j) = quantity + 0.1 * random.normal();
      others.values(i, j) = (j == 0 ? 0 : others.values(i, j - 1)) + random.normal();
    }
  }
  NoProgress silent;
  for (const Dataset* data : {&measures, &others}) {
    Boundaries found = find_boundaries(GaussianEstimator(covariance(data->values, silent)));
    int members = 0, marked = 0;
    const int close = mark_close(*data, TableFacts(*data), found);
    for (const Boundary& boundary : found.boundaries) {
      for (const Member& member : boundary.members) ++members, marked += member.fragile ? 1 : 0;
    }
    EXPECT_EQ(close, data == &measures ? members : 0);
    EXPECT_EQ(marked, close);
  }
}

TEST(Robustness, IsToldOfEveryMember) {
  Random random(Key{3});
  Dataset data{{"s", "t", "z", "u"}, Matrix(2000, 4)};
  for (auto row : data.values.rowwise()) {
    const double s = random.normal();
    // s is seen with 20 % noise, so t and z look linked beside it.
    row << s + 0.5 * random.normal(), s + 0.5 * random.normal(), s + 0.5 * random.normal(), random.normal();
  }
  const TableFacts facts(data);
  NoProgress silent;
  Boundaries found = find_boundaries(GaussianEstimator(covariance(data.values, silent)));
  add_robustness(data, facts, found);
  const Boundary& of_t = found.boundaries[1];
  ASSERT_EQ(of_t.members.size(), 2u);
  for (const Member& member : of_t.members) {
    EXPECT_NEAR(member.robustness.hidden_cause, robustness_to_hidden_cause(member.unique), 1e-12);
    EXPECT_NEAR(member.robustness.measurement_noise, 0.2, 0.05) << member.variable;
  }
}

// One boundary whose members tell so much each beside the others.
Boundaries with_members(const std::vector<double>& unique) {
  Boundaries found;
  Boundary& boundary = found.boundaries.emplace_back();
  boundary.target = 0;
  for (const double information : unique) {
    Member& member = boundary.members.emplace_back();
    member.variable = static_cast<int>(boundary.members.size());
    member.unique = information;
    member.robustness.hidden_cause = robustness_to_hidden_cause(information);
  }
  return found;
}

std::vector<bool> marks(const Boundaries& found) {
  std::vector<bool> result;
  for (const Member& member : found.boundaries[0].members) result.push_back(member.fragile);
  return result;
}

TEST(Robustness, MembersThatATypicalCauseWouldExplainAwayAreFragile) {
  // The typical member has r² = 0.18. A hidden cause that strong makes f² = 0.18²/0.82, an information of 0.0195 nats.
  Boundaries found = with_members({0.1, 0.3, 0.021, 0.018, 0.1});
  EXPECT_NEAR(typical_strength(found), -std::expm1(-0.2), 1e-12);
  mark_weak(found);
  EXPECT_EQ(marks(found), (std::vector<bool>{false, false, false, true, false}));
}

TEST(Robustness, MembersThatATenthOfNoiseWouldExplainAwayAreFragile) {
  Boundaries found = with_members({0.1, 0.1});
  found.boundaries[0].members[0].robustness.measurement_noise = 0.08;
  found.boundaries[0].members[1].robustness.measurement_noise = 0.12;
  mark_weak(found);
  EXPECT_EQ(marks(found), (std::vector<bool>{true, false}));
}

TEST(Robustness, MarksThatAreThereStay) {
  Boundaries found = with_members({0.1});
  found.boundaries[0].members[0].fragile = true;
  mark_weak(found);
  EXPECT_TRUE(found.boundaries[0].members[0].fragile);
  Boundaries nothing;
  mark_weak(nothing);
  EXPECT_EQ(typical_strength(nothing), 0);
}

TEST(RobustnessProperty, NoMemberAsStrongAsTheTypicalOneIsFragile) {
  EXPECT_TRUE(rc::check("for any members", [] {
    std::vector<double> unique;
    for (const int step : *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-5, 200)))) {
      unique.push_back(0.01 * step);
    }
    Boundaries found = with_members(unique);
    const double typical = typical_strength(found);
    mark_weak(found);
    for (const Member& member : found.boundaries[0].members) {
      RC_ASSERT(-std::expm1(-2 * member.unique) < typical || !member.fragile);
    }
  }));
}

}  // namespace
}  // namespace fansite
