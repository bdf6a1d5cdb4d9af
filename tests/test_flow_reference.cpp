// SPDX-License-Identifier: Apache-2.0
//
// The reference against the authors' own model, central differences and what any density must satisfy. What the fast
// versions are held to must itself be right.
#include "fansite/entropy/flow/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/error.h"
#include "golden.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> row_of(const Matrix& rows, Index i) {
  std::vector<double> row(static_cast<std::size_t>(rows.cols()));
  for (Index j = 0; j < rows.cols(); ++j) row[static_cast<std::size_t>(j)] = rows(i, j);
  return row;
}

struct Batch {
  Matrix rows;
  std::vector<Subset> subsets;
};

Batch random_batch(const Shape& shape, Random& random, Index size, int least = 0) {
  Batch batch{Matrix(size, shape.variables), {}};
  for (Index i = 0; i < batch.rows.size(); ++i) batch.rows.data()[i] = random.normal();
  for (Index i = 0; i < size; ++i) batch.subsets.push_back(random_subset(random, shape, least));
  return batch;
}

double loss(const Parameters& parameters, const Batch& batch) {
  double sum = 0;
  for (Index i = 0; i < batch.rows.rows(); ++i) {
    sum -= reference::log_density(parameters, row_of(batch.rows, i), batch.subsets[static_cast<std::size_t>(i)]);
  }
  return sum / static_cast<double>(batch.rows.rows());
}

// ---- The authors' model ---------------------------------------------------------------------------------------------

// Ours is the formula; theirs takes 1e-6 off each of two log-sigmoids, so that a variable's log density differs by up
// to 2e-6. Largest errors seen: log densities 1.9e-5 (ten variables), gradients 1.2e-6, losses 1.2e-5, norms 5.5e-7.
class GoldenReference : public GoldenTest {};

TEST_P(GoldenReference, LogDensities) {
  for (std::size_t i = 0; i < golden.subsets.size(); ++i) {
    const Subset& subset = golden.subsets[i];
    const double value = reference::log_density(golden.parameters, row_of(golden.rows, static_cast<Index>(i)), subset);
    EXPECT_NEAR(value, golden.log_density[i], 2.5e-6 * static_cast<double>(subset.size())) << "row " << i;
  }
}

TEST_P(GoldenReference, Gradient) {
  const auto [loss, gradient] = reference::gradient(golden.parameters, golden.rows, golden.subsets);
  EXPECT_NEAR(loss, golden.loss, 2.5e-5);
  const auto ours = tensors(gradient), theirs = tensors(std::as_const(golden.gradient));
  for (std::size_t t = 0; t < ours.size(); ++t) {
    EXPECT_LT(relative_error(ours[t].values, theirs[t].values), 1e-5) << ours[t].name;
  }
}

TEST_P(GoldenReference, TenStepsOfAdam) {
  reference::Adam adam(golden.shape);
  Parameters parameters = golden.parameters;
  ASSERT_EQ(golden.adam_losses.size(), 10u);
  for (std::size_t step = 0; step < 10; ++step) {
    const auto [loss, gradient] = reference::gradient(parameters, golden.rows, golden.subsets);
    const double norm = adam.step(parameters, gradient, golden.learning_rate, golden.clip);
    EXPECT_NEAR(loss, golden.adam_losses[step], 2.5e-5) << "step " << step;
    EXPECT_NEAR(norm / golden.adam_norms[step], 1, 1e-5) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenReference, golden_files(), golden_name);

// ---- Central differences --------------------------------------------------------------------------------------------

class CentralDifferences : public testing::TestWithParam<Shape> {};

TEST_P(CentralDifferences, EqualTheGradientInEveryEntry) {
  Random random(Key{1});
  Parameters parameters = random_parameters(GetParam(), random);
  const Batch batch = random_batch(GetParam(), random, 6, 1);
  const auto [value, gradient] = reference::gradient(parameters, batch.rows, batch.subsets);
  EXPECT_NEAR(value, loss(parameters, batch), 1e-13);
  const auto slopes = tensors(gradient);
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    const auto entries = tensors(parameters)[t].values;
    std::vector<double> differences;
    for (double& entry : entries) {
      constexpr double kStep = 1e-4;
      const double before = entry;
      const auto at = [&](double step) {
        entry = before + step;
        return loss(parameters, batch);
      };
      // Two widths, so that the error is of fourth order: 6e-10 seen.
      const double near = (at(kStep) - at(-kStep)) / (2 * kStep), far = (at(2 * kStep) - at(-2 * kStep)) / (4 * kStep);
      entry = before;
      differences.push_back((4 * near - far) / 3);
    }
    const bool used = std::ranges::any_of(differences, [](double slope) { return slope != 0; });
    EXPECT_EQ(used, !differences.empty() && (GetParam().ranks > 0 || t > 4)) << slopes[t].name;  // no nodes, no slopes
    EXPECT_LT(relative_error(slopes[t].values, differences), 1e-8) << slopes[t].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CentralDifferences,
                         testing::Values(Shape{4, 2, 3, 3, 2}, Shape{6, 2, 3, 3, 4}, Shape{5, 1, 1, 2, 1},
                                         Shape{2, 3, 1, 5, 3}, Shape{1, 6, 0, 4, 3}),
                         [](const auto& info) {
                           const Shape& shape = info.param;
                           return (shape.full() ? "Full" : "Compact") + std::to_string(shape.variables);
                         });

TEST(ReferenceGradient, AgreesWithTheLossInAnyDirection) {
  EXPECT_TRUE(rc::check("any shape, subsets and direction", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 8);
    // Smaller in wide networks, so that their outputs stay of order one.
    const double size = 1 / std::sqrt(4.0 + shape.blocks + shape.outputs);
    const Parameters parameters = random_parameters(shape, random, size),
                     direction = random_parameters(shape, random, 0.1);
    const Batch batch = random_batch(shape, random, 2);
    const auto [value, gradient] = reference::gradient(parameters, batch.rows, batch.subsets);
    double slope = 0, magnitude = 0;
    for (std::size_t t = 0; t < 8; ++t) {
      const auto g = tensors(gradient)[t].values, v = tensors(direction)[t].values;
      for (std::size_t i = 0; i < g.size(); ++i) {
        slope += g[i] * v[i];
        magnitude += std::abs(g[i] * v[i]);
      }
    }
    const auto at = [&](double step) {
      Parameters moved = parameters;
      for (std::size_t t = 0; t < 8; ++t) {
        const auto to = tensors(moved)[t].values;
        const auto v = tensors(direction)[t].values;
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += step * v[i];
      }
      return loss(moved, batch);
    };
    constexpr double kStep = 1e-5;
    const double difference = (at(kStep) - at(-kStep)) / (2 * kStep);
    RC_ASSERT(std::abs(difference - slope) <= 1e-6 * (1 + magnitude));
  }));
}

// ---- What any density satisfies -------------------------------------------------------------------------------------

// The last member's conditional density, by Simpson's rule over a range that holds all of its mass.
double mass_of_last(const Parameters& parameters, std::vector<double> row, const Subset& subset) {
  constexpr int kIntervals = 8000;
  constexpr double kReach = 400, kWidth = 2 * kReach / kIntervals;
  const auto last = static_cast<std::size_t>(subset.back());
  double mass = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    row[last] = -kReach + i * kWidth;
    const double weight = i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2;
    mass += weight * std::exp(reference::log_density(parameters, row, subset));
  }
  return mass * kWidth / 3;
}

TEST(ReferenceDensity, IntegratesToItsMarginal) {
  const Shape shape{4, 2, 3, 3, 4};
  Random random(Key{2});
  const Parameters parameters = random_parameters(shape, random);
  const std::vector<double> row = {0.3, -1.2, 0.7, kNaN};
  EXPECT_NEAR(mass_of_last(parameters, row, {0}), 1, 1e-6);
  EXPECT_NEAR(mass_of_last(parameters, row, {3}), 1, 1e-6);
  // Full version: the terms of a prefix are the same with and without what follows.
  for (const Subset& given : {Subset{0}, Subset{1, 2}, Subset{0, 1, 2}}) {
    Subset with = given;
    with.push_back(3);
    const double marginal = std::exp(reference::log_density(parameters, row, given));
    EXPECT_NEAR(mass_of_last(parameters, row, with) / marginal, 1, 1e-6);
  }
}

TEST(ReferenceDensity, EmptySubsetHasLogDensityZero) {
  const Shape shape{3, 2, 2, 3, 2};
  Random random(Key{3});
  const Parameters parameters = random_parameters(shape, random);
  EXPECT_EQ(reference::log_density(parameters, std::vector<double>(3, kNaN), {}), 0.0);
  // It still counts as a row of the mean.
  const Matrix rows = Matrix::Constant(2, 3, 0.5);
  const auto one = reference::gradient(parameters, rows.topRows(1), std::vector<Subset>{{0, 2}});
  const auto two = reference::gradient(parameters, rows, std::vector<Subset>{{0, 2}, {}});
  EXPECT_DOUBLE_EQ(two.loss, one.loss / 2);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto half = tensors(two.gradient)[t].values, whole = tensors(one.gradient)[t].values;
    for (std::size_t i = 0; i < half.size(); ++i) EXPECT_DOUBLE_EQ(half[i], whole[i] / 2);
  }
}

// Poison everything that the subset has nothing to do with: other values of the row, other nodes, other outputs.
TEST(ReferenceDensity, ReadsNothingOutsideTheSubset) {
  EXPECT_TRUE(rc::check("NaN elsewhere changes nothing", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 8);
    const Parameters parameters = random_parameters(shape, random, 0.2);
    Batch batch = random_batch(shape, random, 1);
    const Subset& subset = batch.subsets.front();
    const auto clean = reference::gradient(parameters, batch.rows, batch.subsets);

    const auto ranks = subset.empty() ? std::vector<int>{} : ranks_of(shape, subset);
    const auto has = [](const std::vector<int>& set, Index i) {
      return std::find(set.begin(), set.end(), static_cast<int>(i)) != set.end();
    };
    Parameters poisoned = parameters;
    for (Index node = 0; node < shape.hidden(); ++node) {
      if (has(ranks, node % shape.ranks)) continue;
      poisoned.w1.row(node).setConstant(kNaN);
      poisoned.w2.col(node).setConstant(kNaN);
      poisoned.s1[node] = poisoned.b1[node] = kNaN;
    }
    for (Index j = 0; j < shape.variables; ++j) {
      if (has(subset, j)) continue;
      batch.rows.col(j).setConstant(kNaN);
      poisoned.w1.col(j).setConstant(kNaN);
      poisoned.w2.middleRows(j * shape.outputs, shape.outputs).setConstant(kNaN);
      poisoned.s2.segment(j * shape.outputs, shape.outputs).setConstant(kNaN);
      poisoned.b2.segment(j * shape.outputs, shape.outputs).setConstant(kNaN);
    }
    const auto dirty = reference::gradient(poisoned, batch.rows, batch.subsets);
    RC_ASSERT(dirty.loss == clean.loss);
    RC_ASSERT(reference::log_density(poisoned, row_of(batch.rows, 0), subset) == -clean.loss);
    for (std::size_t t = 0; t < 8; ++t) {
      RC_ASSERT(std::ranges::equal(tensors(dirty.gradient)[t].values, tensors(clean.gradient)[t].values));
    }
  }));
}

TEST(ReferenceDensity, OutliersStayFinite) {
  const Shape shape{3, 2, 2, 3, 4};
  Random random(Key{4});
  const Parameters parameters = random_parameters(shape, random);
  double nearer = 0;
  for (const double x : {1e1, 1e2, 1e3, 1e6}) {
    for (const double sign : {-1.0, 1.0}) {
      const Matrix rows = Matrix::Constant(1, 3, sign * x);
      const auto [loss, gradient] = reference::gradient(parameters, rows, std::vector<Subset>{{0, 1, 2}});
      EXPECT_TRUE(std::isfinite(loss)) << rows(0, 0);
      for (const auto& tensor : tensors(gradient)) {
        for (const double g : tensor.values) EXPECT_TRUE(std::isfinite(g)) << tensor.name << " at " << rows(0, 0);
      }
    }
    // Farther out is less likely, without end.
    const double away = -reference::log_density(parameters, std::vector<double>{x, kNaN, kNaN}, Subset{0});
    EXPECT_GT(away, nearer);
    nearer = away;
  }
}

// Both tails alike: mirrored weights and a mirrored value give the same density, which 1−y by subtraction would not.
TEST(ReferenceDensity, TailsAreAlike) {
  const Shape shape{1, 1, 0, 1, 3};
  Parameters parameters = zero_parameters(shape);
  parameters.c << 0.5, -0.2, 1.1, 0.3, -0.7, 0.2, 0.4, -0.1, 0.6;
  Parameters mirrored = parameters;
  mirrored.c.segment(3, 3) *= -1;
  for (const double x : {0.0, 1.0, 8.0, 20.0, 40.0, 77.0}) {
    const Matrix right = Matrix::Constant(1, 1, x), left = -right;
    const auto a = reference::gradient(parameters, right, std::vector<Subset>{{0}});
    const auto b = reference::gradient(mirrored, left, std::vector<Subset>{{0}});
    EXPECT_NEAR(a.loss, b.loss, 1e-13 * a.loss);
    for (Index q = 0; q < 9; ++q) {
      const double sign = q / 3 == 1 ? -1 : 1;
      EXPECT_NEAR(a.gradient.c[q], sign * b.gradient.c[q], 1e-12 * (1 + std::abs(a.gradient.c[q]))) << x << ' ' << q;
    }
  }
}

TEST(ReferenceDensity, WrongCallsAreRefused) {
  const Shape shape{5, 1, 2, 1, 1};
  const Parameters parameters = zero_parameters(shape);
  const std::vector<double> row(5);
  const auto message = [&](const Subset& subset) {
    return message_of<UsageError>([&] { reference::log_density(parameters, row, subset); });
  };
  EXPECT_EQ(message({0, 5}), "[flow] variable 5 in a subset; this flow has 0 to 4");
  EXPECT_EQ(message({-1}), "[flow] variable -1 in a subset; this flow has 0 to 4");
  EXPECT_EQ(message({3, 1}), "[flow] variable 3 before 1 in a subset; use ascending order, none twice");
  EXPECT_EQ(message({3, 3}), "[flow] variable 3 before 3 in a subset; use ascending order, none twice");
  EXPECT_EQ(message({0, 1, 2, 3}), "[flow] a subset of 4 variables; a flow with 2 ranks allows 3");
  EXPECT_EQ(message_of<UsageError>([&] { reference::log_density(parameters, std::vector<double>(4), Subset{0}); }),
            "[flow] a row of 4 values for a flow of 5 variables");
  const auto gradient = [&](const Matrix& rows, std::size_t subsets) {
    return message_of<UsageError>([&] { reference::gradient(parameters, rows, std::vector<Subset>(subsets)); });
  };
  EXPECT_EQ(gradient(Matrix::Zero(2, 4), 2), "[flow] rows of 4 values for a flow of 5 variables");
  EXPECT_EQ(gradient(Matrix::Zero(2, 5), 3), "[flow] 2 rows and 3 subsets; use one for each row");
  EXPECT_EQ(gradient(Matrix::Zero(0, 5), 0), "[flow] no rows; the mean needs at least one");
  EXPECT_EQ(message_of<UsageError>([&] {
              Parameters other = zero_parameters({4, 1, 2, 1, 1});
              reference::Adam(shape).step(other, other, 0.1, 5);
            }),
            "[flow] parameters or gradient of another shape than Adam was made for");
}

// ---- Initial parameters ---------------------------------------------------------------------------------------------

// Mean and standard deviation within 5 standard errors, and nothing beyond the ends of a uniform distribution.
void expect_initial(const Parameters& parameters) {
  struct Distribution {
    double sd, end, kurtosis;
  };
  const Distribution normal{0.001, 0.001 * 6, 3}, wide{1 / std::sqrt(3), 1, 1.8},
      narrow{0.001 / std::sqrt(3), 0.001, 1.8};
  const std::array<Distribution, 7> distributions = {normal, wide, wide, normal, wide, wide, narrow};
  for (std::size_t t = 0; t < distributions.size(); ++t) {
    const auto [name, values] = tensors(parameters)[t];
    const double n = static_cast<double>(values.size());
    double mean = 0, square = 0;
    for (const double value : values) {
      EXPECT_LT(std::abs(value), distributions[t].end) << name;
      mean += value / n;
      square += value * value / n;
    }
    const double sd = distributions[t].sd;
    EXPECT_NEAR(mean, 0, 5 * sd / std::sqrt(n)) << name;
    EXPECT_NEAR(square, sd * sd, 5 * sd * sd * std::sqrt((distributions[t].kurtosis - 1) / n)) << name;
  }
  const Index k = parameters.shape.sigmoids;
  for (Index i = 0; i < k; ++i) {
    EXPECT_NEAR(std::log1p(std::exp(parameters.c[i])) + 1e-6, 1, 1e-12);  // slope 1
    EXPECT_EQ(parameters.c[k + i], 0);
    EXPECT_EQ(parameters.c[2 * k + i], 0);
  }
}

TEST(InitialParameters, FollowTheirDistributions) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) expect_initial(initial_parameters(paper_shape(30), Key{seed}));
  expect_initial(initial_parameters(paper_shape(100), Key{1}));
}

TEST(InitialParameters, AreLikeTheAuthors) {
  const Golden golden = load_golden("init_full");
  expect_initial(golden.parameters);
  const Parameters ours = initial_parameters(golden.shape, Key{1});
  EXPECT_LT((ours.c - golden.parameters.c).cwiseAbs().maxCoeff(), 1e-12);
  // Whatever the draw, training starts near the standard logistic distribution.
  EXPECT_NEAR(reference::gradient(ours, golden.rows, golden.subsets).loss, golden.loss, 0.05);
}

TEST(InitialParameters, AreNamedByTheirKey) {
  const Parameters a = initial_parameters(paper_shape(10), Key{1}), b = initial_parameters(paper_shape(10), Key{1}),
                   other = initial_parameters(paper_shape(10), Key{2});
  for (std::size_t t = 0; t < 7; ++t) {
    EXPECT_TRUE(std::ranges::equal(tensors(a)[t].values, tensors(b)[t].values)) << tensors(a)[t].name;
    EXPECT_FALSE(std::ranges::equal(tensors(a)[t].values, tensors(other)[t].values)) << tensors(a)[t].name;
  }
  EXPECT_NE(a.s1[0], a.b1[0]);
  EXPECT_NE(a.s2[0], a.b2[0]);
}

// ---- Adam -----------------------------------------------------------------------------------------------------------

const Shape kSmall{3, 2, 2, 3, 2};
constexpr double kRate = 5e-4, kNoClip = 1e9;

double norm_of(const Parameters& p) {
  double square = 0;
  for (const auto& tensor : tensors(p)) {
    for (const double value : tensor.values) square += value * value;
  }
  return std::sqrt(square);
}

Parameters times(Parameters p, double factor) {
  for (const auto& tensor : tensors(p)) {
    for (double& value : tensor.values) value *= factor;
  }
  return p;
}

TEST(ReferenceAdam, FirstStepIsTheRateInEveryParameter) {
  Random random(Key{5});
  const Parameters before = random_parameters(kSmall, random), gradient = random_parameters(kSmall, random);
  Parameters after = before;
  EXPECT_NEAR(reference::Adam(kSmall).step(after, gradient, kRate, kNoClip), norm_of(gradient), 1e-12);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto from = tensors(before)[t].values, to = tensors(std::as_const(after))[t].values,
               g = tensors(gradient)[t].values;
    for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(to[i] - from[i], -std::copysign(kRate, g[i]), 1e-8);
  }
}

TEST(ReferenceAdam, WithoutGradientNothingMoves) {
  Parameters parameters = zero_parameters(kSmall);
  EXPECT_EQ(reference::Adam(kSmall).step(parameters, zero_parameters(kSmall), kRate, 5), 0.0);
  for (const auto& tensor : tensors(parameters)) {
    for (const double value : tensor.values) EXPECT_EQ(value, 0.0);
  }
}

TEST(ReferenceAdam, TwoStepsByHand) {
  Parameters parameters = zero_parameters(kSmall), gradient = zero_parameters(kSmall);
  reference::Adam adam(kSmall);
  gradient.c[0] = 1;
  adam.step(parameters, gradient, 0.1, kNoClip);
  EXPECT_NEAR(parameters.c[0], -0.1, 1e-8);
  gradient.c[0] = -2;
  adam.step(parameters, gradient, 0.1, kNoClip);
  // m = (0.9·0.1 − 0.1·2)/(1 − 0.81), v = (0.999·0.001 + 0.001·4)/(1 − 0.998001)
  const double m = -0.11 / 0.19, v = 0.004999 / 0.001999;
  EXPECT_NEAR(parameters.c[0], -0.1 - 0.1 * m / std::sqrt(v), 1e-8);
  EXPECT_EQ(parameters.c[1], 0.0);
}

// The first step does not feel a scale, the second does.
TEST(ReferenceAdam, ClipScalesTheWholeGradient) {
  Random random(Key{6});
  const Parameters start = random_parameters(kSmall, random);
  Parameters first = random_parameters(kSmall, random), second = random_parameters(kSmall, random);
  first = times(first, 20 / norm_of(first));
  second = times(second, 4 / norm_of(second));
  const auto run = [&](const Parameters& one, double clip, double expected_norm) {
    Parameters parameters = start;
    reference::Adam adam(kSmall);
    EXPECT_NEAR(adam.step(parameters, one, kRate, clip), expected_norm, 1e-12);
    EXPECT_NEAR(adam.step(parameters, second, kRate, clip), 4, 1e-12);
    return parameters;
  };
  const Parameters clipped = run(first, 5, 20), scaled = run(times(first, 0.25), kNoClip, 5),
                   free = run(first, kNoClip, 20);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto c = tensors(clipped)[t].values, s = tensors(scaled)[t].values, f = tensors(free)[t].values;
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_NEAR(c[i], s[i], 1e-14);
    EXPECT_GT(relative_error(c, f), 1e-5);
  }
}

}  // namespace
}  // namespace fansite::flow
