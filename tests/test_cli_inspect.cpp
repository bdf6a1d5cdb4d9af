// SPDX-License-Identifier: Apache-2.0
//
// fansite inspect, and the roles of columns from the command line to a result and back.
#include <cmath>

#include "fansite/base/text.h"
#include "fansite/table/dataset.h"
#include "program.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class CliInspectTest : public ProgramTest {
 protected:
  /// Numbers with gaps, ratings, labels, decimal commas, a weight, a patient, a row number and a constant.
  void put_study() {
    std::string text = "nr;age;rating;site;dose;w;patient;a_name_that_is_much_longer_than_a_column_can_be;one\n";
    for (int row = 0; row < 60; ++row) {
      text += std::to_string(row + 1) + ";" + (row % 10 == 3 ? "NA" : std::to_string((row * 37 % 101) / 10.0)) + ";" +
              std::to_string(row * row % 5) + ";" + std::string(1, "ABC"[row % 3]) + ";" + std::to_string(row % 7) +
              ",5;" + std::to_string(1 + row % 2) + ";p" + std::to_string(row / 2) + ";" +
              std::to_string((row * 53 % 97) / 7.0) + ";1\n";
    }
    put("study.csv", text);
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(utf8_character(text), 1));
  return count;
}

TEST_F(CliInspectTest, ShowsATableThatFitsATerminal) {
  put_study();
  const Outcome outcome =
      works({"inspect", "study.csv", "--group", "patient", "--weight", "w", "--kind", "dose=atoms"});
  const auto lines = lines_of(outcome.out);
  for (const std::string& line : lines) EXPECT_LE(characters(line), 80u) << line;
  EXPECT_EQ(lines[0], "60 rows × 7 columns, 6 with missing cells");
  EXPECT_THAT(outcome.out, HasSubstr("weighted by 'w': as many as 54.0 rows of the same weight"));
  EXPECT_THAT(outcome.out, HasSubstr("30 groups by 'patient'"));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("age "), HasSubstr("continuous"), HasSubstr("10.0 %"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("site "), HasSubstr("nominal*"), HasSubstr("A, B, C"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("dose "), HasSubstr("atoms*"), HasSubstr("0.5 … 6.5"))));
  EXPECT_THAT(outcome.out, HasSubstr("a_name_that_…"));
  EXPECT_THAT(outcome.out, HasSubstr("lumn_can_be "));
  EXPECT_THAT(lines, Contains("    → left out: it is constant"));
  EXPECT_THAT(outcome.out, HasSubstr("'nr' counts the rows"));
  EXPECT_THAT(outcome.out, HasSubstr("'rating' holds few whole numbers"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("--group NAME")));
}

TEST_F(CliInspectTest, AsJson) {
  put_study();
  const Json json = works({"inspect", "study.csv", "--json", "--group", "patient"}).json();
  EXPECT_EQ(json.at("format"), "fansite.inspect/2");
  EXPECT_EQ(json.at("rows"), 60);
  EXPECT_EQ(json.at("groups"), 30);
  EXPECT_EQ(json.at("columns").size(), 8u);
  works({"inspect", "study.csv", "--group", "patient", "--out", "i.json"});
  EXPECT_EQ(json.dump(), this->json("i.json").dump());
}

// Whatever is wrong with the values, it is told and not thrown.
TEST_F(CliInspectTest, ShowsWhatAllowsNoAnswer) {
  put("few.csv", "a,b\n1,inf\n2,\n");
  const Outcome outcome = works({"inspect", "few.csv"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("  ! infinite values"), HasSubstr("2 rows: at least 8")));
  put("bad.csv", "a,b\n1,2\n1,2,3\n");
  fails({"inspect", "bad.csv"}, 3, {"line 3"});
  fails({"inspect", "none.csv"}, 2, {"none.csv"});
}

TEST_F(CliInspectTest, NamesWithEscapeCodesAreShownPlain) {
  put("odd.csv", "\"two\nlines\",\x1B[2J,site\n1,2,A\x1B[2J\n2,1,B\n3,3,A\n");
  const Outcome outcome = works({"inspect", "odd.csv"});
  expect_plain_lines(outcome.out);
}

// Doses go along with pressures but for one cell, which must hide nothing.
TEST_F(CliInspectTest, NamesWildCellsHereAndInResults) {
  std::string text = "pressure,dose\n";
  for (int row = 0; row < 100; ++row) {
    const double pressure = row * 37 % 101, dose = pressure + row * 53 % 97;
    text += (row == 16 ? "1e308" : std::to_string(pressure / 10)) + "," + std::to_string(dose / 7) + "\n";
  }
  put("t.csv", text);
  EXPECT_THAT(works({"inspect", "t.csv"}).out, HasSubstr("  - the cell of 'pressure' in row 17 (1e+308) is"));
  const Json json = works({"inspect", "t.csv", "--json"}).json();
  EXPECT_EQ(json.at("findings")[0].at("kind"), "wild");
  const Outcome found = works({"mb", "t.csv", "--estimator", "gaussian", "--out", "r.json"});
  EXPECT_THAT(found.err, AllOf(HasSubstr("'pressure' in row 17"), Not(HasSubstr("infinite"))));
  EXPECT_EQ(this->json("r.json").at("boundaries")[1].at("members")[0].at("name"), "pressure");
  works({"verify", "r.json", "t.csv"});
  EXPECT_THAT(works({"dag", "t.csv", "--estimator", "gaussian"}).err, HasSubstr("'pressure' in row 17"));
}

TEST_F(CliInspectTest, KindsFromAFile) {
  put_study();
  put("kinds.csv", "name,kind\nrating,nominal\nage,ordered\n");
  const Json json = works({"inspect", "study.csv", "--json", "--group", "patient", "--kinds", "kinds.csv"}).json();
  EXPECT_EQ(json.at("columns")[1].at("kind"), "ordered");
  EXPECT_EQ(json.at("columns")[2].at("kind"), "nominal");
  EXPECT_EQ(json.at("columns")[2].at("labels"), Json({"0", "1", "4"}));
  fails({"inspect", "study.csv", "--group", "patient", "--kinds", "kinds.csv", "--kind", "age=atoms"}, 2,
        {"'age' is said to be ordered and atoms"});
}

// A result says what its table was taken to be, so it can be repeated without the options.
TEST_F(CliInspectTest, ResultsKeepTheRolesAndVerifyRepeatsThem) {
  std::string text = "a,b,c\n";
  for (int row = 0; row < 80; ++row) {
    text += std::to_string((row * 37 % 101) / 10.0) + "," + std::to_string((row * 53 % 97) / 7.0) + "," +
            std::to_string(row * row % 5) + "\n";
  }
  put("t.csv", text);
  works({"mb", "t.csv", "--estimator", "gaussian", "--out", "plain.json"});
  EXPECT_FALSE(json("plain.json").at("settings").contains("table"));
  works({"mb", "t.csv", "--estimator", "gaussian", "--kind", "c=ordered", "--out", "r.json"});
  EXPECT_EQ(json("r.json").at("settings").at("table"), Json::parse(R"({"kinds": {"c": "ordered"}})"));
  EXPECT_NE(json("r.json").at("manifest").at("data_hash"), json("plain.json").at("manifest").at("data_hash"));
  works({"verify", "r.json", "t.csv"});
  works({"verify", "r.json", "t.csv", "--kind", "c=ordered"});
  works({"verify", "plain.json", "t.csv"});
  fails({"verify", "plain.json", "t.csv", "--kind", "c=ordered"}, 3, {"another table", "--kind"});
  works({"dag", "t.csv", "--estimator", "gaussian", "--kind", "c=ordered", "--out", "g.json"});
  EXPECT_FALSE(json("g.json").at("settings").at("boundaries").contains("table"));
  works({"verify", "g.json", "t.csv"});
  works({"entropy", "t.csv", "--estimator", "gaussian", "--target", "a", "--given", "b", "--kind", "c=ordered", "--out",
         "e.json"});
  works({"verify", "e.json", "t.csv"});
}

}  // namespace
}  // namespace fansite
