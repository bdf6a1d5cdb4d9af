// SPDX-License-Identifier: Apache-2.0
//
// The contract of the fast version: on every instruction set the machine has, the loss, the gradient and Adam's steps
// are the reference's as far as single precision goes, and the bits do not depend on the threads.
#include "fansite/entropy/flow/learner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/reference.h"
#include "golden.h"
#include "properties.h"

namespace fansite::flow {
namespace {

// ---- Instruction sets -----------------------------------------------------------------------------------------------

// Those that this machine has and the kernels were compiled for.
std::vector<std::int64_t> instruction_sets() {
  std::vector<std::int64_t> sets;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) sets.push_back(target);
  return sets;
}

// While it lives, kernels use this instruction set alone.
class Only {
 public:
  explicit Only(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~Only() { hwy::SetSupportedTargetsForTest(0); }
  Only(const Only&) = delete;
  Only& operator=(const Only&) = delete;
};

template <class Visit>
void on_every_instruction_set(Visit&& visit) {
  for (const std::int64_t target : instruction_sets()) {
    const Only only(target);
    SCOPED_TRACE(hwy::TargetName(target));
    visit();
  }
}

// ---- Examples -------------------------------------------------------------------------------------------------------

// Rows with a subset each, and a network, all of them numbers that single precision holds.
struct Example {
  Parameters parameters;
  Matrix rows;
  std::vector<Subset> subsets;

  const Shape& shape() const { return parameters.shape; }
  Weights weights() const { return pack(parameters); }
  Batch batch(const GaussianBase* base = nullptr) const {
    Batch batch(shape(), base);
    for (Index i = 0; i < rows.rows(); ++i) {
      const Eigen::VectorXf row = rows.row(i).transpose().cast<float>();
      batch.add(subsets[static_cast<std::size_t>(i)], row.data());
    }
    batch.finish();
    return batch;
  }
  reference::Gradient reference() const { return reference::gradient(parameters, rows, subsets); }
};

double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

Example random_example(Random& random, const Shape& shape, int rows) {
  Example example;
  // Smaller in wide networks, so that their outputs stay of order one.
  const double size = 1 / std::sqrt(4.0 + shape.blocks + shape.outputs);
  example.parameters = unpack(pack(random_parameters(shape, random, size)));
  example.rows.resize(rows, shape.variables);
  for (double& value : example.rows.reshaped()) value = rounded(random.normal());
  for (int i = 0; i < rows; ++i) example.subsets.push_back(random_subset(random, shape, 1));
  return example;
}

// Every way in which nodes, outputs and sigmoids fill whole vectors, or do not.
Shape kernel_shape(Random& random) {
  const auto one_of = [&](std::initializer_list<int> choices) {
    return choices.begin()[random.below(static_cast<std::uint32_t>(choices.size()))];
  };
  Shape shape = random_shape(random, 12);
  shape.blocks = one_of({1, 2, 6, 7, 13});
  shape.outputs = one_of({1, 3, 16, 17, 20, 24, 36});
  shape.sigmoids = one_of({1, 2, 4, 5});
  return shape;
}

// What the fast gradient is held to: the reference's. Errors are relative to the largest entry of the tensor before
// rows of opposite sign cancel, as single precision loses the digits that cancel, and to a hundredth of the largest of
// any tensor: in a network of one hidden node, what reaches it may be all but cancelled.
struct Expected {
  explicit Expected(const Example& example) {
    const auto n = example.rows.rows();
    gradient = zero_parameters(example.shape());
    Parameters magnitude = gradient;
    for (Index i = 0; i < n; ++i) {
      const auto row = reference::gradient(example.parameters, example.rows.middleRows(i, 1),
                                           std::span(example.subsets).subspan(static_cast<std::size_t>(i), 1));
      loss += row.loss / static_cast<double>(n);
      for (std::size_t t = 0; t < 8; ++t) {
        const auto part = tensors(row.gradient)[t].values;
        const auto total = tensors(gradient)[t].values, sum = tensors(magnitude)[t].values;
        for (std::size_t k = 0; k < part.size(); ++k) {
          total[k] += part[k] / static_cast<double>(n);
          sum[k] += std::abs(part[k]) / static_cast<double>(n);
        }
      }
    }
    for (std::size_t t = 0; t < 8; ++t) {
      const auto sums = tensors(magnitude)[t].values;
      for (const double sum : sums) size[t] = std::max(size[t], sum);
    }
  }

  /// The tensors that are off by more than `bound`.
  std::string wrong(const Parameters& value, double bound) const {
    std::string names;
    for (std::size_t t = 0; t < 8; ++t) {
      const auto ours = tensors(value)[t].values, theirs = tensors(gradient)[t].values;
      const double scale = size[t] + largest() / 100;
      double error = 0;
      for (std::size_t k = 0; k < ours.size(); ++k) {
        const double difference = std::abs(ours[k] - theirs[k]);
        error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
      }
      if (error > bound * scale) names += fmt::format("{} by {:.1e} of {:.1e}; ", tensors(value)[t].name, error, scale);
    }
    return names;
  }
  double largest() const { return *std::ranges::max_element(size); }

  double loss = 0;
  Parameters gradient;
  std::array<double, 8> size{};
};

// The largest difference in any entry.
double worst_difference(const Parameters& a, const Parameters& b) {
  double worst = 0;
  for (std::size_t t = 0; t < 8; ++t) {
    const auto x = tensors(a)[t].values, y = tensors(b)[t].values;
    for (std::size_t k = 0; k < x.size(); ++k) worst = std::max(worst, std::abs(x[k] - y[k]));
  }
  return worst;
}

double norm_of(const Parameters& p) {
  double square = 0;
  for (const auto& tensor : tensors(p)) {
    for (const double value : tensor.values) square += value * value;
  }
  return std::sqrt(square);
}

// ---- Instruction sets -----------------------------------------------------------------------------------------------

TEST(InstructionSets, AreAllReached) {
  Random random(Key{1});
  const Example example = random_example(random, {6, 6, 5, 20, 4}, 3);
  std::set<std::size_t> used;
  std::string names;
  on_every_instruction_set([&] {
    Learner(example.weights()).loss(example.batch());
    used.insert(hwy::GetChosenTarget().GetIndex());
    names += fmt::format(" {}", hwy::TargetName(hwy::SupportedTargets()));
  });
  EXPECT_EQ(used.size(), instruction_sets().size());
  RecordProperty("InstructionSets", names);
  EXPECT_EQ(hwy::SupportedTargets() & instruction_sets().front(), instruction_sets().front());  // back to the best
}

// ---- The gradient ---------------------------------------------------------------------------------------------------

// Largest errors seen on five instruction sets and 12,000 examples: gradients 6e-6, losses 2.5e-7.
constexpr double kGradientBound = 2e-5, kLossBound = 2e-6;

std::string disagreement(const Example& example, const Expected& expected) {
  const Batch batch = example.batch();
  std::string wrong;
  for (const std::int64_t target : instruction_sets()) {
    const Only only(target);
    Learner learner(example.weights());
    const double loss = learner.gradient(batch), norm = norm_of(expected.gradient);
    const Parameters gradient = learner.gradient_parameters();
    std::string here = expected.wrong(gradient, kGradientBound);
    if (!(std::abs(loss - expected.loss) <= kLossBound * (1 + std::abs(expected.loss))))
      here += fmt::format("loss {} not {}; ", loss, expected.loss);
    if (!(std::abs(learner.gradient_norm() - norm) <= kGradientBound * (norm + expected.largest())))
      here += fmt::format("norm {} not {}; ", learner.gradient_norm(), norm);
    if (!(std::abs(learner.gradient_norm() - norm_of(gradient)) <= 1e-6 * norm_of(gradient)))
      here += fmt::format("norm {} but a gradient of norm {}; ", learner.gradient_norm(), norm_of(gradient));
    if (!here.empty()) wrong += fmt::format("{}: {}\n", hwy::TargetName(target), here);
  }
  return wrong;
}

std::string disagreement(const Example& example) { return disagreement(example, Expected(example)); }

TEST(Gradient, IsTheReferencesOnEveryInstructionSet) {
  EXPECT_TRUE(rc::check("any shape, subsets and number of rows", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Example example = random_example(random, kernel_shape(random), between(random, 1, 100));
    const std::string wrong = disagreement(example);
    if (!wrong.empty()) RC_FAIL(wrong);
  }));
}

// Each combination of nodes, outputs and sigmoids at least once, full and compact.
TEST(Gradient, OfEveryShapeOfBlocks) {
  Random random(Key{2});
  for (const int blocks : {1, 2, 6, 7, 13}) {
    for (const int outputs : {1, 3, 16, 17, 20, 24, 36}) {
      for (const int sigmoids : {1, 2, 4, 5}) {
        for (const int ranks : {2, 4}) {
          const Shape shape{5, blocks, ranks, outputs, sigmoids};
          EXPECT_EQ(disagreement(random_example(random, shape, 4)), "")
              << blocks << " blocks, " << outputs << " outputs, " << sigmoids << " sigmoids, " << ranks << " ranks";
        }
      }
    }
  }
  // The most sigmoids, and what fills the last vector of them exactly.
  for (const int sigmoids : {3, 6, 8, 10, 11, 15, 16}) {
    EXPECT_EQ(disagreement(random_example(random, {4, 6, 3, 20, sigmoids}, 5)), "") << sigmoids;
  }
}

TEST(Gradient, OfThePapersShapes) {
  Random random(Key{3});
  for (const int variables : {1, 2, 30, 100}) {
    Example example = random_example(random, paper_shape(variables), 12);
    for (Subset& subset : example.subsets) {
      subset = random.subset(variables, between(random, 1, paper_max_size(variables) + 1));
    }
    EXPECT_EQ(disagreement(example), "") << variables;
  }
}

// The largest subset, the same one in every row, and single variables.
TEST(Gradient, OfSubsetsOfOneSize) {
  Random random(Key{4});
  for (const Shape& shape : {Shape{7, 6, 6, 20, 4}, Shape{9, 6, 4, 16, 4}}) {
    for (int size = 1; size <= shape.ranks + 1; ++size) {
      Example example = random_example(random, shape, 17);
      for (Subset& subset : example.subsets) subset = random.subset(shape.variables, size);
      EXPECT_EQ(disagreement(example), "") << size;
    }
    Example same = random_example(random, shape, 33);
    std::ranges::fill(same.subsets, same.subsets.front());
    EXPECT_EQ(disagreement(same), "");
  }
}

// Where training begins: gradients are a thousand times smaller in some tensors than in others.
TEST(Gradient, OfTheInitialParameters) {
  Random random(Key{5});
  Example example = random_example(random, paper_shape(10), 64);
  example.parameters = unpack(pack(initial_parameters(example.shape(), Key{6})));
  EXPECT_EQ(disagreement(example), "");
}

// Steep sigmoids, far apart, one of them with nearly all of the weight, and rows in the tails: as after long training.
TEST(Gradient, WhereSigmoidsSaturate) {
  EXPECT_TRUE(rc::check("any shape", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Example example = random_example(random, kernel_shape(random), between(random, 1, 40));
    for (double& value : example.parameters.c) value = rounded(3 * random.normal());
    example.rows = (3 * example.rows).unaryExpr(&rounded);
    const std::string wrong = disagreement(example);
    if (!wrong.empty()) RC_FAIL(wrong);
  }));
}

// Nothing is left over from the batch before: neither a larger one's terms nor the gradients of variables not used now.
TEST(Gradient, OfABatchAloneDependsOnThatBatch) {
  Random random(Key{7});
  const Shape shape{9, 7, 8, 20, 4};
  const Example small = random_example(random, shape, 3);
  Example large = random_example(random, shape, 90);
  large.parameters = small.parameters;
  Example few = small;
  few.subsets = {{0}, {0, 1}, {1}};
  Learner used(small.weights());
  for (const Example& example : {large, few, small, large, small, few}) {
    Learner fresh(small.weights());
    EXPECT_EQ(used.gradient(example.batch()), fresh.gradient(example.batch()));
    EXPECT_EQ(used.gradient_norm(), fresh.gradient_norm());
    EXPECT_EQ(worst_difference(used.gradient_parameters(), fresh.gradient_parameters()), 0);
  }
  const Parameters gradient = used.gradient_parameters();
  EXPECT_GT(gradient.s2.head(Index{2} * shape.outputs).norm(), 0);
  EXPECT_EQ(gradient.s2.tail(Index{7} * shape.outputs).norm(), 0);
}

// A batch twice over has the same mean.
TEST(Gradient, IsAMeanOverRows) {
  Random random(Key{8});
  Example once = random_example(random, {6, 6, 5, 20, 4}, 24), twice = once;
  twice.rows.resize(48, 6);
  twice.rows << once.rows, once.rows;
  twice.subsets.insert(twice.subsets.end(), once.subsets.begin(), once.subsets.end());
  Learner a(once.weights()), b(once.weights());
  EXPECT_NEAR(a.gradient(once.batch()), b.gradient(twice.batch()), 1e-6);
  EXPECT_EQ(Expected(once).wrong(b.gradient_parameters(), kGradientBound), "");
}

// ---- The authors' model ---------------------------------------------------------------------------------------------

class GoldenLearner : public GoldenTest {
 protected:
  Example example() const { return {golden.parameters, golden.rows, golden.subsets}; }
};

TEST_P(GoldenLearner, Gradient) {
  on_every_instruction_set([&] {
    Learner learner(example().weights());
    EXPECT_NEAR(learner.gradient(example().batch()), golden.loss, 1e-4);
    EXPECT_NEAR(learner.gradient_norm() / golden.adam_norms.front(), 1, 1e-4);
    const Parameters gradient = learner.gradient_parameters();
    for (std::size_t t = 0; t < 8; ++t) {
      EXPECT_LT(relative_error(tensors(gradient)[t].values, tensors(std::as_const(golden.gradient))[t].values), 1e-4)
          << tensors(gradient)[t].name;
    }
  });
}

TEST_P(GoldenLearner, TenStepsOfAdam) {
  on_every_instruction_set([&] {
    Learner learner(example().weights());
    const Batch batch = example().batch();
    for (std::size_t step = 0; step < golden.adam_losses.size(); ++step) {
      EXPECT_NEAR(learner.gradient(batch), golden.adam_losses[step], 1e-4) << "step " << step;
      EXPECT_NEAR(learner.gradient_norm() / golden.adam_norms[step], 1, 1e-4) << "step " << step;
      learner.adam(golden.learning_rate, golden.clip);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenLearner, golden_files(), golden_name);

// ---- The loss alone -------------------------------------------------------------------------------------------------

TEST(Loss, IsTheGradientsBitForBit) {
  EXPECT_TRUE(rc::check("any shape, on every instruction set", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Example example = random_example(random, kernel_shape(random), between(random, 1, 40));
    const Batch batch = example.batch();
    for (const std::int64_t target : instruction_sets()) {
      const Only only(target);
      Learner learner(example.weights());
      const double alone = learner.loss(batch);
      RC_ASSERT(learner.gradient(batch) == alone);
      RC_ASSERT(learner.loss(batch) == alone);
    }
  }));
}

// Rows held out are evaluated between a gradient and its step without a trace.
TEST(Loss, LeavesTheGradientAlone) {
  Random random(Key{9});
  const Example example = random_example(random, {6, 6, 5, 20, 4}, 20),
                other = random_example(random, example.shape(), 70);
  Learner a(example.weights()), b(example.weights());
  for (int step = 0; step < 3; ++step) {
    a.gradient(example.batch());
    b.gradient(example.batch());
    b.loss(other.batch());
    EXPECT_EQ(a.gradient_norm(), b.gradient_norm());
    a.adam(1e-3, 5);
    b.adam(1e-3, 5);
    b.loss(other.batch());
    EXPECT_EQ(a.state().weights, b.state().weights);
  }
}

// ---- A base under the flow ------------------------------------------------------------------------------------------

// With a base of mean 0 and independent columns the flow maps x/σ: as if the rows were x/σ, and W1 took the σ back.
TEST(Base, OfIndependentColumnsIsAChangeOfUnits) {
  EXPECT_TRUE(rc::check("any shape", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Example plain = random_example(random, kernel_shape(random), between(random, 1, 30));
    Example scaled = plain;
    Vector sd(plain.shape().variables);
    for (double& value : sd) value = std::exp2(between(random, -3, 3));  // exact in single precision
    scaled.rows = plain.rows * sd.asDiagonal();
    scaled.parameters.w1 = plain.parameters.w1 * sd.cwiseInverse().asDiagonal();
    const GaussianBase base(Vector::Zero(sd.size()), sd.cwiseAbs2().asDiagonal());
    double log_scale = 0;
    for (const Subset& subset : plain.subsets) {
      for (const int j : subset) log_scale += std::log(sd[j]) / static_cast<double>(plain.rows.rows());
    }
    Learner learner(scaled.weights());
    const Batch batch = scaled.batch(&base);
    const double loss = learner.gradient(batch);
    RC_ASSERT(learner.loss(batch) == loss);
    const Expected expected(plain);
    RC_ASSERT(std::abs(loss - expected.loss - log_scale) <= kLossBound * (1 + std::abs(expected.loss)));
    Parameters gradient = learner.gradient_parameters();
    gradient.w1 *= sd.cwiseInverse().asDiagonal();
    const std::string wrong = expected.wrong(gradient, kGradientBound);
    if (!wrong.empty()) RC_FAIL(wrong);
  }));
}

// ---- Adam -----------------------------------------------------------------------------------------------------------

// Twenty steps beside the reference's. Where a gradient is nearly 0, Adam's first steps have the size of the learning
// rate whatever the gradient's error, so a tensor's distance from the reference's is taken as a whole: 4e-6 of the way
// gone seen.
void expect_the_references_steps(const Example& example, double learning_rate, double clip, bool bites) {
  on_every_instruction_set([&] {
    Learner learner(example.weights());
    reference::Adam adam(example.shape());
    Parameters parameters = example.parameters;
    const Batch batch = example.batch();
    int clipped = 0;
    for (int step = 0; step < 20; ++step) {
      const auto [loss, gradient] = reference::gradient(parameters, example.rows, example.subsets);
      EXPECT_NEAR(learner.gradient(batch), loss, 1e-4 * (1 + std::abs(loss))) << "step " << step;
      const double norm = adam.step(parameters, gradient, learning_rate, clip);
      EXPECT_NEAR(learner.gradient_norm() / norm, 1, 2e-3) << "step " << step;
      clipped += norm > clip ? 1 : 0;
      learner.adam(learning_rate, clip);
    }
    EXPECT_EQ(clipped > 0, bites);
    const Parameters ours = unpack(learner.weights());
    for (std::size_t t = 0; t < 8; ++t) {
      const auto from = tensors(example.parameters)[t].values, to = tensors(std::as_const(parameters))[t].values,
                 reached = tensors(ours)[t].values;
      double error = 0, moved = 0;
      for (std::size_t k = 0; k < to.size(); ++k) {
        error += (reached[k] - to[k]) * (reached[k] - to[k]);
        moved += (to[k] - from[k]) * (to[k] - from[k]);
      }
      EXPECT_LE(std::sqrt(error), 1e-4 * std::sqrt(moved)) << tensors(ours)[t].name;
    }
  });
}

TEST(Adam, TakesTheReferencesSteps) {
  Random random(Key{10});
  for (const Shape& shape : {Shape{6, 6, 5, 20, 4}, Shape{8, 7, 4, 24, 3}, Shape{1, 6, 0, 20, 4}}) {
    const Example example = random_example(random, shape, 40);
    expect_the_references_steps(example, 1e-3, 1e9, false);
    expect_the_references_steps(example, 2e-2, 1e9, false);
    // The clip changes the steps that follow only if it bites in some and not in others.
    const double norm = norm_of(example.reference().gradient);
    expect_the_references_steps(example, 2e-2, 0.9 * norm, true);
    expect_the_references_steps(example, 1e-3, 0.01 * norm, true);
  }
}

// Gradients from 1e-9 to 1e9 move a weight by the learning rate at the first step: Adam does not feel the scale.
TEST(Adam, FirstStepIsTheRateInEveryWeight) {
  Random random(Key{11});
  const Example example = random_example(random, {6, 6, 5, 20, 4}, 40);
  on_every_instruction_set([&] {
    for (const double clip : {1e9, 1e-3}) {
      Learner learner(example.weights());
      const Parameters before = unpack(learner.weights());
      learner.gradient(example.batch());
      const Parameters gradient = learner.gradient_parameters();
      learner.adam(0.125, clip);
      const Parameters after = unpack(learner.weights());
      for (std::size_t t = 0; t < 8; ++t) {
        const auto from = tensors(before)[t].values, to = tensors(after)[t].values, g = tensors(gradient)[t].values;
        for (std::size_t k = 0; k < g.size(); ++k) {
          const double clipped = std::abs(g[k]) * std::min(1.0, clip / learner.gradient_norm());
          const double expected = g[k] == 0 ? 0 : std::copysign(0.125 * clipped / (clipped + 1e-8), g[k]);
          ASSERT_NEAR(from[k] - to[k], expected, 0.125 * 2e-5) << tensors(after)[t].name << ' ' << g[k];
        }
      }
    }
  });
}

// A gradient is taken once: what a step leaves of it is nothing, with or without a step in between.
TEST(Adam, SpendsTheGradient) {
  Random random(Key{22});
  const Shape shape{9, 7, 8, 20, 4};
  const Example one = random_example(random, shape, 30);
  Example few = one;
  for (Subset& subset : few.subsets) subset = {0, 1};
  for (const bool step_between : {false, true}) {
    Learner learner(one.weights());
    learner.gradient(one.batch());
    if (step_between) learner.adam(1e-3, 5);
    Learner fresh(learner.weights());
    EXPECT_EQ(learner.gradient(few.batch()), fresh.gradient(few.batch()));
    EXPECT_EQ(learner.gradient_norm(), fresh.gradient_norm());
    EXPECT_EQ(worst_difference(learner.gradient_parameters(), fresh.gradient_parameters()), 0);
  }
}

TEST(Adam, PaddingStaysZero) {
  Random random(Key{12});
  for (const Shape& shape : {Shape{6, 7, 3, 17, 5}, Shape{5, 1, 4, 3, 2}, Shape{7, 13, 6, 36, 1}, Shape{1, 2, 0, 20, 4},
                             Shape{6, 6, 5, 20, 4}}) {
    Parameters ones = zero_parameters(shape);
    for (const auto& tensor : tensors(ones)) std::ranges::fill(tensor.values, 1.0);
    const std::vector<float> places = pack(ones).values;  // 0: padding
    std::vector<Batch> batches;
    for (int i = 0; i < 10; ++i) {
      Example example = random_example(random, shape, between(random, 1, 40));
      example.rows *= 3;
      batches.push_back(example.batch());
    }
    const std::vector<float> start = random_example(random, shape, 1).weights().values;
    on_every_instruction_set([&] {
      Learner learner({Layout(shape), start});
      for (int step = 0; step < 200; ++step) {
        learner.gradient(batches[static_cast<std::size_t>(step) % batches.size()]);
        learner.adam(0.03, 5);
      }
      const Learner::State state = learner.state();
      int filled = 0, moved = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == 0 && (state.weights[i] != 0 || state.mean[i] != 0 || state.square[i] != 0)) ++filled;
        if (places[i] != 0 && state.weights[i] != start[i]) ++moved;
      }
      EXPECT_EQ(filled, 0);
      EXPECT_GT(moved, 0);
    });
  }
}

// ---- Threads --------------------------------------------------------------------------------------------------------

struct Course {
  std::vector<double> losses, norms;
  Learner::State state;
};

Course run(const std::vector<Example>& examples, Team* team) {
  Course run;
  Learner learner(examples.front().weights(), team);
  for (const Example& example : examples) {
    const Batch batch = example.batch();
    run.losses.push_back(learner.loss(batch));
    run.losses.push_back(learner.gradient(batch));
    run.norms.push_back(learner.gradient_norm());
    learner.adam(1e-2, 1);
  }
  run.state = learner.state();
  return run;
}

TEST(Threads, DoNotChangeTheBits) {
  Random random(Key{13});
  for (const Shape& shape :
       {Shape{30, 6, 29, 20, 4}, Shape{40, 6, 12, 16, 4}, Shape{3, 7, 2, 3, 2}, Shape{1, 6, 0, 20, 4}}) {
    std::vector<Example> examples;
    for (int i = 0; i < 6; ++i) examples.push_back(random_example(random, shape, between(random, 1, 100)));
    on_every_instruction_set([&] {
      const Course alone = run(examples, nullptr);
      for (const int threads : {1, 2, 3}) {
        Team team(threads);
        const Course together = run(examples, &team);
        EXPECT_EQ(together.losses, alone.losses) << threads;
        EXPECT_EQ(together.norms, alone.norms) << threads;
        EXPECT_EQ(together.state.weights, alone.state.weights) << threads;
        EXPECT_EQ(together.state.mean, alone.state.mean) << threads;
        EXPECT_EQ(together.state.square, alone.state.square) << threads;
      }
    });
  }
}

TEST(Threads, TwoLearnersOfOneTeam) {
  Random random(Key{14});
  std::vector<Example> examples;
  for (int i = 0; i < 5; ++i) examples.push_back(random_example(random, {9, 6, 8, 20, 4}, 40));
  Team team(2);
  Learner a(examples.front().weights(), &team), b(examples.back().weights(), &team);
  Learner a1(examples.front().weights()), b1(examples.back().weights());
  for (const Example& example : examples) {
    for (Learner* learner : {&a, &b, &a1, &b1}) {
      learner->gradient(example.batch());
      learner->adam(1e-2, 1);
    }
  }
  EXPECT_EQ(a.state().weights, a1.state().weights);
  EXPECT_EQ(b.state().weights, b1.state().weights);
}

TEST(Aside, IsCalledOnce) {
  Random random(Key{15});
  const Example example = random_example(random, {9, 6, 8, 20, 4}, 40);
  const Batch batch = example.batch();
  const double expected = Learner(example.weights()).gradient(batch);
  for (const int threads : {0, 1, 2, 3}) {
    std::optional<Team> team;
    if (threads > 0) team.emplace(threads);
    Learner learner(example.weights(), team ? &*team : nullptr);
    int calls = 0;
    EXPECT_EQ(learner.gradient(batch, [&] { ++calls; }), expected);
    EXPECT_EQ(calls, 1) << threads;
  }
}

TEST(Aside, ItsExceptionReachesTheCaller) {
  Random random(Key{16});
  const Example example = random_example(random, {9, 6, 8, 20, 4}, 40);
  const Batch batch = example.batch();
  Team team(2);
  Learner learner(example.weights(), &team), other(example.weights());
  EXPECT_THROW(learner.gradient(batch, [] { throw std::runtime_error("aside"); }), std::runtime_error);
  EXPECT_EQ(learner.gradient(batch), other.gradient(batch));
  EXPECT_EQ(learner.gradient_norm(), other.gradient_norm());
}

// ---- State ----------------------------------------------------------------------------------------------------------

TEST(State, IsWhereTrainingGoesOn) {
  Random random(Key{17});
  std::vector<Example> examples;
  for (int i = 0; i < 8; ++i) examples.push_back(random_example(random, {6, 6, 5, 20, 4}, 30));
  const auto step = [&](Learner& learner, std::size_t i) {
    learner.gradient(examples[i].batch());
    learner.adam(1e-2, 1);
  };
  Learner straight(examples[0].weights());
  for (std::size_t i = 0; i < 8; ++i) step(straight, i);
  for (const std::size_t stop : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{8}}) {
    Learner first(examples[0].weights());
    for (std::size_t i = 0; i < stop; ++i) step(first, i);
    EXPECT_EQ(first.state().steps, static_cast<std::int64_t>(stop));
    Learner second(examples[3].weights());  // everything comes from the state
    step(second, 3);
    second.restore(first.state());
    for (std::size_t i = stop; i < 8; ++i) step(second, i);
    EXPECT_EQ(second.state().weights, straight.state().weights) << stop;
    EXPECT_EQ(second.state().mean, straight.state().mean) << stop;
    EXPECT_EQ(second.state().square, straight.state().square) << stop;
    EXPECT_EQ(second.state().steps, 8);
  }
}

TEST(State, WeightsAreThoseGiven) {
  Random random(Key{18});
  const Example example = random_example(random, {6, 7, 3, 17, 5}, 5);
  Learner learner(example.weights());
  EXPECT_EQ(learner.weights().values, example.weights().values);
  EXPECT_EQ(learner.weights().shape(), example.shape());
  EXPECT_EQ(learner.layout().size, example.weights().layout.size);
  learner.gradient(example.batch());
  EXPECT_EQ(learner.weights().values, example.weights().values);
  Learner moved(std::move(learner));
  moved.adam(1e-3, 5);
  EXPECT_NE(moved.weights().values, example.weights().values);
}

// ---- Outliers -------------------------------------------------------------------------------------------------------

bool all_finite(const Parameters& p) {
  for (const auto& tensor : tensors(p)) {
    if (!std::ranges::all_of(tensor.values, [](double value) { return std::isfinite(value); })) return false;
  }
  return true;
}

// 77 standard deviations, as in a real table. Also where slopes are 8, so that σ(1−σ) is e^−616.
TEST(Outliers, StayFinite) {
  Random random(Key{19});
  for (const Shape& shape : {Shape{5, 6, 4, 20, 4}, Shape{5, 2, 3, 16, 2}}) {
    for (const double slope : {0.0, 8.0}) {
      Example example = random_example(random, shape, 20);
      if (slope == 0) example.parameters = unpack(pack(initial_parameters(shape, Key{20})));
      example.parameters.c.head(shape.sigmoids).array() += slope;
      for (Index i = 0; i < 20; ++i) example.rows(i, i % 5) = i % 2 == 0 ? 77 : -77;
      example.rows.row(0).setConstant(77);
      example.rows.row(1).setConstant(-77);
      on_every_instruction_set([&] {
        Learner learner(example.weights());
        const double loss = learner.gradient(example.batch());
        EXPECT_TRUE(std::isfinite(loss));
        EXPECT_TRUE(std::isfinite(learner.gradient_norm()));
        EXPECT_TRUE(all_finite(learner.gradient_parameters()));
        // With the slopes that training begins with nothing is out of range yet.
        if (slope == 0) {
          const Expected expected(example);
          EXPECT_NEAR(loss / expected.loss, 1, 1e-5);
          EXPECT_EQ(expected.wrong(learner.gradient_parameters(), 1e-4), "");
        }
        for (int step = 0; step < 100; ++step) {
          learner.adam(1e-2, 5);
          EXPECT_TRUE(std::isfinite(learner.gradient(example.batch())));
        }
        EXPECT_TRUE(all_finite(unpack(learner.weights())));
        EXPECT_LT(learner.loss(example.batch()), loss);  // and it can learn from them
      });
    }
  }
}

// Both tails alike, as long as single precision holds them.
TEST(Outliers, TailsAreAlike) {
  const Shape shape{1, 1, 0, 1, 3};
  Example right{zero_parameters(shape), Matrix(1, 1), {{0}}};
  right.parameters.c << 0.5, -0.2, 1.1, 0.3, -0.7, 0.2, 0.4, -0.1, 0.6;
  Example left = right;
  left.parameters.c.segment(3, 3) *= -1;
  on_every_instruction_set([&] {
    for (const double x : {0.0, 1.0, 8.0, 20.0, 40.0, 77.0, 1e3, 1e6}) {
      right.rows(0, 0) = x;
      left.rows(0, 0) = -x;
      Learner a(right.weights()), b(left.weights());
      const double loss = a.gradient(right.batch());
      EXPECT_NEAR(b.gradient(left.batch()), loss, 1e-5 * loss) << x;
      const Parameters ga = a.gradient_parameters(), gb = b.gradient_parameters();
      for (Index q = 0; q < 9; ++q) {
        const double sign = q / 3 == 1 ? -1 : 1;
        EXPECT_NEAR(ga.c[q], sign * gb.c[q], 1e-4 * (1 + ga.c.cwiseAbs().maxCoeff())) << x << ' ' << q;
      }
    }
  });
}

// What training relies on: a row that is no number at all, or that overflows, never passes for a good one.
TEST(Outliers, AbsurdValuesShowInTheGradientsNorm) {
  Random random(Key{21});
  for (const Shape& shape : {Shape{5, 6, 4, 20, 4}, Shape{1, 6, 0, 20, 4}}) {
    Example example = random_example(random, shape, 3);
    example.subsets.back().resize(static_cast<std::size_t>(shape.variables));
    for (int j = 0; j < shape.variables; ++j) example.subsets.back()[static_cast<std::size_t>(j)] = j;
    for (const double absurd : {1e30, -1e30, 3e38, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      for (int j = 0; j < shape.variables; ++j) {
        Example bad = example;
        bad.rows(2, j) = absurd;
        on_every_instruction_set([&] {
          Learner learner(bad.weights());
          learner.gradient(bad.batch());
          EXPECT_FALSE(std::isfinite(learner.gradient_norm())) << absurd << " in variable " << j;
          // The learner is as good as new afterwards.
          EXPECT_EQ(learner.gradient(example.batch()), Learner(example.weights()).gradient(example.batch()));
          EXPECT_TRUE(all_finite(learner.gradient_parameters()));
        });
      }
    }
  }
}

}  // namespace
}  // namespace fansite::flow
