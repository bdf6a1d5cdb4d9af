// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/detail/settings.h"

#include <sstream>

namespace fansite::report {
namespace {

// ---- Networks -------------------------------------------------------------------------------------------------------

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

// The rest of the shape follows from the table's width.
flow::EnsembleParams ensemble_params(const Json& settings) {
  flow::EnsembleParams flow;
  settings.at("repeats").get_to(flow.repeats);
  settings.at("folds").get_to(flow.folds);
  flow.transform = parse_transform(settings.at("transform").get<std::string>());
  settings.at("blocks").get_to(flow.blocks);
  flow.train.base = flow::parse_base(settings.at("base").get<std::string>());
  settings.at("steps").get_to(flow.train.steps);
  settings.at("batch").get_to(flow.train.batch);
  settings.at("max_size").get_to(flow.train.max_size);
  flow.train.subsets = flow::parse_subset_kind(settings.at("subsets").get<std::string>());
  flow.train.schedule = flow::parse_schedule(settings.at("schedule").get<std::string>());
  settings.at("learning_rate").get_to(flow.train.learning_rate);
  settings.at("clip").get_to(flow.train.clip);
  settings.at("held_out").get_to(flow.train.held_out);
  settings.at("patience").get_to(flow.train.patience);
  settings.at("evaluate_every").get_to(flow.train.evaluate_every);
  settings.at("seed").get_to(flow.seed);
  return flow;
}

Json stage_settings(const causal::StageParams& stage) {
  return {{"learning_rate", stage.learning_rate},
          {"batch", stage.batch},
          {"max_epochs", stage.max_epochs},
          {"l1", stage.l1},
          {"l2", stage.l2}};
}

causal::StageParams stage_params(const Json& settings) {
  causal::StageParams stage;
  settings.at("learning_rate").get_to(stage.learning_rate);
  settings.at("batch").get_to(stage.batch);
  settings.at("max_epochs").get_to(stage.max_epochs);
  settings.at("l1").get_to(stage.l1);
  settings.at("l2").get_to(stage.l2);
  return stage;
}

}  // namespace

// ---- Boundaries -----------------------------------------------------------------------------------------------------

Json settings_of(const BoundariesResult& run) {
  const BoundariesParams& params = run.params;
  const SearchParams& search = params.search;
  Json result;
  result["estimator"] = name(params.estimator);
  result["effort"] = name(params.effort);
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
  if (run.estimator == EstimatorKind::flow) add_settings(run.flow, result["flow"]);
  return result;
}

BoundariesParams boundaries_params(const Json& settings) {
  BoundariesParams params;
  params.estimator = parse_estimator(settings.at("estimator").get<std::string>());
  params.effort = parse_effort(settings.at("effort").get<std::string>());
  SearchParams& search = params.search;
  search.stop = parse_stop_rule(settings.at("stop").get<std::string>());
  if (search.stop == StopRule::calibrated) {
    settings.at("fdr").get_to(search.fdr);
  } else {
    settings.at("eps_grow").get_to(search.eps_grow);
    settings.at("eps_shrink").get_to(search.eps_shrink);
  }
  settings.at("patience").get_to(search.patience);
  settings.at("max_size").get_to(search.max_size);
  search.rule = parse_symmetry(settings.at("rule").get<std::string>());
  params.refine = parse_refine(settings.at("refine").get<std::string>());
  settings.at("targets").get_to(params.targets);
  settings.at("seed").get_to(params.seed);
  if (settings.contains("flow")) {
    const flow::EnsembleParams flow = ensemble_params(settings.at("flow"));
    params.repeats = flow.repeats;
    params.folds = flow.folds;
    params.steps = flow.train.steps;
  }
  return params;
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

Json settings_of(const CausalGraphResult& run) {
  const CausalGraphParams& params = run.params;
  Json result;
  result["method"] = name(params.method);
  result["seed"] = params.seed;
  if (params.method == GraphMethod::additive_noise) {
    const causal::AdditiveNoiseParams& noise = params.additive_noise;
    result["dag"] = params.force_dag;
    result["noise"] = name(noise.noise);
    result["scale"] = name(noise.scale);
    result["price"] = noise.price;
    result["max_parents"] = noise.max_parents;
    result["sure"] = noise.sure;
    result["max_rows"] = noise.max_rows;
    add_knowledge(result, run.knowledge);
  } else {
    const causal::DifferentiableParams& networks = params.differentiable;
    if (params.method == GraphMethod::sdcd) result["first"] = stage_settings(networks.first);
    result["second"] = stage_settings(networks.second);
    result["hidden"] = networks.hidden;
    result["standardise"] = networks.standardise;
    result["mask_threshold"] = networks.mask_threshold;
    result["threshold"] = networks.threshold;
    result["gamma_increment"] = networks.gamma_increment;
  }
  if (run.boundaries) result["boundaries"] = settings_of(*run.boundaries);
  return result;
}

CausalGraphParams causal_graph_params(const Json& settings) {
  CausalGraphParams params;
  params.method = parse_graph_method(settings.at("method").get<std::string>());
  settings.at("seed").get_to(params.seed);
  if (params.method == GraphMethod::additive_noise) {
    causal::AdditiveNoiseParams& noise = params.additive_noise;
    settings.at("dag").get_to(params.force_dag);
    noise.noise = causal::parse_noise_law(settings.at("noise").get<std::string>());
    noise.scale = causal::parse_noise_scale(settings.at("scale").get<std::string>());
    settings.at("price").get_to(noise.price);
    settings.at("max_parents").get_to(noise.max_parents);
    settings.at("sure").get_to(noise.sure);
    settings.at("max_rows").get_to(noise.max_rows);
  } else {
    causal::DifferentiableParams& networks = params.differentiable;
    if (params.method == GraphMethod::sdcd) networks.first = stage_params(settings.at("first"));
    networks.second = stage_params(settings.at("second"));
    settings.at("hidden").get_to(networks.hidden);
    settings.at("standardise").get_to(networks.standardise);
    settings.at("mask_threshold").get_to(networks.mask_threshold);
    settings.at("threshold").get_to(networks.threshold);
    settings.at("gamma_increment").get_to(networks.gamma_increment);
  }
  if (settings.contains("boundaries")) params.boundaries = boundaries_params(settings.at("boundaries"));
  return params;
}

// ---- Entropies ------------------------------------------------------------------------------------------------------

Json settings_of(const InformationResult& run) {
  Json result;
  result["estimator"] = name(run.params.estimator);
  if (run.params.estimator == EstimatorKind::flow) add_settings(run.params.flow, result);
  return result;
}

InformationParams information_params(const Json& settings) {
  InformationParams params;
  params.estimator = parse_estimator(settings.at("estimator").get<std::string>());
  if (params.estimator == EstimatorKind::flow) params.flow = ensemble_params(settings);
  return params;
}

Knowledge knowledge_in(const Json& settings, const std::vector<std::string>& variables) {
  if (!settings.contains("knowledge")) return {};
  std::string lines;
  for (const Json& line : settings.at("knowledge")) lines += line.get<std::string>() + "\n";
  return Knowledge::parse(lines, "the result's knowledge", variables);
}

}  // namespace fansite::report
