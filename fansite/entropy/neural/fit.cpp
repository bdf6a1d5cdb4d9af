// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fansite/base/file.h"
#include "fansite/base/hash.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/flow/fit.h"
#include "fansite/entropy/neural/model_file.h"

namespace fansite::neural {
namespace {

Recipe recipe_of(const NetworkKind& kind, const Parameters& parameters, std::uint64_t seed) {
  Recipe recipe = kind.recipe(parameters);
  recipe.name = kind.name;
  recipe.settings = fmt::format("{} seed={}", parameters.identity(), seed);
  recipe.seed = seed;
  return recipe;
}

// A search may be of a method that can use levels without order, of which these networks know nothing.
void check_columns(const NetworkKind& kind, const Context& context) {
  std::vector<std::string> nominal;
  for (const NominalLevels& levels : context.learnable().nominal) {
    nominal.push_back(context.data().names[static_cast<std::size_t>(levels.column)]);
  }
  check_data(nominal.empty(),
             "[{0}] the levels of {1} have no order, and {0} knows densities of continuous numbers only: leave such "
             "columns out, or use --estimator flow.",
             kind.name, quoted_list(nominal));
}

FittedEstimator wrapped(const NetworkKind& kind, const Context& context, NetworkEnsemble ensemble,
                        const Parameters& parameters) {
  FittedEstimator fitted;
  const std::int64_t undone = ensemble.undone_steps();
  if (undone > 0) {
    fitted.warnings.push_back(
        fmt::format("[train] {} of {} steps were taken back because the loss was not finite; is "
                    "there an absurd value in the data?",
                    undone, ensemble.steps()));
  }
  if (!kind.warning.empty()) fitted.warnings.push_back(kind.warning);
  fitted.parameters = parameters;
  fitted.training = TrainingReport{.networks = static_cast<int>(ensemble.networks.size()),
                                   .steps = ensemble.steps(),
                                   .undone_steps = undone,
                                   .curve = ensemble.curve()};
  const auto network = kind.recipe(parameters).network(static_cast<int>(ensemble.frame.names.size()));
  fitted.estimator =
      std::make_unique<FlowEstimator>(context.data(), context.facts(), ensemble.judges(*network), kind.name);
  const auto kept = std::make_shared<const NetworkEnsemble>(std::move(ensemble));
  fitted.model = [kept, name = kind.name, parameters] { return to_bytes(*kept, name, parameters); };
  return fitted;
}

FittedEstimator loaded(const NetworkKind& kind, const Context& context, std::string_view bytes,
                       const std::string& name) {
  const auto size = [&](const Parameters& parameters, int variables) {
    return kind.recipe(parameters).network(variables)->size();
  };
  NetworkModel model = parse_model(bytes, name, kind.name, kind.parameters, size);
  return wrapped(kind, context, std::move(model.ensemble), model.parameters);
}

// Fewer networks or steps where time demands it; false: too little is left to learn anything.
bool afford(const NetworkKind& kind, const Context& context, double share, Parameters& parameters,
            std::string& unfinished) {
  if (!context.budget().limited()) return true;
  const Recipe recipe = recipe_of(kind, parameters, context.run().seed);
  flow::EnsembleParams asked;
  asked.folds = recipe.networks.folds;
  asked.repeats = recipe.networks.repeats;
  asked.train.steps = recipe.train.steps;
  const double steps = static_cast<double>(asked.networks()) * static_cast<double>(asked.train.steps);
  const double rate = steps / training_seconds(context.learnable().data, recipe, context.progress());
  const auto possible = flow::fitted_to(asked, rate * share * context.budget().left());
  if (!possible) return false;
  if (*possible == asked) return true;
  unfinished = fmt::format("time allowed {} networks of {} steps instead of {} of {}", possible->networks(),
                           possible->train.steps, asked.networks(), asked.train.steps);
  kind.set(parameters, {possible->folds, possible->repeats, recipe.networks.transform}, possible->train.steps);
  return true;
}

std::optional<FittedEstimator> fit(const NetworkKind& kind, const Context& context, Parameters parameters,
                                   double share) {
  const RunParams& run = context.run();
  check_columns(kind, context);
  if (!run.model.empty()) {
    if (!run.save_model.empty()) {
      throw ParameterError("save_model", "a trained model is given, so none is trained; leave it out");
    }
    const FileView file(run.model);
    FittedEstimator fitted = loaded(kind, context, file.bytes(), run.model == "-" ? "standard input" : run.model);
    fitted.model_hash = hash_of(fitted.model());
    fitted.state_kept = context.keeps_state();
    return fitted;
  }
  std::string checkpoint = context.checkpoint(&CheckpointFiles::training);
  std::string unfinished;
  const bool begun = !checkpoint.empty() && std::filesystem::exists(checkpoint);
  if (!begun && !afford(kind, context, share, parameters, unfinished)) return std::nullopt;
  if (!unfinished.empty()) checkpoint.clear();              // another run would have no use for it
  if (!run.save_model.empty()) OutputFile{run.save_model};  // a place that cannot be written is known before the work
  NetworkEnsemble ensemble = train_ensemble(context.learnable().data, recipe_of(kind, parameters, run.seed),
                                            context.learnable().values_hash, context.progress(), checkpoint);
  FittedEstimator fitted = wrapped(kind, context, std::move(ensemble), parameters);
  if (!run.save_model.empty()) {
    OutputFile file(run.save_model);
    file.write(fitted.model());
    file.commit();
  }
  fitted.unfinished = std::move(unfinished);
  fitted.state_kept = !checkpoint.empty();
  if (fitted.state_kept) fitted.model_hash = hash_of(fitted.model());
  return fitted;
}

// Networks as training begins with them: what a density costs does not depend on the weights.
TrainingPlan plan(const NetworkKind& kind, const Context& context, const Parameters& parameters) {
  check_columns(kind, context);
  const LearnableTable& learnable = context.learnable();
  TrainingPlan result;
  const Stopwatch watch;
  result.trains = context.run().model.empty();
  Parameters used = parameters;
  FittedEstimator fitted;
  if (result.trains) {
    Recipe recipe = recipe_of(kind, parameters, context.run().seed);
    recipe.train.steps = 0;
    NetworkEnsemble untrained = train_ensemble(learnable.data, recipe, learnable.values_hash, context.progress());
    fitted = wrapped(kind, context, std::move(untrained), parameters);
  } else {
    const FileView file(context.run().model);
    fitted = loaded(kind, context, file.bytes(), context.run().model);
    used = fitted.parameters;
  }
  result.setting_up = watch.seconds();
  const Recipe recipe = recipe_of(kind, used, context.run().seed);
  result.networks = fitted.training->networks;
  result.steps = recipe.train.steps;
  result.may_end_early = recipe.train.patience > 0;
  const std::size_t size = recipe.network(learnable.data.variables())->size();
  flow::NetworkSizes sizes{.networks = result.networks,
                           .folds = recipe.networks.folds,
                           .columns = learnable.data.variables(),
                           .weights = static_cast<double>(size) * sizeof(float)};
  sizes.density = sizes.weights;
  if (result.trains) {
    result.seconds = training_seconds(learnable.data, recipe, context.progress());
    // Weights, gradient, two moments (and their largest), the best weights (and their mean), and all of it again as the
    // state to go on from. What a step needs besides was held while steps were timed.
    const auto table = static_cast<double>(learnable.data.values.size()) * sizeof(float);
    sizes.training = table + std::min(thread_count(), result.networks) * (14 * sizes.weights + 2 * table);
  }
  const auto* own = static_cast<const FlowEstimator*>(fitted.estimator.get());
  result.memory_mb = [sizes, own] { return memory_mb(sizes, own->versions()); };
  result.estimator = std::move(fitted.estimator);
  return result;
}

Parameters for_search(const NetworkKind& kind, const SearchNeeds& needs) {
  Parameters parameters = kind.parameters;
  const Recipe recipe = kind.recipe(parameters);
  NetworksParams networks = recipe.networks;
  std::int64_t steps = recipe.train.steps;
  if (needs.effort == Effort::quick) steps = (steps + 1) / 2;
  if (needs.effort == Effort::thorough) {
    networks.folds *= 2;
    networks.repeats *= 2;
  }
  kind.set(parameters, networks, steps);
  return parameters;
}

}  // namespace

EstimatorMethod network_estimator(NetworkKind kind) {
  EstimatorMethod row;
  row.name = kind.name;
  row.summary = kind.summary;
  row.citation = kind.citation;
  row.can = {.resumable = true,
             .can_be_cut_short = true,
             .handles_missing_cells = true,
             .handles_context = true,
             .handles_weights = true,
             .handles_groups = true,
             .trains = true,
             .column_kinds = {"continuous"}};
  row.parameters = kind.parameters;
  row.for_search = [kind](const SearchNeeds& needs) { return for_search(kind, needs); };
  row.fit = [kind](const Context& context, const Parameters& parameters, double share) {
    return fit(kind, context, parameters, share);
  };
  row.plan = [kind](const Context& context, const Parameters& parameters) { return plan(kind, context, parameters); };
  row.load = [kind](const Context& context, std::string_view bytes) {
    return loaded(kind, context, bytes, "the model");
  };
  return row;
}

}  // namespace fansite::neural
