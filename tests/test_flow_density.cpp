// SPDX-License-Identifier: Apache-2.0
//
// Densities: the fast ones against the reference on every instruction set, and what must hold for a density.
#include "fansite/entropy/flow/density.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/reference.h"
#include "golden.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

Table random_table(Random& random, Index rows, int variables) {
  Table table(rows, variables);
  for (Index i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(random.normal());
  return table;
}

std::vector<double> row_of(const Table& table, Index row) {
  const Eigen::VectorXd values = table.row(row).cast<double>();
  return {values.begin(), values.end()};
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

bool same_bits(const Eigen::Ref<const Eigen::MatrixXf>& a, const Eigen::Ref<const Eigen::MatrixXf>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      if (!same_bits(a(i, j), b(i, j))) return false;
    }
  }
  return true;
}

/// A network whose conditional densities have several bumps, depend on what is given, and have slopes of 2 or so.
Parameters bumpy_parameters(const Shape& shape, Random& random) {
  Parameters p = random_parameters(shape, random, 0.5);
  const int k = shape.sigmoids;
  p.c.head(k).array() += 2.0;
  p.c.segment(k, k) = Vector::LinSpaced(k, -2.0, 2.0);
  p.w2 *= 1.5;
  return p;
}

Shape shape_of(int variables, int ranks, int blocks = 6, int outputs = 20, int sigmoids = 4) {
  return {variables, blocks, ranks, outputs, sigmoids};
}

// ---- Against the reference ------------------------------------------------------------------------------------------

/// Runs the test once on each instruction set of this machine.
class FlowDensityOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Target, FlowDensityOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

double largest_error(const Parameters& parameters, const Table& table, const std::vector<Subset>& subsets) {
  const Eigen::MatrixXf fast = Density(pack(parameters)).log_density(table, subsets);
  double error = 0;
  for (Index i = 0; i < table.rows(); ++i) {
    const auto row = row_of(table, i);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      const double expected = reference::log_density(parameters, row, subsets[s]);
      error = std::max(error, std::abs(fast(i, static_cast<Index>(s)) - expected));
    }
  }
  return error;
}

TEST_P(FlowDensityOn, AnyShapeEqualsTheReference) {
  EXPECT_TRUE(rc::check("any shape, subsets of any size", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 14);
    const Parameters parameters = random_parameters(shape, random, 0.4);
    const Table table = random_table(random, between(random, 1, 40), shape.variables);
    std::vector<Subset> subsets;
    for (int s = 0; s < 4; ++s) subsets.push_back(random_subset(random, shape));
    RC_ASSERT(largest_error(parameters, table, subsets) < 1e-4);
  }));
}

TEST_P(FlowDensityOn, ThePapersShapesEqualTheReference) {
  Random random(Key{1});
  for (const Shape& shape : {shape_of(1, 0), shape_of(2, 1), shape_of(30, 29), shape_of(24, 7, 6, 16),
                             shape_of(9, 8, 1, 3, 1), shape_of(9, 3, 13, 33, 5)}) {
    const Parameters parameters = random_parameters(shape, random, 0.3);
    std::vector<Subset> subsets = {{}};
    for (int j = 0; j < shape.variables; ++j) subsets.push_back({j});
    for (int size = 1; size <= std::min(11, shape.ranks + 1); ++size) {
      subsets.push_back(random.subset(shape.variables, size));
    }
    EXPECT_LT(largest_error(parameters, random_table(random, 20, shape.variables), subsets), 1e-4)
        << shape.variables << " variables, " << shape.ranks << " ranks";
  }
}

class FlowDensityGolden : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(File, FlowDensityGolden, golden_files(), golden_name);

TEST_P(FlowDensityGolden, EqualsTheAuthorsModel) {
  const Density density(pack(golden.parameters));
  const Eigen::MatrixXf fast = density.log_density(Table(golden.rows.cast<float>()), golden.subsets);
  for (std::size_t i = 0; i < golden.subsets.size(); ++i) {
    EXPECT_NEAR(fast(static_cast<Index>(i), static_cast<Index>(i)), golden.log_density[i], 1e-4) << "row " << i;
  }
}

// A conditional density is a difference: log p(x_T | x_S) = log p(x_S∪T) − log p(x_S).
TEST(FlowDensity, DifferencesEqualThoseOfTheReference) {
  Random random(Key{2});
  const Shape shape = shape_of(12, 11);
  const Parameters parameters = random_parameters(shape, random, 0.4);
  const Density density(pack(parameters));
  const Table table = random_table(random, 50, shape.variables);
  for (int trial = 0; trial < 20; ++trial) {
    const Subset both = random_subset(random, shape, 2);
    Subset given;
    for (const int j : both) {
      if (random.coin()) given.push_back(j);
    }
    const Eigen::MatrixXf fast = density.log_density(table, std::array{both, given});
    for (Index i = 0; i < table.rows(); ++i) {
      const auto row = row_of(table, i);
      EXPECT_NEAR(double{fast(i, 0)} - fast(i, 1),
                  reference::log_density(parameters, row, both) - reference::log_density(parameters, row, given), 1e-4);
    }
  }
}

// ---- The same bits in any company -----------------------------------------------------------------------------------

TEST_P(FlowDensityOn, AColumnIsTheSameInAnyCompany) {
  for (const Shape& shape : {shape_of(15, 14), shape_of(15, 6, 5, 16, 3)}) {
    Random random(Key{3});
    const Density density(pack(random_parameters(shape, random)));
    const Table table = random_table(random, 300, shape.variables);
    std::vector<Subset> subsets;
    for (int s = 0; s < 80; ++s) subsets.push_back(random_subset(random, shape));
    subsets.push_back(subsets[3]);
    // Prefixes of each other, which share the most.
    for (std::size_t size = 0; size <= subsets[4].size(); ++size) {
      subsets.emplace_back(subsets[4].begin(), subsets[4].begin() + static_cast<std::ptrdiff_t>(size));
    }
    const Eigen::MatrixXf together = density.log_density(table, subsets);

    for (std::size_t s = 0; s < subsets.size(); ++s) {
      ASSERT_TRUE(
          same_bits(density.log_density(table, std::span(&subsets[s], 1)), together.col(static_cast<Index>(s))));
    }
    const auto order = random.permutation(static_cast<int>(subsets.size()));
    std::vector<Subset> shuffled;
    for (const int s : order) shuffled.push_back(subsets[static_cast<std::size_t>(s)]);
    for (const int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      const Eigen::MatrixXf again = density.log_density(table, shuffled);
      for (std::size_t s = 0; s < order.size(); ++s) {
        ASSERT_TRUE(same_bits(again.col(static_cast<Index>(s)), together.col(order[s]))) << threads << " threads";
      }
    }
    // Rows that come alone, or at another place of a block.
    for (const auto& [first, count] : {std::pair(0, 1), {17, 1}, {5, 130}, {127, 3}, {299, 1}, {100, 200}}) {
      const Table rows = table.middleRows(first, count);
      ASSERT_TRUE(same_bits(density.log_density(rows, subsets), together.middleRows(first, count)));
    }
  }
}

TEST(FlowDensity, OtherVariablesDoNotMatter) {
  EXPECT_TRUE(rc::check("changing variables outside S leaves log p(x_S) as it is", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 10);
    const Density density(pack(random_parameters(shape, random)));
    Table table = random_table(random, 33, shape.variables);
    const std::vector<Subset> subsets = {random_subset(random, shape)};
    const Eigen::MatrixXf before = density.log_density(table, subsets);
    for (int j = 0; j < shape.variables; ++j) {
      if (std::find(subsets[0].begin(), subsets[0].end(), j) != subsets[0].end()) continue;
      table.col(j).setConstant(random.coin() ? 1e30f : std::numeric_limits<float>::quiet_NaN());
    }
    RC_ASSERT(same_bits(density.log_density(table, subsets), before));
  }));
}

TEST(FlowDensity, WritesIntoAPartOfAMatrix) {
  Random random(Key{4});
  const Shape shape = shape_of(5, 4);
  const Density density(pack(random_parameters(shape, random)));
  const Table table = random_table(random, 150, 5);
  const std::vector<Subset> subsets = {{0, 3}, {}, {1, 2, 4}};
  Eigen::MatrixXf large = Eigen::MatrixXf::Constant(160, 7, 7.0f);
  density.log_density(table, subsets, large.block(4, 2, 150, 3));
  EXPECT_TRUE(same_bits(large.block(4, 2, 150, 3), density.log_density(table, subsets)));
  large.block(4, 2, 150, 3).setConstant(7.0f);
  EXPECT_EQ(large.minCoeff(), 7.0f);
  EXPECT_EQ(large.maxCoeff(), 7.0f);
}

TEST(FlowDensity, NothingAskedNothingGiven) {
  Random random(Key{5});
  const Density density(pack(random_parameters(shape_of(3, 2), random)));
  EXPECT_EQ(density.largest_subset(), 3);
  EXPECT_EQ(density.log_density(random_table(random, 4, 3), std::span<const Subset>()).cols(), 0);
  EXPECT_EQ(density.log_density(Table(0, 3), std::array{Subset{0}, Subset{1, 2}}).rows(), 0);
  EXPECT_EQ(density.log_density(random_table(random, 4, 3), std::array{Subset{}}), Eigen::MatrixXf::Zero(4, 1));
}

// ---- A density ------------------------------------------------------------------------------------------------------

TEST(FlowDensity, IntegratesToOne) {
  const struct {
    int variables, points;  // of the trapezoidal rule on [−12, 12], in each variable
  } cases[] = {{1, 481}, {2, 241}, {3, 97}};
  for (const auto& [variables, points] : cases) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Random random(Key{seed});
      const Density density(pack(bumpy_parameters(shape_of(variables, variables - 1), random)));
      const double step = 24.0 / (points - 1);
      Index count = 1;
      for (int j = 0; j < variables; ++j) count *= points;
      Table grid(count, variables);
      for (Index i = 0; i < count; ++i) {
        Index rest = i;
        for (int j = 0; j < variables; ++j, rest /= points) {
          grid(i, j) = static_cast<float>(-12 + step * static_cast<double>(rest % points));
        }
      }
      Subset all(static_cast<std::size_t>(variables));
      std::iota(all.begin(), all.end(), 0);
      std::vector<Subset> subsets = {all};
      for (int j = 0; j < variables; ++j) subsets.push_back({j});
      const Eigen::MatrixXf log_density = density.log_density(grid, subsets);
      const Eigen::VectorXd density_of_all =
          log_density.col(0).cast<double>().array().exp() * std::pow(step, variables);
      EXPECT_NEAR(density_of_all.sum(), 1.0, 1e-3) << variables << " variables, seed " << seed;
      if (variables > 1) {  // and is not just a product: their relative entropy
        const Eigen::VectorXd product = log_density.rightCols(variables).rowwise().sum().cast<double>();
        EXPECT_GT(density_of_all.dot(log_density.col(0).cast<double>() - product), 0.05);
      }
    }
  }
}

// ---- Outliers -------------------------------------------------------------------------------------------------------

TEST_P(FlowDensityOn, OutliersHaveADensity) {
  Random random(Key{6});
  const Shape shape = shape_of(4, 3);
  const Parameters parameters = random_parameters(shape, random, 0.3);
  const Density density(pack(parameters));
  const std::vector<Subset> subsets = {{0}, {1}, {3}, {0, 1}, {1, 2, 3}, {0, 1, 2, 3}};
  for (const float outlier :
       {7.0f, 77.0f, 1e4f, 1e30f, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()}) {
    for (int j = 0; j < 4; ++j) {
      for (const float sign : {-1.0f, 1.0f}) {
        Table table = random_table(random, 20, 4);
        table(7, j) = sign * outlier;
        const Eigen::MatrixXf result = density.log_density(table, subsets);
        EXPECT_TRUE(result.allFinite()) << outlier << " in variable " << j;
        if (outlier > 7) continue;
        for (std::size_t s = 0; s < subsets.size(); ++s) {
          EXPECT_NEAR(result(7, static_cast<Index>(s)),
                      reference::log_density(parameters, row_of(table, 7), subsets[s]), 2e-4);
        }
      }
    }
  }
  // 77 standard deviations: ln Σ w a σ(1−σ) is above the smallest number of single precision, and so as in the
  // reference.
  Table far = Table::Zero(1, 4);
  far(0, 0) = 77.0f;
  const double expected = reference::log_density(parameters, row_of(far, 0), Subset{0});
  EXPECT_LT(expected, -100);
  EXPECT_NEAR(density.log_density(far, std::array{Subset{0}})(0, 0), expected, 1e-4 * std::abs(expected));
}

TEST_P(FlowDensityOn, NaNStaysWhereItIsRead) {
  Random random(Key{7});
  const Density density(pack(random_parameters(shape_of(5, 4), random)));
  Table table = random_table(random, 40, 5);
  table(11, 2) = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Subset> subsets = {{0}, {2}, {2, 3}, {1, 2, 4}, {0, 1, 3, 4}, {0, 1, 2, 3, 4}};
  const Eigen::MatrixXf result = density.log_density(table, subsets);
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      const bool read = i == 11 && std::find(subsets[s].begin(), subsets[s].end(), 2) != subsets[s].end();
      EXPECT_EQ(std::isnan(result(i, static_cast<Index>(s))), read) << "row " << i << " subset " << s;
    }
  }
}

// ---- Values to try --------------------------------------------------------------------------------------------------

TEST_P(FlowDensityOn, ValuesToTryAreAsIfTheTableHeldThem) {
  EXPECT_TRUE(rc::check("trials equal a table of their values", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = *rc::gen::inRange(2, 9);
    const Shape shape = shape_of(d, d - 1);
    const Parameters parameters = bumpy_parameters(shape, random);
    const bool based = *rc::gen::arbitrary<bool>();
    const Table table = random_table(random, *rc::gen::inRange(1, 200), d);
    const Density density(pack(parameters), based ? GaussianBase(Vector::Constant(d, 0.1),
                                                                 Matrix::Identity(d, d) + 0.3 * Matrix::Ones(d, d))
                                                  : GaussianBase());
    Subset subset;
    for (int j = 0; j < d; ++j) {
      if (random.uniform() < 0.7) subset.push_back(j);
    }
    std::vector<Trial> trials;
    for (const int j : subset) {
      if (trials.size() < 2 && random.uniform() < 0.5) trials.push_back({j, random_table(random, table.rows(), 3)});
    }
    if (trials.size() == 2 && random.uniform() < 0.5) std::swap(trials[0], trials[1]);
    const Eigen::MatrixXf all = density.log_density(table, subset, trials);
    RC_ASSERT(all.cols() == (trials.empty() ? 1 : trials.size() == 1 ? 3 : 9));
    for (Index v = 0; v < all.cols(); ++v) {
      Table replaced = table;
      for (std::size_t k = 0; k < trials.size(); ++k) {
        const Index value = k + 1 == trials.size() ? v % 3 : v / 3;
        replaced.col(trials[k].columns.front().variable) = trials[k].columns.front().values.col(value);
      }
      RC_ASSERT(same_bits(all.col(v), density.log_density(replaced, {&subset, 1})));
    }
  }));
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

TEST(FlowDensity, SaysWhatIsWrongWithValuesToTry) {
  Random random(Key{5});
  const Density density(pack(random_parameters(shape_of(3, 2), random)));
  const Table table = random_table(random, 4, 3);
  const auto message = [&](const Trial& trial) {
    return message_of<UsageError>([&] { density.log_density(table, Subset{0, 1}, {&trial, 1}); });
  };
  EXPECT_THAT(message({2, table}), testing::HasSubstr("variable 2 is to be tried but not in the subset"));
  EXPECT_THAT(message({1, table.topRows(3)}), testing::HasSubstr("3 rows of values to try for a table of 4"));
}

TEST(FlowDensity, SaysWhatIsWrong) {
  Random random(Key{8});
  const Density density(pack(random_parameters(shape_of(6, 2), random)));
  const Table table = random_table(random, 10, 6);
  const auto error = [&](const Table& rows, const std::vector<Subset>& subsets) {
    return message_of<UsageError>([&] { (void)density.log_density(rows, subsets); });
  };
  EXPECT_EQ(error(table, {{0}, {3, 1}}),
            "[log_density] subset 1 has variable 3 before 1; use ascending order, none twice");
  EXPECT_EQ(error(table, {{2, 2}}), "[log_density] subset 0 has variable 2 before 2; use ascending order, none twice");
  EXPECT_EQ(error(table, {{0}, {}, {1, 6}}), "[log_density] subset 2 has variable 6; this network knows 0 to 5");
  EXPECT_EQ(error(table, {{-1}}), "[log_density] subset 0 has variable -1; this network knows 0 to 5");
  EXPECT_EQ(error(table, {{0, 1, 2, 3}}), "[log_density] subset 0 has 4 variables; this network allows 3");
  EXPECT_EQ(error(table.leftCols(5), {{0}}), "[log_density] rows of 5 values; this network has 6 variables");
  Eigen::MatrixXf small(9, 1);
  EXPECT_EQ(message_of<UsageError>([&] { density.log_density(table, std::array{Subset{0}}, small); }),
            "[log_density] a result of 9×1 for 10 rows and 1 subsets; make it as large");
}

}  // namespace
}  // namespace fansite::flow
