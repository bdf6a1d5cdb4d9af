// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/ensemble.h"
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

/// In closed form.
BoundariesResult boundaries_of(const Dataset& data) {
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  return markov_boundaries(data, params);
}

TEST(Json, BoundariesHaveTheFieldsOfTheFormat) {
  const RunTiming timing{
      .total_seconds = 1.5, .peak_memory_mb = 30, .threads = 2, .machine = "a machine", .device = "a GPU"};
  const json root = json::parse(to_json(boundaries_of(chain({"a", "b", "c"})), timing));
  EXPECT_EQ(root["format"], "fansite.boundaries/2");
  EXPECT_EQ(root["variables"], (json{"a", "b", "c"}));
  EXPECT_EQ(root["rows"], 300);
  EXPECT_EQ(root["settings"]["stop"], "calibrated");
  EXPECT_EQ(root["settings"]["fdr"], 0.05);
  EXPECT_EQ(root["settings"]["eps_grow"], 0.005);  // of every parameter, in use or not
  EXPECT_EQ(root["boundaries"].size(), 3u);
  EXPECT_EQ(root["boundaries"][1]["target"], "b");
  const json& member = root["boundaries"][0]["members"][0];
  EXPECT_EQ(member["name"], "b");
  for (const char* field : {"gain", "se", "unique", "p_value", "q_value"})
    EXPECT_TRUE(member[field].is_number()) << field;
  EXPECT_EQ(root["moral_edges"], json::parse(R"([["a","b"],["b","c"]])"));
  EXPECT_EQ(root["timing"]["threads"], 2);
  EXPECT_EQ(root["timing"]["total_seconds"], 1.5);
  EXPECT_EQ(root["timing"]["peak_memory_mb"], 30);
  EXPECT_EQ(root["timing"]["machine"], "a machine");
  EXPECT_EQ(root["timing"]["device"], "a GPU");
  EXPECT_EQ(root["estimator"], "gaussian");
  EXPECT_EQ(root["settings"]["estimator"], "gaussian");
  const json& miss = root["boundaries"][0]["near_misses"].at(0);
  EXPECT_EQ(miss["name"], "c");
  for (const char* field : {"gain", "se", "p_value"}) EXPECT_TRUE(miss[field].is_number()) << field;
  EXPECT_EQ(miss["reason"], explain(NearMiss::Reason::chance));
  // What a closed form has not is not there.
  for (const char* field : {"votes", "by_symmetry"}) EXPECT_FALSE(member.contains(field)) << field;
  EXPECT_FALSE(miss.contains("q_value"));
  EXPECT_FALSE(root["boundaries"][0].contains("path"));
  EXPECT_FALSE(root["boundaries"][0].contains("runner_up"));
  for (const char* field : {"linearity", "networks", "training_steps", "tested_pairs", "training", "calibration"}) {
    EXPECT_FALSE(root.contains(field)) << field;
  }
  EXPECT_FALSE(root["timing"].contains("evaluations"));
  // What it takes to repeat the run.
  EXPECT_TRUE(root["manifest"]["data_hash"].is_string());
  EXPECT_TRUE(root["manifest"]["version"].is_string());
  EXPECT_EQ(root["manifest"]["seed"], 0);
  EXPECT_EQ(root["complete"], true);
  EXPECT_FALSE(root.contains("unfinished"));
  EXPECT_FALSE(root["settings"].contains("flow"));
  EXPECT_EQ(root["settings"]["effort"], "normal");
}

/// What flows may have found, by hand.
BoundariesResult found_by_flows() {
  BoundariesResult result;
  result.names = {"a", "b", "c"};
  result.rows = 300;
  result.copy_of = {-1, -1, -1};
  result.params.fansite().effort = Effort::quick;
  result.estimator = "flow";
  flow::EnsembleParams networks;
  networks.repeats = 1;
  networks.folds = 5;
  result.estimator_parameters = networks;
  result.evaluations = 123456789012;
  result.training = TrainingReport{
      .networks = 5, .steps = 40000, .curve = {{250, 1.5, 0.25, std::nan(""), std::nan("")}}, .linear_share = 0.125};
  result.calibration = Calibration{300, 2, {0.5, 0.5}, {{1, {0.5, 0.5}, 0.125, 0.75, 0, 1, 0, 0}}};
  result.model_hash = 255;
  result.unfinished = "time ran out";
  result.linearity = LinearityTest{};
  result.linearity->linear_equations = false;
  result.linearity->pair = {0, 1};
  result.linearity->pair_p_value = 1e-5;
  result.linearity->linear = false;
  result.linearity->target = 1;
  result.linearity->other = 0;
  result.linearity->sign = Sign::curvature;
  result.found.tested_pairs = 2;
  result.found.threshold = 0.01;
  result.found.steps = 4;
  result.found.moral_edges = {{0, 1}};
  for (int t = 0; t < 3; ++t) result.found.boundaries.emplace_back().target = t;
  Boundary& a = result.found.boundaries[0];
  Member& member = a.members.emplace_back();
  member.variable = 1;
  member.votes = 0.8;
  member.stability = 0.97;
  member.by_symmetry = true;
  NearMiss& chance = a.near_misses.emplace_back();
  chance.candidate.variable = 2;
  chance.p_value = 0.3;
  chance.q_value = 0.6;
  NearMiss& untested = a.near_misses.emplace_back();
  untested.candidate = {1, -0.5, 0.1};
  untested.p_value = untested.q_value = std::nan("");
  untested.reason = NearMiss::Reason::held_out;
  a.path = {{2, 1.25}, {1, -INFINITY}};
  return result;
}

TEST(Json, FlowsTellMore) {
  const json root = json::parse(to_json(found_by_flows(), {}));
  EXPECT_EQ(root["estimator"], "flow");
  EXPECT_EQ(root["settings"]["estimator"], "auto");
  EXPECT_EQ(root["settings"]["effort"], "quick");
  const json& training = root["training"];
  EXPECT_EQ(training["parameters"]["repeats"], 1);
  EXPECT_EQ(training["parameters"]["folds"], 5);
  EXPECT_TRUE(training["parameters"].contains("steps"));
  EXPECT_EQ(training["networks"], 5);
  EXPECT_EQ(training["steps"], 40000);
  EXPECT_EQ(root["tested_pairs"], 2);
  EXPECT_EQ(root["timing"]["evaluations"], 123456789012);
  EXPECT_EQ(training.size(), 5u);
  EXPECT_EQ(training["linear_share"], 0.125);
  EXPECT_EQ(training["curve"], json::parse(R"([{"step": 250, "training": 1.5, "training_sd": 0.25, "held_out": null,
    "held_out_sd": null}])"));
  EXPECT_EQ(root["calibration"], json::parse(R"({"rows": 300, "bins": 2, "pit": [0.5, 0.5], "variables": [{"name": "b",
    "ks": 0.125, "p_value": 0.75, "latent_mean": 0.0, "latent_sd": 1.0, "latent_skewness": 0.0,
    "latent_kurtosis": 0.0, "pit": [0.5, 0.5]}]})"));
  EXPECT_EQ(root["manifest"]["model_hash"], "00000000000000ff");
  EXPECT_EQ(root["complete"], false);
  EXPECT_EQ(root["unfinished"], "time ran out");
  EXPECT_EQ(root["linearity"], json::parse(R"({"linear_equations": false, "pair": ["a", "b"], "pair_p_value": 1e-5,
    "linear_gaussian": false, "p_value": 1.0, "target": "b", "other": "a", "sign": "curvature",
    "normal_residuals": true, "normality_p_value": 1.0})"));
  const json& a = root["boundaries"][0];
  EXPECT_EQ(a["members"][0]["votes"], 0.8);
  EXPECT_EQ(a["members"][0]["stability"], 0.97);
  EXPECT_EQ(a["members"][0]["by_symmetry"], true);
  EXPECT_EQ(a["path"], json::parse(R"([{"name": "c", "conditional_entropy": 1.25},
                                       {"name": "b", "conditional_entropy": null}])"));
  EXPECT_EQ(a["near_misses"].size(), 2u);
  EXPECT_THAT(root["boundaries"][1]["near_misses"], IsEmpty());
  EXPECT_FALSE(root["boundaries"][1].contains("path"));
}

TEST(Json, WhatWasNotTestedIsNullOrAbsent) {
  const json root = json::parse(to_json(found_by_flows(), {}));
  const json& misses = root["boundaries"][0]["near_misses"];
  EXPECT_EQ(misses[0]["p_value"], 0.3);
  EXPECT_EQ(misses[0]["q_value"], 0.6);
  EXPECT_TRUE(misses[1].at("p_value").is_null());
  EXPECT_FALSE(misses[1].contains("q_value"));
  EXPECT_EQ(misses[1]["gain"], -0.5);
  EXPECT_EQ(misses[1]["reason"], explain(NearMiss::Reason::held_out));
  BoundariesResult nothing_seen = found_by_flows();
  nothing_seen.linearity = LinearityTest{};
  const json linearity = json::parse(to_json(nothing_seen, {}))["linearity"];
  EXPECT_EQ(linearity["pair"], json::parse("[null, null]"));
  EXPECT_TRUE(linearity.at("target").is_null());
  EXPECT_EQ(linearity["sign"], "none");
}

TEST(Json, PathsAreReadBack) {
  BoundariesResult result = found_by_flows();
  result.found.boundaries[1].path = {{0, 1.0}};
  result.found.boundaries[2].path = {{1, 1.0}, {0, 0.9}};
  const SavedBoundaries saved = parse_boundaries(to_json(result, {}), "r.json");
  EXPECT_THAT(saved.paths, ElementsAre(ElementsAre(2, 1), ElementsAre(0), ElementsAre(1, 0)));
  EXPECT_THAT(saved.members, ElementsAre(ElementsAre(1), IsEmpty(), IsEmpty()));
  EXPECT_THAT(parse_boundaries(to_json(boundaries_of(chain({"a", "b", "c"})), {}), "r.json").paths, IsEmpty());
}

// Constant columns grow none; that must not take the others' away.
TEST(Json, ATargetWithoutAPathHasAnEmptyOne) {
  const SavedBoundaries saved = parse_boundaries(to_json(found_by_flows(), {}), "r.json");
  EXPECT_THAT(saved.paths, ElementsAre(ElementsAre(2, 1), IsEmpty(), IsEmpty()));
}

TEST(Json, RoundTrip) {
  const BoundariesResult result = boundaries_of(chain({"a", "b", "c"}));
  const SavedBoundaries saved = parse_boundaries(to_json(result, {}), "x.json");
  EXPECT_EQ(saved.names, result.names);
  EXPECT_THAT(saved.targets, ElementsAre(0, 1, 2));
  for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(saved.members[b], result.found.boundaries[b].member_indices());
}

TEST(Json, HostileNamesSurviveAndBadBytesAreReplaced) {
  const std::vector<std::string> names = {"<script>\"\\\n\t", "größe", "x\xff"};
  const std::string text = to_json(boundaries_of(chain(names)), {});
  const json root = json::parse(text);
  EXPECT_EQ(root["variables"][0], names[0]);
  EXPECT_EQ(root["variables"][1], names[1]);
  EXPECT_EQ(root["variables"][2], "x\uFFFD");
}

TEST(Json, InfinitiesAreNull) {
  Dataset data = chain({"a", "b", "c"});
  data.values.col(2).setConstant(1);
  const json root = json::parse(to_json(boundaries_of(data), {}));
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
  EXPECT_THAT(message_of<DataError>([] { parse_boundaries("{\"format\": \"fansite.graph/2\"}", "r.json"); }),
              HasSubstr("expected fansite.boundaries/2"));
  EXPECT_THAT(message_of<DataError>([] {
                parse_boundaries(
                    R"({"format":"fansite.boundaries/2","variables":["a"],"boundaries":[{"target":"b","members":[]}]})",
                    "r.json");
              }),
              HasSubstr("'b' is not among its variables"));
  EXPECT_THAT(message_of<DataError>([] {
                parse_boundaries(R"({"format":"fansite.boundaries/2","variables":["a","a"],"boundaries":[]})",
                                 "r.json");
              }),
              HasSubstr("listed twice"));
  const auto with_path = [](const std::string& path) {
    return message_of<DataError>([&] {
      parse_boundaries(
          R"({"format":"fansite.boundaries/2","variables":["a","b"],"boundaries":[{"target":"a","members":)"
          R"([{"name":"b"}],"path":)" +
              path + "}]}",
          "r.json");
    });
  };
  EXPECT_EQ(with_path(R"([{"name":"b"}])"), "nothing was thrown");
  EXPECT_THAT(with_path(R"([{"name":"b"},{"name":"b"}])"), HasSubstr("the path of 'a' names 'b' twice"));
  EXPECT_THAT(with_path(R"([{"name":"z"}])"), HasSubstr("'z' is not among its variables"));
  EXPECT_THAT(with_path(R"(["b"])"), HasSubstr("wrong type"));
}

TEST(Json, GraphsDirectedAndNot) {
  const SavedGraph graph = parse_graph(R"({"format":"fansite.graph/2","variables":["a","b","c"],
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
