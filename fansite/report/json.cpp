// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/json.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fansite/dag/roles.h"
#include "fansite/error.h"
#include "fansite/io/text.h"
#include "fansite/report/json_text.h"
#include "fansite/version.h"

namespace fansite {
namespace {

using report::add_head;
using report::add_knowledge;
using report::Json;
using report::Lines;
using report::number;
using report::text;

void add_settings(const flow::EnsembleParams& flow, Json& result) {
  result["repeats"] = flow.repeats;
  result["folds"] = flow.folds;
  result["transform"] = name(flow.transform);
  result["blocks"] = flow.shape.blocks;
  result["ranks"] = flow.shape.ranks;
  result["outputs"] = flow.shape.outputs;
  result["sigmoids"] = flow.shape.sigmoids;
  result["base"] = name(flow.train.base);
  result["steps"] = flow.train.steps;
  result["batch"] = flow.train.batch;
  result["max_size"] = flow.train.max_size;
  result["subsets"] = name(flow.train.subsets);
  result["schedule"] = name(flow.train.schedule);
  result["learning_rate"] = flow.train.learning_rate;
  result["clip"] = flow.train.clip;
  result["held_out"] = flow.train.held_out;
  result["patience"] = flow.train.patience;
  result["evaluate_every"] = flow.train.evaluate_every;
  result["seed"] = flow.seed;
}

// The settings that were in force: zeros that stand for defaults are filled in.
Json settings(const BoundariesResult& run) {
  const BoundariesParams& params = run.params;
  const SearchParams& search = params.search;
  Json result;
  result["estimator"] = name(params.estimator);
  result["stop"] = name(search.stop);
  if (search.stop == StopRule::calibrated) {
    result["fdr"] = search.fdr;
  } else {
    result["eps_grow"] = search.eps_grow;
    result["eps_shrink"] = search.eps_shrink;
  }
  result["patience"] = search.patience;
  result["max_size"] = search.max_size;
  result["rule"] = name(search.rule);
  result["refine"] = name(params.refine);
  result["targets"] = params.targets;
  result["seed"] = params.seed;
  add_knowledge(result, run.knowledge);
  if (run.estimator == EstimatorKind::flow) {
    result["effort"] = name(params.effort);
    add_settings(run.flow, result["flow"]);
  }
  return result;
}

Json settings(const InformationParams& params) {
  Json result;
  result["estimator"] = name(params.estimator);
  if (params.estimator == EstimatorKind::gaussian) return result;
  const flow::EnsembleParams& flow = params.flow;
  add_settings(flow, result);
  return result;
}

Json boundary_to_json(const BoundariesResult& result, const Boundary& boundary) {
  const auto name_of = [&](int variable) { return result.variables[static_cast<std::size_t>(variable)]; };
  Json json;
  json["target"] = name_of(boundary.target);
  const int original = result.copy_of[static_cast<std::size_t>(boundary.target)];
  if (original >= 0) json["copy_of"] = name_of(original);
  json["entropy"] = number(boundary.entropy);
  json["conditional_entropy"] = number(boundary.conditional_entropy);
  json["members"] = Json::array();
  const std::vector<dag::RoleOf> known_roles =
      result.graph ? dag::roles(result.graph->partial, boundary.target) : std::vector<dag::RoleOf>();
  for (const Member& member : boundary.members) {
    Json entry;
    entry["name"] = name_of(member.variable);
    entry["gain"] = number(member.gain);
    entry["se"] = number(member.standard_error);
    entry["unique"] = number(member.unique);
    entry["p_value"] = number(member.p_value);
    entry["q_value"] = number(member.q_value);
    if (!std::isnan(member.votes)) entry["votes"] = member.votes;
    if (!std::isnan(member.stability)) entry["stability"] = member.stability;
    if (member.by_symmetry) entry["by_symmetry"] = true;
    if (member.by_graph) entry["by_graph"] = true;
    if (member.by_knowledge) entry["by_knowledge"] = true;
    for (const dag::RoleOf& role : known_roles) {
      if (role.variable != member.variable) continue;
      entry["role"] = name(role.role);
      for (const int child : role.through) entry["through"].push_back(name_of(child));
    }
    json["members"].push_back(entry);
  }
  json["near_misses"] = Json::array();
  for (const NearMiss& miss : boundary.near_misses) {
    Json entry;
    entry["name"] = name_of(miss.candidate.variable);
    entry["gain"] = number(miss.candidate.gain);
    entry["se"] = number(miss.candidate.standard_error);
    entry["p_value"] = number(miss.p_value);
    if (!std::isnan(miss.q_value)) entry["q_value"] = number(miss.q_value);
    entry["reason"] = explain(miss.reason);
    json["near_misses"].push_back(entry);
  }
  if (!boundary.path.empty()) json["path"] = Json::array();
  for (const PathStep& step : boundary.path) {
    json["path"].push_back(
        {{"name", name_of(step.variable)}, {"conditional_entropy", number(step.conditional_entropy)}});
  }
  return json;
}

Json linearity_to_json(const BoundariesResult& result) {
  const LinearityTest& test = *result.linearity;
  const auto name_of = [&](int variable) {
    return variable < 0 ? Json(nullptr) : Json(result.variables[static_cast<std::size_t>(variable)]);
  };
  Json json;
  json["linear_equations"] = test.linear_equations;
  json["pair"] = {name_of(test.pair.first), name_of(test.pair.second)};
  json["pair_p_value"] = number(test.pair_p_value);
  json["linear_gaussian"] = test.linear;
  json["p_value"] = number(test.p_value);
  json["target"] = name_of(test.target);
  json["other"] = name_of(test.other);
  json["sign"] = name(test.sign);
  json["normal_residuals"] = test.normal;
  json["normality_p_value"] = number(test.normality_p_value);
  return json;
}

Json parse(std::string_view json, const std::string& where) {
  Json result = Json::parse(json, nullptr, false);
  check_data(!result.is_discarded() && result.is_object(),
             "[read] {} is not a JSON result of fansite; was it written completely?", where);
  return result;
}

// Runs a reader of JSON values; whatever is missing or of the wrong type becomes one sentence.
template <class Reader>
auto read_fields(const std::string& where, const Reader& reader) {
  try {
    return reader();
  } catch (const nlohmann::json::exception& error) {
    std::string_view reason = error.what();  // "[json.exception.out_of_range.403] key 'format' not found"
    if (const auto end = reason.find("] "); end != std::string_view::npos) reason.remove_prefix(end + 2);
    throw DataError(fmt::format("[read] {} lacks a field or has one of the wrong type: {}. Give a result of fansite.",
                                where, reason));
  }
}

std::map<std::string, int> index_of_names(const std::vector<std::string>& names, const std::string& where) {
  std::map<std::string, int> index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    check_data(index.emplace(names[i], static_cast<int>(i)).second, "[read] {}: variable '{}' is listed twice", where,
               excerpt(names[i]));
  }
  return index;
}

int find(const std::map<std::string, int>& index, const std::string& name, const std::string& where) {
  const auto found = index.find(name);
  check_data(found != index.end(), "[read] {}: '{}' is not among its variables", where, excerpt(name));
  return found->second;
}

}  // namespace

std::string to_json(const BoundariesResult& result, const RunTiming& timing) {
  Lines lines;
  add_head(lines, "fansite.boundaries/1", result.variables, result.rows, settings(result), result.warnings);
  lines.field("estimator", text(name(result.estimator)));
  if (result.linearity) lines.field("linearity", text(linearity_to_json(result)));
  if (result.graph) {
    Json graph;
    graph["refined"] = result.refined;
    graph["additive"] = result.graph->additivity.additive;
    graph["scale"] = name(result.graph->scale);
    graph["additivity_correlation"] = number(result.graph->additivity.correlation);
    graph["additivity_p_value"] = number(result.graph->additivity.p_value);
    graph["fits"] = result.graph->fits;
    lines.field("graph", text(graph));
  }
  if (result.params.search.stop == StopRule::calibrated) lines.field("threshold", text(number(result.found.threshold)));
  std::vector<std::string> boundaries;
  for (const Boundary& boundary : result.found.boundaries) {
    boundaries.push_back(text(boundary_to_json(result, boundary)));
  }
  lines.list("boundaries", boundaries);
  std::vector<std::string> edges;
  for (const auto& [a, b] : result.found.moral_edges) {
    edges.push_back(
        text({result.variables[static_cast<std::size_t>(a)], result.variables[static_cast<std::size_t>(b)]}));
  }
  lines.list("moral_edges", edges);
  lines.field("steps", std::to_string(result.found.steps));
  if (result.estimator == EstimatorKind::flow) {
    lines.field("members", std::to_string(result.members));
    lines.field("training_steps", std::to_string(result.training_steps));
    lines.field("tested_pairs", std::to_string(result.found.tested_pairs));
    lines.field("evaluations", std::to_string(result.evaluations));
  }
  const Json times = {{"prepare_seconds", result.prepare_seconds},
                      {"train_seconds", result.train_seconds},
                      {"search_seconds", result.search_seconds},
                      {"graph_seconds", result.graph_seconds},
                      {"total_seconds", timing.total_seconds},
                      {"peak_memory_mb", timing.peak_memory_mb},
                      {"threads", timing.threads}};
  lines.field("timing", text(times));
  return lines.text();
}

std::string to_json(const InformationResult& result, const RunTiming& timing) {
  Lines lines;
  lines.field("format", "\"fansite.entropy/1\"");
  lines.field("version", text(FANSITE_VERSION));
  lines.field("target", text(result.target));
  lines.field("rows", std::to_string(result.rows));
  lines.field("settings", text(settings(result.params)));
  std::vector<std::string> warnings;
  for (const std::string& warning : result.warnings) warnings.push_back(text(warning));
  lines.list("warnings", warnings);
  lines.field("unit", "\"nat\"");
  lines.field("scale", result.original_scale ? "\"original\"" : "\"normal scores\"");
  const auto estimate = [&](std::string_view key, const EntropyEstimate& value) {
    lines.field(key, text(number(value.value)));
    lines.field(fmt::format("{}_se", key), text(number(value.standard_error)));
  };
  estimate("entropy", result.entropy);
  estimate("conditional_entropy", result.conditional_entropy);
  estimate("information", result.information);
  std::vector<std::string> given;
  for (const InformationResult::Added& added : result.added) {
    given.push_back(text(Json{{"name", added.variable},
                              {"information", number(added.information.value)},
                              {"se", number(added.information.standard_error)}}));
  }
  lines.list("given", given);
  if (result.params.estimator == EstimatorKind::flow) {
    lines.field("model", text(Json{{"members", result.members},
                                   {"steps", result.steps},
                                   {"undone_steps", result.undone_steps},
                                   {"out_of_sample", result.out_of_sample}}));
  }
  lines.field("timing", text(Json{{"train_seconds", result.train_seconds},
                                  {"query_seconds", result.query_seconds},
                                  {"total_seconds", timing.total_seconds},
                                  {"threads", timing.threads}}));
  return lines.text();
}

std::string result_format(std::string_view json, const std::string& where) {
  const Json root = parse(json, where);
  return read_fields(where, [&] { return root.at("format").get<std::string>(); });
}

SavedBoundaries parse_boundaries(std::string_view json, const std::string& where) {
  const Json root = parse(json, where);
  return read_fields(where, [&] {
    check_data(root.at("format") == "fansite.boundaries/1", "[read] {} has format {}, expected fansite.boundaries/1",
               where, text(root.at("format")));
    SavedBoundaries result;
    bool any_path = false;
    result.variables = root.at("variables").get<std::vector<std::string>>();
    const auto index = index_of_names(result.variables, where);
    for (const Json& boundary : root.at("boundaries")) {
      const auto target = boundary.at("target").get<std::string>();
      result.targets.push_back(find(index, target, where));
      const auto names = [&](const Json& list, std::string_view what) {
        std::vector<int> variables;
        for (const Json& entry : list) {
          const int found = find(index, entry.at("name").get<std::string>(), where);
          check_data(std::find(variables.begin(), variables.end(), found) == variables.end(),
                     "[read] {}: the {} of '{}' names '{}' twice", where, what, excerpt(target),
                     excerpt(result.variables[static_cast<std::size_t>(found)]));
          variables.push_back(found);
        }
        return variables;
      };
      result.members.push_back(names(boundary.at("members"), "boundary"));
      result.paths.push_back(boundary.contains("path") ? names(boundary.at("path"), "path") : std::vector<int>{});
      any_path = any_path || boundary.contains("path");
    }
    if (!any_path) result.paths.clear();
    return result;
  });
}

SavedGraph parse_graph(std::string_view json, const std::string& where) {
  const Json root = parse(json, where);
  return read_fields(where, [&] {
    check_data(root.at("format") == "fansite.graph/1", "[read] {} has format {}, expected fansite.graph/1", where,
               text(root.at("format")));
    SavedGraph result;
    result.variables = root.at("variables").get<std::vector<std::string>>();
    const auto index = index_of_names(result.variables, where);
    const auto d = static_cast<Index>(result.variables.size());
    result.adjacency = ByteMatrix::Zero(d, d);
    for (const Json& edge : root.at("edges")) {
      const int from = find(index, edge.at("from").get<std::string>(), where);
      const int to = find(index, edge.at("to").get<std::string>(), where);
      result.adjacency(from, to) = 1;
      if (!edge.value("directed", true)) result.adjacency(to, from) = 1;
    }
    return result;
  });
}

}  // namespace fansite
