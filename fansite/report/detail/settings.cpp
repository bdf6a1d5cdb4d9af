// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/detail/settings.h"

#include <cmath>

namespace fansite::report {
namespace {

// Throws nlohmann's exception for what no parameter can be.
Value to_value(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array() && !json.empty() && json.front().is_number()) return json.get<std::vector<double>>();
  if (json.is_array()) return json.get<std::vector<std::string>>();
  return json.get<std::string>();
}

void read_parameters(const Json& settings, Parameters& parameters) {
  for (const Description::Field& field : parameters.fields()) {
    const Json& json = settings.at(field.name);
    const bool infinite = field.range.infinite && json.is_string();
    parameters.set(field.name, infinite ? parse_value(field, json.get<std::string>()) : to_value(json));
  }
}

}  // namespace

Json to_json(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && std::isinf(*number)) return to_text(value);  // JSON has no infinity
  return std::visit([](const auto& held) { return Json(held); }, value);
}

void add_parameters(const Parameters& parameters, Json& settings) {
  for (const Description::Field& field : parameters.fields()) {
    settings[field.name] = to_json(parameters.get(field.name));
  }
}

void add_roles(const TableRoles& roles, Json& settings) {
  if (roles.empty()) return;
  Json& table = settings["table"] = Json::object();
  for (const auto& [column, kind] : roles.kinds) table["kinds"][column] = name(kind);
  if (!roles.context.empty()) table["context"] = roles.context;
  if (!roles.weight.empty()) table["weight"] = roles.weight;
  if (!roles.group.empty()) table["group"] = roles.group;
  if (!roles.drop.empty()) table["drop"] = roles.drop;
  if (!roles.only.empty()) table["only"] = roles.only;
}

Json settings_json(const BoundariesResult& run) {
  Json result;
  result["method"] = run.params.method;
  add_parameters(run.params.options, result);
  result["targets"] = run.params.targets;
  result["seed"] = run.params.run.seed;
  add_knowledge(result, run.knowledge);
  add_roles(run.roles, result);
  return result;
}

BoundariesParams boundaries_params(const Json& settings) {
  BoundariesParams params(settings.at("method").get<std::string>());
  read_parameters(settings, params.options);
  settings.at("targets").get_to(params.targets);
  settings.at("seed").get_to(params.run.seed);
  return params;
}

Json settings_json(const CausalGraphResult& run) {
  Json result;
  result["method"] = run.params.method;
  add_parameters(run.params.options, result);
  result["seed"] = run.params.run.seed;
  add_knowledge(result, run.knowledge);
  add_roles(run.roles, result);
  if (run.boundaries) {
    result["boundaries"] = settings_json(*run.boundaries);
    result["boundaries"].erase("table");  // it is the same one
  }
  return result;
}

CausalGraphParams causal_graph_params(const Json& settings) {
  CausalGraphParams params(settings.at("method").get<std::string>());
  read_parameters(settings, params.options);
  settings.at("seed").get_to(params.run.seed);
  if (settings.contains("boundaries")) params.boundaries = boundaries_params(settings.at("boundaries"));
  return params;
}

Json settings_json(const InformationResult& run) {
  Json result;
  result["estimator"] = run.params.estimator;
  add_parameters(run.params.options, result);
  result["block"] = run.params.block;
  result["seed"] = run.params.run.seed;
  add_roles(run.roles, result);
  return result;
}

EntropyParams entropy_params(const Json& settings) {
  EntropyParams params(settings.at("estimator").get<std::string>());
  read_parameters(settings, params.options);
  params.block = settings.value("block", std::string("none"));  // earlier results took rows as they come
  settings.at("seed").get_to(params.run.seed);
  return params;
}

TableRoles roles_in(const Json& settings) {
  TableRoles roles;
  if (!settings.contains("table")) return roles;
  const Json& table = settings.at("table");
  if (table.contains("kinds")) {
    for (const auto& [column, kind] : table.at("kinds").items()) {
      roles.kinds.emplace_back(column, parse<ColumnKind>(kind.get<std::string>(), "kind"));
    }
  }
  if (table.contains("context")) table.at("context").get_to(roles.context);
  roles.weight = table.value("weight", std::string());
  roles.group = table.value("group", std::string());
  if (table.contains("drop")) table.at("drop").get_to(roles.drop);
  if (table.contains("only")) table.at("only").get_to(roles.only);
  return roles;
}

Knowledge knowledge_in(const Json& settings, const std::vector<std::string>& names) {
  if (!settings.contains("knowledge")) return {};
  std::string lines;
  for (const Json& line : settings.at("knowledge")) lines += line.get<std::string>() + "\n";
  return Knowledge::parse(lines, "the result's knowledge", names);
}

}  // namespace fansite::report
