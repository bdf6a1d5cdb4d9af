// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/tc.h"

#include <gmock/gmock.h>

#include <Eigen/QR>
#include <cmath>
#include <numeric>

#include "classical_examples.h"
#include "fansite/base/special.h"
#include "fansite/independence/total_conditioning.h"

namespace fansite {
namespace {

using testing::HasSubstr;

std::vector<int> first(int n) {
  std::vector<int> result(static_cast<std::size_t>(n));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// By regressing both on all others, row by row: no inverse, no covariance.
double left_over_correlation(const Dataset& data, int i, int j) {
  std::vector<int> others = first(data.variables());
  std::erase(others, i);
  std::erase(others, j);
  Matrix design(data.rows(), static_cast<Index>(others.size()) + 1);
  design << Matrix::Ones(data.rows(), 1), data.values(Eigen::all, others);
  const Matrix pair = data.values(Eigen::all, std::vector<int>{i, j});
  const Matrix left = pair - design * design.colPivHouseholderQr().solve(pair);
  return left.col(0).dot(left.col(1)) / (left.col(0).norm() * left.col(1).norm());
}

TEST(TotalConditioning, IsTheCorrelationOfWhatOthersLeaveOver) {
  const Dataset data = simulate_linear(8, 2, 150, 4).data;
  const TotalConditioning total = total_conditioning(covariance(data.values), first(8), 1e-3);
  EXPECT_FALSE(total.shrunk);
  EXPECT_EQ(total.freedom, 150 - 8 - 1);
  for (int i = 0; i < 8; ++i) {
    for (int j = i + 1; j < 8; ++j) {
      const double r = left_over_correlation(data, i, j);
      EXPECT_NEAR(total.correlation(i, j), r, 1e-10);
      const double z = std::sqrt(141.0) * 0.5 * std::log((1 + r) / (1 - r));
      EXPECT_NEAR(total.p_value(j, i), std::erfc(std::abs(z) / std::sqrt(2.0)), 1e-10);
    }
  }
}

// The p-value of the cut is alpha: 0.105315 for d = 30, N = 1000, and 0.046978 for d = 100, N = 5000.
TEST(TotalConditioning, CutsWhereTheSpecificationSays) {
  const auto p_at = [](double r, int d, int n) { return 2 * normal_tail(std::sqrt(n - d - 1.0) * std::atanh(r)); };
  EXPECT_NEAR(p_at(0.105315, 30, 1000), 0.001, 1e-7);
  EXPECT_NEAR(p_at(0.046978, 100, 5000), 0.001, 1e-7);
  // and the method's own p-value of that correlation is the same: two variables among 30, the others unrelated
  Covariance table;
  table.rows = 1000;
  table.scale = Vector::Ones(30);
  table.correlation = Matrix::Identity(30, 30);
  table.correlation(0, 1) = table.correlation(1, 0) = 0.105315;
  EXPECT_NEAR(total_conditioning(table, first(30), 1e-3).p_value(0, 1), 0.001, 1e-7);
}

TEST(TotalConditioning, SeesSpousesAndNoGrandparents) {
  Covariance table;
  table.rows = 1000;
  table.scale = Vector::Ones(3);
  const double c = std::sqrt(1.0 / 3);
  table.correlation = Matrix{{1, 0, c}, {0, 1, c}, {c, c, 1}};  // 0 → 2 ← 1
  EXPECT_LT(total_conditioning(table, first(3), 1e-3).correlation(0, 1), -0.4);
  table.correlation = Matrix{{1, .25, .5}, {.25, 1, .5}, {.5, .5, 1}};  // 0 → 2 → 1
  EXPECT_NEAR(total_conditioning(table, first(3), 1e-3).correlation(0, 1), 0, 1e-12);
}

TEST(Tc, IsSymmetricAndTheStrongestComeFirst) {
  const Simulation made = simulate_linear(15, 1.5, 2000, 3);
  const BoundariesResult result = markov_boundaries(made.data, BoundariesParams("tc"));
  const TotalConditioning total = total_conditioning(covariance(made.data.values), first(15), 1e-3);
  for (const Boundary& boundary : result.found.boundaries) {
    double before = 1;
    for (const Member& member : boundary.members) {
      const double r = std::abs(total.correlation(boundary.target, member.variable));
      EXPECT_LE(r, before);
      EXPECT_LT(member.p_value, 0.001);
      before = r;
      const auto other = result.found.boundaries[static_cast<std::size_t>(member.variable)].member_indices();
      EXPECT_TRUE(std::find(other.begin(), other.end(), boundary.target) != other.end());
    }
  }
}

TEST(Tc, SaysWhenThereIsNoInverse) {
  const Dataset data = simulate_linear(30, 1, 25, 3).data;
  const BoundariesResult result = markov_boundaries(data, BoundariesParams("tc"));
  EXPECT_THAT(result.how, HasSubstr("with a ridge of 0.001"));
  EXPECT_THAT(result.warnings, testing::Contains(HasSubstr("which is not the published method")));
  const std::vector<std::pair<std::string, Value>> details = {{"degrees_of_freedom", 1.0}, {"shrunk", true}};
  EXPECT_EQ(result.details, details);
  Dataset collinear = simulate_linear(5, 1, 300, 1).data;
  collinear.values.col(4) = collinear.values.col(0) + collinear.values.col(1);
  EXPECT_THAT(markov_boundaries(collinear, BoundariesParams("tc")).how, HasSubstr("with a ridge"));
}

TEST(Tc, ReproducesThePublishedFigures) {
  FANSITE_AUTHORS_TABLES(tables, "gp_d30");
  std::vector<double> ndcg, precision, f1;
  for (const AuthorsTable& table : tables) {
    const Percent score = percent(table, found_by("tc", table.data));
    ndcg.push_back(score.ndcg);
    precision.push_back(score.average_precision);
    f1.push_back(score.f1);
  }
  expect_published(ndcg, {55.67, 10.22});
  expect_published(precision, {47.23, 11.29});
  expect_published(f1, {55.52, 10.05});
}

TEST(Tc, ReproducesThePublishedFiguresOfLinearTables) {
  FANSITE_AUTHORS_TABLES(tables, "linear_d100");
  std::vector<double> ndcg, precision, f1;
  for (const AuthorsTable& table : tables) {
    const Percent score = percent(table, found_by("tc", table.data));
    ndcg.push_back(score.ndcg);
    precision.push_back(score.average_precision);
    f1.push_back(score.f1);
  }
  expect_published(ndcg, {99.90, 0.22});
  expect_published(precision, {99.85, 0.34});
  expect_published(f1, {98.59, 0.60});
}

}  // namespace
}  // namespace fansite
