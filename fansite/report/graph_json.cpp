// SPDX-License-Identifier: Apache-2.0
#include "fansite/dag/roles.h"
#include "fansite/report/json.h"
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

Json settings(const dag::StageParams& stage) {
  return {{"learning_rate", stage.learning_rate},
          {"batch", stage.batch},
          {"max_epochs", stage.max_epochs},
          {"l1", stage.l1},
          {"l2", stage.l2}};
}

Json settings(const CausalGraphResult& run) {
  const CausalGraphParams& params = run.params;
  Json result;
  result["method"] = name(params.method);
  result["seed"] = params.seed;
  if (params.method == GraphMethod::additive_noise) {
    const dag::AdditiveNoiseParams& noise = params.additive_noise;
    result["dag"] = params.force_dag;
    result["noise"] = name(noise.noise);
    result["scale"] = name(noise.scale);
    result["price"] = noise.price;
    result["max_parents"] = noise.max_parents;
    result["sure"] = noise.sure;
    result["max_rows"] = noise.max_rows;
    add_knowledge(result, run.knowledge);
    return result;
  }
  const dag::DifferentiableParams& networks = params.differentiable;
  if (params.method == GraphMethod::sdcd) result["first"] = settings(networks.first);
  result["second"] = settings(networks.second);
  result["hidden"] = networks.hidden;
  result["standardise"] = networks.standardise;
  result["mask_threshold"] = networks.mask_threshold;
  result["threshold"] = networks.threshold;
  result["gamma_increment"] = networks.gamma_increment;
  return result;
}

Json to_json(const dag::Evidence& evidence) {
  return {{"value", number(evidence.value)}, {"se", evidence.standard_error}, {"stability", evidence.stability}};
}

std::vector<std::string> edges(const CausalGraphResult& result) {
  const auto name_of = [&](int variable) { return result.variables[static_cast<std::size_t>(variable)]; };
  std::vector<std::string> lines;
  if (result.additive_noise) {
    for (const dag::GraphEdge& edge : result.additive_noise->edges) {
      Json entry;
      entry["from"] = name_of(edge.from);
      entry["to"] = name_of(edge.to);
      entry["directed"] = result.graph.directed(edge.from, edge.to) != 0;
      entry["weight"] = number(result.weights(edge.from, edge.to));
      entry["existence"] = to_json(edge.existence);
      entry["direction"] = to_json(edge.direction);
      entry["direction_by"] = name(edge.by);
      lines.push_back(text(entry));
    }
    return lines;
  }
  for (Index from = 0; from < result.graph.directed.rows(); ++from) {
    for (Index to = 0; to < result.graph.directed.cols(); ++to) {
      if (!result.graph.directed(from, to)) continue;
      Json entry;
      entry["from"] = name_of(static_cast<int>(from));
      entry["to"] = name_of(static_cast<int>(to));
      entry["directed"] = true;
      entry["weight"] = number(result.weights(from, to));
      lines.push_back(text(entry));
    }
  }
  return lines;
}

std::vector<std::string> boundaries(const CausalGraphResult& result) {
  const auto name_of = [&](int variable) { return result.variables[static_cast<std::size_t>(variable)]; };
  std::vector<std::string> lines;
  for (int target = 0; target < static_cast<int>(result.variables.size()); ++target) {
    Json entry;
    entry["target"] = name_of(target);
    entry["members"] = Json::array();
    for (const dag::RoleOf& role : dag::roles(result.graph, target)) {
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
    return variable < 0 ? Json(nullptr) : Json(result.variables[static_cast<std::size_t>(variable)]);
  };
  Lines lines;
  add_head(lines, "fansite.graph/1", result.variables, result.rows, settings(result), result.warnings);
  if (result.additive_noise) {
    const dag::AdditivityTest& test = result.additive_noise->additivity;
    Json additivity;
    additivity["additive"] = test.additive;
    additivity["scale"] = name(result.additive_noise->scale);
    additivity["correlation"] = number(test.correlation);
    additivity["p_value"] = number(test.p_value);
    additivity["child"] = name_of(test.child);
    additivity["parent"] = name_of(test.parent);
    lines.field("additivity", text(additivity));
    lines.field("score", text(number(result.additive_noise->score)));
    lines.field("fits", std::to_string(result.additive_noise->fits));
    lines.field("rows_used", std::to_string(result.additive_noise->rows));
  }
  lines.list("edges", edges(result));
  lines.list("roles", boundaries(result));
  std::vector<std::string> weights;
  for (Index i = 0; i < result.weights.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < result.weights.cols(); ++j) row.push_back(number(result.weights(i, j)));
    weights.push_back(text(row));
  }
  lines.list("weights", weights);
  Json times;
  times["boundary_seconds"] = result.boundary_seconds;
  times["graph_seconds"] = result.graph_seconds;
  times["total_seconds"] = timing.total_seconds;
  times["peak_memory_mb"] = timing.peak_memory_mb;
  times["threads"] = timing.threads;
  lines.field("timing", text(times));
  return lines.text();
}

}  // namespace fansite
