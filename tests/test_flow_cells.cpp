// SPDX-License-Identifier: Apache-2.0
//
// Cells that are intervals or absent: the reference against central differences, the fast kernels against the
// reference, and what the specification says an untrained and a trained flow must give.
#include "fansite/entropy/flow/cells.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <cmath>
#include <limits>

#include "fansite/base/special.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/flow/learner.h"
#include "fansite/entropy/flow/reference.h"
#include "golden.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

// Numbers, narrow, wide, open and far intervals.
Cell random_cell(Random& random) {
  const double x = rounded(random.normal());
  switch (random.below(6)) {
    case 0:
      return {x, rounded(x - 0.7), rounded(x + 0.4)};
    case 1:
      return {x, -1e15, rounded(x + 0.5)};
    case 2:
      return {x, rounded(x - 0.5), 1e15};
    case 3:
      return {x, rounded(x - 0.01), rounded(x + 0.01)};
    case 4:
      return {x, rounded(x + 2), rounded(x + 4)};
    default:
      return {x, x, x};
  }
}

struct Example {
  Parameters parameters;
  std::vector<std::vector<Cell>> rows;
  std::vector<Subset> subsets;
};

Example random_example(Random& random, const Shape& shape, int rows, double size) {
  Example example{unpack(pack(random_parameters(shape, random, size))), {}, {}};
  for (int i = 0; i < rows; ++i) {
    auto& row = example.rows.emplace_back();
    for (int j = 0; j < shape.variables; ++j) row.push_back(random_cell(random));
    example.subsets.push_back(random_subset(random, shape, 1));
  }
  return example;
}

double loss(const Example& example) {
  double sum = 0;
  for (std::size_t i = 0; i < example.rows.size(); ++i) {
    sum -= reference::log_density(example.parameters, example.rows[i], example.subsets[i]);
  }
  return sum / static_cast<double>(example.rows.size());
}

TEST(CellsReference, GradientsEqualCentralDifferences) {
  Random random(Key{5});
  Example example = random_example(random, {5, 2, 3, 3, 2}, 12, 0.5);
  const auto [value, gradient] = reference::gradient(example.parameters, example.rows, example.subsets);
  EXPECT_NEAR(value, loss(example), 1e-12);
  const auto slopes = tensors(gradient);
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    std::vector<double> differences;
    const auto entries = tensors(example.parameters)[t].values;
    for (double& entry : entries) {
      constexpr double kStep = 1e-4;
      const double before = entry;
      const auto at = [&](double step) {
        entry = before + step;
        return loss(example);
      };
      const double near = (at(kStep) - at(-kStep)) / (2 * kStep), far = (at(2 * kStep) - at(-2 * kStep)) / (4 * kStep);
      entry = before;
      differences.push_back((4 * near - far) / 3);
    }
    EXPECT_LT(relative_error(slopes[t].values, differences), 1e-6) << slopes[t].name;
  }
}

// The levels of a cut number line share out the whole probability.
TEST(CellsReference, ProbabilitiesOfLevelsAddUpToOne) {
  EXPECT_TRUE(rc::check("sum over levels", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = {4, 3, 3, 4, 3};
    const Parameters parameters = random_parameters(shape, random);
    std::vector<Cell> row(4);
    for (Cell& cell : row) cell = random_cell(random);
    const Subset before = {0, 2}, with = {0, 2, 3};
    double sum = 0, low = -1e15;
    for (const double high : {-1.0, -0.2, 0.1, 1.5, 1e15}) {
      row[3] = {0, low, high};
      sum += std::exp(reference::log_density(parameters, row, with) - reference::log_density(parameters, row, before));
      low = high;
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-9);
  }));
}

// ---- Fast kernels ---------------------------------------------------------------------------------------------------

template <class Visit>
void on_every_instruction_set(Visit&& visit) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    visit();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

Batch batch_of(const Example& example) {
  Batch batch(example.parameters.shape);
  for (std::size_t i = 0; i < example.rows.size(); ++i) {
    std::vector<float> score, low, high;
    for (const Cell& cell : example.rows[i]) {
      score.push_back(static_cast<float>(cell.score));
      low.push_back(static_cast<float>(cell.low));
      high.push_back(static_cast<float>(cell.high));
    }
    batch.add(example.subsets[i], CellRow(score.data(), low.data(), high.data()));
  }
  batch.finish();
  return batch;
}

TEST(CellsLearner, EqualsTheReference) {
  for (const Shape& shape : {Shape{7, 6, 6, 20, 4}, Shape{5, 2, 3, 3, 2}, Shape{6, 7, 3, 17, 5}}) {
    Random random(Key{static_cast<std::uint64_t>(shape.outputs)});
    const double size = 1 / std::sqrt(4.0 + shape.blocks + shape.outputs);
    const Example example = random_example(random, shape, 40, size);
    const auto expected = reference::gradient(example.parameters, example.rows, example.subsets);
    on_every_instruction_set([&] {
      Learner learner(pack(example.parameters));
      EXPECT_NEAR(learner.gradient(batch_of(example)), expected.loss, 2e-4);
      EXPECT_NEAR(learner.loss(batch_of(example)), expected.loss, 2e-4);
      learner.gradient(batch_of(example));
      const Parameters gradient = learner.gradient_parameters();
      const auto ours = tensors(gradient), theirs = tensors(expected.gradient);
      for (std::size_t t = 0; t < ours.size(); ++t) {
        EXPECT_LT(relative_error(ours[t].values, theirs[t].values), 2e-3) << ours[t].name;
      }
    });
  }
}

CellTable table_of(const Example& example) {
  CellTable cells;
  const auto rows = static_cast<Index>(example.rows.size());
  const auto columns = static_cast<Index>(example.rows.front().size());
  cells.score.resize(rows, columns);
  cells.low = cells.high = cells.score;
  cells.coarse.assign(static_cast<std::size_t>(columns), 1);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Cell& cell = example.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      cells.score(i, j) = static_cast<float>(cell.score);
      cells.low(i, j) = static_cast<float>(cell.low);
      cells.high(i, j) = static_cast<float>(cell.high);
    }
  }
  return cells;
}

TEST(CellsDensity, EqualsTheReference) {
  Random random(Key{8});
  const Shape shape = {7, 6, 6, 20, 4};
  const Example example = random_example(random, shape, 150, 0.2);
  CellTable cells = table_of(example);
  const std::vector<Subset> subsets = {{0}, {1, 4}, {0, 1, 2, 3, 4, 5, 6}, {2, 5, 6}, {}};
  on_every_instruction_set([&] {
    const Eigen::MatrixXf fast = Density(pack(example.parameters)).log_density(cells, subsets);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      for (std::size_t i = 0; i < example.rows.size(); ++i) {
        const double slow = reference::log_density(example.parameters, example.rows[i], subsets[s]);
        ASSERT_NEAR(fast(static_cast<Index>(i), static_cast<Index>(s)), slow, 2e-3) << i << " " << s;
      }
    }
  });
  cells.score(3, 4) = std::numeric_limits<float>::quiet_NaN();
  const Eigen::MatrixXf fast = Density(pack(example.parameters)).log_density(cells, subsets);
  EXPECT_FALSE(std::isnan(fast(3, 0)));
  EXPECT_TRUE(std::isnan(fast(3, 1)));
  EXPECT_FALSE(std::isnan(fast(2, 1)));
}

// "An untrained flow (identity over a Gaussian base) then gives every level its share, exactly."
TEST(CellsDensity, TheBaseAloneGivesEveryLevelItsShare) {
  Matrix values(200, 2);
  Random random(Key{3});
  for (Index i = 0; i < 200; ++i) values.row(i) << (i % 10 == 0 ? 2 : i % 10 < 4 ? 1 : 0), random.normal();
  const std::vector<ColumnKind> kinds = {ColumnKind::ordered, ColumnKind::continuous};
  const auto transforms = fit_transforms(TransformKind::rank, values, kinds);
  const CellTable cells = cells_of(transforms, values);
  EXPECT_EQ(cells.coarse, (std::vector<char>{1, 0}));
  const RowCellTable rows(cells, transforms, {0, 1});
  std::vector<int> all(200);
  for (int i = 0; i < 200; ++i) all[static_cast<std::size_t>(i)] = i;
  GaussianBase base(rows.score, all);
  base.set_reliability(rows.reliability);
  const std::vector<Subset> alone = {{0}};
  const Eigen::MatrixXf density = Density(base).log_density(cells, alone);
  for (Index i = 0; i < 200; ++i) {
    const double share = i % 10 == 0 ? 0.1 : i % 10 < 4 ? 0.3 : 0.6;
    ASSERT_NEAR(std::exp(density(i, 0)), share, 1e-5);
  }
}

TEST(Cells, OnTheWayOfOrderAndRows) {
  Matrix values(4, 3);
  values << 0, 1, 5, 0, 2, 6, 1, 3, std::nan(""), 1, 4, 8;
  const std::vector<ColumnKind> kinds = {ColumnKind::ordered, ColumnKind::continuous, ColumnKind::continuous};
  const auto transforms = fit_transforms(TransformKind::rank, values, kinds);
  const CellTable cells = cells_of(transforms, values);
  const CellTable turned = in_order(cells, {2, 0, 1});
  EXPECT_EQ(turned.coarse, (std::vector<char>{0, 1, 0}));
  const std::vector<int> some = {3, 2};
  const CellTable few = take_rows(turned, some);
  EXPECT_EQ(few.high(0, 1), cells.high(3, 0));
  EXPECT_TRUE(std::isnan(few.score(1, 0)));
  EXPECT_LT(few.low(0, 1), few.score(0, 1));
  EXPECT_EQ(few.low(0, 2), few.score(0, 2));
  EXPECT_FALSE(cells_of(fit_transforms(TransformKind::rank, values), values).has_intervals());
}

// Whatever a network has learnt, the levels of a factor are one choice after another.
TEST(Cells, ProbabilitiesOfAFactorsLevelsAddUpToOne) {
  Matrix values(40, 4);  // indicators of levels 1, 2 and 3, and a number
  Random random(Key{8});
  for (Index i = 0; i < 40; ++i)
    values.row(i) << double(i % 4 == 1), double(i % 4 == 2), double(i % 4 == 3), random.normal();
  Ensemble ensemble;
  ensemble.names = {"f=1", "f=2", "f=3", "x"};
  ensemble.factors = {{"f", {"0", "1", "2", "3"}, {0, 1, 2}}};
  const ColumnKind ordered = ColumnKind::ordered;
  const std::vector<ColumnKind> kinds = {ordered, ordered, ordered, ColumnKind::continuous};
  ensemble.transforms = fit_transforms(TransformKind::rank, values, kinds);
  const CellTable cells = cells_of(ensemble, values);
  EXPECT_LT(cells.high(1, 0), cells.low(1, 1) + 1e30);        // f=1 is an interval …
  EXPECT_EQ(cells.low(1, 1), static_cast<float>(-kOpenEnd));  // … after which f=2 says nothing
  EXPECT_EQ(cells.high(1, 2), static_cast<float>(kOpenEnd));
  EXPECT_EQ(cells.score(1, 1), cells.score(0, 1));
  EXPECT_GT(cells.low(2, 1), -10);  // f=2 is 1, told by f=1 being 0
  EXPECT_LT(cells.high(2, 0), 10);

  Shape shape = paper_shape(4);
  Parameters parameters = initial_parameters(shape, Key{9});
  parameters.w1 *= 10;
  parameters.w2 *= 10;
  const Density density(pack(parameters));
  const std::vector<Subset> factor = {{0, 1, 2}};
  const Eigen::MatrixXf log_density = density.log_density(cells, factor);
  double sum = 0;
  for (Index level = 0; level < 4; ++level) sum += std::exp(static_cast<double>(log_density(level, 0)));
  EXPECT_NEAR(sum, 1, 1e-5);
}

// ---- The specification's values -------------------------------------------------------------------------------------

struct Row {
  double r;
  double informations[5];  // of X1 with: X2, 1{X2 > 0}, 1{X2 > 1}, three levels, max(X2, 0)
  double between_signs;
};

class Informations : public testing::TestWithParam<Row> {};

// Two columns: X1, or its sign, and X2 made coarse by `coarse`.
FlowEstimator trained_pair(double r, bool sign, double (*coarse)(double)) {
  Dataset data;
  data.names = {"x", "y"};
  data.values.resize(20000, 2);
  Random random(Key{11});
  for (auto row : data.values.rowwise()) {
    const double x = random.normal(), y = r * x + std::sqrt(1 - r * r) * random.normal();
    row << (sign ? (x > 0 ? 1 : 0) : x), coarse(y);
  }
  EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.train.steps = 3000;
  params.train.evaluate_every = 1000;
  NoProgress silent;
  return FlowEstimator(data, train_ensemble(data, params, silent));
}

TEST_P(Informations, OfCoarseColumnsAreThoseOfTheSpecification) {
  const Row& expected = GetParam();
  const std::array<double (*)(double), 5> coarse = {
      [](double y) { return y; }, [](double y) { return y > 0 ? 1.0 : 0.0; },
      [](double y) { return y > 1 ? 1.0 : 0.0; }, [](double y) { return y > 0.5    ? 2.0
                                                                        : y > -0.5 ? 1.0
                                                                                   : 0.0; },
      [](double y) { return std::max(y, 0.0); }};
  const std::array<double, 5> entropy = {0, 0.693147, 0.437433, 1.093202, 0};  // of the levels
  for (std::size_t c = 0; c < coarse.size(); ++c) {
    const FlowEstimator flow = trained_pair(expected.r, false, coarse[c]);
    // The sample's own information is off by up to 0.01 at r = 0.9.
    EXPECT_NEAR(flow.mutual_information(InformationQuery{0, {1}, {}}).value, expected.informations[c], 0.012) << c;
    EXPECT_NEAR(flow.mutual_information(InformationQuery{1, {0}, {}}).value, expected.informations[c], 0.012) << c;
    if (entropy[c] > 0) {
      EXPECT_NEAR(flow.conditional_entropy(EntropyQuery{1, {}}).value, entropy[c], 0.01) << c;  // of this sample
    }
  }
  const FlowEstimator signs = trained_pair(expected.r, true, coarse[1]);
  EXPECT_NEAR(signs.mutual_information(InformationQuery{0, {1}, {}}).value, expected.between_signs, 0.012);
}

INSTANTIATE_TEST_SUITE_P(Specification, Informations,
                         testing::Values(Row{0.3, {0.047155, 0.029505, 0.020199, 0.037551, 0.038330}, 0.018933},
                                         Row{0.6, {0.223144, 0.130558, 0.087640, 0.171421, 0.176851}, 0.086433},
                                         Row{0.9, {0.830366, 0.381244, 0.246902, 0.548761, 0.605805}, 0.281762}),
                         [](const auto& info) { return fmt::format("r0{:.0f}", 10 * info.param.r); });

}  // namespace
}  // namespace fansite::flow
