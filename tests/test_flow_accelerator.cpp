// SPDX-License-Identifier: Apache-2.0
//
// A GPU against the processor: the same batches, losses, weights and densities to rounding, the same bits from run to
// run, and trainings that go on elsewhere. Skipped where there is none.
#include "fansite/entropy/flow/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/detail/folded_network.h"
#include "fansite/entropy/flow/device_training.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"
#include "training_examples.h"

namespace fansite::flow {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    device_ = accelerator();
    if (device_ == nullptr) {
      GTEST_SKIP() << "no GPU to compare with: " << built_in_accelerator().why_not;
    }
  }

  DeviceChoice choice_{Device::automatic};
  const Accelerator* device_ = nullptr;
};

// ---- Tables of cells ------------------------------------------------------------------------------------------------

// Dependent columns; every third has a limit below which only an interval is known, and some cells may be absent.
struct Cells {
  RowTable score, low, high;
  Vector reliability;
  std::vector<int> variables;

  RowCells view() const {
    RowCells cells = low.size() > 0 ? RowCells(score, low, high) : RowCells(score);
    cells.reliability = reliability;
    cells.variables = variables;
    return cells;
  }
};

Cells make_cells(Index rows, int variables, bool intervals, bool absent, std::uint64_t seed = 1) {
  Cells cells;
  cells.score = noise(rows, variables, seed);
  for (Index i = 0; i < rows; ++i) {
    for (int j = 1; j < variables; ++j) {
      const float before = cells.score(i, j - 1);
      cells.score(i, j) = 0.6f * cells.score(i, j) + 0.5f * before + (j % 2 == 0 ? 0.3f * before * before : 0.0f);
    }
  }
  if (intervals) {
    cells.low = cells.high = cells.score;
    cells.reliability = Vector::Ones(variables);
    for (int j = 0; j < variables; j += 3) {
      cells.reliability[j] = 0.8;
      for (Index i = 0; i < rows; ++i) {
        if (cells.score(i, j) > -0.3f) continue;
        cells.score(i, j) = -0.9f;
        cells.low(i, j) = -kInfinity;
        cells.high(i, j) = -0.3f;
      }
    }
  }
  if (absent) {
    Random random(Key{seed + 100});
    for (Index i = 0; i < rows; ++i) {
      for (int j = 0; j < variables; ++j) {
        if (random.uniform() > 0.3 || j == static_cast<int>(i) % variables) continue;
        cells.score(i, j) = std::numeric_limits<float>::quiet_NaN();
        if (intervals) cells.low(i, j) = cells.high(i, j) = cells.score(i, j);
      }
    }
  }
  return cells;
}

Shape shape_of(int variables, int ranks, int blocks, int outputs) { return {variables, blocks, ranks, outputs, 4}; }

std::vector<int> rows_of(const Cells& cells) { return all_rows(cells.score); }

// Every loss is a point of the curve.
TrainParams watched(std::int64_t steps) {
  TrainParams params;
  params.steps = steps;
  params.batch = 16;
  params.learning_rate = 1e-3;
  params.held_out = 0;
  params.evaluate_every = 1;
  return params;
}

struct Case {
  const char* name;
  Shape shape;
  TrainParams params;
  Cells cells;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, const Shape& shape, bool intervals, bool absent, auto&& change) {
    TrainParams params = watched(30);
    change(params);
    all.push_back({name, shape, params, make_cells(100, shape.variables, intervals, absent)});
  };
  const auto none = [](TrainParams& p) { p.base = BaseKind::none; };
  const auto gaussian = [](TrainParams& p) { p.base = BaseKind::gaussian; };
  add("the paper's d = 30", paper_shape(30), false, false, none);
  add("with a base", paper_shape(30), false, false, gaussian);
  add("with noise", paper_shape(30), false, false, [](TrainParams& p) { p.noise = 0.2; });
  add("compact", shape_of(40, 12, 6, 16), false, false, gaussian);
  add("few variables", shape_of(4, 3, 24, 20), false, false, gaussian);
  add("some variables", shape_of(9, 8, 12, 20), false, false, none);
  add("other subsets, large batches", shape_of(9, 8, 6, 5), false, false, [](TrainParams& p) {
    p.base = BaseKind::none;
    p.subsets = SubsetKind::non_leaf;
    p.schedule = Schedule::constant;
    p.batch = 230;
  });
  add("absent cells", shape_of(12, 11, 6, 20), false, true, gaussian);
  add("intervals", shape_of(12, 11, 6, 20), true, false, none);
  add("intervals, a base, noise", shape_of(12, 11, 6, 16), true, false, [](TrainParams& p) { p.noise = 0.1; });
  add("intervals and absent cells", shape_of(70, 20, 6, 16), true, true, gaussian);
  add("factors", shape_of(12, 6, 6, 20), false, false, gaussian);
  all.back().cells.variables = {0, 1, 4, 5, 8, 9, 10};
  all.back().params.max_size = 6;
  return all;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most;
}

// ---- Training -------------------------------------------------------------------------------------------------------

TEST_F(OnDevice, TrainsLikeTheProcessor) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Training here(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
    here.advance(c.params.steps);
    Training there(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
    Training* each[] = {&there};
    advance_together(each, c.params.steps, *device_);
    const Trained a = here.result(), b = there.result();
    ASSERT_EQ(a.curve.size(), b.curve.size());
    for (std::size_t i = 0; i < a.curve.size(); ++i) {
      // Another batch would differ in the first digit.
      EXPECT_NEAR(a.curve[i].training, b.curve[i].training, 2e-4 * (1 + std::abs(a.curve[i].training))) << i;
    }
    // Where a gradient is all rounding, Adam moves by the learning rate in either direction.
    EXPECT_LT(largest_difference(a.weights.values, b.weights.values), 0.02);
    EXPECT_EQ(here.state().learner.steps, there.state().learner.steps);
  }
}

TEST_F(OnDevice, SameBitsInPiecesOfAnySizeAndBesideOthers) {
  const Case c = cases()[2];
  const auto train_in = [&](std::int64_t piece, std::size_t others) {
    std::vector<Training> begun;
    for (std::size_t i = 0; i <= others; ++i) {
      begun.emplace_back(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7 + i});
    }
    std::vector<Training*> trainings;
    for (Training& training : begun) trainings.push_back(&training);
    DeviceTrainer trainer(trainings, *device_);
    while (!trainer.finished()) trainer.advance(piece);
    trainer.settle();
    return begun.front().result();
  };
  const Trained whole = train_in(30, 0);
  for (const auto& [piece, others] : {std::pair(30, 0), std::pair(1, 0), std::pair(7, 3), std::pair(30, 150)}) {
    const Trained other = train_in(piece, static_cast<std::size_t>(others));
    EXPECT_EQ(other.weights.values, whole.weights.values) << piece << " " << others;
  }
}

TEST_F(OnDevice, GoesOnFromTheProcessorAndBack) {
  Case c = cases()[1];
  c.params.held_out = 0.2;
  c.params.evaluate_every = 10;
  Training here(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
  here.advance(c.params.steps);
  Training both(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
  both.advance(5);
  NoProgress progress;
  {
    DeviceTrainer trainer({&both}, *device_);
    trainer.advance(15);  // to the next evaluation
    EXPECT_EQ(both.steps(), 10);
    trainer.advance(3);
    trainer.settle();
  }
  both.advance(4);
  train_together({&both}, *device_, progress);
  ASSERT_EQ(both.result().curve.size(), here.result().curve.size());
  for (std::size_t i = 0; i < here.result().curve.size(); ++i) {
    EXPECT_NEAR(both.result().curve[i].held_out, here.result().curve[i].held_out, 2e-3) << i;
  }
}

TEST_F(OnDevice, StepsThatGoWrongAreTakenBack) {
  Case c = cases()[0];
  c.cells.score(3, 4) = kInfinity;
  c.params.batch = 8;
  Training training(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
  Training here(c.cells.view(), rows_of(c.cells), c.shape, c.params, Key{7});
  NoProgress progress;
  train_together({&training}, *device_, progress);
  here.advance(c.params.steps);
  EXPECT_EQ(training.steps(), c.params.steps);
  EXPECT_EQ(training.result().undone_steps, here.result().undone_steps);
}

TEST_F(OnDevice, ShapesThatTheKernelsAreNotMadeForAreRefused) {
  const Case c = cases()[6];
  Training training(c.cells.view(), rows_of(c.cells), shape_of(9, 8, 5, 5), c.params, Key{1});
  EXPECT_THROW(DeviceTrainer({&training}, *device_), DeviceError);
}

// ---- Densities ------------------------------------------------------------------------------------------------------

Parameters lively_parameters(const Shape& shape, std::uint64_t seed) {
  Random random(Key{seed});
  Parameters p = random_parameters(shape, random, 0.3);
  p.c.segment(shape.sigmoids, shape.sigmoids) = Vector::LinSpaced(shape.sigmoids, -2.0, 2.0);
  return p;
}

struct Columns {
  Table score, low, high;
  std::vector<char> coarse;
  CellColumns view() const { return low.size() > 0 ? CellColumns(score, low, high, coarse) : CellColumns(score); }
};

Columns columns_of(const Cells& cells) {
  Columns columns{cells.score, cells.low, cells.high, {}};
  for (int j = 0; cells.low.size() > 0 && j < cells.score.cols(); ++j) columns.coarse.push_back(j % 3 == 0 ? 1 : 0);
  return columns;
}

void expect_close(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (Index i = 0; i < a.size(); ++i) {
    const float x = a.data()[i], y = b.data()[i];
    if (std::isnan(x) || std::isnan(y)) {
      EXPECT_EQ(std::isnan(x), std::isnan(y)) << i;
    } else {
      EXPECT_NEAR(x, y, 2e-4 * (1 + std::abs(x))) << i;
    }
  }
}

std::shared_ptr<const FoldedNetwork> folded(const Shape& shape, const Cells& cells, bool with_base) {
  GaussianBase base;
  if (with_base) {
    base = GaussianBase(cells.score, rows_of(cells));
    base.set_reliability(cells.reliability);
  }
  return std::make_shared<const FoldedNetwork>(pack(lively_parameters(shape, 3)), base);
}

TEST_F(OnDevice, DensitiesOfTheProcessor) {
  Random random(Key{5});
  for (const Shape& shape :
       {paper_shape(30), shape_of(40, 12, 6, 16), shape_of(9, 8, 12, 20), shape_of(4, 3, 24, 20), paper_shape(100)}) {
    for (const bool with_base : {false, true}) {
      for (const bool intervals : {false, true}) {
        SCOPED_TRACE(testing::Message() << shape.variables << " variables, base " << with_base << ", intervals "
                                        << intervals);
        Cells cells = make_cells(301, shape.variables, intervals, true);
        cells.score(7, 1) = 3e20f;  // an outlier
        if (intervals) cells.low(7, 1) = cells.high(7, 1) = 3e20f;
        const auto network = folded(shape, cells, with_base);
        std::vector<Subset> subsets = {{}, {0}, {shape.variables - 1}};
        for (int size = 1; size <= std::min(shape.ranks + 1, 61); size += size < 8 ? 1 : 9) {
          for (int k = 0; k < 3; ++k) subsets.push_back(random.subset(shape.variables, size));
        }
        const Columns columns = columns_of(cells);
        expect_close(device_->density(network)->log_density(columns.view(), subsets),
                     Density(network).log_density(columns.view(), subsets));
      }
    }
  }
}

TEST_F(OnDevice, DensitiesOfTrials) {
  for (const bool intervals : {false, true}) {
    const Shape shape = paper_shape(30);
    const Cells cells = make_cells(77, 30, intervals, false);
    const auto network = folded(shape, cells, true);
    const Columns columns = columns_of(cells);
    const Subset subset = {2, 3, 9, 15, 20, 29};
    Random random(Key{9});
    const auto options = [&](int variable, int count) {
      TrialColumn column{variable, Eigen::MatrixXf(77, count), {}, {}};
      for (float& value : column.values.reshaped()) value = static_cast<float>(random.normal());
      if (intervals && variable % 3 == 0) {
        column.low = column.values.array() - 0.5f;
        column.high = column.values.array() + 0.5f;
      }
      return column;
    };
    const std::vector<Trial> trials = {Trial({options(15, 5), options(3, 5)}), Trial({options(9, 7)})};
    expect_close(device_->density(network)->log_density(columns.view(), subset, trials),
                 Density(network).log_density(columns.view(), subset, trials));
  }
}

// Few rows are the processor's, many the device's.
TEST_F(OnDevice, ConditionalDensitiesOfTrials) {
  const Shape shape = paper_shape(30);
  const ConditionalSubset question = {{15}, {2, 9, 20, 29}};
  Random random(Key{13});
  for (const Index rows : {Index{77}, Index{700}}) {
    const Cells cells = make_cells(rows, 30, false, false);
    const Columns columns = columns_of(cells);
    const auto network = folded(shape, cells, true);
    const auto options = [&](int variable, Index count) {
      Eigen::MatrixXf values(rows, count);
      for (float& value : values.reshaped()) value = static_cast<float>(random.normal());
      return Trial(variable, std::move(values));
    };
    const std::vector<Trial> trials = {options(15, 5), options(9, 7)};
    const auto density = device_->density(network);
    const Eigen::MatrixXf here = Density(network).log_conditional(columns.view(), question, trials);
    const Eigen::MatrixXf there = density->log_conditional(columns.view(), question, trials);
    expect_close(there, here);
    EXPECT_EQ(there == here, rows == 77) << rows;
  }
}

// As ensembles ask: calls of several sizes side by side, each with loops of its own inside.
TEST_F(OnDevice, DensitiesAreAskedForFromManyThreads) {
  const Shape shape = paper_shape(30);
  const Cells cells = make_cells(401, 30, false, false);
  const auto network = folded(shape, cells, true);
  const Columns columns = columns_of(cells);
  const auto density = device_->density(network);
  std::vector<std::vector<Subset>> questions(64);
  Random random(Key{11});
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (int k = 0; k < 400; ++k) questions[i].push_back(random.subset(30, 1 + static_cast<int>(i) % 20));
  }
  std::vector<Eigen::MatrixXf> answers(questions.size());
  parallel_for(static_cast<std::ptrdiff_t>(questions.size()), [&](std::ptrdiff_t i) {
    const auto at = static_cast<std::size_t>(i);
    answers[at] = density->log_density(columns.view(), questions[at]);
  });
  EXPECT_EQ(device_failure(), "");
  for (std::size_t i = 0; i < questions.size(); ++i) {
    SCOPED_TRACE(i);
    expect_close(answers[i], Density(network).log_density(columns.view(), questions[i]));
  }
}

TEST_F(OnDevice, ManyDensitiesInPieces) {
  const Shape shape = paper_shape(30);
  const Cells cells = make_cells(3001, 30, false, false);
  const auto network = folded(shape, cells, false);
  std::vector<Subset> subsets;
  Random random(Key{4});
  for (int i = 0; i < 1500; ++i) subsets.push_back(random.subset(30, 1 + i % 5));
  const Columns columns = columns_of(cells);
  const auto density = device_->density(network);
  const Eigen::MatrixXf all = density->log_density(columns.view(), subsets);
  for (const std::size_t s : {std::size_t{0}, std::size_t{348}, std::size_t{349}, std::size_t{1499}}) {
    const Eigen::MatrixXf alone = density->log_density(columns.view(), std::span(subsets).subspan(s, 1));
    EXPECT_EQ(alone.col(0), all.col(static_cast<Index>(s))) << s;  // bit for bit
  }
  expect_close(all, Density(network).log_density(columns.view(), subsets));
}

// ---- Whole runs -----------------------------------------------------------------------------------------------------

BoundariesResult boundaries_on(Device device, int threads) {
  SimulateParams simulation;
  simulation.nodes = 6;
  simulation.sem = Sem::gp;
  simulation.rows = 300;
  simulation.seed = 2;
  BoundariesParams params;
  params.fansite().estimator = "flow";
  params.fansite().folds = 2;
  params.fansite().repeats = 2;
  params.fansite().steps = 100;
  params.run.device = device;
  const ThreadLimit limit(threads);
  return markov_boundaries(simulate(simulation).data, params);
}

std::vector<double> gains(const BoundariesResult& result) {
  std::vector<double> all;
  for (const Boundary& boundary : result.found.boundaries) {
    for (const Member& member : boundary.members) all.push_back(member.gain);
  }
  return all;
}

TEST_F(OnDevice, WholeRunsHaveTheSameBitsForAnyThreadsAndEndAsTheProcessors) {
  const BoundariesResult here = boundaries_on(Device::cpu, 2), there = boundaries_on(Device::cuda, 8);
  EXPECT_EQ(device_used(), device_->name());
  EXPECT_EQ(there.found.moral_edges, here.found.moral_edges);
  const std::vector<double> a = gains(here), b = gains(there);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.01) << i;
  EXPECT_EQ(gains(boundaries_on(Device::cuda, 1)), b);
}

}  // namespace
}  // namespace fansite::flow
