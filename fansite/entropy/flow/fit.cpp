// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fansite/base/file.h"
#include "fansite/base/hash.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/entropy/flow/pilot.h"

namespace fansite::flow {
namespace {

// Fewer steps than this teach a network hardly anything: a quarter of a quick run's.
constexpr std::int64_t kFewestSteps = 2000;
constexpr int kFoldsEnough = 5;

FittedEstimator wrapped(const Context& context, Ensemble ensemble) {
  FittedEstimator fitted;
  if (!ensemble.warning().empty()) fitted.warnings.push_back(ensemble.warning());
  EnsembleParams in_force = ensemble.params;
  in_force.blocks = in_force.shape.blocks;
  fitted.parameters = in_force;
  fitted.training = TrainingReport{.networks = static_cast<int>(ensemble.networks.size()),
                                   .steps = ensemble.steps(),
                                   .undone_steps = ensemble.undone_steps(),
                                   .curve = ensemble.curve(),
                                   .linear_share = ensemble.linear_share.mean()};
  fitted.estimator = std::make_unique<FlowEstimator>(context.data(), context.facts(), ensemble);
  const auto kept = std::make_shared<const Ensemble>(std::move(ensemble));
  fitted.model = [kept] { return to_bytes(*kept); };
  return fitted;
}

// What time allows of the networks; nothing: too little to learn anything.
std::optional<EnsembleParams> affordable(const Context& context, const EnsembleParams& asked, double share) {
  if (!context.budget().limited()) return asked;
  const double steps = static_cast<double>(asked.networks()) * static_cast<double>(asked.train.steps);
  const double seconds = training_seconds(context.learnable().data, asked, context.progress());
  const double allowed = share * context.budget().left();
  if (accelerator() == nullptr) return fitted_to(asked, steps / seconds * allowed);
  // Side by side on a GPU fewer networks take as long; shorter ones do not.
  EnsembleParams less = asked;
  const double shorter = std::min(1.0, allowed / seconds);
  less.train.steps = static_cast<std::int64_t>(shorter * static_cast<double>(asked.train.steps));
  return less.train.steps >= std::min(kFewestSteps, asked.train.steps) ? std::optional(less) : std::nullopt;
}

// What its pilot chose when the training began: another device, whose last bits differ, might choose otherwise.
EnsembleParams chosen_before(EnsembleParams asked, const std::string& checkpoint) {
  if (pilot_length(asked) == 0) return asked;
  const TrainParams begun = load_checkpoint(checkpoint).ensemble.params.train;
  asked.train.base = begun.base;
  asked.train.noise = begun.noise;
  asked.pilot = false;
  return asked;
}

std::optional<FittedEstimator> fit(const Context& context, const fansite::Parameters& parameters, double share) {
  const RunParams& run = context.run();
  if (!run.model.empty()) {
    if (!run.save_model.empty()) {
      throw ParameterError("save_model", "a trained model is given, so none is trained; leave it out");
    }
    FittedEstimator fitted = wrapped(context, load_model(run.model));
    fitted.model_hash = hash_of(fitted.model());
    fitted.state_kept = context.keeps_state();
    return fitted;
  }
  EnsembleParams asked = parameters.as<EnsembleParams>();
  asked.seed = run.seed;
  std::string checkpoint = context.checkpoint(&CheckpointFiles::training);
  std::string unfinished;
  const bool begun = !checkpoint.empty() && std::filesystem::exists(checkpoint);
  if (begun) {
    asked = chosen_before(asked, checkpoint);
  } else {
    const std::optional<EnsembleParams> possible = affordable(context, asked, share);
    if (!possible) return std::nullopt;
    if (*possible != asked) {
      checkpoint.clear();  // another run would have no use for these
      unfinished = fmt::format("time allowed {} networks of {} steps instead of {} of {}", possible->networks(),
                               possible->train.steps, asked.networks(), asked.train.steps);
      asked = *possible;
      asked.pilot = false;  // nor time to try
    }
  }
  asked = chosen_by_pilot(context.learnable().data, asked, factors_of(context), context.learnable().values_hash,
                          context.progress());
  if (!run.save_model.empty()) OutputFile{run.save_model};  // a place that cannot be written is known before the work
  Ensemble ensemble = train_ensemble(context.learnable().data, asked, context.progress(), checkpoint,
                                     context.learnable().values_hash, factors_of(context));
  if (!run.save_model.empty()) save_model(ensemble, run.save_model);
  FittedEstimator fitted = wrapped(context, std::move(ensemble));
  fitted.unfinished = std::move(unfinished);
  fitted.state_kept = !checkpoint.empty();
  if (fitted.state_kept) fitted.model_hash = hash_of(fitted.model());
  return fitted;
}

// No more passes through few rows than a thousand get, which would be learnt by heart, but as many steps as a quick
// run.
std::int64_t steps_for(std::int64_t steps, Index rows) {
  constexpr Index kManyRows = 1000;
  constexpr std::int64_t kFewSteps = 8000;
  if (rows >= kManyRows) return steps;
  return std::min(steps, std::max(kFewSteps, steps * static_cast<std::int64_t>(rows) / kManyRows));
}

fansite::Parameters for_search(const SearchNeeds& needs) {
  const EffortMeaning effort = meaning(needs.effort, needs.variables);
  EnsembleParams params;
  params.folds = effort.folds;
  params.repeats = effort.repeats;
  params.train.steps = steps_for(effort.steps, needs.rows);
  params.train.held_out = 0;
  params.train.base = needs.linear ? BaseKind::gaussian : BaseKind::none;  // where there is no time to try
  params.pilot = true;
  return params;
}

TrainingPlan plan(const Context& context, const fansite::Parameters& parameters) {
  const LearnableTable& learnable = context.learnable();
  TrainingPlan result;
  Stopwatch watch;
  result.trains = context.run().model.empty();
  Ensemble ensemble;
  if (!result.trains) {
    ensemble = load_model(context.run().model);
  } else {
    EnsembleParams settings = parameters.as<EnsembleParams>();
    settings.seed = context.run().seed;
    settings = complete(settings, learnable.data.variables(), learnable.data.rows());
    EnsembleParams one_step = settings;
    one_step.train.steps = 1;
    ensemble =
        train_ensemble(learnable.data, one_step, context.progress(), {}, learnable.values_hash, factors_of(context));
    ensemble.params = settings;
  }
  result.networks = static_cast<int>(ensemble.networks.size());
  result.steps = ensemble.params.train.steps;
  const EnsembleParams& settings = ensemble.params;
  NetworkSizes sizes{.networks = settings.networks(),
                     .folds = settings.folds,
                     .columns = settings.shape.variables,
                     .weights = static_cast<double>(Layout(settings.shape).size) * sizeof(float)};
  sizes.density = 0.6 * sizes.weights;  // folded: half of them or so
  if (result.trains) {
    // Each network in training: weights, gradient and two moments, the states to go back to, and the rows in its order.
    // For a GPU all are begun at once, each with a state brought back.
    const auto table = static_cast<double>(learnable.data.values.size()) * sizeof(float);
    const double networks = sizes.networks, at_once = std::min<double>(thread_count(), networks);
    sizes.training = 2 * table + (accelerator() != nullptr ? networks * (17 * sizes.weights + table)
                                                           : at_once * (11 * sizes.weights + table));
  }
  auto estimator = std::make_unique<FlowEstimator>(context.data(), context.facts(), ensemble);
  result.setting_up = watch.seconds();
  if (result.trains) result.seconds = training_seconds(learnable.data, settings, context.progress());
  result.memory_mb = [sizes, own = estimator.get()] { return memory_mb(sizes, own->versions()); };
  result.estimator = std::move(estimator);
  return result;
}

}  // namespace

double memory_mb(const NetworkSizes& sizes, Index rows) {
  constexpr double kMegabyte = 1 << 20;
  const auto n = static_cast<double>(rows);
  const double table = n * static_cast<double>(sizes.columns) * sizeof(float);
  // Each network's weights, its density, and the rows in its order: once whole, once those it judges, and the sampled
  // ones.
  const double sampled =
      rows > EnsembleDensity::kSampleRows ? static_cast<double>(EnsembleDensity::kSampleRows) / n : 0.0;
  const double densities = sizes.networks * (sizes.density + table * (1 + 1.0 / sizes.folds + sampled)) + 2 * table;
  // 512 queries at once: two densities of each, and two numbers of each to mix networks with.
  const double search = 512.0 * 4 * n * sizeof(float);
  return (sizes.networks * sizes.weights + std::max(sizes.training, densities + search)) / kMegabyte;
}

std::vector<Factor> factors_of(const Context& context) {
  std::vector<Factor> factors;
  for (const NominalLevels& levels : context.learnable().nominal) {
    factors.push_back(
        {context.data().names[static_cast<std::size_t>(levels.column)], levels.labels, levels.indicators});
  }
  return factors;
}

std::optional<EnsembleParams> fitted_to(EnsembleParams params, double steps) {
  const std::int64_t fewest = std::min(kFewestSteps, params.train.steps);
  const auto too_much = [&] {
    return static_cast<double>(params.networks()) * static_cast<double>(params.train.steps) > steps;
  };
  while (too_much() && params.repeats > 1) --params.repeats;
  if (too_much()) params.folds = std::min(params.folds, kFoldsEnough);
  if (too_much()) params.train.steps = static_cast<std::int64_t>(steps / params.networks());
  return params.train.steps >= fewest ? std::optional(params) : std::nullopt;
}

EstimatorMethod flow_estimator() {
  EstimatorMethod row;
  row.name = "flow";
  row.summary = "an ensemble of flows, each with the density of every subset of the variables; relations of any shape";
  row.citation = "Nguyen, Duong, Huynh and Nguyen, Neural Autoregressive Flows for Markov Boundary Learning";
  row.can = {.resumable = true,
             .can_be_cut_short = true,
             .handles_missing_cells = true,
             .handles_context = true,
             .handles_weights = true,
             .handles_groups = true,
             .trains = true,
             .column_kinds = {"continuous", "ordered", "atoms", "nominal"}};
  row.parameters = EnsembleParams();
  row.for_search = for_search;
  row.fit = fit;
  row.plan = plan;
  row.largest_set = [](const Context& context, const fansite::Parameters& parameters) {
    const Dataset& table = context.learnable().data;
    return flow::largest_set(complete(parameters.as<EnsembleParams>(), table.variables(), table.rows()).shape);
  };
  row.load = [](const Context& context, std::string_view bytes) {
    return wrapped(context, parse_model(bytes, "the model"));
  };
  return row;
}

}  // namespace fansite::flow
