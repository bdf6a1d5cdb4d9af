// SPDX-License-Identifier: Apache-2.0
//
// Weights, groups and rows worth less than one, in everything that a graph is found by: held to fits on fewer rows, and
// to rows that stand there several times.
#include "fansite/causal/graph_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "fansite/causal/additive_noise.h"
#include "fansite/causal/detail/level_model.h"
#include "fansite/causal/level_regression.h"
#include "graph_examples.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Of mean 1.
Vector weights_of(Index rows, std::uint64_t seed) {
  Random random(Key{seed});
  Vector weights(rows);
  for (double& weight : weights) weight = 0.2 + 3 * random.uniform();
  return weights / weights.mean();
}

/// So many rows in a row each.
std::vector<int> in_a_row(Index rows, int length) {
  std::vector<int> groups;
  for (int row = 0; row < rows; ++row) groups.push_back(row / length);
  return groups;
}

std::vector<int> all_but(Index rows, const std::vector<int>& left_out) {
  std::vector<int> result;
  for (int row = 0; row < rows; ++row) {
    if (std::find(left_out.begin(), left_out.end(), row) == left_out.end()) result.push_back(row);
  }
  return result;
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

TEST(GraphRows, CountAsManyAsTellAsMuch) {
  EXPECT_EQ(GraphRows().independent(70), 70);
  EXPECT_TRUE(GraphRows().plain());
  EXPECT_EQ((GraphRows{{}, {}, 0.5}.independent(70)), 35);
  EXPECT_EQ((GraphRows{{}, {0, 0, 1, 1, 2, 2}, 1}.independent(6)), 3);
  EXPECT_EQ((GraphRows{{}, {0, 0, 1, 1, 2, 2}, 1}.independent(4)), 2);
  EXPECT_NEAR((GraphRows{Vector{{0.5, 1.5, 0.5, 1.5}}, {}, 1}.independent(4)), 4 / 1.25, 1e-12);
  EXPECT_NEAR((GraphRows{Vector{{0.5, 1.5, 0.5, 1.5}}, {0, 0, 1, 1}, 1}.independent(4)), 2, 1e-12);
  // One group of 500 beside 100 rows decides every mean.
  std::vector<int> unequal(600, 0);
  std::iota(unequal.begin() + 500, unequal.end(), 1);
  EXPECT_NEAR((GraphRows{{}, unequal, 1}.independent(600)), 600.0 * 600 / (500.0 * 500 + 100), 1e-9);
}

TEST(GraphRows, OfSomeRowsAreTheirs) {
  const GraphRows rows{Vector{{0.5, 1, 1.5, 1}}, {3, 0, 3, 2}, 0.7};
  const GraphRows some = rows.of_rows({0, 2, 3});
  EXPECT_NEAR(some.weights.mean(), 1, 1e-12);
  EXPECT_NEAR(some.weights[1] / some.weights[0], 3, 1e-12);
  EXPECT_THAT(some.groups, ElementsAre(0, 0, 1));
  EXPECT_EQ(some.worth, 0.7);
  EXPECT_THAT(some.blocks(), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(rows.first_of_each_group(), ElementsAre(0, 1, 3));
  EXPECT_THAT(GraphRows().first_of_each_group(), IsEmpty());
  EXPECT_THAT(GraphRows().blocks(), IsEmpty());
  EXPECT_EQ((GraphRows{{}, {1, 0, 1}, 1}.by_unit(Vector{{1, 10, 100}})), (Vector{{10, 101}}));
}

TEST(GraphRows, OfOtherWeightsGroupsAndWorthAreOthers) {
  EXPECT_EQ(GraphRows().identity(), "");
  const GraphRows one{{}, {0, 0, 1}, 1}, other{{}, {0, 1, 1}, 1}, less{{}, {0, 0, 1}, 0.5};
  EXPECT_NE(one.identity(), other.identity());
  EXPECT_NE(one.identity(), less.identity());
  EXPECT_EQ(one.identity(), (GraphRows{{}, {0, 0, 1}, 1}.identity()));
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

// All rows as landmarks and one width and ridge, so that a fit without rows is the same one on fewer of them.
RegressionParams one_fit() {
  RegressionParams params;
  params.widths = {1};
  params.ridges = {0.3};
  params.landmarks = params.max_landmarks = 40;
  return params;
}

// The residuals of these rows by weighted kernel ridge regression on the others, from its definition: a function of the
// kernel at the landmarks, penalised, beside a line, which is not.
Vector by_definition(const Matrix& x, const Vector& y, const Vector& weights, const std::vector<int>& landmarks,
                     const std::vector<int>& left_out) {
  const auto kernel = [&](Index i, Index j) { return std::exp(-(x.row(i) - x.row(j)).squaredNorm() / 2); };
  const auto m = static_cast<Index>(landmarks.size()), lines = x.cols() + 1;
  Matrix between(m, m), features(x.rows(), lines + m);
  for (Index a = 0; a < m; ++a) {
    for (Index b = 0; b < m; ++b)
      between(a, b) = kernel(landmarks[static_cast<std::size_t>(a)], landmarks[static_cast<std::size_t>(b)]);
  }
  features.col(0).setOnes();
  features.middleCols(1, x.cols()) = x;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index a = 0; a < m; ++a) features(i, lines + a) = kernel(i, landmarks[static_cast<std::size_t>(a)]);
  }
  // Of all rows by the roots of their weights: what is linear orthonormal, kernels less what that explains of them.
  const Vector root = weights.cwiseSqrt();
  features.array().colwise() *= root.array();
  const Matrix basis =
      Eigen::HouseholderQR<Matrix>(features.leftCols(lines)).householderQ() * Matrix::Identity(x.rows(), lines);
  features.leftCols(lines) = basis;
  features.rightCols(m) -= basis * (basis.transpose() * features.rightCols(m)).eval();
  const std::vector<int> rows = all_but(x.rows(), left_out);
  const Matrix f = features(rows, Eigen::all);
  Matrix normal = f.transpose() * f;
  normal.bottomRightCorner(m, m) += 0.3 * between;
  // Of more than one row: 0.01 on lines, but for the constant.
  if (left_out.size() > 1) normal.diagonal().segment(1, lines - 1).array() += 0.01 / static_cast<double>(x.rows());
  const Vector coefficients =
      normal.completeOrthogonalDecomposition().solve(Vector(f.transpose() * Vector(root(rows).cwiseProduct(y(rows)))));
  const Vector found = features(left_out, Eigen::all) * coefficients;
  return y(left_out) - Vector(found.array() / root(left_out).array());
}

TEST(GraphRows, WithoutItsBlockIsAFitOnTheOthers) {
  constexpr Index kRows = 60;
  const Matrix values =
      standardised(table(kRows, 3, 3, [](Random&, auto&& x) { x[2] = std::sin(2 * x[0]) + x[1] + 0.5 * x[2]; }));
  const std::array<int, 2> parents = {0, 1};
  std::vector<int> landmarks;
  for (const int row : Random(Key{1}).permutation(static_cast<int>(kRows))) {
    if (landmarks.size() < 40) landmarks.push_back(row);
  }
  for (const bool weighted : {false, true}) {
    // 2 rows: fewer than features; 30: more than the 20 or so that wide kernels need.
    for (const int length : {1, 2, 30}) {
      SCOPED_TRACE(testing::Message() << (weighted ? "weighted" : "equal") << ", blocks of " << length);
      GraphRows rows{weighted ? weights_of(kRows, 5) : Vector(),
                     length > 1 ? in_a_row(kRows, length) : std::vector<int>(), 1};
      const Regression regression(values, one_fit(), Key{1}, {}, rows);
      const Vector found = regression.residuals(std::array{2}, parents).left_out.col(0);
      const Vector weights = weighted ? rows.weights : Vector(Vector::Ones(kRows));
      for (const int first : {0, 30}) {
        std::vector<int> block(static_cast<std::size_t>(length));
        std::iota(block.begin(), block.end(), first);
        const Vector expected = by_definition(values.leftCols(2), values.col(2), weights, landmarks, block);
        EXPECT_LT((found(block) - expected).cwiseAbs().maxCoeff(), 2e-3);
      }
    }
  }
}

TEST(GraphRows, LinesWithoutABlockAreFitsOnTheOthers) {
  const Matrix values = standardised(linear_chain(80, 3, 4));
  RegressionParams lines;
  lines.widths = {};
  const Vector weights = weights_of(80, 6);
  const Regression regression(values, lines, Key{1}, {}, {weights, in_a_row(80, 20), 1});
  const Vector found = regression.residuals(std::array{2}, std::array{0, 1}).left_out.col(0);
  Matrix x(80, 3);
  x << Vector::Ones(80), values.leftCols(2);
  std::vector<int> block(20);
  std::iota(block.begin(), block.end(), 40);
  const std::vector<int> others = all_but(80, block);
  const Vector root = Vector(weights(others)).cwiseSqrt();
  const Vector slopes = (root.asDiagonal() * x(others, Eigen::all))
                            .eval()
                            .colPivHouseholderQr()
                            .solve(root.asDiagonal() * Vector(values(others, 2)));
  // Lines have a little ridge there.
  EXPECT_LT((found(block) - (values(block, 2) - x(block, Eigen::all) * slopes)).cwiseAbs().maxCoeff(), 1e-3);
}

// Other groups say nothing of a level, or of a slope, that one group alone shows.
TEST(GraphRows, WhatOneGroupAloneShowsIsNotKnownWithoutIt) {
  for (const Index rows : {Index{200}, Index{2000}}) {  // in double and in single precision
    const std::vector<int> groups = in_a_row(rows, static_cast<int>(rows) / 10);
    Random random(Key{21});
    Vector own(10);
    for (double& mean : own) mean = random.normal();
    Matrix values(rows, 2), levels = Matrix::Zero(rows, 9);
    for (Index row = 0; row < rows; ++row) {
      const int group = groups[static_cast<std::size_t>(row)];
      values.row(row) << group, own[group] + random.normal();
      if (group > 0) levels(row, group - 1) = 1;
    }
    values = standardised(values);
    const Regression regression(values, {}, Key{1}, {standardised(levels), Matrix()}, {{}, groups, 1});
    const double alone = regression.residuals(std::array{1}, {}).left_out.squaredNorm();
    const double given = regression.residuals(std::array{1}, std::array{0}).left_out.squaredNorm();
    EXPECT_GT(given, 0.95 * alone) << rows << " rows";
  }
}

// Of a linear regression, by the inverse of what a block leaves of itself.
TEST(GraphRows, WhatIsLeftOfABlockIsAsWideAsItsLeverageSays) {
  const Matrix values = standardised(linear_chain(60, 3, 8));
  RegressionParams lines;
  lines.widths = {};
  for (const int length : {2, 20}) {  // fewer rows than lines, and more
    const Regression regression(values, lines, Key{1}, {}, {{}, in_a_row(60, length), 1});
    const Vector found = regression.residuals(std::array{2}, std::array{0, 1}).leverage.col(0);
    Matrix x(60, 3);
    x << Vector::Ones(60), values.leftCols(2);
    const Matrix hat = x * (x.transpose() * x).inverse() * x.transpose();
    for (int first = 0; first < 60; first += length) {
      const Matrix wider = (Matrix::Identity(length, length) - hat.block(first, first, length, length)).inverse();
      const Vector expected = 1 - wider.diagonal().array().inverse();
      EXPECT_LT((found.segment(first, length) - expected).cwiseAbs().maxCoeff(), 1e-3);
    }
  }
}

// What a block shows of the noise, other blocks must show too.
TEST(GraphRows, ABlocksOwnNoiseIsNotLearntFromIt) {
  Random random(Key{31});
  const std::vector<int> groups = in_a_row(2000, 200);
  Vector residuals(2000), own(10);
  for (double& mean : own) mean = random.normal();
  for (Index row = 0; row < 2000; ++row) {
    residuals[row] = own[groups[static_cast<std::size_t>(row)]] + random.normal();
  }
  const GraphRows plain, in_blocks{{}, groups, 1};
  for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
    const double all = surprisals(residuals, noise).mean();
    EXPECT_LT(surprisals(residuals, noise, groups, plain).mean(), all - 0.2) << name(noise);
    // As levels that name the block, and as levels that two blocks share.
    std::vector<int> pairs;
    for (const int group : groups) pairs.push_back(group % 5);
    EXPECT_NEAR(surprisals(residuals, noise, groups, in_blocks).mean(), all, 1e-9) << name(noise);
    EXPECT_GT(surprisals(residuals, noise, pairs, in_blocks).mean(), all - 0.05) << name(noise);
  }
  // Noise of another width in every second block is one that other blocks show.
  std::vector<int> wide;
  for (Index row = 0; row < 2000; ++row) {
    wide.push_back(groups[static_cast<std::size_t>(row)] % 2);
    residuals[row] = (wide.back() == 1 ? 5 : 1) * random.normal();
  }
  for (const NoiseDistribution noise : {NoiseDistribution::any, NoiseDistribution::gaussian}) {
    EXPECT_LT(surprisals(residuals, noise, wide, in_blocks).mean(), surprisals(residuals, noise).mean() - 0.2);
  }
}

TEST(GraphRows, EntropiesOfWeightedResidualsAreThoseOfRepeatedOnes) {
  Random random(Key{7});
  Vector residuals(400), weights(400);
  std::vector<double> repeated;
  for (Index i = 0; i < 400; ++i) {
    const int times = 1 + static_cast<int>(random.below(3));
    residuals[i] = std::exp(random.normal());
    weights[i] = times;
    repeated.insert(repeated.end(), static_cast<std::size_t>(times), residuals[i]);
  }
  const double mean = weights.mean();
  weights /= mean;
  const Vector expected_rows =
      surprisals(Vector::Map(repeated.data(), static_cast<Index>(repeated.size())), NoiseDistribution::gaussian);
  const Vector found = surprisals(residuals, NoiseDistribution::gaussian, weights);
  EXPECT_NEAR(found.dot(weights) / 400, expected_rows.mean(), 1e-9);
  // By kernels nearly: a copy of a row is another row.
  const double by_kernels = surprisals(residuals, NoiseDistribution::any, weights).dot(weights) / 400;
  EXPECT_NEAR(
      by_kernels,
      surprisals(Vector::Map(repeated.data(), static_cast<Index>(repeated.size())), NoiseDistribution::any).mean(),
      0.05);
  EXPECT_TRUE(surprisals(residuals, NoiseDistribution::any, Vector::Ones(400))
                  .isApprox(surprisals(residuals, NoiseDistribution::any), 1e-12));
}

// ---- Levels ---------------------------------------------------------------------------------------------------------

constexpr int kFeatures = 4;

struct Levelled {
  Matrix features;
  std::vector<int> groups;
};
Levelled levelled(Index rows, int count) {
  Levelled result{noise_table(rows, kFeatures, 1), {}};
  Random random(Key{2});
  for (Index i = 0; i < rows; ++i) {
    const double u = 1 / (1 + std::exp(-result.features(i, 0) - random.normal()));
    result.groups.push_back(std::min(static_cast<int>(u * count), count - 1));
  }
  return result;
}

std::unique_ptr<LevelModel> model_of(bool ordered, std::vector<int> groups, int count, const GraphRows& rows) {
  return ordered ? ordered_model(std::move(groups), count, rows) : nominal_model(std::move(groups), count, rows);
}

/// Of coefficients, but for intercepts.
Matrix with_ridge(const LevelModel& model, Matrix hessian) {
  hessian.diagonal().tail(hessian.rows() - model.intercepts()).array() += 1;
  return hessian;
}

/// All parameters, by Newton's method.
Vector fitted(const LevelModel& model, const Matrix& features, Vector parameters) {
  const Index count = model.coefficients(features.cols());
  for (int step = 0; step < 50; ++step) {
    const LevelModel::Derivatives at = model.derivatives(features, parameters);
    const Matrix hessian = with_ridge(model, at.hessian).selfadjointView<Eigen::Lower>();
    Vector gradient = at.gradient;
    gradient.tail(count) += parameters.tail(count);
    parameters -= hessian.llt().solve(gradient);
  }
  return parameters;
}

TEST(GraphRows, WeightedLevelsAreRepeatedOnes) {
  for (const int count : {2, 3}) {
    for (const bool ordered : {true, false}) {
      const auto [features, groups] = levelled(50, count);
      Vector times(50);
      std::vector<int> rows, repeated;
      for (int i = 0; i < 50; ++i) {
        times[i] = 1 + i % 3;
        rows.insert(rows.end(), static_cast<std::size_t>(times[i]), i);
      }
      for (const int row : rows) repeated.push_back(groups[static_cast<std::size_t>(row)]);
      const double mean = times.mean();
      const auto one = model_of(ordered, groups, count, {times / mean, {}, 1}),
                 other = model_of(ordered, repeated, count, {});
      const Matrix of_repeated = features(rows, Eigen::all);
      Vector at = Vector::Zero(one->intercepts() + one->coefficients(kFeatures));
      at.head(one->intercepts()) = one->intercepts_of_shares();
      EXPECT_TRUE(one->intercepts_of_shares().isApprox(other->intercepts_of_shares(), 1e-12));
      at += 0.1 * noise_table(at.size(), 1, 3);
      EXPECT_NEAR(one->loss(features, at) * mean, other->loss(of_repeated, at), 1e-9);
      const auto found = one->derivatives(features, at), expected = other->derivatives(of_repeated, at);
      EXPECT_TRUE((found.gradient * mean).isApprox(expected.gradient, 1e-9));
      EXPECT_TRUE((found.hessian * mean).isApprox(expected.hessian, 1e-9));
    }
  }
}

TEST(GraphRows, LevelsLeftOutInBlocksAreAlmostFitsWithoutThem) {
  for (const int count : {2, 3}) {
    for (const bool ordered : {true, false}) {
      for (const int length : {3, 12}) {  // solved by rows, and by coefficients
        SCOPED_TRACE(testing::Message() << count << (ordered ? " in order" : "") << ", blocks of " << length);
        const auto [features, groups] = levelled(120, count);
        const auto model = model_of(ordered, groups, count, {{}, in_a_row(120, length), 1});
        Vector start = Vector::Zero(model->intercepts() + model->coefficients(kFeatures));
        start.head(model->intercepts()) = model->intercepts_of_shares();
        const Vector all = fitted(*model, features, start);
        const Vector found =
            model->left_out(features, all, with_ridge(*model, model->derivatives(features, all).hessian));
        std::vector<int> block(static_cast<std::size_t>(length));
        std::iota(block.begin(), block.end(), 24);
        std::vector<int> of_others, of_block;
        const std::vector<int> others = all_but(120, block);
        for (const int row : others) of_others.push_back(groups[static_cast<std::size_t>(row)]);
        for (const int row : block) of_block.push_back(groups[static_cast<std::size_t>(row)]);
        const Vector without = fitted(*model_of(ordered, of_others, count, {}), features(others, Eigen::all), all);
        const auto alone = model_of(ordered, of_block, count, {});
        const double expected = alone->loss(features(block, Eigen::all), without) / length;
        const double in_sample = alone->loss(features(block, Eigen::all), all) / length;
        EXPECT_NEAR(Vector(found(block)).mean(), expected, 0.02 + 0.2 * std::abs(expected - in_sample));
        EXPECT_NE(Vector(found(block)).mean(), in_sample);
      }
    }
  }
}

TEST(GraphRows, LevelsOfEqualRowsAreAsWithout) {
  const auto [features, groups] = levelled(150, 3);
  std::vector<int> order(150);
  std::iota(order.begin(), order.end(), 0);
  const KernelFeatures parents(features.leftCols(1), 1, order, {});
  for (const bool ordered : {true, false}) {
    const Vector plain = level_surprisals(groups, 3, ordered, parents, {});
    const GraphRows equal{Vector::Ones(150), in_a_row(150, 1), 1};
    EXPECT_TRUE(level_surprisals(groups, 3, ordered, parents, {}, equal).isApprox(plain, 1e-6)) << ordered;
  }
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

AdditiveNoiseResult find(const Matrix& values, const GraphRows& rows, const AdditiveNoiseParams& params = {}) {
  NoProgress silent;
  return find_additive_noise_graph(GraphTable{values, {}, {}, {}, rows}, anything(values.cols()), params, silent);
}

TEST(GraphRows, CopiesInGroupsTellWhatOneOfThemTells) {
  const Matrix once = curved_table(150, 1);
  Matrix values(600, 4);
  std::vector<int> groups;
  for (int row = 0; row < 600; ++row) {
    values.row(row) = once.row(row / 4);
    groups.push_back(row / 4);
  }
  const AdditiveNoiseResult single = find(once, {}), grouped = find(values, {{}, groups, 1});
  EXPECT_EQ(grouped.dag.adjacency(), single.dag.adjacency());
  for (std::size_t e = 0; e < single.edges.size(); ++e) {
    const Evidence &expected = single.edges[e].existence, &found = grouped.edges[e].existence;
    EXPECT_NEAR(found.standard_error, expected.standard_error, 0.35 * expected.standard_error);
    EXPECT_NEAR(found.value, expected.value, 3 * expected.standard_error);
  }
  // Four times as many rows of which nothing is known would have half the standard error.
  const Matrix two = values.leftCols(2);
  const AdditiveNoiseResult plain = find(two, {}), together = find(two, {{}, groups, 1});
  ASSERT_THAT(plain.edges, SizeIs(1));
  ASSERT_THAT(together.edges, SizeIs(1));
  EXPECT_LT(plain.edges[0].existence.standard_error, 0.7 * together.edges[0].existence.standard_error);
}

// Each visits its values in the order of time, so that a smooth function of one fits the other wherever it was not left
// out with its neighbours.
TEST(GraphRows, IndependentWalksAreLinkedUnlessInBlocks) {
  Matrix walks = noise_table(400, 3, 11);
  for (Index row = 1; row < 400; ++row) walks.row(row) += walks.row(row - 1);
  EXPECT_FALSE(find(walks, {}).edges.empty());
  EXPECT_THAT(find(walks, {{}, in_a_row(400, 80), 1}).edges, IsEmpty());
}

// Ten sites, each with a mean of its own: a column that names the site, or the region of two sites, tells nothing that
// holds at another site.
TEST(GraphRows, LevelsThatNameGroupsTellNothing) {
  constexpr Index kRows = 1000;
  const std::vector<int> sites = in_a_row(kRows, 100);
  for (const bool binary : {false, true}) {
    for (const ColumnKind kind : {ColumnKind::nominal, ColumnKind::ordered}) {
      for (const int sites_of_level : {1, 2}) {
        SCOPED_TRACE(testing::Message() << (binary ? "binary" : "number") << ", kind " << static_cast<int>(kind) << ", "
                                        << sites_of_level << " sites to a level");
        Random random(Key{41});
        Vector own(10);
        for (double& mean : own) mean = 1.5 * random.normal();
        Matrix values(kRows, 2);
        for (Index row = 0; row < kRows; ++row) {
          const int site = sites[static_cast<std::size_t>(row)];
          const double y = own[site] + random.normal();
          values.row(row) << site % (10 / sites_of_level), binary ? (y > 0 ? 1.0 : 0.0) : y;
        }
        NoProgress silent;
        const std::vector<ColumnKind> kinds = {kind, binary ? ColumnKind::nominal : ColumnKind::continuous};
        const auto edges = [&](const GraphRows& rows) {
          return find_additive_noise_graph(GraphTable{values, kinds, {}, {}, rows}, anything(2), {}, silent).edges;
        };
        EXPECT_THAT(edges({}), SizeIs(1));
        EXPECT_THAT(edges({{}, sites, 1}), IsEmpty());
      }
    }
  }
}

// Two rows that stand there twice are no reason to look for curves.
TEST(GraphRows, AFewCopiesLeaveLinearTablesLinear) {
  Matrix values = linear_chain(800, 3, 17);
  values.row(1) = values.row(0);
  values.row(3) = values.row(2);
  std::vector<int> groups = in_a_row(800, 1);
  groups[1] = 0;
  groups[3] = 2;
  const AdditiveNoiseResult found = find(values, {{}, groups, 1});
  EXPECT_TRUE(found.linear);
  EXPECT_THAT(found.edges, SizeIs(2));
  EXPECT_FALSE(find(curved_table(800, 17), {{}, groups, 1}).linear);
  // Fewer groups than the test asks for.
  EXPECT_FALSE(find(values, {{}, in_a_row(800, 2), 1}).linearity.tested);
}

TEST(GraphRows, WeightsSayWhichRowsThereShouldBe) {
  // x1 follows x0 in the first half and the opposite of it in the second, which counts next to nothing.
  const Matrix values = table(
      800, 2, 12, [row = 0](Random&, auto&& x) mutable { x[1] = (row++ < 400 ? 1.0 : -1.0) * x[0] + 0.5 * x[1]; });
  Vector weights = Vector::Constant(800, 1.999);
  weights.tail(400).setConstant(0.001);
  AdditiveNoiseParams gaussian;
  gaussian.noise = NoiseDistribution::gaussian;
  for (const EquationForm form : {EquationForm::kernels, EquationForm::linear}) {
    gaussian.equations = form;
    const AdditiveNoiseResult found = find(values, {weights, {}, 1}, gaussian);
    ASSERT_THAT(found.edges, SizeIs(1));
    // ½ ln of the variances: 1.25 alone, 0.25 given x0.
    EXPECT_NEAR(found.edges[0].existence.value, 0.5 * std::log(5), 0.1) << name(form);
    // The half that hardly counts has residuals that grow with |x0|.
    EXPECT_TRUE(found.additivity.applicable && found.additivity.additive) << name(form);
    EXPECT_LT(found.additivity.correlation, 0.2) << name(form);
    // As of the first half alone, or nearly.
    const Matrix half = values.topRows(400);
    EXPECT_NEAR(found.edges[0].existence.standard_error, find(half, {}, gaussian).edges[0].existence.standard_error,
                0.02);
  }
}

TEST(GraphRows, WorthLessTellLess) {
  const Matrix values = curved_table(400, 13);
  const AdditiveNoiseResult all = find(values, {}), half = find(values, {{}, {}, 0.25});
  int compared = 0;
  for (const GraphEdge& edge : half.edges) {
    for (const GraphEdge& other : all.edges) {
      if (edge.from != other.from || edge.to != other.to || all.dag.parents(edge.to) != half.dag.parents(edge.to))
        continue;
      EXPECT_NEAR(edge.existence.standard_error, 2 * other.existence.standard_error, 1e-9);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(GraphRows, ErrorsOfUnequalGroupsAreThoseOfAMean) {
  // Two columns that tell about 0.5 nats of each other, in groups of 10 and 30 rows that have nothing to do with them:
  // what groups add to the error of a mean of independent rows is little.
  const Matrix values = table(800, 2, 22, [](Random&, auto&& x) { x[1] = 1.3 * x[0] + x[1]; });
  std::vector<int> groups;
  for (int group = 0; std::ssize(groups) < 800; ++group) {
    groups.resize(std::min<std::size_t>(800, groups.size() + (group % 2 == 0 ? 10 : 30)), group);
  }
  AdditiveNoiseParams gaussian;
  gaussian.noise = NoiseDistribution::gaussian;
  const AdditiveNoiseResult plain = find(values, {}, gaussian), grouped = find(values, {{}, groups, 1}, gaussian);
  ASSERT_THAT(plain.edges, SizeIs(1));
  ASSERT_THAT(grouped.edges, SizeIs(1));
  EXPECT_NEAR(grouped.edges[0].existence.standard_error / plain.edges[0].existence.standard_error, 1, 0.35);
}

TEST(GraphRows, SameBitsWithEqualRows) {
  const Matrix values = curved_table(300, 14);
  const AdditiveNoiseResult plain = find(values, {});
  const AdditiveNoiseResult grouped = find(values, {{}, in_a_row(300, 1), 1});
  EXPECT_EQ(plain.dag.adjacency(), grouped.dag.adjacency());
  EXPECT_NEAR(plain.score, grouped.score, 1e-12);
}

TEST(GraphRows, OfAnotherNumberAreRefused) {
  NoProgress silent;
  const Matrix values = curved_table(50, 1);
  EXPECT_THAT(message_of<UsageError>([&] {
                find(values, {Vector::Ones(49), {}, 1});
              }),
              HasSubstr("49 weights and 0 groups for 50 rows"));
}

}  // namespace
}  // namespace fansite::causal
