// SPDX-License-Identifier: Apache-2.0
//
// Wild cells are found, heavy tails are not called so, and neither decides anything.
#include "fansite/table/wild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "fansite/base/random.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Draw = std::function<double(Random&)>;

double normal(Random& random) { return random.normal(); }
double exponential(Random& random) { return random.exponential(); }
double laplace(Random& random) { return random.laplace(); }
double log_normal(Random& random) { return std::exp(random.normal()); }
double very_log_normal(Random& random) { return std::exp(3 * random.normal()); }
double student(Random& random, int degrees) {
  double squares = 0;
  for (int i = 0; i < degrees; ++i) squares += std::pow(random.normal(), 2);
  return random.normal() / std::sqrt(squares / degrees);
}
double student3(Random& random) { return student(random, 3); }
double cauchy(Random& random) { return student(random, 1); }

Vector column_of(const Draw& draw, Index rows, std::uint64_t seed) {
  Random random(Key{seed});
  Vector values(rows);
  for (double& value : values) value = draw(random);
  return values;
}

TEST(WildCells, HeavyTailsAreNotWild) {
  for (const Draw& draw : {Draw(normal), Draw(laplace), Draw(exponential), Draw(log_normal), Draw(very_log_normal),
                           Draw(student3), Draw(cauchy)}) {
    std::size_t found = 0;
    for (std::uint64_t column = 0; column < 200; ++column) found += wild_cells(column_of(draw, 1000, column)).size();
    EXPECT_LE(found, 1u);
  }
  std::size_t found = 0;  // few rows tell little of a tail
  for (std::uint64_t column = 0; column < 1000; ++column) found += !wild_cells(column_of(cauchy, 200, column)).empty();
  EXPECT_LE(found, 20u);
}

TEST(WildCells, ACodeIsFoundInFewRows) {
  for (std::uint64_t column = 0; column < 200; ++column) {
    Vector values = column_of(normal, 50, column);
    values[17] = 999;
    EXPECT_EQ(wild_cells(values).size(), 1u) << column;
  }
}

TEST(WildCells, SlipsAndCodesAreFound) {
  for (const Index rows : {20, 60, 400, 1000}) {
    for (const double wild : {1e5, -1e5, 1e308, -1e308, 999.0, -999.0}) {
      Vector values = column_of(normal, rows, 1);
      values[17] = wild;
      const auto cells = wild_cells(values);
      ASSERT_EQ(cells.size(), 1u) << rows << " rows, " << wild;
      EXPECT_EQ(cells[0].row, 17);
      EXPECT_LT(std::abs(cells[0].instead), 0.5);
      EXPECT_GT(cells[0].times, 200);
      EXPECT_TRUE(std::isfinite(cells[0].times));
    }
  }
}

TEST(WildCells, SeveralAreFoundTogether) {
  Vector values = column_of(normal, 1000, 2);
  values[3] = 1e308;
  values[30] = -1e5;
  values[300] = values[301] = 999;
  EXPECT_EQ(wild_cells(values).size(), 4u);
  for (Index row = 400; row < 420; ++row) values[row] = 999;  // 2 %: another kind of row, no slip
  values[3] = values[30] = 0;
  EXPECT_THAT(wild_cells(values), IsEmpty());
}

TEST(WildCells, ShiftAndScaleDoNotMatter) {
  for (const double scale : {1e-300, 1e-5, 1.0, 1e200}) {
    Vector values = 5 * scale + scale * column_of(normal, 300, 3).array();
    EXPECT_THAT(wild_cells(values), IsEmpty());
    values[7] = 1e4 * scale;
    EXPECT_EQ(wild_cells(values).size(), 1u) << scale;
  }
}

TEST(WildCells, MissingCellsSayNothing) {
  Vector values = column_of(normal, 100, 4);
  for (Index row = 0; row < 50; ++row) values[2 * row] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(wild_cells(values), IsEmpty());
  values[11] = 1e5;
  ASSERT_EQ(wild_cells(values).size(), 1u);
  EXPECT_EQ(wild_cells(values)[0].row, 11);
}

TEST(WildCells, RoundedAndZeroRichColumns) {
  Vector age = column_of(normal, 300, 5).unaryExpr([](double x) { return std::round(50 + 12 * x); });
  EXPECT_THAT(wild_cells(age), IsEmpty());
  age[5] = 999;
  EXPECT_EQ(wild_cells(age).size(), 1u);
  const Draw dose = [](Random& random) { return random.uniform() < 0.8 ? 0.0 : exponential(random); };
  Vector doses = column_of(dose, 300, 6);
  EXPECT_THAT(wild_cells(doses), IsEmpty());
  doses[5] = 1e5;
  EXPECT_EQ(wild_cells(doses).size(), 1u);
  Vector rare = Vector::Zero(300);  // no scale to compare with
  rare[5] = 1;
  EXPECT_THAT(wild_cells(rare), IsEmpty());
}

TEST(WildCells, TheFindingNamesRowAndColumn) {
  Dataset data{{"pressure", "flow"}, Matrix(400, 2)};
  data.values.col(0) = column_of(normal, 400, 7);
  data.values.col(1) = column_of(normal, 400, 8);
  EXPECT_THAT(TableFacts(data).findings, IsEmpty());
  data.values(16, 0) = 1e5;
  const TableFacts facts(data);
  ASSERT_EQ(facts.findings.size(), 1u);
  EXPECT_EQ(facts.findings[0].kind, Finding::Kind::wild);
  EXPECT_FALSE(facts.findings[0].fatal);
  EXPECT_THAT(facts.findings[0].message,
              AllOf(HasSubstr("the cell of 'pressure' in row 17 (1e+05) is 3e+04 times as far from the median as any "
                              "other of the column: a slip, or a code for missing?"),
                    HasSubstr("If it is wrong, leave the cell empty")));
  for (const Index row : {1, 2}) data.values(row, 1) = data.values(row, 0) = -999;
  EXPECT_THAT(
      TableFacts(data).findings[0].message,
      HasSubstr("the cells of 'pressure' in row 2 (-999), 'pressure' in row 3 (-999), 'pressure' in row 17 (1e+05) "
                "and 2 more are at least"));
}

using Sets = std::vector<std::set<int>>;

Sets sets_of(const BoundariesResult& result) {
  Sets sets;
  for (const Boundary& boundary : result.found.boundaries) {
    const auto members = boundary.member_indices();
    sets.emplace_back(members.begin(), members.end());
  }
  return sets;
}

std::size_t different_members(const Sets& a, const Sets& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (const int member : a[i]) count += 1 - b[i].count(member);
    for (const int member : b[i]) count += 1 - a[i].count(member);
  }
  return count;
}

TEST(WildCells, DecideNoBoundaryOfALinearTable) {
  Dataset data = simulate_linear(8, 2, 400, 1).data;
  const BoundariesResult clean = markov_boundaries(data);
  ASSERT_EQ(clean.estimator, "gaussian");
  ASSERT_THAT(sets_of(clean), Contains(Not(IsEmpty())));
  for (const double wild : {1e5, 1e308, -999.0}) {
    for (const int column : {0, 3, 6}) {
      Dataset spoilt = data;
      spoilt.values(16, column) = wild;
      const BoundariesResult found = markov_boundaries(spoilt);
      EXPECT_EQ(found.estimator, "gaussian");
      EXPECT_LE(different_members(sets_of(found), sets_of(clean)), 1u) << wild << " in column " << column;
      EXPECT_THAT(found.warnings,
                  Contains(HasSubstr("'" + data.names[static_cast<std::size_t>(column)] + "' in row 17")));
      EXPECT_THAT(found.warnings, Each(Not(HasSubstr("infinite"))));
    }
  }
}

// One cell hides no curve from the test of linearity, and bends no line.
TEST(WildCells, DoNotDecideWhatIsLinear) {
  SimulateParams params;
  params.nodes = 8;
  params.degree = 2;
  params.rows = 400;
  params.seed = 1;
  params.sem = Sem::gp;
  Dataset curved = simulate(params).data;
  Dataset linear = simulate_linear(8, 2, 400, 1).data;
  NoProgress silent;
  for (const double wild : {1e5, 1e308}) {
    for (Dataset* data : {&curved, &linear}) {
      Dataset spoilt = *data;
      spoilt.values(16, 3) = wild;
      const Context context(spoilt, Knowledge(), RunParams(), silent);
      EXPECT_LT(context.tame().values.cwiseAbs().maxCoeff(), 1e3);
      const std::vector<std::vector<int>> sets(8);
      const LinearityTest test = test_linearity(context.tame(), context.facts(), sets, {}, silent);
      const LinearityTest expected = test_linearity(*data, TableFacts(*data), sets, {}, silent);
      EXPECT_EQ(test.linear_equations, expected.linear_equations);
    }
  }
}

// a → b → c with noise that is not Gaussian, so that directions can be told.
TEST(WildCells, DecideNoGraph) {
  Random random(Key{9});
  Dataset data{{"a", "b", "c"}, Matrix(300, 3)};
  for (Index row = 0; row < data.rows(); ++row) {
    const double a = random.uniform(-1, 1), b = a + random.uniform(-1, 1);
    data.values.row(row) << a, b, b + random.uniform(-1, 1);
  }
  ByteMatrix links = ByteMatrix::Zero(3, 3);
  links(0, 1) = links(1, 0) = links(1, 2) = links(2, 1) = 1;
  NoProgress silent;
  const CausalGraphResult clean = causal_graph(data, &links, Knowledge(), CausalGraphParams(), silent);
  EXPECT_GT(clean.graph.directed(0, 1) + clean.graph.directed(1, 2), 0);
  data.values(16, 1) = 1e308;
  const CausalGraphResult found = causal_graph(data, &links, Knowledge(), CausalGraphParams(), silent);
  EXPECT_EQ(found.graph.directed, clean.graph.directed);
  EXPECT_THAT(found.warnings, Contains(HasSubstr("'b' in row 17 (1e+308)")));
}

TEST(WildCells, ATableWithoutThemIsItself) {
  const Dataset data = simulate_linear(4, 1, 100, 3).data;
  NoProgress silent;
  const Context context(data, Knowledge(), RunParams(), silent);
  EXPECT_EQ(&context.tame(), &data);
}

}  // namespace
}  // namespace fansite
