// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/roles.h"
#include "fansite/report/detail/settings.h"
#include "fansite/report/json.h"

namespace fansite {
namespace {

using report::add_details;
using report::add_head;
using report::add_manifest;
using report::add_timing;
using report::add_unfinished;
using report::Json;
using report::Lines;
using report::number;
using report::settings_json;
using report::text;
using report::to_json;

Json to_json(const causal::Evidence& evidence) {
  return {{"value", number(evidence.value)}, {"se", evidence.standard_error}, {"stability", evidence.stability}};
}

bool touches(const std::optional<std::vector<causal::HiddenCause>>& hidden, int variable) {
  return hidden && causal::touches(*hidden, variable);
}

std::vector<std::string> edges(const CausalGraphResult& result) {
  const auto name_of = [&](int variable) { return result.names[static_cast<std::size_t>(variable)]; };
  std::vector<std::string> lines;
  if (!result.edges.empty()) {
    for (const causal::GraphEdge& edge : result.edges) {
      Json entry;
      entry["from"] = name_of(edge.from);
      entry["to"] = name_of(edge.to);
      entry["directed"] = result.graph.directed(edge.from, edge.to) != 0;
      entry["weight"] = number(result.weights(edge.from, edge.to));
      entry["existence"] = to_json(edge.existence);
      entry["direction"] = to_json(edge.direction);
      entry["direction_by"] = name(edge.by);
      if (touches(result.hidden_causes, edge.from) || touches(result.hidden_causes, edge.to)) entry["fragile"] = true;
      lines.push_back(text(entry));
    }
    return lines;
  }
  for (Index from = 0; from < result.graph.directed.rows(); ++from) {
    for (Index to = 0; to < result.graph.directed.cols(); ++to) {
      const bool directed = result.graph.directed(from, to) != 0;
      if (!directed && (from > to || !result.graph.undirected(from, to))) continue;
      Json entry;
      entry["from"] = name_of(static_cast<int>(from));
      entry["to"] = name_of(static_cast<int>(to));
      entry["directed"] = directed;
      entry["weight"] = number(result.weights(from, to));
      lines.push_back(text(entry));
    }
  }
  return lines;
}

// The pairs among which edges were sought.
std::vector<std::string> links(const CausalGraphResult& result) {
  std::vector<std::string> lines;
  for (Index a = 0; a < result.links.rows(); ++a) {
    for (Index b = a + 1; b < result.links.cols(); ++b) {
      if (!result.links(a, b)) continue;
      lines.push_back(text({result.names[static_cast<std::size_t>(a)], result.names[static_cast<std::size_t>(b)]}));
    }
  }
  return lines;
}

std::vector<std::string> boundaries(const CausalGraphResult& result) {
  const auto name_of = [&](int variable) { return result.names[static_cast<std::size_t>(variable)]; };
  std::vector<std::string> lines;
  for (int target = 0; target < static_cast<int>(result.names.size()); ++target) {
    Json entry;
    entry["target"] = name_of(target);
    entry["members"] = Json::array();
    for (const causal::RoleOf& role : causal::roles(result.graph, target)) {
      Json member;
      member["name"] = name_of(role.variable);
      member["role"] = name(role.role);
      for (const int child : role.through) member["through"].push_back(name_of(child));
      entry["members"].push_back(member);
    }
    lines.push_back(text(entry));
  }
  return lines;
}

}  // namespace

std::string to_json(const CausalGraphResult& result, const RunTiming& timing) {
  const auto name_of = [&](int variable) {
    return variable < 0 ? Json(nullptr) : Json(result.names[static_cast<std::size_t>(variable)]);
  };
  Lines lines;
  add_head(lines, kGraphFormat, result.names, result.rows, settings_json(result), result.warnings);
  add_manifest(lines, {result.data_hash, result.model_hash(), result.params.run.seed});
  add_unfinished(lines, result.unfinished);
  if (result.additivity) {
    const causal::AdditivityTest& test = *result.additivity;
    Json additivity;
    additivity["additive"] = test.applicable ? Json(test.additive) : Json(nullptr);
    additivity["tested"] = test.tested;
    if (result.scale) additivity["scale"] = name(*result.scale);
    additivity["correlation"] = number(test.correlation);
    additivity["p_value"] = number(test.p_value);
    additivity["child"] = name_of(test.child);
    additivity["parent"] = name_of(test.parent);
    lines.field("additivity", text(additivity));
  }
  add_details(lines, result.details);
  if (result.hidden_causes) lines.field("hidden_causes", text(to_json(*result.hidden_causes, result.names)));
  if (result.needs_links) lines.list("links", links(result));
  lines.list("edges", edges(result));
  lines.list("roles", boundaries(result));
  std::vector<std::string> weights;
  for (Index i = 0; i < result.weights.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < result.weights.cols(); ++j) row.push_back(number(result.weights(i, j)));
    weights.push_back(text(row));
  }
  lines.list("weights", weights);
  add_timing(lines, {{"boundary_seconds", result.boundary_seconds}, {"graph_seconds", result.graph_seconds}}, timing);
  return lines.text();
}

}  // namespace fansite
