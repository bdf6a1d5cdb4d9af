// SPDX-License-Identifier: Apache-2.0
//
// What is known about a table: hashes, copies, and the columns that something can be learnt of.
#include "fansite/table/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fansite/base/detail/work_count.h"
#include "fansite/base/error.h"
#include "fansite/run/causal_graph.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// a varies, b does not, c repeats a, d varies, e repeats d with another sign of zero, f does not vary.
Dataset odd_table() {
  Dataset data;
  data.names = {"a", "b", "c", "d", "e", "f"};
  data.values.resize(5, 6);
  data.values << 1, 7, 1, 0.0, -0.0, 0,  //
      2, 7, 2, 3, 3, 0,                  //
      4, 7, 4, 1, 1, 0,                  //
      3, 7, 3, 9, 9, 0,                  //
      8, 7, 8, 2, 2, 0;
  return data;
}

Dataset random_table(Index rows, int columns, Random& random) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  for (double& value : data.values.reshaped()) value = random.normal();
  return data;
}

TEST(TableFacts, HashesAreThoseOfTheTable) {
  for (const Dataset& data : {odd_table(), simulate_linear(7, 1, 40, 3).data}) {
    const TableFacts facts(data);
    EXPECT_EQ(facts.hash, hash_of(data));
    EXPECT_EQ(facts.values_hash, hash_of(MatrixView(data.values)));
  }
}

TEST(TableFacts, NamesChangeOneHashAndNumbersBoth) {
  const Dataset data = odd_table();
  const TableFacts facts(data);
  Dataset renamed = data, changed = data;
  renamed.names[3] = "D";
  changed.values(2, 3) = 1.5;
  EXPECT_NE(TableFacts(renamed).hash, facts.hash);
  EXPECT_EQ(TableFacts(renamed).values_hash, facts.values_hash);
  EXPECT_NE(TableFacts(changed).hash, facts.hash);
  EXPECT_NE(TableFacts(changed).values_hash, facts.values_hash);
}

TEST(TableFacts, FindingsAreThoseOfInspection) {
  const Dataset data = odd_table();
  const TableFacts facts(data);
  const std::vector<Finding> expected = inspect(data);
  ASSERT_EQ(facts.findings.size(), expected.size());
  for (std::size_t f = 0; f < expected.size(); ++f) {
    EXPECT_EQ(facts.findings[f].kind, expected[f].kind);
    EXPECT_EQ(facts.findings[f].columns, expected[f].columns);
    EXPECT_EQ(facts.findings[f].message, expected[f].message);
  }
}

TEST(TableFacts, CopiesNameTheirOriginalAndTakeNoPart) {
  const TableFacts facts(odd_table());
  EXPECT_THAT(facts.copy_of, ElementsAre(-1, -1, 0, -1, 3, -1));
  EXPECT_THAT(facts.takes_part, ElementsAre(1, 0, 0, 1, 0, 0));
}

TEST(TableFacts, OfAGoodTableEveryColumnTakesPart) {
  const TableFacts facts(simulate_linear(4, 1, 50, 1).data);
  EXPECT_THAT(facts.copy_of, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(facts.takes_part, ElementsAre(1, 1, 1, 1));
  EXPECT_TRUE(facts.findings.empty());
}

TEST(TableFacts, WhoTakesPartVariesAndRepeatsNoEarlierColumn) {
  EXPECT_TRUE(rc::check("any columns copied or made constant", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int columns = 1 + static_cast<int>(random.below(8));
    Dataset data = random_table(12, columns, random);
    std::vector<int> original(static_cast<std::size_t>(columns), -1);
    std::vector<char> expected(static_cast<std::size_t>(columns), 1);
    for (int j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const auto kind = random.below(4);
      if (kind == 0) {
        data.values.col(j).setConstant(j + 0.5);
        expected[at] = 0;
      } else if (kind == 1 && j > 0) {
        const int other = static_cast<int>(random.below(static_cast<std::uint32_t>(j)));
        if (expected[static_cast<std::size_t>(other)] == 0) continue;  // of a copy, or of a constant
        data.values.col(j) = data.values.col(other);
        original[at] = other;
        expected[at] = 0;
      }
    }
    const TableFacts facts(data);
    RC_ASSERT(facts.takes_part == expected);
    RC_ASSERT(facts.copy_of == original);
  }));
}

TEST(TableFacts, KindsAreDeclaredOrRecognised) {
  Dataset data = odd_table();
  EXPECT_EQ(TableFacts(data).kinds[0], ColumnKind::continuous);
  data.columns.resize(6);
  data.columns[0].kind = ColumnKind::ordered;
  const TableFacts facts(data);
  EXPECT_EQ(facts.kinds[0], ColumnKind::ordered);
  EXPECT_EQ(facts.kinds[1], ColumnKind::ordered);  // one value only
  EXPECT_EQ(facts.hash, hash_of(data));
}

TEST(TableFacts, ColumnsWithoutCellsTakeNoPart) {
  Dataset data = odd_table();
  data.values.col(3).setConstant(std::nan(""));
  EXPECT_THAT(TableFacts(data).takes_part, ElementsAre(1, 0, 0, 0, 1, 0));
}

TEST(LearnableTable, CarriesWhatBelongsToColumnsAndRows) {
  Dataset data = odd_table();
  data.columns.resize(6);
  data.columns[3].context = true;
  data.weights = Vector::Ones(5);
  data.groups = {0, 0, 1, 1, 2};
  const LearnableTable table(data, TableFacts(data));
  ASSERT_EQ(table.data.columns.size(), 2u);
  EXPECT_TRUE(table.data.columns[1].context);
  EXPECT_EQ(table.data.weights, data.weights);
  EXPECT_EQ(table.data.groups, data.groups);
}

TEST(LearnableTable, WithoutOddColumnsIsTheTable) {
  const Dataset data = simulate_linear(5, 1, 30, 2).data;
  const LearnableTable table(data, TableFacts(data));
  EXPECT_EQ(table.data.names, data.names);
  EXPECT_EQ(table.data.values, data.values);
  EXPECT_EQ(table.values_hash, hash_of(MatrixView(data.values)));
}

// A table is hashed once, however large it is.
TEST(LearnableTable, TakesTheHashThatIsKnownIfNothingIsDropped) {
  const Dataset data = simulate_linear(5, 1, 30, 2).data;
  const TableFacts facts(data);
  const long before = detail::work_count.table_hashes;
  EXPECT_EQ(LearnableTable(data, facts).values_hash, facts.values_hash);
  EXPECT_EQ(detail::work_count.table_hashes, before);
  const Dataset odd = odd_table();
  const TableFacts of_odd(odd);
  EXPECT_NE(LearnableTable(odd, of_odd).values_hash, of_odd.values_hash);  // other numbers have another
}

TEST(LearnableTable, DropsConstantColumnsAndCopies) {
  const Dataset data = odd_table();
  const LearnableTable table(data, TableFacts(data));
  EXPECT_THAT(table.data.names, ElementsAre("a", "d"));
  ASSERT_EQ(table.data.values.cols(), 2);
  EXPECT_EQ(table.data.values.col(0), data.values.col(0));
  EXPECT_EQ(table.data.values.col(1), data.values.col(3));
  EXPECT_EQ(table.values_hash, hash_of(MatrixView(table.data.values)));
}

TEST(LearnableTable, OfConstantColumnsIsRefused) {
  const Dataset data{{"a", "b"}, Matrix::Ones(4, 2)};
  EXPECT_THAT(message_of<DataError>([&] { LearnableTable(data, TableFacts(data)); }),
              HasSubstr("every column is constant"));
}

// ---- Levels ---------------------------------------------------------------------------------------------------------

Dataset of_levels(const std::vector<std::pair<std::string, int>>& rows_of) {
  Dataset data;
  data.names = {"make", "x"};
  data.columns.resize(2);
  data.columns[0].kind = ColumnKind::nominal;
  std::vector<double> values;
  for (std::size_t level = 0; level < rows_of.size(); ++level) {
    data.columns[0].levels.push_back(rows_of[level].first);
    values.insert(values.end(), static_cast<std::size_t>(rows_of[level].second), static_cast<double>(level));
  }
  data.values.resize(static_cast<Index>(values.size()), 2);
  for (Index i = 0; i < data.rows(); ++i) data.values.row(i) << values[static_cast<std::size_t>(i)], double(i);
  return data;
}

TEST(NominalLevels, WithFewRowsAreOneTogether) {
  Dataset data = of_levels({{"saab", 9}, {"mazda", 12}, {"lada", 1}, {"honda", 30}, {"seat", 10}});
  data.values(0, 0) = std::nan("");
  const NominalLevels levels = nominal_levels(data, 0);
  EXPECT_THAT(levels.labels, ElementsAre("honda", "mazda", "seat", "(other)"));
  EXPECT_THAT(levels.pooled, ElementsAre(8, 1));
  EXPECT_EQ(levels.level_of(3), 0);
  EXPECT_EQ(levels.level_of(0), 3);
  EXPECT_EQ(levels.level_of(2), 3);
  EXPECT_EQ(levels.level_of(std::nan("")), -1);
  const LearnableTable table(data, TableFacts(data));
  EXPECT_THAT(table.data.names, ElementsAre("make=mazda", "make=seat", "make=(other)", "x"));
  EXPECT_EQ(table.data.values.col(0).tail(61).sum(), 12);
  EXPECT_EQ(table.data.values.col(2).tail(61).sum(), 9);
  EXPECT_TRUE(std::isnan(table.data.values(0, 2)));
}

TEST(NominalLevels, OneRareLevelKeepsItsName) {
  const NominalLevels levels = nominal_levels(of_levels({{"a", 20}, {"b", 3}, {"c", 15}}), 0);
  EXPECT_THAT(levels.labels, ElementsAre("a", "b", "c"));
  EXPECT_EQ(levels.level_of(7), -1);
}

TEST(NominalLevels, AreSoManyAtMost) {
  std::vector<std::pair<std::string, int>> all;
  for (int k = 0; k < 30; ++k) all.emplace_back(std::to_string(k), 20 + k);
  const NominalLevels levels = nominal_levels(of_levels(all), 0);
  ASSERT_EQ(levels.labels.size(), NominalLevels::kMostLevels + 1);
  EXPECT_EQ(levels.labels.front(), "29");
  EXPECT_EQ(levels.labels.back(), "(other)");
  EXPECT_EQ(levels.level_of(9), 20);  // of the ten with the fewest rows
}

// It is hashed as it came and in the order of its contents.
TEST(Runs, InspectTheirTableOnceAndHashItTwice) {
  const Dataset data = simulate_linear(5, 1, 60, 5).data;
  NoProgress silent;
  const auto expect_once = [](const auto& run) {
    const long hashes = detail::work_count.table_hashes, inspections = detail::work_count.inspections;
    run();
    EXPECT_EQ(detail::work_count.table_hashes - hashes, 2);
    EXPECT_EQ(detail::work_count.inspections - inspections, 1);
  };
  BoundariesParams boundaries;
  boundaries.fansite().steps = 2;
  boundaries.fansite().folds = 2;
  boundaries.fansite().repeats = 1;
  for (const char* estimator : {"auto", "gaussian", "flow"}) {
    SCOPED_TRACE(estimator);
    boundaries.fansite().estimator = estimator;
    expect_once([&] { markov_boundaries(data, boundaries, silent); });
  }
  boundaries.fansite().estimator = "gaussian";
  for (const char* method : {"fansite-anm", "fansite-dcd", "sdcd"}) {
    SCOPED_TRACE(method);
    CausalGraphParams params(method);
    params.boundaries = boundaries;
    if (params.options.has("epochs")) params.options.set("epochs", std::int64_t{2});
    if (params.options.has("first_epochs")) params.options.set("first_epochs", std::int64_t{2});
    expect_once([&] { causal_graph(data, nullptr, {}, params, silent); });
  }
}

}  // namespace
}  // namespace fansite
