// SPDX-License-Identifier: Apache-2.0
//
// What becomes of simulated tables that were exact, continuous and complete, as `simulate` gives them.
#include "fansite/simulate/detail/coarse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/simulate/simulate.h"
#include "fansite/table/column.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

// FNV-1a over the bytes of a table.
std::uint64_t fingerprint(const Matrix& table) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < table.size(); ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, table.data() + i, sizeof bits);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

SimulateParams coarse_params(Kinds kinds, Index rows = 1000, std::uint64_t seed = 5) {
  SimulateParams result;
  result.sem = Sem::mlp;
  result.nodes = 40;
  result.degree = 1.5;
  result.rows = rows;
  result.seed = seed;
  result.kinds = kinds;
  return result;
}

// How often each value occurs.
std::map<double, double> shares(const Vector& column) {
  std::map<double, double> result;
  for (const double value : column) result[value] += 1.0 / static_cast<double>(column.size());
  return result;
}

// The largest |correlation|·√rows of x and z among the rows of one level of y.
double dependence_within(const Matrix& values, int x, int z, int y) {
  double largest = 0;
  for (const auto& [level, share] : shares(values.col(y))) {
    std::vector<Index> rows;
    for (Index i = 0; i < values.rows(); ++i) {
      if (values(i, y) == level) rows.push_back(i);
    }
    Vector a = values(rows, x), b = values(rows, z);
    a.array() -= a.mean();
    b.array() -= b.mean();
    const double product = a.norm() * b.norm();
    if (product > 0) largest = std::max(largest, std::abs(a.dot(b)) / product * std::sqrt(a.size()));
  }
  return largest;
}

// ---- Measurement noise ----------------------------------------------------------------------------------------------

// The same seed without noise shows what was added.
TEST(MeasurementNoise, HasItsShareAndChildrenDoNotSeeIt) {
  constexpr Index kRows = 20000;
  SimulateParams chosen = coarse_params(Kinds::continuous, kRows);
  chosen.nodes = 8;
  const Simulation exact = simulate(chosen);
  chosen.measurement_noise = 0.3;
  const Simulation measured = simulate(chosen);
  EXPECT_EQ(exact.dag.adjacency(), measured.dag.adjacency());
  ASSERT_GT(exact.dag.edges(), 4);
  const Matrix noise = measured.data.values - exact.data.values;
  const auto covariance = [](const Vector& a, const Vector& b) {
    return (a.array() - a.mean()).matrix().dot((b.array() - b.mean()).matrix()) / static_cast<double>(a.size());
  };
  const auto correlation = [&](const Vector& a, const Vector& b) {
    return covariance(a, b) / std::sqrt(covariance(a, a) * covariance(b, b));
  };
  for (int node = 0; node < 8; ++node) {
    const Vector added = noise.col(node), column = measured.data.values.col(node);
    const double variance = covariance(added, added);
    EXPECT_NEAR(variance / covariance(column, column), 0.3, 4.5 * 0.3 * std::sqrt(2.0 / kRows)) << node;
    // Gaussian: the fourth moment, whose standard error is √(96/N).
    EXPECT_NEAR(added.array().pow(4).mean() / (variance * variance), 3, 4.5 * std::sqrt(96.0 / kRows)) << node;
    for (int other = 0; other < 8; ++other) {
      EXPECT_LT(std::abs(correlation(added, exact.data.values.col(other))), 4.5 / std::sqrt(kRows));
      if (other == node) continue;
      EXPECT_LT(std::abs(correlation(added, noise.col(other))), 4.5 / std::sqrt(kRows));
    }
  }
}

TEST(MeasurementNoise, IsThereBeforeColumnsAreCoarseAndCellsMissing) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 2000);
  chosen.missing_share = 0.1;
  const Simulation exact = simulate(chosen);
  chosen.measurement_noise = 0.2;
  const Simulation measured = simulate(chosen);
  EXPECT_EQ(exact.kinds, measured.kinds);
  for (int node = 0; node < 40; ++node) {
    const Vector before = exact.data.values.col(node), after = measured.data.values.col(node);
    EXPECT_EQ((before.array().isNaN() != after.array().isNaN()).count(), 0) << node;
    EXPECT_GT((before.array() < after.array()).count(), 50) << node;
    if (exact.kinds[static_cast<std::size_t>(node)] != Kinds::levels) continue;
    std::set<double> levels, levels_before;
    for (const double value : after) {
      if (!std::isnan(value)) levels.insert(value);
    }
    for (const double value : before) {
      if (!std::isnan(value)) levels_before.insert(value);
    }
    EXPECT_EQ(levels, levels_before) << node;
  }
}

// If children saw the noise of coarse columns, continuous children would differ by more than their own noise.
TEST(MeasurementNoise, IsNotInColumnsThatChildrenSee) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 4000);
  chosen.children_see = ChildrenSee::columns;
  const Simulation exact = simulate(chosen);
  chosen.measurement_noise = 0.2;
  const Simulation measured = simulate(chosen);
  int children = 0;
  for (int node = 0; node < 40; ++node) {
    if (exact.kinds[static_cast<std::size_t>(node)] != Kinds::continuous || exact.dag.parents(node).empty()) continue;
    const Vector column = measured.data.values.col(node), added = column - exact.data.values.col(node);
    const double share =
        (added.array() - added.mean()).square().sum() / (column.array() - column.mean()).square().sum();
    EXPECT_NEAR(share, 0.2, 4.5 * 0.2 * std::sqrt(2.0 / 4000)) << node;
    ++children;
  }
  EXPECT_GT(children, 3);
}

TEST(MeasurementNoise, OfZeroLeavesEveryBit) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 300, 2024);
  chosen.measurement_noise = 0;
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 16624039140574066011u);  // as in CoarseTables below
}

TEST(MeasurementNoise, RangeAndSmallestTable) {
  SimulateParams chosen = coarse_params(Kinds::continuous, 1);
  for (const double share : {-0.1, 1.0, 1.5, std::nan("")}) {
    chosen.measurement_noise = share;
    EXPECT_THAT(message_of<UsageError>([&] { simulate(chosen); }),
                testing::AllOf(HasSubstr("[measurement_noise]"), HasSubstr("out of range"),
                               HasSubstr("0 or more and below 1")));
  }
  chosen.measurement_noise = 0.99;
  EXPECT_TRUE(simulate(chosen).data.values.allFinite());
}

// ---- Kinds ----------------------------------------------------------------------------------------------------------

TEST(CoarseColumns, AreIncreasingMapsOfTheSameVariables) {
  const Simulation fine = simulate(coarse_params(Kinds::continuous)), coarse = simulate(coarse_params(Kinds::mixed));
  EXPECT_EQ(fine.dag.adjacency(), coarse.dag.adjacency());
  EXPECT_THAT(fine.kinds, testing::Each(Kinds::continuous));
  for (int node = 0; node < 40; ++node) {
    const Vector before = fine.data.values.col(node), after = coarse.data.values.col(node);
    if (coarse.kinds[static_cast<std::size_t>(node)] == Kinds::continuous) {
      EXPECT_EQ(before, after);
      continue;
    }
    std::vector<std::pair<double, double>> points;
    for (Index i = 0; i < before.size(); ++i) points.emplace_back(before(i), after(i));
    std::sort(points.begin(), points.end());
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](auto& a, auto& b) { return a.second < b.second; }));
    EXPECT_EQ(recognised_kind(after), ColumnKind::ordered);
  }
}

TEST(CoarseColumns, MixedHasItsShares) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const std::vector<Kinds> kinds = simulate(coarse_params(Kinds::mixed, 20, seed)).kinds;
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kinds::continuous), 12);
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kinds::levels), 18);
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kinds::counts), 10);
  }
  EXPECT_NE(simulate(coarse_params(Kinds::mixed, 20, 1)).kinds, simulate(coarse_params(Kinds::mixed, 20, 2)).kinds);
}

TEST(CoarseColumns, LevelsAreTwoToFiveAndNoneIsRare) {
  std::set<std::size_t> numbers;
  for (const Index rows : {11, 1000}) {
    const Matrix values = simulate(coarse_params(Kinds::levels, rows)).data.values;
    for (const auto& column : values.colwise()) {
      const std::map<double, double> levels = shares(column);
      numbers.insert(levels.size());
      EXPECT_EQ(levels.begin()->first, 0);
      EXPECT_EQ(levels.rbegin()->first, static_cast<double>(levels.size() - 1));
      for (const auto& [level, share] : levels) EXPECT_GE(share, 0.1 - 1e-9) << "level " << level << ", N " << rows;
    }
  }
  EXPECT_THAT(numbers, testing::ElementsAre(2, 3, 4, 5));
}

TEST(CoarseColumns, CountsHaveManyZerosAndAreSmall) {
  const Matrix values = simulate(coarse_params(Kinds::counts, 2000)).data.values;
  double fewest = 1, most = 0;
  for (const auto& column : values.colwise()) {
    const std::map<double, double> counts = shares(column);
    ASSERT_EQ(counts.begin()->first, 0);
    const double zeros = counts.begin()->second;
    fewest = std::min(fewest, zeros);
    most = std::max(most, zeros);
    EXPECT_LT(counts.rbegin()->first, 100);
    EXPECT_GE(counts.rbegin()->first, 3);
    for (const auto& [count, share] : counts) EXPECT_EQ(count, std::floor(count));
  }
  EXPECT_GE(fewest, 0.3 - 0.001);
  EXPECT_LE(most, 0.6 + 0.001);
  EXPECT_GT(most - fewest, 0.2);
}

// x → y → z with y of two levels: x tells something about z beyond the column y if z was made from the variable, and
// nothing if it was made from the column.
TEST(CoarseColumns, ScreenOffWhatTheirChildrenHaveSeen) {
  for (const ChildrenSee see : {ChildrenSee::variables, ChildrenSee::columns}) {
    SimulateParams chosen;
    chosen.nodes = 3;
    chosen.degree = 2.0 / 3;
    chosen.rows = 20000;
    chosen.kinds = Kinds::levels;
    chosen.children_see = see;
    double largest = 0;
    int chains = 0;
    for (chosen.seed = 0; chains < 10; ++chosen.seed) {
      const Simulation made = simulate(chosen);
      for (int y = 0; y < 3; ++y) {
        const std::vector<int> above = made.dag.parents(y), below = made.dag.children(y);
        if (made.dag.edges() != 2 || above.size() != 1 || below.size() != 1) continue;
        largest = std::max(largest, dependence_within(made.data.values, above[0], below[0], y));
        ++chains;
      }
    }
    // Of 20,000 rows; the largest of about 1000 normal deviates.
    EXPECT_EQ(largest > 5, see == ChildrenSee::variables) << name(see) << ": " << largest;
  }
}

TEST(CoarseColumns, ThatChildrenSeeKeepTheGraphAndTheRoots) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 300);
  const Simulation late = simulate(chosen);
  chosen.children_see = ChildrenSee::columns;
  const Simulation early = simulate(chosen);
  EXPECT_EQ(late.dag.adjacency(), early.dag.adjacency());
  EXPECT_EQ(late.kinds, early.kinds);
  for (int node = 0; node < 40; ++node) {
    if (!late.dag.parents(node).empty()) continue;
    EXPECT_EQ(late.data.values.col(node), early.data.values.col(node)) << node;
  }
  EXPECT_NE(late.data.values, early.data.values);
  chosen.sem = Sem::gene;
  EXPECT_THAT(message_of<UsageError>([&] { simulate(chosen); }), HasSubstr("positive parents"));
}

TEST(CoarseColumns, TheSmallestTables) {
  for (const Kinds kinds : {Kinds::mixed, Kinds::levels, Kinds::counts}) {
    for (const Index rows : {1, 2, 3, 4, 9}) {
      EXPECT_TRUE(simulate(coarse_params(kinds, rows)).data.values.allFinite()) << name(kinds) << ", " << rows;
    }
  }
}

// ---- Missing cells --------------------------------------------------------------------------------------------------

TEST(MissingCells, AtRandomHaveTheirShareEverywhere) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 4000);
  const Matrix complete = simulate(chosen).data.values;
  chosen.missing_share = 0.1;
  const Matrix values = simulate(chosen).data.values;
  for (int node = 0; node < 40; ++node) {
    const double share = static_cast<double>(values.col(node).array().isNaN().count()) / 4000;
    EXPECT_NEAR(share, 0.1, 4.5 * std::sqrt(0.1 * 0.9 / 4000)) << node;
  }
  EXPECT_TRUE((values.array().isNaN() || values.array() == complete.array()).all());
}

TEST(MissingCells, ByAColumnLieWhereItIsLarge) {
  SimulateParams chosen = coarse_params(Kinds::continuous, 2000);
  const Matrix complete = simulate(chosen).data.values;
  chosen.missing_share = 0.2;
  chosen.missing_by = MissingBy::column;
  const Matrix values = simulate(chosen).data.values;
  std::vector<int> drivers, holed;
  for (int node = 0; node < 40; ++node) (values.col(node).allFinite() ? drivers : holed).push_back(node);
  EXPECT_EQ(drivers.size(), 13);
  for (const int node : holed) {
    const Vector missing = values.col(node).array().isNaN().cast<double>();
    EXPECT_NEAR(missing.mean(), 0.2, 0.05);
    // Of the column that they are missing by, only the largest two fifths.
    const bool found = std::any_of(drivers.begin(), drivers.end(), [&](int driver) {
      std::vector<double> sorted(complete.col(driver).begin(), complete.col(driver).end());
      std::sort(sorted.begin(), sorted.end());
      return ((missing.array() == 0) || (complete.col(driver).array() >= sorted[1200])).all();
    });
    EXPECT_TRUE(found) << node;
  }
}

TEST(MissingCells, ChecksOfTheirParameters) {
  SimulateParams wrong;
  wrong.nodes = 1;
  wrong.degree = 0;
  wrong.missing_share = 0.6;
  EXPECT_THAT(message_of<UsageError>([&] { simulate(wrong); }), HasSubstr("[missing_share] 0.6 is out of range"));
  wrong.missing_share = 0.2;
  wrong.missing_by = MissingBy::column;
  EXPECT_THAT(message_of<UsageError>([&] { simulate(wrong); }), HasSubstr("use more nodes"));
}

// ---- Reproducibility ------------------------------------------------------------------------------------------------

TEST(CoarseTables, DoNotDependOnThreads) {
  for (const MissingBy by : {MissingBy::random, MissingBy::column}) {
    SimulateParams chosen = coarse_params(Kinds::mixed, 300);
    chosen.measurement_noise = 0.2;
    chosen.missing_share = 0.2;
    chosen.missing_by = by;
    const std::uint64_t all_threads = fingerprint(simulate(chosen).data.values);
    const ThreadLimit limit(1);
    EXPECT_EQ(fingerprint(simulate(chosen).data.values), all_threads) << name(by);
  }
}

// A change here changes what every seed means, as in FrozenData of test_simulate.
TEST(CoarseTables, HaveTheBitsTheyAlwaysHad) {
  SimulateParams chosen = coarse_params(Kinds::mixed, 300, 2024);
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 16624039140574066011u);
  chosen.missing_share = 0.1;
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 13802004257659532036u);
  chosen.missing_by = MissingBy::column;
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 1772584659841745551u);
  chosen.children_see = ChildrenSee::columns;
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 10853313703824619175u);
  chosen.measurement_noise = 0.2;
  EXPECT_EQ(fingerprint(simulate(chosen).data.values), 6168241823167731123u);
}

}  // namespace
}  // namespace fansite
