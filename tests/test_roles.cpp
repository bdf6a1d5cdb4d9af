// SPDX-License-Identifier: Apache-2.0
//
// Kinds, context, weights and groups that users declare.
#include "fansite/table/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/dataset.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Dataset table() {
  Dataset data{{"a", "w", "id", "sex"}, Matrix(4, 4)};
  data.values << 10, 1, 7, 0,  //
      9, 3, 7, 1,              //
      10, 2, 5, 0,             //
      -0.0, 2, 7, 1;
  data.columns.resize(4);
  data.columns[3] = {.kind = ColumnKind::nominal, .levels = {"f", "m"}};
  return data;
}

TEST(Roles, ANominalColumnOfNumbersHoldsItsLevels) {
  Dataset data = table();
  data.values(1, 0) = std::nan("");
  const TableRoles roles{.kinds = {{"a", ColumnKind::nominal}, {"w", ColumnKind::ordered}}};
  const Dataset result = with_roles(data, roles);
  EXPECT_THAT(result.columns[0].levels, ElementsAre("0", "10"));
  EXPECT_EQ(result.values(0, 0), 1);
  EXPECT_TRUE(std::isnan(result.values(1, 0)));
  EXPECT_EQ(result.values(3, 0), 0);
  EXPECT_EQ(result.columns[1].kind, ColumnKind::ordered);
  EXPECT_EQ(result.values.col(1), data.values.col(1));
  EXPECT_EQ(result.roles, roles);
  // A column of text stays as it is.
  EXPECT_EQ(with_roles(data, {.kinds = {{"sex", ColumnKind::nominal}}}).columns[3], data.columns[3]);
}

TEST(Roles, WeightsAndGroupsLeaveTheTable) {
  const Dataset result = with_roles(table(), {.context = {"sex"}, .weight = "w", .group = "id"});
  EXPECT_THAT(result.names, ElementsAre("a", "sex"));
  EXPECT_EQ(result.weights, (Vector(4) << 0.5, 1.5, 1, 1).finished());
  EXPECT_THAT(result.groups, ElementsAre(0, 0, 1, 0));
  ASSERT_EQ(result.columns.size(), 2u);
  EXPECT_TRUE(result.columns[1].context);
  EXPECT_THAT(result.columns[1].levels, ElementsAre("f", "m"));
}

TEST(Roles, GroupsMayBeText) { EXPECT_THAT(with_roles(table(), {.group = "sex"}).groups, ElementsAre(0, 1, 0, 1)); }

TEST(Roles, WeightsOfAnySizeHaveMeanOne) {
  Dataset data = table();
  data.values.col(1) *= 4e307;
  EXPECT_NEAR(with_roles(data, {.weight = "w"}).weights.mean(), 1, 1e-12);
}

TEST(Roles, WhatExcludesEachOtherIsRefused) {
  const auto message = [](const TableRoles& roles) {
    return message_of<UsageError>([&] { with_roles(table(), roles); });
  };
  EXPECT_THAT(message({.kinds = {{"b", ColumnKind::ordered}}}), HasSubstr("no column is called 'b'"));
  EXPECT_THAT(message({.context = {"b"}}), HasSubstr("no column is called 'b'"));
  EXPECT_THAT(message({.weight = "b"}), HasSubstr("no column is called 'b'"));
  EXPECT_THAT(message({.group = "b"}), HasSubstr("no column is called 'b'"));
  EXPECT_THAT(message({.kinds = {{"sex", ColumnKind::continuous}}}), HasSubstr("'sex' holds text"));
  EXPECT_THAT(message({.weight = "sex"}), HasSubstr("'sex' holds text"));
  EXPECT_THAT(message({.weight = "w", .group = "w"}), HasSubstr("'w' cannot be weight and group"));
  EXPECT_THAT(message({.context = {"w"}, .weight = "w"}), HasSubstr("cannot be context too"));
  EXPECT_THAT(message({.kinds = {{"id", ColumnKind::nominal}}, .group = "id"}), HasSubstr("leave the kind out"));
  EXPECT_THAT(message({.context = {"a", "w", "id", "sex"}}), HasSubstr("every column is context"));
  EXPECT_THAT(message_of<UsageError>([] {
                with_roles({{"w"}, Matrix::Ones(3, 1)}, {.weight = "w"});
              }),
              HasSubstr("no other column"));
}

TEST(Roles, RowsWithoutWeightOrGroupAreRefused) {
  const auto message = [](double cell, const TableRoles& roles) {
    Dataset data = table();
    data.values(2, 1) = data.values(2, 2) = cell;
    return message_of<DataError>([&] { with_roles(data, roles); });
  };
  EXPECT_THAT(message(0, {.weight = "w"}), HasSubstr("[weight] the weight 'w' of row 3 is 0"));
  EXPECT_THAT(message(-1, {.weight = "w"}), HasSubstr("of row 3 is -1"));
  EXPECT_THAT(message(INFINITY, {.weight = "w"}), HasSubstr("of row 3 is inf"));
  EXPECT_THAT(message(std::nan(""), {.weight = "w"}),
              AllOf(HasSubstr("row 3 is missing"), HasSubstr("--missing drop")));
  EXPECT_THAT(message(std::nan(""), {.group = "id"}),
              AllOf(HasSubstr("row 3 is missing"), HasSubstr("--missing drop")));
  EXPECT_THAT(message_of<DataError>([] {
                with_roles({{"a", "g"}, Matrix::Ones(3, 2)}, {.group = "g"});
              }),
              HasSubstr("several groups"));
}

// ---- Kinds as text --------------------------------------------------------------------------------------------------

TEST(Kinds, FromTheCommandLine) {
  EXPECT_EQ(parse_kind("a=ordered"), DeclaredKind("a", ColumnKind::ordered));
  EXPECT_EQ(parse_kind("a = b=Nominal "), DeclaredKind("a = b", ColumnKind::nominal));
  EXPECT_EQ(parse_kind("\"a,b\"=atoms"), DeclaredKind("a,b", ColumnKind::atoms));
  for (const char* text : {"", "a", "a=", "=ordered", "a=text"}) {
    EXPECT_THAT(message_of<ParameterError>([&] { parse_kind(text); }),
                AllOf(HasSubstr("[kind]"), HasSubstr("continuous, ordered, atoms or nominal")))
        << text;
  }
}

TEST(Kinds, FromAFile) {
  const std::vector<DeclaredKind> expected = {{"a", ColumnKind::ordered}, {"b c", ColumnKind::nominal}};
  for (const char* text : {"a=ordered\nb c=nominal", "# why\n\na = ordered\r\nb c=NOMINAL\r\n",
                           "\xEF\xBB\xBFname,kind\na,ordered\n\"b c\",\"nominal\"\n",
                           "Name;Kind\na;ordered\nb c;nominal\n", "a\tordered\nb c\tnominal\na\tordered\n"}) {
    EXPECT_EQ(parse_kinds(text, "k"), expected) << text;
  }
  EXPECT_THAT(parse_kinds("", "k"), IsEmpty());
  const auto message = [](const char* text) { return message_of<DataError>([&] { parse_kinds(text, "k.txt"); }); };
  EXPECT_EQ(
      message("a=ordered\nb\n"),
      "[kinds] k.txt line 2: 'b' is neither NAME=KIND nor name,kind, where a kind is continuous, ordered, atoms or "
      "nominal.");
  EXPECT_THAT(message("a=ordered\n\na=atoms\n"), HasSubstr("line 3: 'a' was said to be ordered before"));
  EXPECT_THAT(message("\xE9=ordered\n"), HasSubstr("not UTF-8"));
}

TEST(Kinds, AnyNameInQuotesReadsBack) {
  EXPECT_TRUE(rc::check("names without line breaks", [] {
    const auto name =
        *rc::gen::suchThat(rc::gen::container<std::string>(rc::gen::element('a', '"', ',', '=', ';', '\t', ' ', '#')),
                           [](const std::string& text) { return !text.empty(); });
    const std::vector<DeclaredKind> kinds = {{name, ColumnKind::atoms}};
    RC_ASSERT(parse_kinds(in_quotes(name) + "=atoms\n", "k") == kinds);
    RC_ASSERT(parse_kinds(in_quotes(name) + ",atoms\n", "k") == kinds);
  }));
}

}  // namespace
}  // namespace fansite
