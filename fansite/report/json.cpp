// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/json.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/base/version.h"
#include "fansite/boundary/links.h"
#include "fansite/causal/roles.h"
#include "fansite/report/detail/json_read.h"
#include "fansite/report/detail/settings.h"

namespace fansite {
namespace {

using report::add_details;
using report::add_head;
using report::add_manifest;
using report::add_parameters;
using report::add_timing;
using report::add_unfinished;
using report::Json;
using report::Lines;
using report::number;
using report::parse;
using report::read_fields;
using report::settings_json;
using report::text;
using report::to_json;

Json boundary_to_json(const BoundariesResult& result, const Boundary& boundary) {
  const auto name_of = [&](int variable) { return result.names[static_cast<std::size_t>(variable)]; };
  Json json;
  json["target"] = name_of(boundary.target);
  const int original = result.copy_of[static_cast<std::size_t>(boundary.target)];
  if (original >= 0) json["copy_of"] = name_of(original);
  json["entropy"] = number(boundary.entropy);
  json["conditional_entropy"] = number(boundary.conditional_entropy);
  if (boundary.rows > 0 && boundary.rows < result.rows) json["rows"] = boundary.rows;
  json["members"] = Json::array();
  const std::vector<causal::RoleOf> known_roles =
      result.graph ? causal::roles(result.graph->partial, boundary.target) : std::vector<causal::RoleOf>();
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
    if (member.against_graph) entry["against_graph"] = true;
    if (member.fragile) entry["fragile"] = true;
    const Robustness& robustness = member.robustness;
    if (!std::isnan(robustness.hidden_cause)) {
      entry["robustness"] = {{"hidden_cause", number(robustness.hidden_cause)},
                             {"measurement_noise", number(robustness.measurement_noise)}};
    }
    if (member.by_knowledge) entry["by_knowledge"] = true;
    for (const StandIn& other : member.interchangeable) {
      entry["interchangeable"].push_back(
          {{"name", name_of(other.variable)}, {"cost", number(other.cost)}, {"se", number(other.standard_error)}});
    }
    for (const causal::RoleOf& role : known_roles) {
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
    return variable < 0 ? Json(nullptr) : Json(result.names[static_cast<std::size_t>(variable)]);
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

// How the networks' loss fell, over all of them.
Json training_to_json(const BoundariesResult& result) {
  Json curve = Json::array();
  for (const LossPoint& point : result.training->curve) {
    curve.push_back({{"step", point.step},
                     {"training", number(point.training)},
                     {"training_sd", number(point.training_sd)},
                     {"held_out", number(point.held_out)},
                     {"held_out_sd", number(point.held_out_sd)}});
  }
  Json parameters = Json::object();
  add_parameters(result.estimator_parameters, parameters);
  return {{"networks", result.training->networks},
          {"steps", result.training->steps},
          {"parameters", parameters},
          {"curve", curve},
          {"linear_share", number(result.training->linear_share)}};
}

void check_format(const Json& root, std::string_view wanted, const std::string& where) {
  check_data(root.at("format") == wanted, "[read] {} has format {}, expected {}; make it again with this version",
             where, text(root.at("format")), wanted);
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

// The graph that was asked for the last word.
Json graph_to_json(const BoundariesResult& result) {
  Json graph;
  graph["refined"] = result.refined;
  const causal::AdditivityTest& test = result.graph->additivity;
  graph["additive"] = test.applicable ? Json(test.additive) : Json(nullptr);
  graph["scale"] = name(result.graph->scale);
  graph["additivity_correlation"] = number(result.graph->additivity.correlation);
  graph["additivity_p_value"] = number(result.graph->additivity.p_value);
  graph["fits"] = result.graph->fits;
  if (!result.graph->given_up) graph["hidden_causes"] = to_json(result.graph->hidden_causes, result.names);
  return graph;
}

Json calibration_to_json(const BoundariesResult& result) {
  const Calibration& calibration = *result.calibration;
  Json variables = Json::array();
  for (const TargetCalibration& target : calibration.targets) {
    variables.push_back({{"name", result.names[static_cast<std::size_t>(target.target)]},
                         {"ks", number(target.ks)},
                         {"p_value", number(target.p_value)},
                         {"latent_mean", number(target.latent_mean)},
                         {"latent_sd", number(target.latent_sd)},
                         {"latent_skewness", number(target.latent_skewness)},
                         {"latent_kurtosis", number(target.latent_kurtosis)},
                         {"pit", target.pit}});
  }
  return {{"rows", calibration.rows}, {"bins", calibration.bins}, {"pit", calibration.pit}, {"variables", variables}};
}

}  // namespace

std::string to_json(const BoundariesResult& result, const RunTiming& timing) {
  Lines lines;
  add_head(lines, kBoundariesFormat, result.names, result.rows, settings_json(result), result.warnings);
  add_manifest(lines, {result.data_hash, result.model_hash, result.params.run.seed});
  add_unfinished(lines, result.unfinished);
  lines.field("estimator", result.estimator.empty() ? "null" : text(result.estimator));
  if (result.linearity) lines.field("linearity", text(linearity_to_json(result)));
  if (result.graph) lines.field("graph", text(graph_to_json(result)));
  if (result.found.threshold) lines.field("threshold", text(number(*result.found.threshold)));
  std::vector<std::string> boundaries;
  for (const Boundary& boundary : result.found.boundaries) {
    boundaries.push_back(text(boundary_to_json(result, boundary)));
  }
  lines.list("boundaries", boundaries);
  std::vector<std::string> edges;
  for (const auto& [a, b] : result.found.moral_edges) {
    edges.push_back(text({result.names[static_cast<std::size_t>(a)], result.names[static_cast<std::size_t>(b)]}));
  }
  lines.list("moral_edges", edges);
  lines.field("steps", std::to_string(result.found.steps));
  if (result.training) {
    lines.field("tested_pairs", std::to_string(result.found.tested_pairs));
    lines.field("training", text(training_to_json(result)));
  }
  if (result.calibration) lines.field("calibration", text(calibration_to_json(result)));
  add_details(lines, result.details);
  Json phases = Json::object();
  for (const auto& [phase, seconds] : result.seconds) phases[phase + "_seconds"] = seconds;
  if (result.training) phases["evaluations"] = result.evaluations;
  add_timing(lines, phases, timing);
  return lines.text();
}

std::string to_json(const InformationResult& result, const RunTiming& timing) {
  Lines lines;
  lines.field("format", text(kEntropyFormat));
  lines.field("version", text(FANSITE_VERSION));
  lines.field("target", text(result.target));
  lines.field("rows", std::to_string(result.rows));
  lines.field("settings", text(settings_json(result)));
  std::vector<std::string> warnings;
  for (const std::string& warning : result.warnings) warnings.push_back(text(warning));
  lines.list("warnings", warnings);
  add_manifest(lines, {result.data_hash, result.model_hash, result.params.run.seed});
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
  if (result.training) {
    Json parameters = Json::object();
    add_parameters(result.options_in_force, parameters);
    lines.field("model", text(Json{{"networks", result.training->networks},
                                   {"steps", result.training->steps},
                                   {"undone_steps", result.training->undone_steps},
                                   {"out_of_sample", result.out_of_sample},
                                   {"parameters", parameters}}));
  }
  add_timing(lines, {{"train_seconds", result.train_seconds}, {"query_seconds", result.query_seconds}}, timing);
  return lines.text();
}

std::string result_format(std::string_view json, const std::string& where) {
  const Json root = parse(json, where);
  return read_fields(where, [&] { return root.at("format").get<std::string>(); });
}

SavedBoundaries parse_boundaries(std::string_view json, const std::string& where) {
  const Json root = parse(json, where);
  return read_fields(where, [&] {
    check_format(root, kBoundariesFormat, where);
    SavedBoundaries result;
    bool any_path = false;
    result.names = root.at("variables").get<std::vector<std::string>>();
    const auto index = index_of_names(result.names, where);
    for (const Json& boundary : root.at("boundaries")) {
      const auto target = boundary.at("target").get<std::string>();
      result.targets.push_back(find(index, target, where));
      const auto names = [&](const Json& list, std::string_view what) {
        std::vector<int> indices;
        for (const Json& entry : list) {
          const int found = find(index, entry.at("name").get<std::string>(), where);
          check_data(std::find(indices.begin(), indices.end(), found) == indices.end(),
                     "[read] {}: the {} of '{}' names '{}' twice", where, what, excerpt(target),
                     excerpt(result.names[static_cast<std::size_t>(found)]));
          indices.push_back(found);
        }
        return indices;
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
    check_format(root, kGraphFormat, where);
    SavedGraph result;
    result.names = root.at("variables").get<std::vector<std::string>>();
    const auto index = index_of_names(result.names, where);
    const auto d = static_cast<Index>(result.names.size());
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

ByteMatrix saved_links(std::string_view json, const std::string& where, const Dataset& data) {
  const SavedBoundaries saved = parse_boundaries(json, where);
  std::vector<int> column;
  for (const std::string& variable : saved.names) {
    const auto found = std::find(data.names.begin(), data.names.end(), variable);
    check(found != data.names.end(), "[dag] {} has the boundary of '{}', which the table does not have", where,
          excerpt(variable));
    column.push_back(static_cast<int>(found - data.names.begin()));
  }
  check_data(saved.targets.size() == saved.names.size() && saved.names.size() == data.names.size(),
             "[dag] {} has the boundaries of {} of the table's {} variables; give those of all", where,
             saved.targets.size(), data.variables());
  const auto in_table = [&](std::vector<int> variables) {
    for (int& variable : variables) variable = column[static_cast<std::size_t>(variable)];
    return variables;
  };
  std::vector<std::vector<int>> members;
  for (const std::vector<int>& of_target : saved.members) members.push_back(in_table(of_target));
  return links(in_table(saved.targets), members, data.variables());
}

}  // namespace fansite
