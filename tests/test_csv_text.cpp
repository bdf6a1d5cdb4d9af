// SPDX-License-Identifier: Apache-2.0
//
// CSV as people have it: columns of text, numbers as other countries and spreadsheets write them, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/table/csv.h"
#include "fansite/table/detail/csv_numbers.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Dataset parse(const std::string& text, const CsvOptions& options = {}) { return parse_csv(text, "t.csv", options); }

std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  return message_of<DataError>([&] { parse(text, options); });
}

/// The cells of the first column, for comparison with a list.
std::vector<double> first_column(const Dataset& data) { return {data.values.col(0).begin(), data.values.col(0).end()}; }

// ---- Text -----------------------------------------------------------------------------------------------------------

TEST(CsvText, AColumnOfTextIsNominal) {
  const Dataset data = parse("sex,age\nmale,1\nfemale,2\n,3\n\"female \",4\nNA,5\n");
  ASSERT_EQ(data.columns.size(), 2u);
  EXPECT_EQ(data.columns[0].kind, ColumnKind::nominal);
  EXPECT_THAT(data.columns[0].levels, ElementsAre("female", "male"));
  EXPECT_EQ(data.columns[1], Column{});
  EXPECT_EQ(data.values(0, 0), 1);
  EXPECT_EQ(data.values(1, 0), 0);
  EXPECT_TRUE(std::isnan(data.values(2, 0)));
  EXPECT_EQ(data.values(3, 0), 0);
  EXPECT_TRUE(std::isnan(data.values(4, 0)));
  EXPECT_EQ(data.values.col(1), Vector::LinSpaced(5, 1, 5));
}

TEST(CsvText, NumbersAloneHaveNoColumns) { EXPECT_THAT(parse("a,b\n1,2\n").columns, IsEmpty()); }

TEST(CsvText, YesAndNoAreTwoLevels) {
  EXPECT_THAT(parse("a\nyes\nno\nyes\n").columns[0].levels, ElementsAre("no", "yes"));
  EXPECT_THAT(parse("a,b\nTRUE,1\nFALSE,2\n").columns[0].levels, ElementsAre("FALSE", "TRUE"));
}

TEST(CsvText, LabelsAreSortedByteByByteAndMayHoldAnything) {
  const Dataset data = parse("a,b\n\"say \"\"hi\"\"\",1\n\"x,y\",2\n\xC3\xA9,3\nZ,4\nx\"\"y,5\n");
  EXPECT_THAT(data.columns[0].levels, ElementsAre("Z", "say \"hi\"", "x\"\"y", "x,y", "\xC3\xA9"));
  EXPECT_THAT(first_column(data), ElementsAre(1, 3, 4, 0, 2));
}

TEST(CsvText, FewTextsAmongNumbersAreMistakes) {
  EXPECT_EQ(error_of("dose,b\n1,1\nhigh,1\n"),
            "[load_csv] t.csv line 3: column 'dose' holds the text 'high' among numbers. Correct it, leave it empty if "
            "it is missing, or use the column as labels with --kind dose=nominal.");
  EXPECT_THAT(parse("dose,b\n1,1\nhigh,1\nlow,2\n").columns[0].levels, ElementsAre("1", "high", "low"));
  // Missing cells are neither.
  EXPECT_THAT(error_of("dose,b\n1,1\nhigh,1\n,2\n,2\n,2\n"), HasSubstr("line 3"));
  // Unless the user says that they are labels.
  EXPECT_THAT(parse("dose,b\n1,1\n2,1\nhigh,1\n", {.labels = {"dose"}}).columns[0].levels,
              ElementsAre("1", "2", "high"));
}

TEST(CsvText, TheFirstOfSeveralMistakesIsTold) {
  EXPECT_THAT(error_of("a,b\n1,1\n2,2\n3,x\n4,4\ny,5\n"), AllOf(HasSubstr("line 4"), HasSubstr("'b'")));
  EXPECT_THAT(error_of("a,b\n1,1\nx,2\n3\n"), HasSubstr("line 4: 1 cell, expected 2"));
}

TEST(CsvText, LabelsThatAreNotUtf8AreRefused) {
  EXPECT_THAT(error_of("a,b\n\xE9t\xE9,1\nx,2\ny,3\n"), AllOf(HasSubstr("line 2"), HasSubstr("not UTF-8")));
}

TEST(CsvText, DeclaredLabelsOfNumbersStayNumbersUnlessZerosWouldBeLost) {
  EXPECT_THAT(parse("zip\n10\n9\n", {.labels = {"zip"}}).columns, IsEmpty());
  const Dataset data = parse("zip\n01067\n9\n", {.labels = {"zip"}});
  EXPECT_THAT(data.columns[0].levels, ElementsAre("01067", "9"));
}

// ---- What is refused ------------------------------------------------------------------------------------------------

std::string column_of(const std::string& name, int rows, const std::function<std::string(int)>& cell) {
  std::string text = "x," + name + "\n";
  for (int row = 0; row < rows; ++row) text += fmt::format("{},{}\n", row % 3, cell(row));
  return text;
}

TEST(CsvText, IdentifiersAreRefusedUnlessDeclared) {
  const std::string text = column_of("id", 40, [](int row) { return fmt::format("p{}", row % 22); });
  EXPECT_EQ(error_of(text),
            "[load_csv] t.csv: column 'id' looks like identifiers or free text such as 'p0': 22 of 40 cells are "
            "different. Leave it out with --drop id, or --kind id=nominal to use it all the same.");
  EXPECT_EQ(parse(text, {.labels = {"id"}}).columns[1].levels.size(), 22u);
  EXPECT_NO_THROW(parse(column_of("id", 44, [](int row) { return fmt::format("p{}", row % 22); })));
  EXPECT_NO_THROW(parse(column_of("id", 20, [](int row) { return fmt::format("p{}", row); })));
}

TEST(CsvText, ManyLevelsAreRefusedUnlessDeclared) {
  const auto text = [](int levels) {
    return column_of("city", 500, [levels](int row) { return fmt::format("c{}", row % levels); });
  };
  EXPECT_THAT(error_of(text(51)),
              AllOf(HasSubstr("'city' holds 51 different texts"), HasSubstr("--kind city=nominal")));
  EXPECT_EQ(parse(text(51), {.labels = {"city"}}).columns[1].levels.size(), 51u);
  EXPECT_EQ(parse(text(50)).columns[1].levels.size(), 50u);
}

TEST(CsvText, DatesAreRefusedUnlessDeclared) {
  for (const std::string date :
       {"2020-01-31", "2020/1/31", "31.1.2020", "1/31/20", "31-Jan-2020", "2020-01-31T09:30:00Z", "31.01.2020 9:30",
        "2020-01-31 09:30:00.5+01:00", "1/31/2020 9:30 PM", "09:30", "31 January 2020", "2020-01"}) {
    const std::string text = "visit,a\n" + date + ",1\n" + date + ",2\n";
    EXPECT_THAT(error_of(text), AllOf(HasSubstr("column 'visit' holds dates or times such as"),
                                      HasSubstr("days since the first"), HasSubstr("leave the column out")))
        << date;
    EXPECT_THAT(parse(text, {.labels = {"visit"}}).columns[0].levels, ElementsAre(date));
  }
  for (const char* word : {"a-b", "2020-", "1-2", "10-20", "x.1.2020", "3:70", "40.40.2020", "1.2.3.4", "2020-01-31x",
                           "12-mon-2020", "123-45-6789"}) {
    EXPECT_FALSE(csv::is_date(word)) << word;
  }
}

// ---- Numbers in other styles ----------------------------------------------------------------------------------------

TEST(CsvNumbers, DecimalCommas) {
  EXPECT_TRUE(std::isnan(parse("a;b\n1,5;1\n;3\n").values(1, 0)));
  const Dataset data = parse("a;b\n1,5;1\n-2;2\n0,25e1;4\n");
  EXPECT_THAT(first_column(data), ElementsAre(1.5, -2, 2.5));
  EXPECT_THAT(data.columns, IsEmpty());
  EXPECT_THAT(first_column(parse("a\tb\n1,5\t1\n1,25\t2\n")), ElementsAre(1.5, 1.25));
  EXPECT_THAT(first_column(parse("a,b\n\"1,5\",1\n\"2\",2\n")), ElementsAre(1.5, 2));
  EXPECT_THAT(first_column(parse("a;b\n1.234,5;1\n1.234;2\n12;3\n")), ElementsAre(1234.5, 1234, 12));
  EXPECT_THAT(first_column(parse("a;b\n1,234;1\n")), ElementsAre(1.234));  // what the semicolons are for
}

TEST(CsvNumbers, Thousands) {
  EXPECT_THAT(first_column(parse("a,b\n\"1,234.5\",1\n999,2\n\"-1,234,567\",3\n")), ElementsAre(1234.5, 999, -1234567));
  EXPECT_THAT(first_column(parse("a;b\n1,234.5;1\n2;2\n")), ElementsAre(1234.5, 2));
  EXPECT_THAT(first_column(parse("a;b\n1.234.567;1\n1.234;2\n")), ElementsAre(1234567, 1234));
  EXPECT_THAT(error_of("a\tb\n1,234\t1\n2,345\t2\n"), HasSubstr("can be a thousand or a decimal comma"));
  EXPECT_THAT(first_column(parse("a\tb\n1,234,567\t1\n2,345\t2\n")), ElementsAre(1234567, 2345));
}

TEST(CsvNumbers, PercentSigns) {
  EXPECT_THAT(first_column(parse("a,b\n12%,1\n0.5 %,2\n")), ElementsAre(0.12, 0.005));
  EXPECT_THAT(first_column(parse("a;b\n12,5%;1\n")), ElementsAre(0.125));
}

TEST(CsvNumbers, AColumnIsWrittenInOneStyle) {
  EXPECT_EQ(error_of("a;b\n1.25;1\n2.5;2\n1,5;3\n"),
            "[load_csv] t.csv line 4: column 'a' holds '1,5', but other numbers of it are written like '1.25'. Write "
            "all numbers of a column alike.");
  EXPECT_THAT(error_of("a,b\n5%,1\n6%,2\n7,3\n"), AllOf(HasSubstr("line 4"), HasSubstr("like '5%'")));
}

TEST(CsvNumbers, StylesAreReadExactlyOrNotAtAll) {
  double value = 0;
  using csv::Notation;
  for (const char* text : {"1,23", "12,34.5", "1,2345", "0,123", ",123", "1,234,", "1,234.5.6", "1,234e", "--1,234"}) {
    EXPECT_FALSE(csv::parse_styled(text, {Notation::commas}, value)) << text;
  }
  for (const char* text : {"1.5", "1,", ",", "1,5,5", "1.23,5", "1,5x", "1,5e", "x", "", "1.234.56,5", "-", "1,5 %"}) {
    EXPECT_FALSE(csv::parse_styled(text, {Notation::decimal_comma}, value)) << text;
  }
  EXPECT_FALSE(csv::parse_styled("%", {Notation::plain, true}, value));
  EXPECT_TRUE(csv::parse_styled(",5", {Notation::decimal_comma}, value));
  EXPECT_EQ(value, 0.5);
}

// ---- Spreadsheets ---------------------------------------------------------------------------------------------------

TEST(CsvSpreadsheet, EmptyColumnsAndRowsAtTheEndDoNotCount) {
  const Dataset data = parse(
      "\xEF\xBB\xBF"
      "a,b,,\r\n1,2,,\r\n3,4,,\r\n,,,\r\n,,,\r\n");
  EXPECT_THAT(data.names, ElementsAre("a", "b"));
  EXPECT_EQ(data.values, (Matrix(2, 2) << 1, 2, 3, 4).finished());
  EXPECT_EQ(parse("a;b\n1;2\n;\n").rows(), 1);
  EXPECT_EQ(parse("a;b\n1;2\n;\n3;4\n").rows(), 3);  // in the middle it is a row without any cell
  EXPECT_THAT(error_of("a,b,\n1,2,\n3,4,5\n"), HasSubstr("line 3: column 3 has cells but no name"));
  EXPECT_THAT(error_of("a,b\n,\n,\n"), HasSubstr("no rows"));
}

TEST(CsvSpreadsheet, LinesAreCountedAsInTheFile) {
  EXPECT_THAT(error_of("a,b,\r\n\r\n1,2,\r\n\r\n3,x,\r\n4,5,\r\n"), HasSubstr("line 5: column 'b'"));
}

// ---- Properties -----------------------------------------------------------------------------------------------------

rc::Gen<std::string> any_cell() {
  return rc::gen::oneOf(rc::gen::element<std::string>("", "NA", "a", "b", "a b", "\"q\"\"\"", "1,5", "1.5", "2", "007",
                                                      "12%", "x;y", "\"x,y\"", "é", "yes", "2020-01-01", "-", "1,234"),
                        rc::gen::container<std::string>(rc::gen::element('a', 'b', '1', ',', '.', ';', '"', ' ', '%')));
}

TEST(CsvTextProperty, WhatParsesWritesAndReadsBackForAnyChunkSize) {
  EXPECT_TRUE(rc::check("tables of any cells", [] {
    const char separator = *rc::gen::element(',', ';', '\t');
    const int columns = *rc::gen::inRange(1, 4), rows = *rc::gen::inRange(1, 12);
    std::string text;
    for (int column = 0; column < columns; ++column)
      text += fmt::format("{}c{}", column > 0 ? std::string(1, separator) : "", column);
    for (int row = 0; row < rows; ++row) {
      text += '\n';
      for (int column = 0; column < columns; ++column) {
        if (column > 0) text += separator;
        text += *any_cell();
      }
    }
    const auto outcome = [&](std::size_t chunk) -> std::pair<std::string, Dataset> {
      try {
        return {"", parse(text, {.separator = separator, .chunk_bytes = chunk})};
      } catch (const DataError& error) {
        return {error.what(), {}};
      }
    };
    const auto same = [](const Dataset& a, const Dataset& b) {
      return a.names == b.names && a.columns == b.columns && a.rows() == b.rows() &&
             (a.values.array() == b.values.array() || (a.values.array().isNaN() && b.values.array().isNaN())).all();
    };
    const auto whole = outcome(1 << 20), pieces = outcome(5);
    RC_ASSERT(whole.first == pieces.first);
    RC_ASSERT(same(whole.second, pieces.second));
    if (!whole.first.empty()) return;
    RC_ASSERT(same(whole.second, parse(to_csv(whole.second), {.separator = ','})));
  }));
}

}  // namespace
}  // namespace fansite
