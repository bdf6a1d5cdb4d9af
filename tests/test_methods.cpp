// SPDX-License-Identifier: Apache-2.0
//
// The lists of methods: what every row must have, so that the command line, JSON, Python and the documentation can be
// made of it; and runs with every parameter changed, which must be repeatable from their results alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fansite/base/detail/work_count.h"
#include "fansite/causal/dcd/methods.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/report/json.h"
#include "fansite/report/methods_json.h"
#include "fansite/report/verify.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using Json = nlohmann::ordered_json;

struct NamedRow {
  std::string kind;
  const Method* row;
};

std::vector<NamedRow> every_row() {
  std::vector<NamedRow> rows;
  for (const BoundaryMethod& row : boundary_methods()) rows.push_back({"boundary", &row});
  for (const GraphMethod& row : graph_methods()) rows.push_back({"graph", &row});
  for (const EstimatorMethod& row : entropy_estimators()) rows.push_back({"estimator", &row});
  return rows;
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

TEST(Methods, AreNamedOnceAndCited) {
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& [kind, row] : every_row()) {
    SCOPED_TRACE(kind + " " + row->name);
    EXPECT_TRUE(names.insert({kind, row->name}).second);
    EXPECT_THAT(row->name, MatchesRegex("[a-z][a-z0-9]*(-[a-z0-9]+)*"));
    EXPECT_FALSE(row->summary.empty());
    EXPECT_FALSE(row->citation.empty());
    EXPECT_EQ(row->summary.find('\n'), std::string::npos);
    EXPECT_FALSE(row->can.column_kinds.empty());
  }
  EXPECT_GE(names.size(), 6u);
}

TEST(Methods, CanRun) {
  for (const BoundaryMethod& row : boundary_methods()) EXPECT_TRUE(row.run) << row.name;
  for (const GraphMethod& row : graph_methods()) EXPECT_TRUE(row.run) << row.name;
  for (const EstimatorMethod& row : entropy_estimators()) EXPECT_TRUE(row.fit) << row.name;
}

TEST(Methods, ParametersAreDescribedAndTheirDefaultsValid) {
  for (const auto& [kind, row] : every_row()) {
    SCOPED_TRACE(kind + " " + row->name);
    row->parameters.validate();
    std::set<std::string> names;
    for (const Description::Field& field : row->parameters.fields()) {
      SCOPED_TRACE(field.name);
      EXPECT_TRUE(names.insert(field.name).second);
      EXPECT_THAT(field.name, MatchesRegex("[a-z][a-z0-9]*(_[a-z0-9]+)*"));
      EXPECT_FALSE(field.help.empty());
      EXPECT_EQ(field.help.find('\n'), std::string::npos);
      EXPECT_FALSE(field.allowed().empty());
      EXPECT_EQ(field.fallback, row->parameters.get(field.name));
      Parameters parameters = row->parameters;
      parameters.set(field.name, parse_value(field, to_text(field.fallback)));
      EXPECT_EQ(parameters.get(field.name), field.fallback);
    }
  }
}

// One option of `fansite mb`, `dag` or `entropy` cannot be two things.
TEST(Methods, AParameterOfOneNameHasOneType) {
  std::map<std::pair<std::string, std::string>, std::pair<std::string, Parameter::Type>> seen;
  for (const auto& [kind, row] : every_row()) {
    for (const Description::Field& field : row->parameters.fields()) {
      const auto [place, first] = seen.insert({{kind, field.name}, {row->name, field.type}});
      EXPECT_EQ(place->second.second, field.type)
          << field.name << " of " << row->name << " and " << place->second.first;
    }
  }
}

TEST(Methods, AGraphMethodSharesNoParameterWithABoundaryMethod) {
  std::map<std::string, std::string> owner;
  for (const BoundaryMethod& row : boundary_methods()) {
    for (const Description::Field& field : row.parameters.fields()) {
      owner[field.name] = row.name;
      if (!field.also.empty()) owner[field.also] = row.name;
    }
  }
  for (const GraphMethod& row : graph_methods()) {
    for (const Description::Field& field : row.parameters.fields()) {
      for (const std::string& name : {field.name, field.also}) {
        EXPECT_FALSE(owner.contains(name)) << name << " of " << row.name << " and " << owner[name];
      }
    }
  }
  const Parameters run = RunParams();
  for (const auto& [kind, row] : every_row()) {
    for (const Description::Field& field : row->parameters.fields()) {
      EXPECT_FALSE(run.has(field.name)) << field.name << " of " << row->name << " is an option of every run";
    }
  }
}

TEST(Methods, AllAreInTheJson) {
  const Json lists = Json::parse(methods_json());
  const std::map<std::string, std::string> keys = {
      {"boundary", "boundary_methods"}, {"graph", "graph_methods"}, {"estimator", "entropy_estimators"}};
  std::map<std::string, std::size_t> count;
  for (const auto& [kind, row] : every_row()) {
    const Json& entry = lists.at(keys.at(kind)).at(count[kind]++);
    EXPECT_EQ(entry.at("name"), row->name);
    EXPECT_EQ(entry.at("citation"), row->citation);
    ASSERT_EQ(entry.at("parameters").size(), row->parameters.fields().size()) << row->name;
    for (std::size_t i = 0; i < row->parameters.fields().size(); ++i) {
      EXPECT_EQ(entry.at("parameters").at(i).at("name"), row->parameters.fields()[i].name);
    }
  }
  for (const auto& [kind, key] : keys) EXPECT_EQ(lists.at(key).size(), count[kind]) << key;
}

TEST(Methods, UnknownOnesAreToldWhichThereAre) {
  const auto expect_listed = [](const auto& methods, const std::string& message) {
    EXPECT_THAT(message, HasSubstr("'tarot' is unknown; use " + either(methods.names())));
  };
  expect_listed(boundary_methods(), message_of<ParameterError>([] { BoundariesParams("tarot"); }));
  expect_listed(graph_methods(), message_of<ParameterError>([] { CausalGraphParams("tarot"); }));
  expect_listed(entropy_estimators(), message_of<ParameterError>([] { EntropyParams("tarot"); }));
  EXPECT_EQ(boundary_methods().find("tarot"), nullptr);
  NoProgress progress;
  CausalGraphParams params;
  params.method = "tarot";
  EXPECT_THAT(message_of<ParameterError>(
                  [&] { causal_graph(simulate_linear(3, 1, 50, 1).data, nullptr, {}, params, progress); }),
              HasSubstr("[method] 'tarot' is unknown; use fansite-anm, fansite-dcd, sdcd, pc, ges, marvel, dagma, "
                        "notears, cosmo or dat"));
}

TEST(Methods, WhatAMethodCannotDoOthersMay) {
  const MethodList<GraphMethod>& methods = graph_methods();
  const auto message = [&](const char* name, bool Capabilities::*ability, const char* words) {
    return message_of<UsageError>([&] { methods.require(methods.at(name), ability, words); });
  };
  EXPECT_EQ(message("fansite-anm", &Capabilities::satisfies_knowledge, "satisfy prior knowledge"),
            "nothing was thrown");
  EXPECT_EQ(message("sdcd", &Capabilities::satisfies_knowledge, "satisfy prior knowledge"),
            "[method] sdcd cannot satisfy prior knowledge; fansite-anm, pc or ges can");
  EXPECT_EQ(message("fansite-dcd", &Capabilities::can_be_cut_short, "be cut short"),
            "[method] fansite-dcd cannot be cut short; fansite-anm, dagma, notears, cosmo or dat can");
  EXPECT_EQ(message("sdcd", &Capabilities::trains, "read minds"),
            "[method] sdcd cannot read minds; no method of this kind can");
  CausalGraphParams params("sdcd");
  params.run.time_budget = 10;
  NoProgress progress;
  const Dataset data = simulate_linear(3, 1, 50, 1).data;
  EXPECT_EQ(message_of<UsageError>([&] { causal_graph(data, nullptr, {}, params, progress); }),
            "[method] sdcd cannot be cut short; fansite-anm, dagma, notears, cosmo or dat can");
}

TEST(Methods, ANameIsTakenOnce) {
  struct Row : Method {};
  Row one;
  one.name = "one";
  MethodList<Row> methods("toy", "method", {one});
  EXPECT_EQ(message_of<UsageError>([&] { methods.add(one); }), "[methods] there is a toy 'one' already");
  one.name = "two";
  methods.add(one);
  EXPECT_THAT(methods.names(), testing::ElementsAre("one", "two"));
  EXPECT_EQ(message_of<ParameterError>([&] { methods.at("three"); }), "[method] 'three' is unknown; use one or two");
}

// ---- Work that is done once -----------------------------------------------------------------------------------------

struct Work {
  long hashes, inspections;
  bool operator==(const Work&) const = default;
};
void PrintTo(const Work& work, std::ostream* out) {
  *out << work.hashes << " hashes, " << work.inspections << " inspections";
}

template <class Run>
Work work_of(Run&& run) {
  const long hashes = detail::work_count.table_hashes, inspections = detail::work_count.inspections;
  run();
  return {detail::work_count.table_hashes - hashes, detail::work_count.inspections - inspections};
}

/// x1 → x2 → …, bent, so that networks are worth their time.
Dataset bent() {
  SimulateParams params;
  params.sem = Sem::gp;
  params.nodes = 5;
  params.rows = 120;
  params.degree = 1.5;
  params.seed = 3;
  return simulate(params).data;
}

/// A folder that goes again.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fansite_methods.XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return path + "/" + name; }
  std::string path;
};

void make_tiny(Parameters& options) {
  options.set("folds", std::int64_t{2});
  options.set("repeats", std::int64_t{1});
  options.set("steps", std::int64_t{50});
}

// Hashed as it came and in the order of its contents, and inspected once.
TEST(Once, BoundariesHashAndInspectTheirTable) {
  const Dataset data = bent();
  BoundariesParams params;
  make_tiny(params.options);
  params.fansite().estimator = "flow";
  params.fansite().refine = Refine::graph;
  EXPECT_EQ(work_of([&] { markov_boundaries(data, params); }), (Work{2, 1}));
  params.fansite().estimator = "gaussian";
  EXPECT_EQ(work_of([&] { markov_boundaries(data, params); }), (Work{2, 1}));
}

TEST(Once, ACheckpointNeedsNoHashOfItsOwn) {
  const Dataset data = bent();
  const Folder folder;
  BoundariesParams params;
  make_tiny(params.options);
  params.run.checkpoint = folder / "c";
  params.fansite().estimator = "flow";
  params.fansite().refine = Refine::graph;
  EXPECT_EQ(work_of([&] { markov_boundaries(data, params); }), (Work{2, 1}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

CausalGraphParams tiny_graph(const std::string& method) {
  CausalGraphParams params(method);
  for (const char* epochs : {"first_epochs", "epochs", "iterations", "last_iterations"}) {
    if (params.options.has(epochs)) params.options.set(epochs, std::int64_t{2});
  }
  for (const char* steps : {"dat_steps", "dat_scoring"}) {
    if (params.options.has(steps)) params.options.set(steps, std::int64_t{2});
  }
  if (params.options.has("scale")) params.options.set("scale", std::string("original"));
  make_tiny(params.boundaries.options);
  params.boundaries.fansite().estimator = "flow";
  return params;
}

TEST(Once, GraphsHashAndInspectTheirTable) {
  const Dataset data = bent();
  const Folder folder;
  NoProgress progress;
  for (const std::string& name : graph_methods().names()) {
    for (const std::string& checkpoint : {std::string(), folder / "c"}) {
      if (!checkpoint.empty() && !graph_methods().at(name).can.resumable) continue;
      SCOPED_TRACE(name + " " + checkpoint);
      CausalGraphParams params = tiny_graph(name);
      params.run.checkpoint = checkpoint;
      const int hashes = graph_methods().at(name).can.keeps_table_order ? 1 : 2;
      EXPECT_EQ(work_of([&] { causal_graph(data, nullptr, {}, params, progress); }), (Work{hashes, 1}));
    }
  }
}

// The file of the search on normal scores is checked before the boundaries are found; whether it is theirs the hash of
// the table tells.
TEST(Once, TheFileOfNormalScoresTakesNoOtherHash) {
  const Dataset data = bent();
  const Folder folder;
  NoProgress progress;
  CausalGraphParams params = tiny_graph("fansite-anm");
  params.options.set("scale", std::string("auto"));
  CausalGraphResult result;
  EXPECT_EQ(work_of([&] { result = causal_graph(data, nullptr, {}, params, progress); }), (Work{2, 1}));
  ASSERT_EQ(result.scale, causal::NoiseScale::original);
  params.run.checkpoint = folder / "c";
  EXPECT_EQ(work_of([&] { causal_graph(data, nullptr, {}, params, progress); }), (Work{2, 1}));
}

TEST(Once, AnEntropyModelHashesAndInspectsItsTable) {
  const Dataset data = bent();
  const Folder folder;
  NoProgress progress;
  for (const std::string& checkpoint : {std::string(), folder / "c"}) {
    EntropyParams params("flow");
    make_tiny(params.options);
    params.run.checkpoint = checkpoint;
    EXPECT_EQ(work_of([&] {
                const EntropyModel model(data, params, progress);
                model.information(data.names[0], {data.names[1], data.names[2]});
                model.conditional_entropy(data.names[3], {});
              }),
              (Work{2, 1}))
        << checkpoint;
  }
}

// ---- Repeated from the result ---------------------------------------------------------------------------------------

/// A value that is allowed, and is not the default.
Value another(const Description::Field& field) {
  if (const auto* flag = std::get_if<bool>(&field.fallback)) return !*flag;
  if (const auto* number = std::get_if<std::int64_t>(&field.fallback)) {
    return field.range.contains(static_cast<double>(*number + 1)) ? *number + 1 : *number - 1;
  }
  if (const auto* number = std::get_if<double>(&field.fallback)) return *number == 0 ? 0.01 : 0.75 * *number;
  if (const auto* numbers = std::get_if<std::vector<double>>(&field.fallback)) {
    std::vector<double> others = *numbers;
    for (double& number : others) number *= 1.25;
    others.pop_back();
    return others;
  }
  for (const std::string& choice : field.choices) {
    if (Value(choice) != field.fallback) return choice;
  }
  return std::string("another");
}

/// Every parameter of these is another than by default, or the one given.
void change_all(Parameters& parameters, const std::map<std::string, Value>& given) {
  for (const Description::Field& field : parameters.fields()) {
    const auto found = given.find(field.name);
    parameters.set(field.name, found == given.end() ? another(field) : found->second);
    EXPECT_NE(parameters.get(field.name), field.fallback) << field.name;
  }
  parameters.validate();
}

/// The settings hold what was asked for, and no more is needed to have the same bits again.
void expect_repeatable(const Parameters& asked, const Json& settings, const std::string& json, const Dataset& data) {
  for (const Description::Field& field : asked.fields()) {
    const Json held = std::visit([](const auto& value) { return Json(value); }, asked.get(field.name));
    EXPECT_EQ(settings.at(field.name), held) << field.name;
  }
  NoProgress progress;
  const Verification verification = verify(json, "r.json", data, "", progress);
  EXPECT_TRUE(verification.same) << verification.difference;
}

/// A graph with every parameter of the method changed.
CausalGraphResult changed_graph(const std::string& method, const std::map<std::string, Value>& given,
                                const Dataset& data) {
  CausalGraphParams params(method);
  change_all(params.options, given);
  params.run.seed = 18446744073709551615u;
  params.boundaries.fansite().estimator = "gaussian";
  params.boundaries.fansite().search.fdr = 0.2;
  NoProgress progress;
  return causal_graph(data, nullptr, {}, params, progress);
}

TEST(Repeatable, AGraphWithEveryParameterOfItsMethodChanged) {
  const Dataset data = bent();
  const std::map<std::string, std::map<std::string, Value>> given = {
      {"fansite-anm",
       {{"landmarks", std::int64_t{20}}, {"max_rows", std::int64_t{100}}, {"graph_block", std::string("4")}}},
      {"fansite-dcd", {{"epochs", std::int64_t{6}}, {"check_every", std::int64_t{2}}, {"threshold", 0.001}}},
      {"sdcd",
       {{"first_epochs", std::int64_t{5}},
        {"epochs", std::int64_t{6}},
        {"check_every", std::int64_t{2}},
        {"mask_threshold", 0.001},
        {"threshold", 0.001}}},
      {"pc", {}},
      {"ges", {}},
      {"marvel", {}},
      {"dagma",
       {{"rounds", std::int64_t{2}},
        {"iterations", std::int64_t{30}},
        {"last_iterations", std::int64_t{40}},
        {"l1", 0.001},
        {"l2", 0.001},
        {"learning_rate", 0.01},
        {"first_mu", 0.5},
        {"threshold", 0.001}}},
      {"notears", {{"rounds", std::int64_t{3}}, {"threshold", 0.001}}},
      {"cosmo", {{"epochs", std::int64_t{6}}, {"threshold", 0.001}}},
      {"dat", {{"dat_width", std::int64_t{8}}, {"dat_steps", std::int64_t{6}}, {"dat_scoring", std::int64_t{2}}}}};
  for (const std::string& method : graph_methods().names()) {
    SCOPED_TRACE(method);
    const CausalGraphResult result = changed_graph(method, given.at(method), data);
    const std::string json = to_json(result, {});
    const Json root = Json::parse(json);
    EXPECT_EQ(root.at("settings").at("seed"), 18446744073709551615u);
    expect_repeatable(result.params.options, root.at("settings"), json, data);
    if (result.boundaries) {
      EXPECT_EQ(root.at("settings").at("boundaries").at("fdr"), 0.2);
    }
  }
}

// Else a parameter could be in the settings and do nothing.
TEST(Repeatable, ChangedParametersChangeTheAnswer) {
  const Dataset data = bent();
  const std::map<std::string, Value> stages = {{"first_epochs", std::int64_t{5}}, {"epochs", std::int64_t{6}}};
  const auto few = [&](const char* changed) {
    CausalGraphParams params("sdcd");
    for (const auto& [name, value] : stages) params.options.set(name, value);
    params.options.set("mask_threshold", -1.0);
    if (*changed != 0) {
      const Value few_rows = std::int64_t{32};  // another batch beyond all rows would be the same one
      params.options.set(changed, changed == std::string("batch")
                                      ? few_rows
                                      : another(*causal::SdcdParams::description().find(changed)));
    }
    NoProgress progress;
    return causal_graph(data, nullptr, {}, params, progress).weights;
  };
  const Matrix plain = few("");
  for (const char* name : {"learning_rate", "batch", "l1", "l2", "hidden", "variance", "standardise"}) {
    EXPECT_NE(few(name), plain) << name;
  }
}

TEST(Repeatable, BoundariesAndEntropiesWithEveryParameterChanged) {
  const Dataset data = bent();
  BoundariesParams params;
  change_all(params.options, {{"estimator", std::string("flow")},
                              {"effort", std::string("quick")},
                              {"stop", std::string("paper")},
                              {"refine", std::string("none")},
                              {"block", std::string("4")},
                              {"folds", std::int64_t{2}},
                              {"repeats", std::int64_t{1}},
                              {"steps", std::int64_t{50}}});
  const std::string boundaries = to_json(markov_boundaries(data, params), {});
  expect_repeatable(params.options, Json::parse(boundaries).at("settings"), boundaries, data);

  EntropyParams entropy("flow");
  change_all(entropy.options, {{"folds", std::int64_t{2}},
                               {"repeats", std::int64_t{1}},
                               {"steps", std::int64_t{60}},
                               {"held_out", 0.2},
                               {"evaluate_every", std::int64_t{20}},
                               {"subset_size", std::int64_t{3}}});
  NoProgress progress;
  const EntropyModel model(data, entropy, progress);
  const std::string information = to_json(model.information(data.names[0], {data.names[1]}), {});
  expect_repeatable(entropy.options, Json::parse(information).at("settings"), information, data);
}

}  // namespace
}  // namespace fansite
