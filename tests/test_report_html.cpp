// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fansite/base/error.h"
#include "fansite/report/json.h"
#include "support.h"

namespace fansite {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json boundaries(const std::vector<std::string>& names) {
  json result = {{"format", "fansite.boundaries/2"}, {"version", "0.1.0"}, {"variables", names}, {"rows", 300}};
  result["boundaries"] = json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& other = names[(i + 1) % names.size()];
    result["boundaries"].push_back(
        {{"target", names[i]}, {"members", {{{"name", other}, {"gain", 1.0 / 3}}}}, {"near_misses", json::array()}});
  }
  result["moral_edges"] = json::array();
  return result;
}

json graph(const std::vector<std::string>& names) {
  return {{"format", "fansite.graph/2"},
          {"version", "0.1.0"},
          {"variables", names},
          {"rows", 300},
          {"edges", {{{"from", names[0]}, {"to", names[1]}, {"directed", true}}}},
          {"weights", {{0, 0.12345678901}, {0, 0}}}};
}

std::string page_of(const std::vector<json>& results, std::string_view title = {}) {
  std::vector<std::string> texts;
  for (const json& result : results) texts.push_back(result.dump());
  std::vector<ResultText> given;
  for (std::size_t i = 0; i < texts.size(); ++i)
    given.push_back({texts[i], "result" + std::to_string(i + 1) + ".json"});
  return to_html(given, title);
}

/// What a browser sees as the data: the text of the script element, up to the first thing that could end it.
json data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="results">)";
  const std::size_t start = page.find(begin) + begin.size();
  return json::parse(page.substr(start, page.find("</script", start) - start));
}

template <class Error>
std::string message(const std::vector<json>& results) {
  try {
    page_of(results);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ReportHtml, HoldsBothResultsWithoutTheDenseMatrix) {
  for (const bool graph_first : {false, true}) {
    const json a = boundaries({"a", "b"}), b = graph({"a", "b"});
    const json data = data_of(page_of(graph_first ? std::vector{b, a} : std::vector{a, b}));
    EXPECT_EQ(data.at("boundaries").at("boundaries").size(), 2u);
    EXPECT_EQ(data.at("graph").at("edges").size(), 1u);
    EXPECT_FALSE(data.at("graph").contains("weights"));
  }
  EXPECT_FALSE(data_of(page_of({boundaries({"a", "b"})})).contains("graph"));
  EXPECT_FALSE(data_of(page_of({graph({"a", "b"})})).contains("boundaries"));
}

TEST(ReportHtml, IsWholeAndLoadsNothing) {
  const std::string page = page_of({boundaries({"a", "b"})});
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, HasSubstr("Mike Bostock"));
}

TEST(ReportHtml, NamesCannotLeaveTheData) {
  const std::vector<std::string> names = {
      "</script><script>alert(1)</script>", "<!--<script>",       "\"'&\\", "line\u2028and\u2029paragraph",
      "<img src=x onerror=alert(1)>",       "\u202eright-to-left"};
  const std::string page = page_of({boundaries(names)});
  EXPECT_EQ(data_of(page).at("boundaries").at("variables"), json(names));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\u2028")));
  EXPECT_THAT(page, Not(HasSubstr("\u2029")));
}

TEST(ReportHtml, TheTitleIsEscaped) {
  const std::string page = page_of({boundaries({"a", "b"})}, "<b>T cells & \"B\"</b>\n\xff");
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt;T cells &amp; \"B\"&lt;/b&gt; \uFFFD</title>"));
  EXPECT_THAT(page_of({boundaries({"a", "b"})}), HasSubstr("<title>fansite report: 2 variables, 300 rows</title>"));
  // What is put in is not taken for a part of the template.
  EXPECT_THAT(page_of({boundaries({"a", "b"})}, "{{data}}"), HasSubstr("<title>{{data}}</title>"));
}

TEST(ReportHtml, FiguresHaveSixDigitsAndSeedsAreExact) {
  json result = boundaries({"a", "b"});
  result["settings"] = {{"seed", 18446744073709551615u}, {"small", 12}, {"fdr", 0.05}, {"tiny", 1.23456789e-300}};
  const json data = data_of(page_of({result})).at("boundaries");
  EXPECT_EQ(data.at("boundaries")[0].at("members")[0].at("gain"), 0.333333);
  EXPECT_EQ(data.at("settings").at("seed"), "18446744073709551615");
  EXPECT_EQ(data.at("settings").at("small"), 12);
  EXPECT_EQ(data.at("settings").at("fdr"), 0.05);
  EXPECT_EQ(data.at("settings").at("tiny"), 1.23457e-300);
}

TEST(ReportHtml, RefusesResultsThatDoNotBelongTogether) {
  const json a = boundaries({"a", "b"});
  EXPECT_THAT(message<UsageError>({a, a}), HasSubstr("result1.json and result2.json are both of format"));
  EXPECT_THAT(message<DataError>({a, graph({"a", "c"})}), HasSubstr("different variables"));
  EXPECT_EQ(message<Error>({a, graph({"b", "a"})}), "nothing was thrown");
  json rows = graph({"a", "b"});
  rows["rows"] = 301;
  EXPECT_THAT(message<DataError>({a, rows}), HasSubstr("result1.json has 300 rows and result2.json has 301"));
  json hashed = a, other = graph({"a", "b"});
  hashed["manifest"] = {{"data_hash", "00000000000000aa"}};
  EXPECT_EQ(message<Error>({hashed, other}), "nothing was thrown");
  other["manifest"] = {{"data_hash", "00000000000000bb"}};
  EXPECT_THAT(message<DataError>({hashed, other}), HasSubstr("different tables"));
}

TEST(ReportHtml, RefusesWhatIsNoResult) {
  EXPECT_THAT(message<DataError>({{{"format", "fansite.entropy/2"}}}),
              HasSubstr("has format 'fansite.entropy/2'. Give"));
  EXPECT_THAT(message<DataError>({json::array()}), HasSubstr("result1.json is not a JSON result of fansite"));
  json without = boundaries({"a", "b"});
  without.erase("rows");
  EXPECT_THAT(message<DataError>({without}), HasSubstr("how many rows"));
  without = boundaries({"a", "b"});
  without.erase("boundaries");
  EXPECT_THAT(message<DataError>({without}), HasSubstr("'boundaries' not found"));
  json stranger = boundaries({"a", "b"});
  stranger["boundaries"][0]["members"][0]["name"] = "z";
  EXPECT_THAT(message<DataError>({stranger}), HasSubstr("'z' is not among its variables"));
  json deep = json::array();
  for (int level = 0; level < 40; ++level) deep = json::array({deep});
  json nested = boundaries({"a", "b"});
  nested["settings"] = deep;
  EXPECT_THAT(message<DataError>({nested}), HasSubstr("nested more than 32 levels"));
}

TEST(ReportHtml, ShowsWhatTheLibraryFinds) {
  Random random(Key{1});
  Dataset data{{"a", "b"}, Matrix(200, 2)};
  for (Index i = 0; i < 200; ++i) {
    const double a = random.normal();
    data.values.row(i) << a, a + random.normal();
  }
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  const std::string text = to_json(markov_boundaries(data, params), RunTiming{});
  const json shown = data_of(to_html({{text, "b.json"}})).at("boundaries");
  EXPECT_EQ(shown.at("boundaries")[0].at("members")[0].at("name"), "b");
  EXPECT_EQ(shown.at("moral_edges"), json::parse(R"([["a","b"]])"));
}

json comparison(const std::vector<std::string>& names) {
  const json entry = {{"method", "iamb"}, {"done", 1}, {"timeout", 0}, {"refused", 0}, {"failed", 0}, {"alone", 0}};
  return {{"format", "fansite.comparison/1"},
          {"version", "0.1.0"},
          {"variables", names},
          {"rows", 300},
          {"settings", {{"kind", "boundaries"}, {"orders", 1}}},
          {"tables", {{{"data_hash", "00"}}}},
          {"cells", {{{"found", {{1}, {0}}}}}},
          {"summary", {entry}},
          {"agreement", {{"overlap", {{1.0}}}}}};
}

TEST(ReportHtml, HoldsAComparisonWithoutItsCells) {
  const json alone = data_of(page_of({comparison({"a", "b"})}));
  EXPECT_EQ(alone.at("comparison").at("summary").size(), 1u);
  EXPECT_FALSE(alone.at("comparison").contains("cells"));
  EXPECT_EQ(data_of(page_of({graph({"a", "b"}), comparison({"a", "b"}), boundaries({"a", "b"})})).size(), 3u);
  EXPECT_THAT(message<UsageError>({comparison({"a", "b"}), comparison({"a", "b"})}), HasSubstr("both of format"));
}

TEST(ReportHtml, AComparisonIsOfTheSameTableUnlessItMadeItsOwn) {
  EXPECT_THAT(message<DataError>({boundaries({"a", "b"}), comparison({"a", "c"})}), HasSubstr("different variables"));
  json simulated = comparison({"x1", "x2", "x3"});
  simulated["settings"]["simulate"] = {{"nodes", 3}};
  EXPECT_TRUE(data_of(page_of({boundaries({"a", "b"}), simulated})).contains("comparison"));
}

TEST(ReportHtml, AComparisonThatLacksSomethingIsRefused) {
  json lacking = comparison({"a", "b"});
  lacking["summary"][0].erase("done");
  EXPECT_THAT(message<DataError>({lacking}), HasSubstr("lacks a field"));
  json other = comparison({"a", "b"});
  other["agreement"]["overlap"] = {{1.0, 0.5}};
  EXPECT_THAT(message<DataError>({other}), HasSubstr("not of its 1 methods"));
}

json plan() {
  return {{"format", "fansite.plan/2"},
          {"version", "0.1.0"},
          {"variables", 2},
          {"rows", 300},
          {"method", "fansite"},
          {"estimator", "gaussian"},
          {"threads", 2},
          {"total_seconds", 1.5},
          {"within", 1.5},
          {"peak_memory_mb", 20.0},
          {"phases", {{{"name", "reading"}, {"seconds", 1.5}, {"what", "measured"}}}}};
}

TEST(ReportHtml, APlanStandsAloneOrBesideResultsOfAsManyVariables) {
  const std::string page = page_of({plan()});
  EXPECT_EQ(data_of(page).at("plan").at("phases").size(), 1u);
  EXPECT_THAT(page, HasSubstr("<title>fansite report: 2 variables, 300 rows</title>"));
  const json all = data_of(page_of({plan(), graph({"a", "b"}), comparison({"a", "b"}), boundaries({"a", "b"})}));
  EXPECT_EQ(all.size(), 4u);
  EXPECT_THAT(message<DataError>({boundaries({"a", "b", "c"}), plan()}), HasSubstr("different variables"));
  json rows = plan();
  rows["rows"] = 301;
  EXPECT_THAT(message<DataError>({boundaries({"a", "b"}), rows}), HasSubstr("300 rows and result2.json has 301"));
  EXPECT_THAT(message<UsageError>({plan(), plan()}), HasSubstr("both of format"));
}

TEST(ReportHtml, APlanThatLacksWhatThePageShowsIsRefused) {
  for (const char* key : {"total_seconds", "within", "peak_memory_mb", "variables", "threads", "method", "phases"}) {
    json lacking = plan();
    lacking.erase(key);
    EXPECT_THAT(message<DataError>({lacking}), HasSubstr(std::string("has no usable '") + key + "'"));
    lacking[key] = json::object();
    EXPECT_THAT(message<DataError>({lacking}), HasSubstr(std::string("has no usable '") + key + "'"));
  }
  json phase = plan();
  phase["phases"][0].erase("seconds");
  EXPECT_THAT(message<DataError>({phase}), HasSubstr("has no usable 'phases'"));
}

}  // namespace
}  // namespace fansite
