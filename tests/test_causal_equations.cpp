// SPDX-License-Identifier: Apache-2.0
//
// Scores of numbers and levels: entropies without parents, informations with them, whichever is the child.
#include "fansite/causal/equations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/special.h"
#include "graph_examples.h"
#include "properties.h"

namespace fansite::causal {
namespace {

constexpr auto kNumber = ColumnKind::continuous;
constexpr auto kOrdered = ColumnKind::ordered;
constexpr auto kNominal = ColumnKind::nominal;

double score(const Equations& equations, int child, const std::vector<int>& parents) {
  const SingleThreadedBlas small_products;
  return equations.surprisals(std::array{child}, parents, NoiseDistribution::any).front().mean();
}

double score(const Matrix& values, const std::vector<ColumnKind>& kinds, int child, const std::vector<int>& parents) {
  return score(Equations({values, kinds}, {}, Key{1}), child, parents);
}

double information(const Matrix& values, const std::vector<ColumnKind>& kinds, int child, int parent) {
  const Equations equations({values, kinds}, {}, Key{1});
  return score(equations, child, {}) - score(equations, child, {parent});
}

/// Standard normal with correlation r, spread as evenly as can be (Hammersley), so that what is not the score's own
/// error is below 0.001.
Matrix even_normal_pair(Index rows, double r) {
  Matrix values(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    double reversed = 0, digit = 0.5;
    for (Index rest = i; rest > 0; rest /= 2, digit /= 2) reversed += digit * static_cast<double>(rest % 2);
    values(i, 0) = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(rows));
    const double noise = normal_quantile(reversed + 0.5 / static_cast<double>(rows));
    values(i, 1) = r * values(i, 0) + std::sqrt(1 - r * r) * noise;
  }
  return values;
}

double entropy(const Eigen::Ref<const Vector>& column) {
  std::map<double, double> count;
  for (const double value : column) ++count[value];
  double sum = 0;
  for (const auto& [value, rows] : count) sum -= rows * std::log(rows / static_cast<double>(column.size()));
  return sum / static_cast<double>(column.size());
}

// ---- Entropies ------------------------------------------------------------------------------------------------------

TEST(Equations, WithoutParentsLevelsHaveTheirEntropy) {
  Random random(Key{4});
  for (const int levels : {2, 3, 7, 40}) {
    Matrix values(500, 1);
    for (double& cell : values.reshaped()) cell = std::floor(levels * random.uniform() * random.uniform());
    for (const ColumnKind kind : {kOrdered, kNominal}) {
      if (kind == kOrdered && levels > 10) continue;
      EXPECT_NEAR(score(values, {kind}, 0, {}), entropy(values.col(0)), 1e-6) << levels;
    }
  }
}

// A parent of k parameters costs k/2N in the mean, as rows that had no part in the fit tell.
TEST(Equations, AParentThatTellsNothingIsWorthNothing) {
  constexpr Index kRows = 500;
  constexpr int kTables = 20;
  Matrix worth = Matrix::Zero(4, 4);
  for (std::uint64_t seed = 1; seed <= kTables; ++seed) {
    Matrix values = noise_table(kRows, 4, seed);
    values.col(1) = values.col(1).array().unaryExpr([](double x) { return x > 0.3 ? 1.0 : 0.0; });
    values.col(2) = values.col(2).array().unaryExpr([](double x) { return x > 1 ? 2.0 : x > 0 ? 1.0 : 0.0; });
    values.col(3) = values.col(3).array().unaryExpr([](double x) { return std::floor(std::abs(2 * x)); }).min(4);
    const Equations equations({values, {kNumber, kOrdered, kNominal, kOrdered}}, {}, Key{1});
    for (int child = 0; child < 4; ++child) {
      for (int parent = 0; parent < 4; ++parent) {
        if (parent == child) continue;
        worth(child, parent) += (score(equations, child, {}) - score(equations, child, {parent})) / kTables;
      }
    }
  }
  EXPECT_GT(worth.minCoeff() * kRows, -2.5) << worth * kRows;
  EXPECT_LT(worth.maxCoeff() * kRows, 0.8) << worth * kRows;  // the penalty of an edge is 3.1
}

// ---- Informations: values of cells.md, section 2 --------------------------------------------------------------------

struct Coarse {
  std::vector<double> cuts;
  std::array<double, 3> information;  // at r = 0.3, 0.6, 0.9
};

class EquationsInformation : public testing::TestWithParam<Coarse> {};

TEST_P(EquationsInformation, OfANumberAndItsCoarsePartnerIsThatOfTheSpecificationEitherWayRound) {
  const std::array correlations = {0.3, 0.6, 0.9};
  for (std::size_t c = 0; c < correlations.size(); ++c) {
    Matrix values = even_normal_pair(5000, correlations[c]);
    for (double& cell : values.col(1)) {
      const double number = cell;
      cell = static_cast<double>(
          std::count_if(GetParam().cuts.begin(), GetParam().cuts.end(), [&](double cut) { return number > cut; }));
    }
    const double exact = GetParam().information[c];
    for (const ColumnKind kind : {kOrdered, kNominal}) {
      EXPECT_NEAR(information(values, {kNumber, kind}, 1, 0), exact, 0.01) << "of levels, r = " << correlations[c];
      EXPECT_NEAR(information(values, {kNumber, kind}, 0, 1), exact, 0.01) << "of the number, r = " << correlations[c];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specification, EquationsInformation,
                         testing::Values(Coarse{{0}, {0.029505, 0.130558, 0.381244}},
                                         Coarse{{1}, {0.020199, 0.087640, 0.246902}},
                                         Coarse{{-0.5, 0.5}, {0.037551, 0.171421, 0.548761}}));

TEST(Equations, InformationOfTwoLevelsAboutTwoIsThatOfTheSpecification) {
  const std::array correlations = {0.3, 0.6, 0.9}, exact = {0.018933, 0.086433, 0.281762};
  for (std::size_t c = 0; c < correlations.size(); ++c) {
    const Matrix values = even_normal_pair(5000, correlations[c]).unaryExpr([](double x) { return x > 0 ? 1.0 : 0.0; });
    for (const ColumnKind kind : {kOrdered, kNominal}) {
      EXPECT_NEAR(information(values, {kOrdered, kind}, 0, 1), exact[c], 0.01);
      EXPECT_NEAR(information(values, {kOrdered, kind}, 1, 0), exact[c], 0.01);
    }
  }
}

// ---- Levels as parents and children ---------------------------------------------------------------------------------

TEST(Equations, LevelsWithoutOrderSeeWhatNoOrderShows) {
  Random random(Key{5});
  Matrix values(1000, 2);
  for (auto row : values.rowwise()) {
    const auto level = random.below(3);
    row << (level == 1 ? 2.0 : 0.0) + 0.3 * random.normal(), static_cast<double>(level);
  }
  const double exact = std::log(3.0) - 2.0 / 3 * std::log(2.0);  // whether it is level 1
  EXPECT_NEAR(information(values, {kNumber, kNominal}, 1, 0), exact, 0.03);
  EXPECT_NEAR(information(values, {kNumber, kNominal}, 0, 1), exact, 0.05);
}

TEST(Equations, LevelsThatALineSeparatesLeaveNextToNothing) {
  Matrix values = noise_table(400, 2, 6);
  values.col(1) = values.col(0).array().unaryExpr([](double x) { return x > 0 ? 1.0 : 0.0; });
  const double left = score(values, {kNumber, kOrdered}, 1, {0});
  EXPECT_TRUE(std::isfinite(left));
  EXPECT_LT(left, 0.05);
}

TEST(EquationsProperty, NamesOfLevelsDoNotMatter) {
  EXPECT_TRUE(rc::check("renamed", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int levels = 3 + static_cast<int>(random.below(3));
    Matrix values(80, 3);
    for (auto row : values.rowwise()) {
      const double level = std::floor(levels * random.uniform());
      row << random.normal() + (level == 1 ? 1.0 : 0.0), level, random.normal();
    }
    const std::vector<int> names = random.permutation(levels);
    Matrix renamed = values;
    for (double& cell : renamed.col(1)) cell = names[static_cast<std::size_t>(cell)];
    const std::vector<ColumnKind> kinds = {kNumber, kNominal, kNumber};
    const Equations one({values, kinds}, rough().regression, Key{1}),
        other({renamed, kinds}, rough().regression, Key{1});
    for (const auto& [child, parents] :
         std::vector<std::pair<int, std::vector<int>>>{{1, {}}, {1, {0}}, {1, {0, 2}}, {0, {1}}, {0, {1, 2}}}) {
      RC_ASSERT(std::abs(score(one, child, parents) - score(other, child, parents)) < 1e-9);
    }
  }));
}

// ---- Missing cells --------------------------------------------------------------------------------------------------

TEST(Equations, AChildIsScoredInTheRowsThatHaveIt) {
  const Matrix values = linear_chain(200, 2, 1);
  Matrix holed = values;
  std::vector<int> present;
  for (int i = 0; i < 200; ++i) {
    if (i % 4 == 0) holed(i, 1) = std::nan("");
    if (i % 4 != 0) present.push_back(i);
  }
  const Equations equations({holed, {}, {values, values}}, {}, Key{1});
  EXPECT_EQ(equations.draws(), 2);
  const Vector rows = equations.surprisals(std::array{1}, std::vector<int>{0}, NoiseDistribution::any).front();
  EXPECT_EQ(rows[0], 0);
  const Regression regression(standardised(values), {}, Key{1});
  const Vector expected =
      surprisals(regression.residuals(std::array{1}, std::array{0}, present).left_out.col(0), NoiseDistribution::any);
  EXPECT_NEAR(rows.mean(), expected.mean(), 1e-12);
  EXPECT_NEAR(rows[1], expected[0] * 200 / 150, 1e-12);
}

TEST(Equations, ScoresAreMeansOverDraws) {
  const Matrix values = linear_chain(100, 2, 1), other = linear_chain(100, 2, 2);
  Matrix holed = values, second = values;
  holed(3, 0) = std::nan("");
  second(3, 0) = other(3, 0);
  const double both = score(Equations({holed, {}, {values, second}}, {}, Key{1}), 1, {0});
  const double first = score(values, {}, 1, {0}), last = score(second, {}, 1, {0});
  EXPECT_NEAR(both, (first + last) / 2, 1e-12);
  EXPECT_NE(first, last);
}

}  // namespace
}  // namespace fansite::causal
