// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/content_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "fansite/base/random.h"
#include "properties.h"

namespace fansite {
namespace {

using testing::ElementsAre;

std::vector<int> shuffled(int count, Key key) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(key);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  }
  return order;
}

// Few values, so that there are equal cells, rows and columns; some are missing.
Dataset table(int rows, int columns, int values, Key key) {
  Random random(key);
  Dataset data{default_names(columns), Matrix(rows, columns)};
  for (double& cell : data.values.reshaped()) {
    cell = std::floor(random.uniform() * values);
    if (cell == 0 && random.uniform() < 0.2) cell = std::numeric_limits<double>::quiet_NaN();
  }
  return data;
}

bool same(const Matrix& x, const Matrix& y) {
  return ((x.array() == y.array()) || (x.array().isNaN() && y.array().isNaN())).all();
}

RC_GTEST_PROP(ContentOrderTest, IsAPermutationOfRowsAndColumns, ()) {
  const Dataset data = table(*rc::gen::inRange(0, 40), *rc::gen::inRange(0, 8), *rc::gen::inRange(1, 50),
                             Key{*rc::gen::arbitrary<std::uint64_t>()});
  ContentOrder order = content_order(data);
  RC_ASSERT(static_cast<Index>(order.rows.size()) == data.rows());
  RC_ASSERT(static_cast<int>(order.columns.size()) == data.variables());
  for (std::vector<int>* places : {&order.rows, &order.columns}) {
    std::sort(places->begin(), places->end());
    for (std::size_t i = 0; i < places->size(); ++i) RC_ASSERT((*places)[i] == static_cast<int>(i));
  }
}

RC_GTEST_PROP(ContentOrderTest, ATableWithRowsAndColumnsShuffledIsTheSameInIt, ()) {
  const Dataset data = table(*rc::gen::inRange(1, 60), *rc::gen::inRange(1, 8), *rc::gen::inRange(5, 1000000),
                             Key{*rc::gen::arbitrary<std::uint64_t>()});
  const Key key{*rc::gen::arbitrary<std::uint64_t>()};
  const Dataset other = take_rows(take_columns(data, shuffled(data.variables(), key)),
                                  shuffled(static_cast<int>(data.rows()), key.split(1)));
  const Dataset a = in_order(data, content_order(data)), b = in_order(other, content_order(other));
  RC_ASSERT(same(a.values, b.values));
}

TEST(ContentOrderTest, WhatBelongsToRowsAndColumnsGoesWithThem) {
  Dataset data{{"a", "b"}, Matrix(3, 2)};
  data.values << 1, 10, 2, 20, 3, 30;
  data.columns = {Column{.kind = ColumnKind::ordered}, Column{.context = true}};
  data.weights = Vector{{1, 2, 3}};
  data.groups = {7, 8, 7};
  const ContentOrder order{.rows = {2, 1, 0}, .columns = {1, 0}};
  const Dataset ordered = in_order(data, order);
  EXPECT_THAT(ordered.names, ElementsAre("b", "a"));
  EXPECT_EQ(ordered.values(0, 0), 30);
  EXPECT_EQ(ordered.values(2, 1), 1);
  EXPECT_TRUE(ordered.columns[0].context);
  EXPECT_EQ(ordered.columns[1].kind, ColumnKind::ordered);
  EXPECT_EQ(ordered.weights(0), 3);
  EXPECT_THAT(ordered.groups, ElementsAre(0, 1, 0));
}

TEST(ContentOrderTest, EqualColumnsAndRowsStayInTheTablesOrder) {
  Dataset data{{"a", "copy", "c"}, Matrix(4, 3)};
  data.values << 1, 1, 5, 2, 2, 6, 1, 1, 5, 0.0, -0.0, 7;
  const ContentOrder order = content_order(data);
  const std::vector<int> column = inverse(order.columns), row = inverse(order.rows);
  EXPECT_EQ(column[1], column[0] + 1);
  EXPECT_EQ(row[2], row[0] + 1);
}

}  // namespace
}  // namespace fansite
