// SPDX-License-Identifier: Apache-2.0
//
// Maps of columns: what they do to the values they were fitted to, between and beyond them, and what an entropy gains
// on the way back, where that is known exactly.
#include "fansite/table/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/base/special.h"
#include "fansite/table/dataset.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Draw>
Vector sample(Index rows, std::uint64_t seed, Draw&& draw) {
  Random random(Key{seed});
  Vector values(rows);
  for (double& value : values) value = draw(random);
  return values;
}

double log_slope(TransformKind kind, const Vector& values) { return fit_transform(kind, values).log_slope; }

// ---- Fitted values --------------------------------------------------------------------------------------------------

TEST(Transform, RankGivesTheScoresOfRankGaussianiseBitForBit) {
  Dataset data{default_names(4), Matrix(1001, 4)};
  data.values.col(0) = sample(1001, 1, [](Random& r) { return r.normal(); });
  data.values.col(1) = sample(1001, 2, [](Random& r) { return std::floor(3 * r.exponential()); });  // many ties
  data.values.col(2) = sample(1001, 3, [](Random& r) { return r.coin() ? 0.0 : -0.0; });            // all tied
  data.values.col(3) = sample(1001, 4, [](Random& r) { return 1e300 * std::exp(2 * r.normal()); });
  const auto transforms = fit_transforms(TransformKind::rank, data.values);
  EXPECT_EQ(apply_transforms(transforms, data.values), rank_gaussianise(data).values);
  EXPECT_EQ(transforms[2].x.size(), 1u);
  EXPECT_LT(transforms[1].x.size(), 40u);
}

TEST(TransformProperty, RankIsExactOnAnyValues) {
  EXPECT_TRUE(rc::check("apply_transforms(fit(x), x) == rank_gaussianise(x)", [] {
    auto cells = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
        rc::gen::oneOf(rc::gen::map(rc::gen::inRange(-3, 4), [](int value) { return double(value); }),
                       rc::gen::element(1e308, -1.7e308, 5e-324, -5e-324, 1e-310, 0.1), rc::gen::arbitrary<double>())));
    for (double& cell : cells) cell = std::isfinite(cell) ? cell : 7;
    const Dataset data{default_names(1), Eigen::Map<const Vector>(cells.data(), static_cast<Index>(cells.size()))};
    const auto transforms = fit_transforms(TransformKind::rank, data.values);
    RC_ASSERT(apply_transforms(transforms, data.values) == rank_gaussianise(data).values);
  }));
}

TEST(Transform, StandardiseIsTheDatasetsOne) {
  Dataset data{default_names(5), Matrix(777, 5)};
  data.values.col(0) = sample(777, 1, [](Random& r) { return 1e6 + 3 * r.normal(); });
  data.values.col(1).setConstant(0.1);
  data.values.col(2) = sample(777, 2, [](Random& r) { return 1e300 * r.normal(); });
  data.values.col(3) = sample(777, 3, [](Random& r) { return 1e-300 * r.normal(); });
  data.values.col(4) = sample(777, 4, [](Random& r) { return r.coin() ? 1.7e308 : -1.7e308; });
  const auto transforms = fit_transforms(TransformKind::standardise, data.values);
  const Matrix expected = standardise(data).values, values = apply_transforms(transforms, data.values);
  EXPECT_LT((values - expected).cwiseAbs().maxCoeff(), 1e-9);  // of the first column, whose mean is large
  EXPECT_LT((values - expected).rightCols(4).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(transforms[0].log_slope, std::log(transforms[0].scale));
  EXPECT_NEAR(transforms[2].log_slope, std::log(transforms[2].scale), 1e-12);
  EXPECT_TRUE((values.col(1).array() == 0).all());
}

TEST(Transform, NoneLeavesEverything) {
  const Vector values = sample(10, 1, [](Random& r) { return r.normal(); });
  const ColumnTransform transform = fit_transform(TransformKind::none, values);
  for (const double value : values) EXPECT_EQ(transform(value), value);
  EXPECT_EQ(transform.log_slope, 0);
}

TEST(Transform, ConstantColumnsAndSingleRowsBecomeZero) {
  for (const TransformKind kind : {TransformKind::rank, TransformKind::standardise}) {
    for (const Index rows : {1, 2, 50}) {
      const ColumnTransform transform = fit_transform(kind, Vector::Constant(rows, 0.3));
      EXPECT_EQ(transform(0.3), 0) << name(kind) << rows;
      EXPECT_EQ(transform.scale, 1);
      EXPECT_TRUE(std::isnan(transform.log_slope)) << name(kind) << rows;
    }
  }
}

TEST(Transform, TheFitDoesNotDependOnTheOrderOfTheRows) {
  Vector values = sample(300, 5, [](Random& r) { return std::round(4 * r.normal()) * (r.coin() ? 1 : -1) / 4; });
  const ColumnTransform one = fit_transform(TransformKind::rank, values);
  std::sort(values.begin(), values.end(), std::greater());
  const ColumnTransform other = fit_transform(TransformKind::rank, values);
  EXPECT_EQ(one.x, other.x);
  EXPECT_EQ(one.z, other.z);
  EXPECT_FALSE(std::any_of(one.x.begin(), one.x.end(), [](double x) { return x == 0 && std::signbit(x); }));
}

// ---- Between and beyond ---------------------------------------------------------------------------------------------

TEST(TransformProperty, EveryMapIsIncreasing) {
  EXPECT_TRUE(rc::check("a ≤ b gives map(a) ≤ map(b), and no finite value gives NaN", [] {
    const auto any = rc::gen::map(
        rc::gen::oneOf(rc::gen::map(rc::gen::inRange(-5, 6), [](int value) { return value / 2.0; }),
                       rc::gen::element(1e308, -1.7e308, 1.7e308, 5e-324, 1e-323, 0.1), rc::gen::arbitrary<double>()),
        [](double value) { return std::isfinite(value) ? value : 3.0; });
    const auto fitted = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(any));
    auto asked = *rc::gen::container<std::vector<double>>(any);
    asked.insert(asked.end(), fitted.begin(), fitted.end());
    std::sort(asked.begin(), asked.end());
    const auto kind = *rc::gen::element(TransformKind::rank, TransformKind::standardise, TransformKind::none);
    const ColumnTransform transform =
        fit_transform(kind, Eigen::Map<const Vector>(fitted.data(), static_cast<Index>(fitted.size())));
    double before = -kInfinity;
    for (const double value : asked) {
      const double now = transform(value);
      RC_ASSERT(before <= now);
      before = now;
    }
  }));
}

TEST(Transform, RankIsLinearBetweenAndContinuousEverywhere) {
  const ColumnTransform transform = fit_transform(TransformKind::rank, Vector{{1, 2, 4, 8}});
  EXPECT_DOUBLE_EQ(transform(3), (transform(2) + transform(4)) / 2);
  for (const double x : transform.x) {
    EXPECT_NEAR(transform(std::nextafter(x, -kInfinity)), transform(x), 1e-12);
    EXPECT_NEAR(transform(std::nextafter(x, kInfinity)), transform(x), 1e-12);
  }
  EXPECT_TRUE(std::isnan(transform(std::nan(""))));
}

TEST(Transform, RankGoesOnAlongTheSecantOfTheOuterValues) {
  // 64 distinct values: m = round(√64 / 2) = 4.
  const Vector values = sample(64, 3, [](Random& r) { return r.normal(); });
  const ColumnTransform t = fit_transform(TransformKind::rank, values);
  const double low = (t.z[4] - t.z[0]) / (t.x[4] - t.x[0]), high = (t.z[63] - t.z[59]) / (t.x[63] - t.x[59]);
  EXPECT_NEAR(t(t.x[0] - 2), t.z[0] - 2 * low, 1e-12);
  EXPECT_NEAR(t(t.x[63] + 2), t.z[63] + 2 * high, 1e-12);
  EXPECT_NEAR(t(-1e9), -1e9 * low, 1e-6 * 1e9);
}

TEST(Transform, BeyondTwoValuesTheirOnlySecantCounts) {
  const ColumnTransform t = fit_transform(TransformKind::rank, Vector{{0, 1}});
  EXPECT_DOUBLE_EQ(t(2) - t(1), t(1) - t(0));
  EXPECT_DOUBLE_EQ(t(-1), 2 * t(0) - t(1));
}

// ---- What an entropy gains on the way back --------------------------------------------------------------------------

TEST(TransformLogSlope, OfAScaledGaussianIsTheLogarithmOfTheScale) {
  const Vector values = sample(5000, 1, [](Random& r) { return 3 * r.normal() - 7; });
  EXPECT_NEAR(log_slope(TransformKind::rank, values), std::log(3.0), 0.02);
  EXPECT_NEAR(log_slope(TransformKind::standardise, values), std::log(3.0), 0.03);  // 1/√2N is 0.01
}

TEST(TransformLogSlope, ScalesWithTheValues) {
  const Vector values = sample(500, 2, [](Random& r) { return r.gumbel(); });
  for (const TransformKind kind : {TransformKind::rank, TransformKind::standardise}) {
    for (const double factor : {1e-300, 0.5, 1e5, 1e300}) {
      EXPECT_NEAR(log_slope(kind, factor * values), log_slope(kind, values) + std::log(factor), 1e-11)
          << name(kind) << factor;
    }
  }
}

TEST(TransformLogSlope, OfALognormalIsItsMu) {
  // x = e^(µ+z): ln dx/dz = µ + z, whose mean is µ.
  for (const double mu : {0.0, 1.5}) {
    const Vector values = sample(5000, 3, [&](Random& r) { return std::exp(mu + r.normal()); });
    EXPECT_NEAR(log_slope(TransformKind::rank, values), mu, 0.03) << mu;
  }
}

TEST(TransformLogSlope, OfAnExponentialIsTheDifferenceOfTheEntropies) {
  // E ln dx/dz = H(x) − H(z) = 1 − ½ ln 2πe.
  const double expected = 1 - 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
  const Vector values = sample(5000, 4, [](Random& r) { return r.exponential(); });
  EXPECT_NEAR(log_slope(TransformKind::rank, values), expected, 0.03);
}

TEST(TransformLogSlope, HasHardlyABias) {
  // The mean over many samples, whose own standard error is 0.11/√1000 = 0.0035 and 0.010/√100 = 0.001.
  const auto bias = [](Index rows, std::uint64_t samples) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < samples; ++seed) {
      sum += log_slope(TransformKind::rank, sample(rows, seed, [](Random& r) { return r.normal(); }));
    }
    return sum / static_cast<double>(samples);
  };
  EXPECT_NEAR(bias(50, 1000), 0, 0.012);
  EXPECT_NEAR(bias(5000, 100), 0, 0.004);
}

TEST(TransformLogSlope, IsUndefinedForManyEqualValues) {
  // N = 400: windows of 2·10 + 1 values. A run of 20 never fills one, one of 21 does.
  Vector values = sample(400, 5, [](Random& r) { return r.uniform(); });
  values.head(20).setConstant(0.5);
  EXPECT_TRUE(std::isfinite(log_slope(TransformKind::rank, values)));
  values[20] = 0.5;
  EXPECT_TRUE(std::isnan(log_slope(TransformKind::rank, values)));
  EXPECT_TRUE(std::isfinite(log_slope(TransformKind::standardise, values)));
}

// ---- Mistakes -------------------------------------------------------------------------------------------------------

TEST(Transform, NamesRoundTrip) {
  for (const TransformKind kind : {TransformKind::rank, TransformKind::standardise, TransformKind::none}) {
    EXPECT_EQ(parse<TransformKind>(name(kind)), kind);
  }
  EXPECT_EQ(message_of<UsageError>([] { parse<TransformKind>("standardize"); }),
            "[value] 'standardize' is unknown; use rank, standardise or none");
  EXPECT_EQ(message_of<UsageError>([] { parse<TransformKind>("log"); }),
            "[value] 'log' is unknown; use rank, standardise or none");
}

TEST(Transform, ExplainsWhatItCannotFit) {
  Matrix values = Matrix::Random(5, 3);
  EXPECT_THAT(message_of<UsageError>(
                  [&] { apply_transforms(fit_transforms(TransformKind::rank, values), values.leftCols(2)); }),
              HasSubstr("2 columns for the maps of 3"));
  values(3, 1) = std::nan("");
  EXPECT_NO_THROW(fit_transforms(TransformKind::rank, values));
  values(2, 2) = kInfinity;
  EXPECT_THAT(message_of<DataError>([&] { fit_transforms(TransformKind::none, values); }),
              HasSubstr("column 3 has an infinite cell at row 3"));
  values.col(1).setConstant(std::nan(""));
  EXPECT_THAT(message_of<DataError>([&] { fit_transform(TransformKind::rank, values.col(1)); }),
              HasSubstr("no cell that is not missing"));
  EXPECT_THAT(message_of<UsageError>([&] { fit_transform(TransformKind::rank, Vector()); }), HasSubstr("without rows"));
}

// ---- Intervals ------------------------------------------------------------------------------------------------------

TEST(TransformCells, AValueThatRepeatsIsAnIntervalOfItsShare) {
  Vector values(10);
  values << 3, 1, 1, 2, 1, 2, 1, 2, 1, 1;  // shares 0.6, 0.3, 0.1
  const ColumnTransform levels = fit_transform(TransformKind::standardise, values, ColumnKind::ordered);
  EXPECT_EQ(levels.kind, TransformKind::rank);  // intervals are always those of ranks
  const Cell middle = levels.cell(2);
  EXPECT_NEAR(middle.low, normal_quantile(0.6), 1e-12);
  EXPECT_NEAR(middle.high, normal_quantile(0.9), 1e-12);
  EXPECT_TRUE(middle.low < middle.score && middle.score < middle.high);
  EXPECT_EQ(levels.cell(1).low, -1e15);
  EXPECT_EQ(levels.cell(3).high, 1e15);
  EXPECT_FALSE(levels.cell(1.5).is_interval());  // not seen: a number
  EXPECT_TRUE(std::isnan(levels.cell(std::nan("")).score));
  // The mean of the scores is that of the normal distribution.
  EXPECT_NEAR(0.6 * levels.cell(1).score + 0.3 * middle.score + 0.1 * levels.cell(3).score, 0, 1e-12);
}

TEST(TransformCells, OfAColumnWithAtomsOnlyTheseAreIntervals) {
  Vector values(6);
  values << 0, 0, 0, 1.5, 2.5, std::nan("");
  const ColumnTransform atoms = fit_transform(TransformKind::rank, values, ColumnKind::atoms);
  EXPECT_TRUE(atoms.cell(0).is_interval());
  EXPECT_FALSE(atoms.cell(1.5).is_interval());
  EXPECT_NEAR(atoms.cell(0).high, normal_quantile(0.6), 1e-12);
  EXPECT_NEAR(atoms.cell(1.5).score, normal_quantile(0.7), 1e-12);
}

TEST(TransformCells, ReliabilityIsTheVarianceThatIsLeft) {
  Vector halves(4);
  halves << 0, 0, 1, 1;
  EXPECT_NEAR(fit_transform(TransformKind::rank, halves, ColumnKind::ordered).reliability(), 2 / std::numbers::pi,
              1e-12);
  EXPECT_EQ(fit_transform(TransformKind::rank, halves).reliability(), 1);
}

TEST(TransformInverse, GivesFittedValuesBackAndNothingBeyondThem) {
  const Vector values = Eigen::Matrix<double, 6, 1>(3, 1, 4, 1.5, 9, 2.6);
  for (const TransformKind kind : {TransformKind::rank, TransformKind::standardise, TransformKind::none}) {
    const ColumnTransform transform = fit_transform(kind, values);
    for (const double value : values) EXPECT_NEAR(transform.inverse(transform(value)), value, 1e-12);
  }
  const ColumnTransform rank = fit_transform(TransformKind::rank, values);
  EXPECT_EQ(rank.inverse(50), 9);
  EXPECT_EQ(rank.inverse(-50), 1);
}

TEST(TransformInverse, OfAnIntervalIsItsValueInSinglePrecisionToo) {
  const Vector values = Eigen::Matrix<double, 7, 1>(0, 0, 0, 1, 1, 2, 7);
  const ColumnTransform transform = fit_transform(TransformKind::rank, values, ColumnKind::ordered);
  for (const double value : {0.0, 1.0}) {
    EXPECT_EQ(transform.inverse(static_cast<double>(static_cast<float>(transform(value)))), value);
  }
}

}  // namespace
}  // namespace fansite
