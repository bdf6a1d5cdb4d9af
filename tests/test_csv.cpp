// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/csv.h"
#include "properties.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset parse(const std::string& text, const CsvOptions& options = {}) { return parse_csv(text, "t.csv", options); }

/// The sentence of the DataError that parsing throws, or "".
std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  try {
    parse(text, options);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

bool same_bits(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_table(const Dataset& a, const Dataset& b) {
  if (a.columns != b.columns) return false;
  if (a.names != b.names || a.rows() != b.rows() || a.variables() != b.variables()) return false;
  for (Index i = 0; i < a.values.size(); ++i) {
    if (!same_bits(a.values.data()[i], b.values.data()[i])) return false;
  }
  return true;
}

TEST(Csv, ReadsNamesAndNumbers) {
  const Dataset data = parse("a,b,c\n1,2.5,-3e2\n+4, 5 ,.5\n");
  EXPECT_THAT(data.names, ElementsAre("a", "b", "c"));
  Matrix expected(2, 3);
  expected << 1, 2.5, -300, 4, 5, 0.5;
  EXPECT_EQ(data.values, expected);
}

TEST(Csv, FindsTheSeparator) {
  EXPECT_THAT(parse("a;b\n1;2\n").names, ElementsAre("a", "b"));
  EXPECT_THAT(parse("a\tb\n1\t2\n").names, ElementsAre("a", "b"));
  EXPECT_THAT(parse("\"a,b,c\";d\n1;2\n").names, ElementsAre("a,b,c", "d"));
  EXPECT_THAT(parse("a,b;c\td,e\n1,2,3\n").names, ElementsAre("a", "b;c\td", "e"));
  EXPECT_THAT(parse("a,b\n1\n", {.separator = '\t'}).names, ElementsAre("a,b"));
}

TEST(Csv, ReadsQuotedNames) {
  const Dataset data = parse("\"say \"\"hi\"\"\",\" two\nlines \", \"x\" ,größe\r\n1,2,3,4\r\n");
  EXPECT_THAT(data.names, ElementsAre("say \"hi\"", " two\nlines ", "x", "größe"));
  EXPECT_EQ(data.rows(), 1);
  EXPECT_EQ(data.values(0, 3), 4);
}

TEST(Csv, SkipsByteOrderMarkAndBlankLines) {
  const Dataset data = parse(
      "\xEF\xBB\xBF"
      "\n a , b\r\n1,2\r\n\r\n3,4\n \n\n");
  EXPECT_THAT(data.names, ElementsAre("a", "b"));
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.values(1, 1), 4);
}

TEST(Csv, BlankLineInsideOneColumnIsAMissingCell) {
  const Dataset data = parse("a\n1\n\n3\n\"\"\n\n\n");
  ASSERT_EQ(data.rows(), 4);
  EXPECT_TRUE(std::isnan(data.values(1, 0)));
  EXPECT_EQ(data.values(2, 0), 3);
  EXPECT_TRUE(std::isnan(data.values(3, 0)));
}

TEST(Csv, KnowsMissingCells) {
  const Dataset data = parse(
      "a,b\n,1\nNA,1\nn/a,1\nNaN,1\nNULL,1\nNone,1\n\"\",1\n\"NA\",1\n-nan,1\n  "
      ",1\n?,1\n-,1\n.,1\n#N/A,1\n#DIV/0!,1\n#VALUE!,1\n<NA>,1\n");
  EXPECT_EQ(data.rows(), 17);
  for (Index row = 0; row < data.rows(); ++row) EXPECT_TRUE(std::isnan(data.values(row, 0))) << row;
  EXPECT_EQ(data.values.col(1), Vector::Ones(17));
}

TEST(Csv, ReadsExtremeNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Dataset data =
      parse("a\ninf\n-Infinity\n1e400\n-1e400\n1e-400\n-1e-400\n5e-324\n1.7976931348623157e308\n\"7\"\n-0\n");
  const double expected[] = {infinity, -infinity, infinity, -infinity, 0.0, -0.0, 5e-324, 1.7976931348623157e308,
                             7,        -0.0};
  ASSERT_EQ(data.rows(), 10);
  for (Index row = 0; row < 10; ++row) EXPECT_TRUE(same_bits(data.values(row, 0), expected[row])) << row;
  EXPECT_EQ(parse("a\n0." + std::string(400, '0') + "1\n").values(0, 0), 0);
  EXPECT_EQ(parse("a\n1" + std::string(400, '0') + "e-5\n").values(0, 0), infinity);
}

TEST(Csv, ReadsFilesWithoutHeader) {
  const Dataset data = parse("1,2\n3,4\n", {.header = false});
  EXPECT_THAT(data.names, ElementsAre("x1", "x2"));
  EXPECT_EQ(data.rows(), 2);
  // A comma beside semicolons is a decimal comma.
  EXPECT_EQ(parse("1,5;2,5\n", {.header = false}).values, (Matrix(1, 2) << 1.5, 2.5).finished());
}

TEST(Csv, NamesPlaceTextAndFix) {
  EXPECT_EQ(error_of("age,sex\n1,2\n3,male\n"),
            "[load_csv] t.csv line 3: column 'sex' holds the text 'male' among numbers. Correct it, leave it empty if "
            "it is missing, or use the column as labels with --kind sex=nominal.");
  EXPECT_EQ(error_of("age,sex\n1,2\n3,male\n", {.text = false}),
            "[load_csv] t.csv line 3: column 'sex' holds the text 'male'. Cells must be numbers.");
  EXPECT_THAT(error_of("a,b\n1,0\n1,0x10\n"), HasSubstr("'0x10'"));
  EXPECT_THAT(error_of("a,b\n1,0\n1,1.5.2\n"), HasSubstr("'1.5.2'"));
  EXPECT_THAT(error_of("a,b\n1,0\n1,\x80\x01 q\n"), HasSubstr("'?? q'"));
  EXPECT_THAT(error_of("\"a\nb\",c\n1,2\n\n1,q\n"), HasSubstr("line 5"));
}

TEST(Csv, RecognisesRowNames) {
  std::string text = "gene,a\n";
  for (int row = 0; row < 25; ++row) text += fmt::format("g{},{}\n", row, row % 7);
  EXPECT_EQ(error_of(text),
            "[load_csv] t.csv: column 'gene' looks like row names such as 'g0': 25 of 25 cells are different. Leave "
            "it out with --drop gene, or --kind gene=nominal to use it all the same.");
  EXPECT_THAT(error_of(",a\n0,1\n"), HasSubstr("index=False"));                // pandas
  EXPECT_THAT(error_of("a,b\ng1,1,2\n"), HasSubstr("begin with a row name"));  // R's write.table
}

TEST(Csv, BlanksSeparate) {
  Matrix numbers(2, 2);
  numbers << 1, 2.5, -3, 4;
  // As fixed-width output has them, with tabs among them, and at the ends of lines.
  const Dataset data = parse("  alpha   beta \r\n  1  2.5  \r\n -3 \t 4\r\n");
  EXPECT_THAT(data.names, ElementsAre("alpha", "beta"));
  EXPECT_EQ(data.values, numbers);
  EXPECT_EQ(parse("1 2.5\n-3   4\n", {.header = false}).values, numbers);
  EXPECT_EQ(parse("a b\n1,0 2,5\n-3 4\n").values, numbers);  // decimal commas
  EXPECT_EQ(parse("a b\n1 2.5\n-3 4\n", {.separator = ' '}).values, numbers);
  const Dataset quoted = parse("\"blood pressure\" sex\n1 \"not known\"\n2 male\n3 -\n? male\n");
  EXPECT_THAT(quoted.names, ElementsAre("blood pressure", "sex"));
  EXPECT_THAT(quoted.columns[1].levels, ElementsAre("male", "not known"));
  EXPECT_TRUE(std::isnan(quoted.values(2, 1)) && std::isnan(quoted.values(3, 0)));
  EXPECT_THAT(error_of("a b c\n1 2 3\n1 2\n"), HasSubstr("text"));  // not all rows have as many words
  EXPECT_THAT(error_of("a b\ng1 1 2\ng2 3 4\n"),
              HasSubstr("line 2: 3 cells, expected 2. Does the row begin with a row"));
  EXPECT_THAT(error_of("a b\n1,234 2\n5 6\n"), HasSubstr("a thousand or a decimal comma"));
}

TEST(Csv, BlanksInNamesAndLabelsOfOtherTablesStay) {
  EXPECT_THAT(parse("blood pressure\n1\n2\n").names, ElementsAre("blood pressure"));
  EXPECT_THAT(parse("blood type\nA pos\nB neg\nA pos\n").names, ElementsAre("blood type"));
  EXPECT_THAT(parse("a b,c d\n1,2\n").names, ElementsAre("a b", "c d"));
  EXPECT_THAT(parse("a b\tc\n1\t2\n").names, ElementsAre("a b", "c"));
  EXPECT_THAT(parse("a b;c\n1;2\n").names, ElementsAre("a b", "c"));
  // What is written is read back, also where blanks could seem to separate.
  Dataset alone{{"a b"}, Matrix::Zero(3, 1)};
  alone.values(1, 0) = 1;
  alone.columns = {{.kind = ColumnKind::nominal, .levels = {"x 1", "y 2"}}};
  EXPECT_TRUE(same_table(alone, parse(to_csv(alone))));
}

TEST(Csv, CommentsAreSkipped) {
  const Dataset data = parse("# from the field, 2020\n#\na,b\n# begin\n1,2\n#3,4\n# 5,6\n7,8\n#end\n");
  EXPECT_THAT(data.names, ElementsAre("a", "b"));
  EXPECT_EQ(data.values, (Matrix(2, 2) << 1, 2, 7, 8).finished());
  EXPECT_THAT(parse("a\n# no cell\n1\n\n2\n").values.rows(), 3);  // a blank line is one
  EXPECT_EQ(parse("# x\n1,2\n# y\n3,4\n", {.header = false}).rows(), 2);
  EXPECT_EQ(error_of("# one\na,b\n1,2\n# two\n3,x\n5,6\n"),
            "[load_csv] t.csv line 5: column 'b' holds the text 'x' among numbers. Correct it, leave it empty if it is "
            "missing, or use the column as labels with --kind b=nominal.");
  EXPECT_THAT(error_of("# nothing\n# else\n"), HasSubstr("nothing but comments"));
  EXPECT_THAT(error_of("a,b\n# nothing\n"), HasSubstr("no rows"));
}

TEST(Csv, RowsThatBeginWithAHashAreNotLost) {
  const Dataset data = parse("a,b\n#N/A,2\n#DIV/0!,3\n4,5\n");
  EXPECT_EQ(data.rows(), 3);
  EXPECT_TRUE(std::isnan(data.values(0, 0)) && std::isnan(data.values(1, 0)));
  EXPECT_THAT(error_of("colour,b\nred,1\n#blue,2\n"),
              HasSubstr("line 3: the line can be a comment or a row that begins with '#blue'. Write a blank"));
  Dataset labels = parse("colour,\"#b\"\nred,1\n\"#blue\",2\n");
  EXPECT_THAT(labels.columns[0].levels, ElementsAre("#blue", "red"));
  EXPECT_TRUE(same_table(labels, parse(to_csv(labels))));
}

TEST(Csv, TheLastCommentCanBeTheHeader) {
  EXPECT_THAT(parse("# a b\n1 2\n3 4\n").names, ElementsAre("a", "b"));            // numpy.savetxt(header="a b")
  EXPECT_THAT(parse("## v4\n#id\tpos\nr1\t7\n").names, ElementsAre("id", "pos"));  // bioinformatics
  EXPECT_THAT(parse("#id,sex\nr1,male\nr1,male\n").names, ElementsAre("id", "sex"));
  EXPECT_THAT(parse("# by me, here\na,b\nx,y\n").names, ElementsAre("a", "b"));
  EXPECT_THAT(error_of("# c\n# a,b\n1,2\n3,x\n5,6\n"), HasSubstr("line 4: column 'b'"));
}

TEST(Csv, PlusAndMinusAreLevels) {
  EXPECT_THAT(parse("strand,x\n+,1\n-,2\n,3\n").columns[0].levels, ElementsAre("+", "-"));
  EXPECT_THAT(parse("s,x\nyes,1\n-,2\nno,3\n").columns[0].levels, ElementsAre("no", "yes"));
}

TEST(Csv, ColumnsThatAreLeftOutAreNotLookedAt) {
  std::string text = "id,day,x\n";
  for (int row = 0; row < 30; ++row) text += fmt::format("patient {},2020-01-{:02},{}\n", row, row + 1, row);
  EXPECT_THAT(error_of(text), HasSubstr("--drop id"));
  CsvOptions options;
  options.left_out = [](const std::vector<std::string>& names) {
    EXPECT_THAT(names, ElementsAre("id", "day", "x"));
    return std::vector<char>{1, 1, 0};
  };
  EXPECT_EQ(parse(text, options).values(29, 2), 29);
}

TEST(Csv, AsksForSeparators) {
  EXPECT_THAT(error_of("a\n1 2\n"), HasSubstr("Separate cells with commas"));
  EXPECT_THAT(error_of("a b\n1 2\n2\n3\n"), HasSubstr("Separate cells with commas"));
}

TEST(Csv, CountsCellsOfRaggedRows) {
  EXPECT_EQ(error_of("a,b,c\n1,2,3\n4,5\n"),
            "[load_csv] t.csv line 3: 2 cells, expected 3. Is a cell or a separator missing?");
  EXPECT_THAT(error_of("a,b\n1,2\n\n1,2,3\n"), HasSubstr("line 4: 3 cells, expected 2"));
  EXPECT_THAT(error_of("a,b\n1,\"2\n3\"\n"), HasSubstr("line 2: a quote is not closed"));
  EXPECT_THAT(error_of("\"a,b\n1,2\n"), HasSubstr("line 1: a quote is not closed"));
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("\n \n"), HasSubstr("is empty"));
  EXPECT_THAT(error_of("a,b\n"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(error_of("a,b\n\n\t\n"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(error_of("a,b,c,b\n1,2,3,4\n"), HasSubstr("columns 2 and 4 are both called 'b'; rename one"));
  EXPECT_THAT(error_of("a,,c\n1,2,3\n"), HasSubstr("column 2 of 3 has no name"));
  EXPECT_THAT(error_of("1.5,0,0\n1,2,3\n"), HasSubstr("use --no-header"));
  EXPECT_THAT(error_of("\xFF\xFE"
                       "a"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(error_of("\x1F\x8B\x08"), HasSubstr("compressed"));  // load() has unpacked it
  EXPECT_THAT(error_of("a,b\r1,2\r"), HasSubstr("CR alone"));
  EXPECT_THAT(error_of("a,\xE9t\xE9\n1,2\n"), HasSubstr("not UTF-8"));
}

/// Many short rows under a wide header promise a table far larger than the text: the error must come before the memory.
TEST(Csv, DoesNotAllocateForRaggedGiants) {
  std::string text = "x0";
  for (int i = 1; i < 100000; ++i) text += ",x" + std::to_string(i);
  for (int i = 0; i < 1000000; ++i) text += "\n1";
  EXPECT_THAT(error_of(text), HasSubstr("line 2: 1 cell, expected 100000"));
}

TEST(Csv, ReportsTheEarliestErrorForAnyChunkAndThreadCount) {
  std::string text = "a,b\n";
  for (int row = 2; row <= 4000; ++row) text += row == 777 || row % 1000 == 0 ? "1,bad\n" : "1,2\n";
  for (const int threads : {1, 2, 4}) {
    const ThreadLimit limit(threads);
    for (const std::size_t chunk : {1u, 10u, 1000u, 1u << 20}) {
      EXPECT_THAT(error_of(text, {.chunk_bytes = chunk}), HasSubstr("line 777:"));
    }
  }
}

// ---- Properties -----------------------------------------------------------------------------------------------------

/// Any bit pattern, and the patterns that matter more often.
rc::Gen<double> any_double() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
      rc::gen::map(rc::gen::arbitrary<int>(), [](int value) { return value / 1000.0; }),
      rc::gen::element(0.0, -0.0, 1e22, 1e23, 0.1, 123456789012345.0, 1234567890123456.0, 9007199254740993.0, 5e-324,
                       std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()));
}

rc::Gen<std::string> any_name() {
  return rc::gen::suchThat(
      rc::gen::container<std::string>(rc::gen::oneOf(
          rc::gen::element(',', ';', '\t', '"', '\n', '\r', ' ', '1', '.', 'a'), rc::gen::inRange(' ', '~'))),
      [](const std::string& name) { return !name.empty(); });
}

rc::Gen<Dataset> any_table() {
  return rc::gen::exec([] {
    const auto unique = *rc::gen::suchThat(rc::gen::container<std::set<std::string>>(any_name()),
                                           [](const std::set<std::string>& names) { return !names.empty(); });
    Dataset data;
    for (const std::string& name : unique)
      data.names.push_back(*rc::gen::element(name, name + "é", name + "\xF0\x9F\x98\x80"));
    const auto columns = static_cast<Index>(data.names.size());
    const auto rows = static_cast<Index>(*rc::gen::inRange(1, 40));
    const auto cells = *rc::gen::container<std::vector<double>>(static_cast<std::size_t>(rows * columns), any_double());
    data.values = Eigen::Map<const Matrix>(cells.data(), rows, columns);
    return data;
  });
}

TEST(CsvProperty, RoundTripIsBitExact) {
  EXPECT_TRUE(rc::check("parse(to_csv(t)) == t for any doubles, names, separator and chunk size", [] {
    const Dataset data = *any_table();
    const char separator = *rc::gen::element(',', ';', '\t');
    const auto chunk = static_cast<std::size_t>(*rc::gen::inRange(1, 3000));
    // One column needs no separator, so there is none to detect.
    const Dataset back = parse(to_csv(data, separator), {.separator = separator, .chunk_bytes = chunk});
    RC_ASSERT(same_table(back, data));
    RC_ASSERT(same_table(parse(to_csv(data, separator)), data));
  }));
}

TEST(CsvProperty, ShortDecimalsAgreeWithTheLibrary) {
  EXPECT_TRUE(rc::check("any decimal text reads as strtod reads it", [] {
    const auto digits = *rc::gen::container<std::string>(rc::gen::inRange<char>('0', '9' + 1));
    const auto decimals = *rc::gen::container<std::string>(rc::gen::inRange<char>('0', '9' + 1));
    RC_PRE(!digits.empty() || !decimals.empty());
    const std::string text = *rc::gen::element("", "-") + digits + "." + decimals;
    RC_ASSERT(same_bits(parse("a\n" + text).values(0, 0), std::strtod(text.c_str(), nullptr)));
  }));
}

TEST(CsvProperty, MutatedTextParsesOrThrowsDataError) {
  EXPECT_TRUE(rc::check("no mutation does anything but parse or throw a DataError, alike for every chunk size", [] {
    std::string text = to_csv(*any_table());
    const int mutations = *rc::gen::inRange(1, 6);
    for (int i = 0; i < mutations; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      text[at] = *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element(',', '"', '\n', '\r', ';', 'e', '-'));
    }
    const auto outcome = [&](std::size_t chunk) -> std::pair<std::string, Dataset> {
      try {
        return {"", parse(text, {.chunk_bytes = chunk})};
      } catch (const DataError& error) {
        return {error.what(), {}};
      }
    };
    const auto whole = outcome(1 << 20), pieces = outcome(static_cast<std::size_t>(*rc::gen::inRange(1, 200)));
    RC_ASSERT(whole.first == pieces.first);
    RC_ASSERT(same_table(whole.second, pieces.second));
    RC_ASSERT(is_utf8(whole.first));
  }));
}

}  // namespace
}  // namespace fansite
