// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fansite/error.h"
#include "support.h"

namespace fansite {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Dataset chain(const std::vector<std::string>& names) {
  Random random(Key{1});
  Dataset data{names, Matrix(300, 3)};
  for (Index i = 0; i < 300; ++i) {
    const double a = random.normal(), b = a + random.normal();
    data.values.row(i) << a, b, b + random.normal();
  }
  return data;
}

TEST(Json, BoundariesHaveTheFieldsOfTheFormat) {
  const json root = json::parse(to_json(markov_boundaries(chain({"a", "b", "c"})), {1.5, 2}));
  EXPECT_EQ(root["format"], "fansite.boundaries/1");
  EXPECT_EQ(root["variables"], (json{"a", "b", "c"}));
  EXPECT_EQ(root["rows"], 300);
  EXPECT_EQ(root["settings"]["stop"], "calibrated");
  EXPECT_EQ(root["settings"]["fdr"], 0.05);
  EXPECT_FALSE(root["settings"].contains("eps_grow"));
  EXPECT_EQ(root["boundaries"].size(), 3u);
  EXPECT_EQ(root["boundaries"][1]["target"], "b");
  const json& member = root["boundaries"][0]["members"][0];
  EXPECT_EQ(member["name"], "b");
  for (const char* field : {"gain", "se", "unique", "p_value", "q_value"})
    EXPECT_TRUE(member[field].is_number()) << field;
  EXPECT_EQ(root["moral_edges"], json::parse(R"([["a","b"],["b","c"]])"));
  EXPECT_EQ(root["timing"]["threads"], 2);
}

TEST(Json, RoundTrip) {
  const BoundariesResult result = markov_boundaries(chain({"a", "b", "c"}));
  const SavedBoundaries saved = parse_boundaries(to_json(result, {}), "x.json");
  EXPECT_EQ(saved.variables, result.variables);
  EXPECT_THAT(saved.targets, ElementsAre(0, 1, 2));
  for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(saved.members[b], result.found.boundaries[b].variables());
}

TEST(Json, HostileNamesSurviveAndBadBytesAreReplaced) {
  const std::vector<std::string> names = {"<script>\"\\\n\t", "größe", "x\xff"};
  const std::string text = to_json(markov_boundaries(chain(names)), {});
  const json root = json::parse(text);
  EXPECT_EQ(root["variables"][0], names[0]);
  EXPECT_EQ(root["variables"][1], names[1]);
  EXPECT_EQ(root["variables"][2], "x\uFFFD");
}

TEST(Json, InfinitiesAreNull) {
  Dataset data = chain({"a", "b", "c"});
  data.values.col(2).setConstant(1);
  const json root = json::parse(to_json(markov_boundaries(data), {}));
  EXPECT_TRUE(root["boundaries"][2]["entropy"].is_null());
  EXPECT_THAT(root["boundaries"][2]["members"], IsEmpty());
  EXPECT_EQ(root["warnings"].size(), 1u);
}

TEST(Json, ForeignAndDamagedFilesGetOneSentence) {
  EXPECT_THAT(message_of<DataError>([] { result_format("", "r.json"); }), HasSubstr("r.json is not a JSON result"));
  EXPECT_THAT(message_of<DataError>([] { result_format("{\"format\": \"fansite.bound", "r.json"); }),
              HasSubstr("written completely"));
  EXPECT_THAT(message_of<DataError>([] { result_format("[1,2]", "r.json"); }), HasSubstr("r.json"));
  EXPECT_THAT(message_of<DataError>([] { result_format("{\"a\": 1}", "r.json"); }), HasSubstr("lacks a field"));
  EXPECT_THAT(message_of<DataError>([] { parse_boundaries("{\"format\": \"fansite.graph/1\"}", "r.json"); }),
              HasSubstr("expected fansite.boundaries/1"));
  EXPECT_THAT(message_of<DataError>([] {
                parse_boundaries(
                    R"({"format":"fansite.boundaries/1","variables":["a"],"boundaries":[{"target":"b","members":[]}]})",
                    "r.json");
              }),
              HasSubstr("'b' is not among its variables"));
  EXPECT_THAT(message_of<DataError>([] {
                parse_boundaries(R"({"format":"fansite.boundaries/1","variables":["a","a"],"boundaries":[]})",
                                 "r.json");
              }),
              HasSubstr("listed twice"));
}

TEST(Json, GraphsDirectedAndNot) {
  const SavedGraph graph = parse_graph(R"({"format":"fansite.graph/1","variables":["a","b","c"],
    "edges":[{"from":"a","to":"b","directed":true},{"from":"c","to":"b","directed":false}]})",
                                       "g.json");
  EXPECT_EQ(graph.adjacency(0, 1), 1);
  EXPECT_EQ(graph.adjacency(1, 0), 0);
  EXPECT_EQ(graph.adjacency(2, 1), 1);
  EXPECT_EQ(graph.adjacency(1, 2), 1);
  EXPECT_EQ(graph.adjacency.cast<int>().sum(), 3);
}

}  // namespace
}  // namespace fansite
