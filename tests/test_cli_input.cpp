// SPDX-License-Identifier: Apache-2.0
//
// The program on tables that are broken or odd: what it says, how it ends, and that it leaves nothing behind.
#include <cmath>

#include "fansite/base/random.h"
#include "fansite/table/dataset.h"
#include "fansite/table/npy.h"
#include "program.h"
#include "zip_writer.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Independent normal columns x1, x2, …
Dataset noise(Index rows, int columns) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{11});
  for (Index i = 0; i < data.values.size(); ++i) data.values.data()[i] = random.normal();
  return data;
}

class CliInputTest : public ProgramTest {
 protected:
  /// `mb` on this text, from a file and from standard input, must fail as bad data.
  void is_refused(const std::string& text, const std::vector<std::string>& phrases) {
    put("bad.csv", text);
    fails({"mb", "bad.csv", "--out", "r.json"}, 3, phrases);
    fails(Call{.arguments = {"mb", "-"}, .input = text}, 3, phrases);
  }

  /// `mb` on this table must work; what it says is in said().
  Json result_of(const Dataset& data, std::vector<std::string> options = {}) {
    save(data, path("table.csv"));
    options.insert(options.begin(), {"mb", "table.csv", "--out", "r.json"});
    said_ = works(options).err;
    return json("r.json");
  }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
};

/// Rows 1,2 / 2,3 / … as CSV text under this header, `odd` in the place of line 6.
std::string rows_under(const std::string& header, const std::string& odd) {
  std::string text = header + "\n";
  for (int row = 1; row <= 20; ++row) {
    text += row == 5 ? odd : std::to_string(row) + "," + std::to_string(row * row % 7);
    text += "\n";
  }
  return text;
}

// ---- Text -----------------------------------------------------------------------------------------------------------

TEST_F(CliInputTest, NamesTheFileOrStandardInput) {
  put("bad.csv", rows_under("a,b", "5,x"));
  fails({"mb", "bad.csv"}, 3, {"bad.csv line 6"});
  fails(Call{.arguments = {"mb", "-"}, .input = content("bad.csv")}, 3, {"standard input line 6"});
}

TEST_F(CliInputTest, Empty) {
  is_refused("", {"is empty", "header of names and rows of numbers"});
  is_refused("\n\n  \n", {"is empty"});
}

TEST_F(CliInputTest, HeaderOnly) { is_refused("a,b,c\n", {"has a header but no rows", "rows of numbers"}); }

TEST_F(CliInputTest, TextInANumberColumn) {
  is_refused(rows_under("age,dose", "5,high"),
             {"line 6", "column 'dose'", "'high'", "among numbers", "--kind dose=nominal"});
  std::string names = "id,a\n";
  for (int row = 0; row < 25; ++row) names += "r" + std::to_string(row) + "," + std::to_string(row * row % 7) + "\n";
  is_refused(names, {"column 'id'", "row names", "--drop id"});
}

TEST_F(CliInputTest, RaggedRow) {
  is_refused(rows_under("a,b", "5"), {"line 6", "expected 2", "separator missing?"});
  is_refused(rows_under("a,b", "5,6,7"), {"line 6", "3 cells, expected 2"});
}

TEST_F(CliInputTest, DuplicatedNames) {
  is_refused(rows_under("dose,dose", "5,6"), {"line 1", "columns 1 and 2", "'dose'", "rename one"});
}

TEST_F(CliInputTest, TooFewRows) { is_refused("a,b\n1,2\n2,1\n3,3\n", {"3 rows", "at least 8"}); }

TEST_F(CliInputTest, Infinities) {
  is_refused(rows_under("age,dose", "5,inf"), {"infinite", "'dose'", "row 5", "replace or remove"});
  is_refused(rows_under("age,dose", "-Infinity,1"), {"infinite", "'age'", "row 5"});
}

TEST_F(CliInputTest, OtherFilesThanText) {
  is_refused(std::string("\xFF\xFE\x61\x00", 4), {"UTF-16", "Save it as UTF-8"});
  is_refused(std::string("PK\x03\x04 and so on"), {"compressed", "Unpack it"});
}

TEST_F(CliInputTest, ZeroBytes) {
  is_refused(std::string(100, '\0'), {"nothing but zero bytes", "Write it again"});
  is_refused(rows_under("a,b", std::string("5,\0", 3)), {"has zero bytes", "binary files", "UTF-8"});
}

// ---- Size -----------------------------------------------------------------------------------------------------------

// Sanitizers reserve more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsWork = false;
#else
constexpr bool kLimitsWork = true;
#endif
constexpr std::size_t kGigabyte = std::size_t{1} << 30;

TEST_F(CliInputTest, ALargeFileThatIsNoTextIsRefusedBeforeItIsRead) {
  put("bad.csv", "");
  std::filesystem::resize_file(path("bad.csv"), 2 * kGigabyte);
  const std::size_t limit = kLimitsWork ? kGigabyte : 0;
  fails(Call{.arguments = {"mb", "bad.csv", "--out", "r.json"}, .memory = limit}, 3, {"bad.csv", "zero bytes"});
}

TEST_F(CliInputTest, ALineThatNeverEnds) {
  put("bad.csv", std::string(std::size_t{1} << 26, '1'));
  fails({"mb", "bad.csv", "--out", "r.json"}, 3, {"bad.csv", "no line end in its first 64 MB", "one row in each line"});
}

TEST_F(CliInputTest, MoreThanTheMemoryHolds) {
  if (!kLimitsWork) GTEST_SKIP();
  std::string rows = "a,b\n";
  while (rows.size() < (std::size_t{1} << 17)) rows += "1,2\n";
  put("large.csv", rows);
  std::filesystem::resize_file(path("large.csv"), 2 * kGigabyte);
  fails(Call{.arguments = {"mb", "large.csv", "--out", "r.json"}, .memory = kGigabyte}, 1,
        {"out of memory", "fewer rows or columns"});
}

// Whether it notices is a matter of luck; that it lives is not.
TEST_F(CliInputTest, AFileThatIsCutShortMeanwhile) {
  std::string rows = "a,b\n";
  for (int row = 0; row < 2000000; ++row) rows += std::to_string(row % 7) + "," + std::to_string(row % 11) + "\n";
  put("table.csv", rows);
  Call call{.arguments = {"inspect", "table.csv"}};
  call.interrupted = [this] {
    std::filesystem::resize_file(path("table.csv"), 100);
    return false;
  };
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.signal, 0) << outcome.err;
}

TEST_F(CliInputTest, MissingCells) {
  put("gap.csv", rows_under("age,dose", "5,"));
  fails({"mb", "gap.csv", "--missing", "error"}, 3, {"1 missing cell", "'dose'", "row 5", "--missing drop"});
  put("gaps.csv", rows_under("age,dose", "NA,NaN"));
  fails({"mb", "gaps.csv", "--missing", "error"}, 3, {"2 missing cells", "'age', 'dose'"});

  Dataset data = noise(100, 3);
  data.values.col(1) += data.values.col(0);
  const Json whole = result_of({data.names, data.values.bottomRows(98)});
  data.values(0, 2) = data.values(1, 0) = data.values(1, 1) = std::nan("");
  const Json dropped = result_of(data, {"--missing", "drop"});
  EXPECT_THAT(said(), HasSubstr("warning: 2 rows with missing cells left out\n"));
  EXPECT_EQ(dropped.at("rows"), 98);
  EXPECT_EQ(dropped.at("boundaries"), whole.at("boundaries"));

  data.values.col(2).setConstant(std::nan(""));
  save(data, path("gaps.csv"));
  fails({"mb", "gaps.csv", "--missing", "drop", "--out", "r2.json"}, 3, {"every row has a missing cell", "drop"});
}

// A method that cannot use them says how many rows would have to go. (most-correlated is such a method of tests/toys.)
TEST_F(CliInputTest, MissingCellsForAMethodThatCannotUseThem) {
  put("gap.csv", rows_under("age,dose", "5,"));
  fails({"dag", "gap.csv", "--method", "sdcd"}, 3,
        {"[dag] the table has missing cells, which sdcd cannot use",
         "--missing drop leaves out the 1 row that has some"});
  std::string text = "a,b\n";
  for (int row = 0; row < 10; ++row) text += row % 2 == 0 ? "1,\n" : ",2\n";
  put("gaps.csv", text);
  fails({"dag", "gaps.csv", "--method", "sdcd"}, 3, {"every row has some", "remove the columns"});
}

// ---- Roles ----------------------------------------------------------------------------------------------------------

/// A column of numbers, one of labels, one of weights, one of groups.
std::string study() {
  std::string text = "dose,age,site,w,patient\n";
  for (int row = 0; row < 60; ++row) {
    text += fmt::format("{},{},{},{},p{}\n", (row * 37 % 101) / 10.0, (row * 53 % 97) / 7.0, "ABC"[row % 3],
                        1 + row % 4, row / 2);
  }
  return text;
}

TEST_F(CliInputTest, RolesOfColumnsThatAreWrong) {
  put("study.csv", study());
  const auto fails_with = [&](std::vector<std::string> options, int code, const std::vector<std::string>& phrases) {
    options.insert(options.begin(), {"mb", "study.csv", "--out", "r.json"});
    if (std::find(options.begin(), options.end(), "patient") == options.end()) {
      options.insert(options.end(), {"--kind", "patient=nominal"});
    }
    fails(options, code, phrases);
  };
  fails_with({"--kind", "dose"}, 2, {"[--kind]", "'dose' is not NAME=KIND", "continuous, ordered, atoms or nominal"});
  fails_with({"--kind", "dose=nice"}, 2, {"'dose=nice' is not NAME=KIND"});
  fails_with({"--kind", "doze=ordered"}, 2, {"'doze'", "Did you mean 'dose'?"});
  fails_with({"--kind", "dose=ordered", "--kind", "dose=atoms"}, 2, {"'dose' is said to be ordered and atoms"});
  fails_with({"--kind", "site=ordered"}, 2, {"'site' holds text", "cannot be ordered"});
  fails_with({"--context", "sitte"}, 2, {"'sitte'", "'site'?"});
  fails_with({"--weight", "site"}, 2, {"'site' holds text", "positive numbers"});
  fails_with({"--weight", "dose"}, 3, {"'dose' of row 1 is 0", "positive numbers"});
  fails_with({"--group", "patient", "--weight", "patient"}, 2, {"'patient' cannot be weight and group"});
  fails_with({"--context", "w", "--weight", "w"}, 2, {"'w' is the weight of rows", "cannot be context"});
  fails_with({"--context", "site", "--target", "site"}, 2, {"'site' is context, which has no boundary"});
  put("kinds.txt", "dose=ordered\nage:atoms\n");
  fails_with({"--kinds", "kinds.txt"}, 3, {"kinds.txt line 2", "'age:atoms'", "NAME=KIND"});
}

TEST_F(CliInputTest, RolesThatAMethodCannotUse) {
  std::string text = study();
  put("study.csv", text);
  const auto refused = [&](std::vector<std::string> options, const std::string& phrase) {
    options.insert(options.begin(), {"dag", "study.csv", "--method", "sdcd"});
    fails(options, 3, {"[dag]", "sdcd", phrase});
  };
  refused({"--group", "patient"}, "'site' have no order");
  put("study.csv", [&] {
    for (char& c : text) c = c >= 'A' && c <= 'C' ? static_cast<char>('1' + (c - 'A')) : c;
    return text;
  }());
  refused({"--group", "patient"}, "cannot use groups of rows");
  refused({"--kind", "patient=nominal"}, "'patient' have no order");
}

// ---- Columns --------------------------------------------------------------------------------------------------------

TEST_F(CliInputTest, ConstantColumn) {
  Dataset data = noise(50, 3);
  data.values.col(1).setConstant(0.1);
  const Json result = result_of(data);
  EXPECT_THAT(said(), HasSubstr("warning: [load] column 'x2' is constant"));
  EXPECT_THAT(warnings_of(result), Contains(HasSubstr("column 'x2' is constant")));
  EXPECT_THAT(members_of(result, "x2"), IsEmpty());
  EXPECT_TRUE(boundary_of(result, "x2").at("entropy").is_null());
  EXPECT_EQ(result.at("boundaries").size(), 3u);
}

TEST_F(CliInputTest, EveryColumnConstant) {
  const Json result = result_of({default_names(2), Matrix::Ones(20, 2)});
  EXPECT_THAT(said(), HasSubstr("columns 'x1', 'x2' are constant"));
  for (const char* target : {"x1", "x2"}) EXPECT_THAT(members_of(result, target), IsEmpty());
}

TEST_F(CliInputTest, DuplicatedColumns) {
  Dataset data = noise(200, 4);
  data.values.col(1) += data.values.col(0);
  data.values.col(3) = data.values.col(0);
  data.names = {"a", "b", "c", "copy"};
  const Json result = result_of(data);
  EXPECT_THAT(said(), HasSubstr("warning: [load] 'copy' is a copy of 'a'"));
  EXPECT_EQ(boundary_of(result, "copy").at("copy_of"), "a");
  EXPECT_FALSE(boundary_of(result, "a").contains("copy_of"));
  EXPECT_THAT(members_of(result, "a"), ElementsAre("b"));
  EXPECT_EQ(boundary_of(result, "copy").at("members"), boundary_of(result, "a").at("members"));
  EXPECT_THAT(members_of(result, "b"), ElementsAre("a"));  // the original, never both

  const Json alone = result_of(data, {"--target", "copy"});
  EXPECT_EQ(alone.at("boundaries").size(), 1u);
  EXPECT_EQ(boundary_of(alone, "copy").at("copy_of"), "a");
  EXPECT_THAT(members_of(alone, "copy"), ElementsAre("b"));
}

/// Every number of a result can be read back; what would be infinite is null.
void expect_finite(const Json& value) {
  if (value.is_number_float()) {
    EXPECT_TRUE(std::isfinite(value.get<double>())) << value;
  } else if (value.is_structured()) {
    for (const Json& inner : value) expect_finite(inner);
  }
}

TEST_F(CliInputTest, CollinearColumns) {
  Dataset data = noise(300, 4);
  data.values.col(2) = data.values.col(0) + data.values.col(1);
  const Json result = result_of(data);
  EXPECT_THAT(said(), HasSubstr("warning: [mb] 3 variables are determined exactly by others (collinear columns)"));
  EXPECT_THAT(said(), HasSubstr("'x3' by"));
  EXPECT_THAT(said(), HasSubstr("drop one column"));
  EXPECT_THAT(members_of(result, "x3"), UnorderedElementsAre("x1", "x2"));
  EXPECT_TRUE(boundary_of(result, "x3").at("conditional_entropy").is_null());
  expect_finite(result);
  // At 0.05 one table in twenty has a false member; at 0.001 one in a thousand.
  EXPECT_THAT(members_of(result_of(data, {"--fdr", "0.001"}), "x4"), IsEmpty());
  for (const char* stop : {"paper", "calibrated"}) {
    for (const char* rule : {"and", "none"}) expect_finite(result_of(data, {"--stop", stop, "--rule", rule}));
  }
}

TEST_F(CliInputTest, MoreColumnsThanRows) {
  const Json result = result_of(noise(20, 40));
  EXPECT_THAT(said(), HasSubstr("warning: [load] more columns (40) than rows (20)"));
  EXPECT_EQ(result.at("boundaries").size(), 40u);
  expect_finite(result);
}

TEST_F(CliInputTest, OneColumn) { EXPECT_THAT(members_of(result_of(noise(20, 1)), "x1"), IsEmpty()); }

TEST_F(CliInputTest, HugeAndTinyNumbers) {
  Dataset data = noise(100, 3);
  data.values.col(1) += data.values.col(0);
  const Json plain = result_of(data);
  data.values.col(0) *= 1e300;
  data.values.col(1) *= 1e-300;
  const Json scaled = result_of(data);
  expect_finite(scaled);
  for (const char* target : {"x1", "x2", "x3"}) EXPECT_EQ(members_of(scaled, target), members_of(plain, target));
}

TEST_F(CliInputTest, HeaderThatLooksLikeData) {
  const std::string numbers = rows_under("0.5,1.25", "5,4");
  put("n.csv", numbers);
  EXPECT_THAT(works({"mb", "n.csv"}).err, HasSubstr("--no-header"));
  const Json result = works({"mb", "n.csv", "--no-header"}).json();
  EXPECT_EQ(result.at("variables"), Json({"x1", "x2"}));
  EXPECT_EQ(result.at("rows"), 21);
}

TEST_F(CliInputTest, NamesWithLineBreaksAndEscapeCodes) {
  Dataset data = noise(100, 3);
  data.values.col(2) = data.values.col(0) + data.values.col(1);  // so that a warning names them
  data.names = {"two\nlines", "\x1B[2Jclear", "µ, \"quoted\""};
  const Json result = result_of(data);  // works() holds standard error to plain lines
  EXPECT_EQ(result.at("variables").get<std::vector<std::string>>(), data.names);
  EXPECT_THAT(members_of(result, data.names[2]), UnorderedElementsAre(data.names[0], data.names[1]));
}

// ---- Arrays ---------------------------------------------------------------------------------------------------------

TEST_F(CliInputTest, TruncatedNpy) {
  const std::string whole = to_npy(noise(30, 3).values);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{9}, std::size_t{60}, std::size_t{128},
                                 std::size_t{500}, whole.size() - 1}) {
    put("t.npy", whole.substr(0, size));
    fails({"mb", "t.npy", "--out", "r.json"}, 3, {"t.npy", size < 6 ? "numpy.save" : "truncated"});
  }
}

TEST_F(CliInputTest, TruncatedNpz) {
  for (const bool deflate : {false, true}) {
    const std::string whole = ZipWriter().add("data.npy", to_npy(noise(30, 3).values), deflate).finish();
    put("t.npz", whole);
    works({"mb", "t.npz"});
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 12) {
      put("t.npz", whole.substr(0, size));
      fails({"mb", "t.npz", "--out", "r.json"}, 3, {"t.npz", "truncated", "Copy or save it again"});
    }
  }
}

TEST_F(CliInputTest, ArchivesWithoutATable) {
  const std::string table = to_npy(noise(30, 3).values);
  put("two.npz", ZipWriter().add("a.npy", table).add("b.npy", table).finish());
  fails({"mb", "two.npz", "--out", "r.json"}, 3, {"two.npz", "'a', 'b'", "'data'"});
  put("none.npz", ZipWriter().add("readme.txt", "hello").finish());
  fails({"mb", "none.npz", "--out", "r.json"}, 3, {"none.npz", "no arrays"});
  put("text.npy", npy_file("{'descr': '<U3', 'fortran_order': False, 'shape': (1, 1), }", std::string(12, 'x')));
  fails({"mb", "text.npy", "--out", "r.json"}, 3, {"text.npy", "text", "float64"});
}

}  // namespace
}  // namespace fansite
