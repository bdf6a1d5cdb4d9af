// SPDX-License-Identifier: Apache-2.0
//
// What the test says of tables whose relations are known: linear and Gaussian, bent in one way or another, linear with
// other noise; and of tables that are odd.
#include "fansite/entropy/linearity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/search.h"
#include "fansite/entropy/gaussian.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

using Sets = std::vector<std::vector<int>>;

Sets found_boundaries(const Dataset& data) {
  Sets sets(static_cast<std::size_t>(data.variables()));
  for (const Boundary& boundary : find_boundaries(GaussianEstimator(covariance(data.values))).boundaries) {
    sets[static_cast<std::size_t>(boundary.target)] = boundary.member_indices();
  }
  return sets;
}

Sets no_boundaries(const Dataset& data) { return Sets(static_cast<std::size_t>(data.variables())); }

LinearityTest test_found(const Dataset& data) { return test_linearity(data, found_boundaries(data)); }

/// Independent normal columns, the last of which is then made from the others by draw(row, e).
template <class Draw>
Dataset last_from_others(Index rows, int columns, std::uint64_t seed, Draw&& draw) {
  Random random(Key{seed});
  Dataset data{default_names(columns), Matrix(rows, columns)};
  for (double& cell : data.values.reshaped()) cell = random.normal();
  for (Index row = 0; row < rows; ++row) {
    double& last = data.values(row, columns - 1);
    last = draw(data.values.row(row), last);
  }
  return data;
}

Dataset simulate_data(Sem sem, Noise noise, double degree, Index rows, std::uint64_t seed) {
  SimulateParams params;
  params.nodes = 10;
  params.degree = degree;
  params.sem = sem;
  params.noise = noise;
  params.rows = rows;
  params.seed = seed;
  return simulate(params).data;
}

void expect_equal(const LinearityTest& a, const LinearityTest& b) {
  EXPECT_EQ(a.p_value, b.p_value);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.other, b.other);
  EXPECT_EQ(a.sign, b.sign);
  EXPECT_EQ(a.pair_p_value, b.pair_p_value);
  EXPECT_EQ(a.pair, b.pair);
  EXPECT_EQ(a.normality_p_value, b.normality_p_value);
  EXPECT_EQ(a.normality_target, b.normality_target);
}

void expect_nothing_seen(const LinearityTest& test) {
  EXPECT_TRUE(test.linear);
  EXPECT_TRUE(test.linear_equations);
  EXPECT_TRUE(test.normal);
  EXPECT_EQ(test.p_value, 1);
  EXPECT_EQ(test.pair_p_value, 1);
  EXPECT_EQ(test.normality_p_value, 1);
  EXPECT_EQ(test.target, -1);
  EXPECT_EQ(test.other, -1);
  EXPECT_EQ(test.sign, Sign::none);
}

// ---- Linear Gaussian tables -----------------------------------------------------------------------------------------

/// How many of so many linear Gaussian tables have a p-value below that level, of signs and of normality.
template <class Boundaries>
std::pair<int, int> count_below(double level, int tables, Index rows, int variables, Boundaries&& boundaries) {
  std::pair<int, int> below;
  for (int table = 0; table < tables; ++table) {
    const Simulation simulation = simulate_linear(variables, 1.0, rows, static_cast<std::uint64_t>(100 + table));
    const LinearityTest test = test_linearity(simulation.data, boundaries(simulation));
    below.first += test.p_value < level;
    below.second += test.normality_p_value < level;
    EXPECT_TRUE(test.linear_equations) << table;
  }
  return below;
}

TEST(Linearity, LinearGaussianTablesPass) {
  const auto found = [](const Simulation& simulation) { return found_boundaries(simulation.data); };
  for (const auto& [rows, tables] : {std::pair(40, 60), std::pair(200, 60), std::pair(2000, 10)}) {
    const auto [nonlinear, not_normal] = count_below(0.01, tables, rows, 10, found);
    EXPECT_LE(nonlinear, 2) << rows;  // 0.6 expected, or 0.1
    EXPECT_LE(not_normal, 2) << rows;
  }
}

TEST(Linearity, HoldsItsLevel) {
  // 15 of 300 expected; more than 26 or fewer than 4 have a chance below 1 %.
  const auto exact = [](const Simulation& simulation) {
    Sets sets;
    for (int t = 0; t < simulation.dag.nodes(); ++t) sets.push_back(simulation.dag.markov_boundary(t));
    return sets;
  };
  const auto [nonlinear, not_normal] = count_below(0.05, 300, 50, 6, exact);
  EXPECT_THAT(nonlinear, AllOf(Ge(4), Le(26)));
  EXPECT_THAT(not_normal, AllOf(Ge(4), Le(26)));
}

TEST(Linearity, MembersThatAreMissingAreNoSign) {
  const auto none = [](const Simulation& simulation) { return no_boundaries(simulation.data); };
  EXPECT_LE(count_below(0.01, 60, 200, 10, none).first, 2);
}

TEST(Linearity, BoundariesMayBeLarge) {
  const auto all_others = [](const Simulation& simulation) {
    Sets sets(static_cast<std::size_t>(simulation.dag.nodes()));
    for (int t = 0; t < simulation.dag.nodes(); ++t) {
      for (int z = 0; z < simulation.dag.nodes(); ++z) {
        if (z != t) sets[static_cast<std::size_t>(t)].push_back(z);
      }
    }
    return sets;
  };
  EXPECT_LE(count_below(0.01, 40, 40, 30, all_others).first, 2);
  const Simulation ten = simulate_linear(30, 1.0, 40, 1), nine = simulate_linear(30, 1.0, 39, 1);  // degrees of freedom
  EXPECT_NE(test_linearity(ten.data, all_others(ten)).sign, Sign::none);
  expect_nothing_seen(test_linearity(nine.data, all_others(nine)));
}

// ---- Bends ----------------------------------------------------------------------------------------------------------

TEST(Linearity, NamesTheKindOfBend) {
  const auto expect = [](Sign sign, auto&& draw) {
    Dataset data = last_from_others(500, 4, 1, draw);
    data.values.col(0).swap(data.values.col(3));
    LinearityParams params;
    params.max_targets = 1;  // the first
    const LinearityTest test = test_linearity(data, found_boundaries(data), params);
    EXPECT_FALSE(test.linear) << name(sign);
    EXPECT_LT(test.p_value, 1e-6) << name(sign);
    EXPECT_EQ(test.target, 0) << name(sign);
    EXPECT_EQ(test.other, 3) << name(sign);
    EXPECT_EQ(name(test.sign), name(sign));
    const LinearityTest all = test_found(data);
    EXPECT_FALSE(all.linear_equations) << name(sign);
    EXPECT_EQ(all.pair, std::pair(0, 3)) << name(sign);
  };
  expect(Sign::curvature, [](const auto& x, double e) { return x[0] + 0.5 * x[0] * x[0] + e; });
  expect(Sign::s_shape, [](const auto& x, double e) { return std::tanh(3 * x[0]) + 0.3 * e; });
  expect(Sign::spread_slope, [](const auto& x, double e) { return std::exp(0.7 * x[0]) * e; });
  expect(Sign::spread_slope, [](const auto& x, double e) { return x[0] + std::exp(0.7 * x[0]) * e; });
  expect(Sign::spread_bulge, [](const auto& x, double e) { return (0.2 + std::abs(x[0])) * e; });
}

TEST(Linearity, SeesAParabolaEitherWay) {
  // Given x the mean of y bends; given y the spread of x rises.
  const LinearityTest test =
      test_found(last_from_others(300, 2, 1, [](const auto& x, double e) { return x[0] * x[0] + e; }));
  EXPECT_LT(test.p_value, 1e-20);
  EXPECT_EQ(test.sign, test.target == 1 ? Sign::curvature : Sign::spread_slope);
}

TEST(Linearity, SeesAnInteraction) {
  const LinearityTest test =
      test_found(last_from_others(500, 4, 2, [](const auto& x, double e) { return x[0] * x[1] + 0.5 * e; }));
  EXPECT_FALSE(test.linear);
  EXPECT_EQ(test.sign, Sign::spread_bulge);
}

TEST(Linearity, SimulatedNonlinearEquationsAreFound) {
  for (const Sem sem : {Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) {
    for (const std::uint64_t seed : {1, 2}) {
      const LinearityTest test = test_found(simulate_data(sem, Noise::gauss, 1, 800, seed));
      EXPECT_FALSE(test.linear) << name(sem) << seed;
      EXPECT_FALSE(test.linear_equations) << name(sem) << seed;
    }
  }
}

// ---- Noise that is not normal ---------------------------------------------------------------------------------------

constexpr std::array kOtherNoise = {Noise::uniform, Noise::laplace, Noise::gumbel, Noise::exponential};

TEST(Linearity, NoiseAloneIsLinearWhateverItsDistribution) {
  for (const Noise noise : kOtherNoise) {
    const Dataset data = simulate_data(Sem::linear, noise, 0, 400, 1);
    const LinearityTest test = test_linearity(data, no_boundaries(data));
    EXPECT_TRUE(test.linear) << name(noise);
    EXPECT_TRUE(test.linear_equations) << name(noise);
    EXPECT_FALSE(test.normal) << name(noise);
  }
}

TEST(Linearity, LinearEquationsWithOtherNoiseBendOneWayOnly) {
  for (const Noise noise : kOtherNoise) {
    int bent = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const LinearityTest test = test_found(simulate_data(Sem::linear, noise, 1.5, 1000, seed));
      EXPECT_TRUE(test.linear_equations) << name(noise) << seed;
      EXPECT_FALSE(test.normal) << name(noise) << seed;
      bent += !test.linear;
    }
    EXPECT_GE(bent, 7) << name(noise);
  }
}

TEST(Linearity, NamesTheResidualThatIsNotNormal) {
  const Dataset data = last_from_others(200, 3, 1, [](const auto&, double e) { return std::exp(e); });
  EXPECT_EQ(test_linearity(data, no_boundaries(data)).normality_target, 2);
}

// ---- Units, order, threads ------------------------------------------------------------------------------------------

TEST(LinearityProperty, UnitsAndOrderDoNotMatter) {
  const Dataset data = simulate_data(Sem::gp, Noise::gauss, 1, 60, 1);
  const Sets boundaries = found_boundaries(data);
  const LinearityTest expected = test_linearity(data, boundaries);
  EXPECT_TRUE(rc::check("other units and another order of rows and columns give the same answer", [&] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Random random(Key{seed});
    const std::vector<int> rows = random.permutation(60), columns = random.permutation(10);
    Dataset other{data.names, data.values(rows, columns)};
    for (auto column : other.values.colwise()) {
      column = (column.array() * std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(600)) - 300)).matrix();
      if (random.coin()) column = -column;
    }
    std::vector<int> place(10);
    for (int i = 0; i < 10; ++i) place[static_cast<std::size_t>(columns[static_cast<std::size_t>(i)])] = i;
    Sets moved(10);
    for (std::size_t t = 0; t < 10; ++t) {
      for (const int z : boundaries[t]) {
        moved[static_cast<std::size_t>(place[t])].push_back(place[static_cast<std::size_t>(z)]);
      }
    }
    const LinearityTest test = test_linearity(other, moved);
    RC_ASSERT(std::abs(std::log(test.p_value / expected.p_value)) < 1e-4);
    RC_ASSERT(std::abs(std::log(test.pair_p_value / expected.pair_p_value)) < 1e-4);
    RC_ASSERT(std::abs(std::log(test.normality_p_value / expected.normality_p_value)) < 1e-6);
    RC_ASSERT(test.target == place[static_cast<std::size_t>(expected.target)]);
    RC_ASSERT(test.other == place[static_cast<std::size_t>(expected.other)]);
    RC_ASSERT(test.sign == expected.sign);
  }));
}

TEST(Linearity, SameBitsForAnyNumberOfThreads) {
  const Simulation simulation = simulate_linear(150, 1.5, 100, 3);  // three tiles
  const Sets boundaries = found_boundaries(simulation.data);
  const ThreadLimit one(1);
  const LinearityTest serial = test_linearity(simulation.data, boundaries);
  for (const int threads : {2, 4}) {
    const ThreadLimit many(threads);
    expect_equal(test_linearity(simulation.data, boundaries), serial);
  }
}

TEST(Linearity, LongTablesGoInBlocks) {
  // 33,000 rows: 64 targets to a block. The only bend is between the first and the last but one.
  Dataset data = last_from_others(33000, 66, 4, [](const auto&, double e) { return e; });
  data.values.col(64).array() += 0.1 * data.values.col(0).array().square();
  const LinearityTest test = test_linearity(data, no_boundaries(data));
  EXPECT_EQ(test.target, 64);
  EXPECT_EQ(test.other, 0);
  EXPECT_EQ(test.sign, Sign::curvature);
  EXPECT_LT(test.p_value, 1e-30);
}

TEST(Linearity, SomeTargetsStandForAll) {
  // Of 20 variables targets are 0, 5, 10 and 15: those of 1 and 2 go unseen, that of 10 does not.
  Dataset data = last_from_others(300, 20, 5, [](const auto&, double e) { return e; });
  data.values.col(1).array() += 2 * data.values.col(2).array().square();
  LinearityParams params;
  params.max_targets = 4;
  EXPECT_TRUE(test_linearity(data, no_boundaries(data), params).linear);
  data.values.col(10).array() += data.values.col(2).array().square();
  const LinearityTest test = test_linearity(data, no_boundaries(data), params);
  EXPECT_EQ(test.target, 10);
  EXPECT_FALSE(test.linear);
  EXPECT_TRUE(test.linear_equations);  // 2 is no target
  EXPECT_FALSE(test_linearity(data, no_boundaries(data)).linear_equations);
}

// ---- Odd tables -----------------------------------------------------------------------------------------------------

TEST(Linearity, ConstantsAndCopiesChangeNothing) {
  for (const Sem sem : {Sem::linear, Sem::gp}) {
    const Dataset data = simulate_data(sem, Noise::gauss, 1, 200, 2);
    Sets boundaries = found_boundaries(data);
    const LinearityTest expected = test_linearity(data, boundaries);
    Dataset more{default_names(12), Matrix(200, 12)};
    more.values << data.values, Vector::Constant(200, 0.1), data.values.col(3);
    boundaries.emplace_back();
    boundaries.push_back(boundaries[3]);
    expect_equal(test_linearity(more, boundaries), expected);
  }
}

TEST(Linearity, CollinearMembersDoNoHarm) {
  const Simulation simulation = simulate_linear(10, 1.0, 200, 4);
  Dataset data{default_names(14), Matrix(200, 14)};
  data.values.leftCols(10) = simulation.data.values;
  data.values.col(10) = data.values.col(1) + data.values.col(2);
  data.values.col(11) = -3 * data.values.col(3);
  data.values.col(12) = data.values.col(4);
  data.values.col(13).setConstant(7);
  EXPECT_TRUE(test_found(data).linear);

  LinearityParams params;
  params.max_targets = 1;  // the first
  const auto expect_same = [&](const std::vector<int>& one, const std::vector<int>& other, double tolerance) {
    Sets boundaries = no_boundaries(data);
    boundaries[0] = one;
    const LinearityTest a = test_linearity(data, boundaries, params);
    boundaries[0] = other;
    const LinearityTest b = test_linearity(data, boundaries, params);
    EXPECT_NE(a.sign, Sign::none);
    EXPECT_EQ(a.sign, b.sign);
    EXPECT_NEAR(a.p_value, b.p_value, tolerance);
    EXPECT_NEAR(a.normality_p_value, b.normality_p_value, tolerance);
  };
  expect_same({1, 2, 3, 4}, {13, 12, 1, 2, 10, 3, 11, 4, 4}, 1e-6);
  // Two members that differ by 1e-4 of a third variable say what that one does.
  data.values.col(12) = data.values.col(0) + data.values.col(5);
  data.values.col(13) = data.values.col(1) + 1e-4 * data.values.col(12);
  expect_same({1, 12}, {1, 13}, 1e-4);
}

TEST(Linearity, DeterminedTargetsArePassedOver) {
  Dataset data = last_from_others(100, 3, 6, [](const auto& x, double) { return x[0] - 2 * x[1]; });
  expect_nothing_seen(test_linearity(data, {{1, 2}, {0, 2}, {0, 1}}));
}

TEST(Linearity, MoreColumnsThanRowsDoNoHarm) {
  const Simulation simulation = simulate_linear(80, 1.0, 30, 5);
  const LinearityTest test = test_found(simulation.data);
  EXPECT_TRUE(test.linear);
  EXPECT_GT(test.p_value, 0);
}

TEST(Linearity, ColumnsOfRareEventsAreNoSign) {
  // Two columns that are 1 in 3 of 300 rows share one by chance now and then: a correlation of 1/3, 6 standard errors.
  // One column is a parabola over the rows, as in a time series.
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Random random(Key{seed});
    Dataset data{default_names(31), Matrix::Zero(300, 31)};
    data.values.col(30) = Vector::LinSpaced(300, -1, 1).cwiseAbs2();
    for (int column = 0; column < 30; ++column) {
      for (const int row : random.subset(300, 3)) data.values(row, column) = 1;
    }
    EXPECT_TRUE(test_linearity(data, no_boundaries(data)).linear) << seed;
    EXPECT_TRUE(test_found(data).linear) << seed;
  }
}

TEST(Linearity, AVariableWithTwoOrThreeValuesBendsNothing) {
  // A line goes through any two points, a parabola through any three, whatever the regression missed.
  const auto strongest = [](const std::vector<double>& values) {
    Random random(Key{8});
    Dataset data = last_from_others(1000, 2, 8, [&](const auto& x, double) {
      return values[random.below(static_cast<std::uint32_t>(values.size()))] + 0.0 * x[0];
    });
    data.values.col(0) += data.values.col(1);
    LinearityParams params;
    params.max_targets = 1;
    return test_linearity(data, no_boundaries(data), params).sign;
  };
  EXPECT_EQ(strongest({0, 0, 0, 3}), Sign::spread_slope);
  EXPECT_NE(strongest({0, 0, 0, 0, 0, 1, 4}), Sign::s_shape);
}

TEST(Linearity, ExtremeValuesDoNoHarm) {
  Dataset data = simulate_linear(6, 1.0, 100, 7).data;
  const Sets boundaries = found_boundaries(data);
  const LinearityTest expected = test_linearity(data, boundaries);
  data.values.col(0) *= 0x1p+1000;
  data.values.col(1) *= 0x1p-1000;
  expect_equal(test_linearity(data, boundaries), expected);
}

TEST(Linearity, TablesWithNothingToTestAreLinear) {
  const Dataset constant{default_names(3), Matrix::Constant(20, 3, 0.1)};
  expect_nothing_seen(test_linearity(constant, no_boundaries(constant)));
  const Dataset few = simulate_linear(5, 1.0, 10, 1).data;
  expect_nothing_seen(test_linearity(few, no_boundaries(few)));
  const Dataset single = simulate_linear(1, 0.0, 50, 1).data;
  const LinearityTest test = test_linearity(single, no_boundaries(single));
  EXPECT_EQ(test.p_value, 1);
  EXPECT_EQ(test.normality_target, 0);
}

// ---- Mistakes -------------------------------------------------------------------------------------------------------

TEST(Linearity, SignsHaveNames) {
  EXPECT_EQ(name(Sign::none), "none");
  EXPECT_EQ(name(Sign::curvature), "curvature");
  EXPECT_EQ(name(Sign::s_shape), "S-shape");
  EXPECT_EQ(name(Sign::spread_slope), "sloping spread");
  EXPECT_EQ(name(Sign::spread_bulge), "bulging spread");
}

TEST(Linearity, ExplainsMistakes) {
  Dataset data = simulate_linear(3, 1.0, 50, 1).data;
  const auto message = [&](const Sets& boundaries, const LinearityParams& params = {}) {
    return message_of<UsageError>([&] { test_linearity(data, boundaries, params); });
  };
  EXPECT_THAT(message(Sets(2)), HasSubstr("2 boundaries for 3 variables"));
  EXPECT_THAT(message({{}, {1}, {}}), HasSubstr("variable 1 has a member 1"));
  EXPECT_THAT(message({{}, {}, {3}}), HasSubstr("member 3"));
  EXPECT_THAT(message({{-1}, {}, {}}), HasSubstr("member -1"));
  LinearityParams params;
  params.level = std::nan("");
  EXPECT_THAT(message(Sets(3), params), HasSubstr("level nan"));
  params = {};
  params.max_targets = 0;
  EXPECT_THAT(message(Sets(3), params), HasSubstr("max_targets 0"));
  data.values(4, 1) = std::nan("");
  EXPECT_THAT(message_of<DataError>([&] { test_linearity(data, Sets(3)); }), HasSubstr("1 missing cell"));
}

TEST(Linearity, CanBeInterrupted) {
  const Dataset data = simulate_linear(3, 1.0, 50, 1).data;
  Impatient progress;
  EXPECT_THROW(test_linearity(data, TableFacts(data), no_boundaries(data), {}, progress), Interrupted);
}

}  // namespace
}  // namespace fansite
