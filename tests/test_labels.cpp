// SPDX-License-Identifier: Apache-2.0
//
// Text as levels: the same from a data frame as from a file.
#include "fansite/table/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/table/csv.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Dataset coded(const std::vector<double>& codes) {
  Dataset data{{"dose", "site"}, Matrix::Zero(static_cast<Index>(codes.size()), 2)};
  data.values.col(1) = Vector::Map(codes.data(), static_cast<Index>(codes.size()));
  return data;
}

std::string refusal(Dataset data, const std::vector<std::string>& labels, Labels origin) {
  try {
    label_column(data, 1, labels, origin);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

Dataset of_each(std::size_t labels, std::size_t times) {
  std::vector<double> codes;
  for (std::size_t i = 0; i < labels * times; ++i) codes.push_back(static_cast<double>(i % labels));
  return coded(codes);
}

std::vector<std::string> numbered(const std::string& word, std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(word + std::to_string(i));
  return labels;
}

TEST(Labels, AreLevelsAsInAFile) {
  Dataset data = coded({2, 0, kMissing, 2, 3, 1});
  label_column(data, 1, {"north", "south ", "east", "  ", "never"}, Labels::text);
  const Dataset file = parse_csv("dose,site\n0,east\n0,north\n0,\n0,east\n0,\n0,south\n", "file");
  EXPECT_EQ(data.columns, file.columns);
  EXPECT_THAT(data.columns[1].levels, ElementsAre("east", "north", "south"));
  EXPECT_EQ(hash_of(data), hash_of(file));
}

TEST(Labels, OfOneTextAreOneLevel) {
  Dataset data = coded({0, 1, 1});
  label_column(data, 1, {"male", " male"}, Labels::text);
  EXPECT_THAT(data.columns[1].levels, ElementsAre("male"));
}

TEST(Labels, ThatAreNumbersAreRefusedUnlessTheTypeSaysCategory) {
  const Dataset data = coded({0, 1, 2});
  EXPECT_THAT(refusal(data, {"1", "2", "3"}, Labels::text), HasSubstr("column 'site' holds numbers written as text"));
  EXPECT_THAT(refusal(data, {"1", "2,5", "?"}, Labels::text), HasSubstr("holds the text '?' among numbers"));
  EXPECT_EQ(refusal(data, {"1", "2", "3"}, Labels::category), "");
}

TEST(Labels, ThatRowsDoNotShareAreRefusedUnlessDeclared) {
  const Dataset identifiers = of_each(30, 1), many = of_each(51, 3), dates = of_each(2, 2);
  EXPECT_THAT(refusal(identifiers, numbered("id", 30), Labels::category), HasSubstr("looks like identifiers"));
  EXPECT_THAT(refusal(many, numbered("town", 51), Labels::text), HasSubstr("51 different texts such as 'town0'"));
  EXPECT_THAT(refusal(dates, {"2020-01-31", "2020-02-01"}, Labels::text), HasSubstr("holds dates or times"));
  EXPECT_EQ(refusal(of_each(20, 1), numbered("id", 20), Labels::text), "");
  EXPECT_EQ(refusal(identifiers, numbered("id", 30), Labels::declared), "");
  EXPECT_EQ(refusal(dates, {"2020-01-31", "2020-02-01"}, Labels::declared), "");
}

TEST(Labels, MustBeText) {
  EXPECT_THAT(refusal(coded({0, 1}), {"a", "\xFF"}, Labels::declared), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace fansite
