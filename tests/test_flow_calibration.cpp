// SPDX-License-Identifier: Apache-2.0
//
// The probability integral transform against closed forms, right distributions and wrong ones.
#include "fansite/entropy/flow/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/entropy/flow/detail/conditional_distribution.h"
#include "fansite/entropy/flow/estimator.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

using testing::HasSubstr;

// y = 0.8 x + spread · noise, and a third column of noise.
Dataset pair(Index rows, double spread, std::uint64_t seed) {
  Random random(Key{seed});
  Dataset data;
  data.names = {"x", "y", "z"};
  data.values.resize(rows, 3);
  for (Index i = 0; i < rows; ++i) {
    const double x = random.normal();
    data.values.row(i) << x, 0.8 * x + spread * random.normal(), random.normal();
  }
  return data;
}

// Over a Gaussian base, so that distributions are right from the first step.
Ensemble trained_on(const Dataset& data, int repeats = 2) {
  EnsembleParams params;
  params.folds = 2;
  params.repeats = repeats;
  params.train.steps = params.train.evaluate_every = 100;
  params.seed = 1;
  NoProgress silent;
  return train_ensemble(data, params, silent);
}

Calibration calibration_of(const EnsembleDensity& density, const std::vector<EntropyQuery>& queries,
                           const CalibrationParams& params = {}) {
  NoProgress silent;
  return calibration(density, queries, params, silent);
}

const std::vector<EntropyQuery> kBoth = {{1, {0}}, {0, {1}}};

// ---- Quadrature -----------------------------------------------------------------------------------------------------

TEST(ConditionalDistribution, HasTheProbabilitiesOfANormalDistributionTo0001) {
  for (const double half_width : {3.0, 4.5, 6.0}) {
    ConditionalDistribution distribution;
    distribution.points =
        Eigen::RowVectorXf::LinSpaced(65, static_cast<float>(-half_width), static_cast<float>(half_width));
    distribution.densities = (-0.5f * distribution.points.array().square()).exp();
    const double outside = normal_tail(half_width);
    for (double x = -half_width; x <= half_width; x += 0.05) {
      const double exact = (1 - normal_tail(x) - outside) / (1 - 2 * outside);
      EXPECT_NEAR(distribution.probability(0, static_cast<float>(x)), exact, 1e-3) << x << " within " << half_width;
    }
  }
}

TEST(ConditionalDistribution, IsNothingBelowItsPointsAndAllAboveThem) {
  ConditionalDistribution distribution;
  distribution.points = Eigen::RowVectorXf::LinSpaced(5, 0, 4);
  distribution.densities = Eigen::RowVectorXf::Ones(5);
  EXPECT_EQ(distribution.probability(0, -1), 0);
  EXPECT_EQ(distribution.probability(0, 5), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(distribution.probability(0, 1.5f)), 0.375f);
  EXPECT_FLOAT_EQ(distribution.quantiles(0, 4)[1], 1.5f);
}

// The flow of every network made the identity: what remains is a linear Gaussian model, whose u has a closed form.
TEST(ConditionalDistribution, OfALinearGaussianModelHasItsProbabilities) {
  const Dataset data = pair(400, 0.6, 3);
  EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.transform = TransformKind::none;
  params.train.steps = params.train.evaluate_every = 1;
  NoProgress silent;
  Ensemble ensemble = train_ensemble(data, params, silent);
  ensemble.linear.clear();
  ensemble.linear_share = {};
  Matrix covariance = Matrix::Identity(3, 3);
  covariance(0, 1) = covariance(1, 0) = 0.8;
  for (Network& network : ensemble.networks) {
    Parameters identity = zero_parameters(network.trained.weights.shape());
    identity.c.head(identity.shape.sigmoids).setConstant(std::log(std::expm1(1 - 1e-6)));  // slopes of 1
    network.trained.weights = pack(identity);
    network.trained.base = GaussianBase(Vector::Zero(3), covariance(network.order, network.order));
  }
  const EnsembleDensity density(ensemble, data.values);
  std::vector<int> rows = {0, 7, 100, 399};
  for (int i = 20; i < 90; ++i) rows.push_back(i);
  const DistributionGrid grid = {.margin = 0.25f, .coarse = 33, .tail = 1e-5f, .points = 65};
  const ConditionalDistribution distribution = conditional_distribution(density, 1, std::vector<int>{0}, rows, grid);
  ASSERT_EQ(distribution.points.rows(), static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double x = data.values(rows[i], 0), y = data.values(rows[i], 1);
    const double exact = 1 - normal_tail((y - 0.8 * x) / 0.6);
    EXPECT_NEAR(distribution.probability(static_cast<Index>(i), static_cast<float>(y)), exact, 1.5e-3)
        << "row " << rows[i];
  }
}

// ---- Summaries ------------------------------------------------------------------------------------------------------

TEST(CalibrationSummary, OfEvenlySpacedProbabilitiesIsPerfect) {
  std::vector<double> u;
  for (int i = 0; i < 1000; ++i) u.push_back((i + 0.5) / 1000);
  const TargetCalibration perfect = summary(4, u, 10);
  EXPECT_EQ(perfect.target, 4);
  for (const double share : perfect.pit) EXPECT_NEAR(share, 0.1, 1e-12);
  EXPECT_NEAR(perfect.ks, 0.0005, 1e-12);
  EXPECT_NEAR(perfect.p_value, 1, 1e-12);
  EXPECT_NEAR(perfect.latent_mean, 0, 1e-12);
  EXPECT_NEAR(perfect.latent_sd, 1, 0.005);
  EXPECT_NEAR(perfect.latent_skewness, 0, 1e-12);
  EXPECT_NEAR(perfect.latent_kurtosis, 0, 0.05);
}

TEST(CalibrationSummary, SeesAShiftASpreadAndASkew) {
  std::vector<double> shifted, narrow, skewed;
  for (int i = 0; i < 1000; ++i) {
    const double z = normal_quantile((i + 0.5) / 1000);
    shifted.push_back(1 - normal_tail(z + 0.5));
    narrow.push_back(1 - normal_tail(0.5 * z));
    skewed.push_back(1 - normal_tail(z + 0.2 * (z * z - 1)));
  }
  EXPECT_NEAR(summary(0, shifted, 20).latent_mean, 0.5, 0.01);
  EXPECT_LT(summary(0, shifted, 20).p_value, 1e-10);
  EXPECT_NEAR(summary(0, narrow, 20).latent_sd, 0.5, 0.01);
  EXPECT_GT(summary(0, skewed, 20).latent_skewness, 0.5);
}

TEST(CalibrationSummary, KeepsWhatIsImpossibleFinite) {
  const TargetCalibration outside = summary(0, {0.0, 1.0, 0.5}, 2);
  EXPECT_NEAR(outside.latent_sd, 4.753 * std::sqrt(2.0 / 3), 0.01);
  EXPECT_NEAR(outside.pit[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(outside.pit[1], 2.0 / 3, 1e-12);
}

// ---- Distributions that are right and wrong -------------------------------------------------------------------------

TEST(Calibration, OfAGaussianPairIsGood) {
  const Dataset data = pair(2000, 0.6, 1);
  const Ensemble ensemble = trained_on(data);
  const Calibration found = calibration_of(EnsembleDensity(ensemble, data.values), kBoth);
  EXPECT_EQ(found.rows, 1000);
  EXPECT_EQ(found.bins, 20);
  ASSERT_EQ(found.targets.size(), 2u);
  for (const TargetCalibration& target : found.targets) {
    EXPECT_GT(target.p_value, 0.01) << target.target;
    EXPECT_NEAR(target.latent_mean, 0, 0.1) << target.target;
    EXPECT_NEAR(target.latent_sd, 1, 0.08) << target.target;
    EXPECT_NEAR(target.latent_skewness, 0, 0.3) << target.target;
    EXPECT_NEAR(target.latent_kurtosis, 0, 0.6) << target.target;
    EXPECT_NEAR(std::accumulate(target.pit.begin(), target.pit.end(), 0.0), 1, 1e-9);
  }
  for (std::size_t b = 0; b < found.pit.size(); ++b) {
    EXPECT_NEAR(found.pit[b], (found.targets[0].pit[b] + found.targets[1].pit[b]) / 2, 1e-12);
  }
}

TEST(Calibration, SeesATableWithTwiceTheSpread) {
  const Dataset data = pair(1000, 0.6, 1), other = pair(1000, 1.2, 2);
  const Ensemble ensemble = trained_on(data);
  const Calibration found = calibration_of(EnsembleDensity(ensemble, other.values), {{1, {0}}});
  EXPECT_LT(found.targets[0].p_value, 1e-10);
  EXPECT_NEAR(found.targets[0].latent_sd, 2, 0.3);
  EXPECT_GT(found.pit.front(), 0.1) << "20 bins";
  EXPECT_GT(found.pit.back(), 0.1);
}

TEST(Calibration, SameBitsForAnyNumberOfThreads) {
  const Dataset data = pair(300, 0.6, 4);
  const Ensemble ensemble = trained_on(data);
  const EnsembleDensity density(ensemble, data.values);
  Calibration one, two;
  {
    const ThreadLimit limit(1);
    one = calibration_of(density, kBoth);
  }
  {
    const ThreadLimit limit(2);
    two = calibration_of(density, kBoth);
  }
  EXPECT_EQ(one.pit, two.pit);
  for (std::size_t t = 0; t < kBoth.size(); ++t) {
    EXPECT_EQ(one.targets[t].ks, two.targets[t].ks);
    EXPECT_EQ(one.targets[t].latent_mean, two.targets[t].latent_mean);
    EXPECT_EQ(one.targets[t].latent_kurtosis, two.targets[t].latent_kurtosis);
  }
}

TEST(Calibration, StopsWhenAsked) {
  const Dataset data = pair(100, 0.6, 5);
  const Ensemble ensemble = trained_on(data, 1);
  const EnsembleDensity density(ensemble, data.values);
  Impatient impatient;
  EXPECT_THROW(calibration(density, kBoth, {}, impatient), Interrupted);
  EXPECT_THAT(message_of<UsageError>([&] { calibration_of(density, kBoth, {.max_rows = 100, .bins = 0}); }),
              HasSubstr("0 bins"));
}

// In the table's columns: a constant, a copy, and a column of few values, whose u is a random place in its step.
TEST(Calibration, OfATableLeavesOutWhatIsDetermined) {
  Dataset data = pair(400, 0.6, 6);
  data.names = {"constant", "x", "y", "copy", "coarse"};
  const Matrix xyz = data.values;
  data.values.resize(400, 5);
  data.values << Vector::Constant(400, 3), xyz.leftCols(2), xyz.col(0), xyz.col(2).array().round().matrix();
  const FlowEstimator estimator(data, trained_on(learnable(data)));
  EXPECT_FALSE(estimator.original_scale(4));
  NoProgress silent;
  const std::vector<EntropyQuery> queries = {{0, {1}}, {2, {0, 1}}, {1, {3}}, {4, {1}}, {3, {2, 4}}};
  const Calibration found = estimator.calibration(queries, {}, silent);
  ASSERT_EQ(found.targets.size(), 3u);
  EXPECT_EQ(found.targets[0].target, 2);
  EXPECT_EQ(found.targets[1].target, 4);
  EXPECT_EQ(found.targets[2].target, 3);
  EXPECT_EQ(found.rows, 400);
  for (const TargetCalibration& target : found.targets) EXPECT_GT(target.p_value, 0.01) << target.target;
}

}  // namespace
}  // namespace fansite::flow
