// SPDX-License-Identifier: Apache-2.0
//
// A table for people, and as JSON.
#include "fansite/table/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fansite/report/inspect_json.h"
#include "support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Numbers, codes, labels, a constant, a copy, nothing; the last two columns become weights and groups.
Dataset table() {
  Dataset data{{"age", "stage", "sex", "one", "copy", "none", "w", "id"}, Matrix(40, 8)};
  Random random(Key{3});
  for (Index row = 0; row < 40; ++row) {
    data.values.row(row) << random.normal(), static_cast<double>(row % 4), static_cast<double>(row % 2), 7, 0,
        std::nan(""), row < 20 ? 1 : 3, static_cast<double>(row / 4);
  }
  for (const Index row : {3, 9}) data.values(row, 0) = std::nan("");
  data.values.col(4) = data.values.col(0);
  data.columns.resize(8);
  data.columns[2] = {.kind = ColumnKind::nominal, .levels = {"f", "m"}};
  return with_roles(data,
                    {.kinds = {{"stage", ColumnKind::ordered}}, .context = {"sex"}, .weight = "w", .group = "id"});
}

TEST(Summary, SaysWhatEachColumnIs) {
  const Dataset data = table();
  const TableSummary summary = summarise(data, TableFacts(data));
  EXPECT_EQ(summary.rows, 40);
  EXPECT_EQ(summary.incomplete_rows, 40);  // one column has no cells
  EXPECT_EQ(summary.groups, 10);
  EXPECT_NEAR(summary.effective_rows, 80.0 * 80 / (20 * 10), 1e-9);
  ASSERT_EQ(summary.columns.size(), 6u);
  const ColumnSummary& age = summary.columns[0];
  EXPECT_EQ(age.kind, ColumnKind::continuous);
  EXPECT_FALSE(age.declared);
  EXPECT_EQ(age.distinct, 38u);
  EXPECT_NEAR(age.missing, 0.05, 1e-12);
  EXPECT_LT(age.least, age.most);
  EXPECT_EQ(age.treatment, "");
  EXPECT_TRUE(summary.columns[1].declared);
  EXPECT_THAT(summary.columns[2].labels, ElementsAre("f", "m"));
  EXPECT_TRUE(std::isnan(summary.columns[2].least));
  EXPECT_EQ(summary.columns[2].treatment, "conditioned on everywhere; its levels have no order");
  EXPECT_EQ(summary.columns[3].treatment, "left out: it is constant");
  EXPECT_EQ(summary.columns[4].treatment, "left out: a copy of 'age', whose boundary it shares");
  EXPECT_EQ(summary.columns[5].treatment, "left out: it has no cells");
  EXPECT_EQ(summary.columns[5].missing, 1);
  EXPECT_FALSE(summary.columns[5].takes_part);
}

TEST(Summary, AsksWhatTheValuesCannotTell) {
  EXPECT_THAT(summarise(table(), TableFacts(table())).assumptions, IsEmpty());  // all is said
  Dataset data = table();
  data.columns.assign(6, Column{});
  data.weights = Vector();
  data.groups.clear();
  const auto questions = summarise(data, TableFacts(data)).assumptions;
  ASSERT_EQ(questions.size(), 4u);
  EXPECT_EQ(questions[0],
            "'stage' holds few whole numbers, taken to be in order: if they are codes, --kind NAME=nominal.");
  EXPECT_THAT(questions, Contains(HasSubstr("--group NAME")));
  EXPECT_THAT(questions, Contains(HasSubstr("--weight NAME")));
  EXPECT_THAT(questions, Contains(HasSubstr("--context NAME")));
}

TEST(Summary, AsJson) {
  const Dataset data = table();
  const auto json = nlohmann::json::parse(to_json(summarise(data, TableFacts(data))));
  EXPECT_EQ(json.at("format"), "fansite.inspect/2");
  EXPECT_EQ(json.at("rows"), 40);
  EXPECT_EQ(json.at("weight"), "w");
  EXPECT_EQ(json.at("group"), "id");
  EXPECT_EQ(json.at("columns").size(), 6u);
  EXPECT_EQ(json.at("columns")[0].at("kind"), "continuous");
  EXPECT_EQ(json.at("columns")[2].at("labels"), nlohmann::json({"f", "m"}));
  EXPECT_TRUE(json.at("columns")[2].at("range")[0].is_null());
  EXPECT_EQ(json.at("columns")[5].at("takes_part"), false);
  std::vector<std::string> kinds;
  for (const auto& finding : json.at("findings")) kinds.push_back(finding.at("kind"));
  EXPECT_THAT(kinds, testing::IsSupersetOf({"missing", "constant", "duplicate"}));
}

TEST(Summary, OfATableWithoutRows) {
  const Dataset data{{"a"}, Matrix(0, 1)};
  const TableSummary summary = summarise(data, TableFacts(data));
  EXPECT_EQ(summary.rows, 0);
  EXPECT_EQ(summary.columns[0].missing, 0);
}

}  // namespace
}  // namespace fansite
