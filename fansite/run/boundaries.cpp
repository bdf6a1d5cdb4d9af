// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/boundaries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/boundary/detail/prepare.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/boundary/refine.h"
#include "fansite/causal/constrained_graph.h"
#include "fansite/context/budget.h"
#include "fansite/context/checkpoint_files.h"
#include "fansite/entropy/flow/estimator.h"

namespace fansite {
namespace {

// A target without any randomness left is worth a word: its boundary need not be the only one.
void warn_of_determined(BoundariesResult& result) {
  std::vector<std::string> examples;
  int count = 0;
  for (const Boundary& boundary : result.found.boundaries) {
    if (!std::isinf(boundary.conditional_entropy) || std::isinf(boundary.entropy)) continue;
    if (++count > 3) continue;
    std::vector<std::string> members;
    for (const Member& m : boundary.members)
      members.push_back(excerpt(result.variables[static_cast<std::size_t>(m.variable)]));
    examples.push_back(fmt::format("'{}' by {}", excerpt(result.variables[static_cast<std::size_t>(boundary.target)]),
                                   fmt::join(members, ", ")));
  }
  if (count == 0) return;
  result.warnings.push_back(
      fmt::format("[mb] {} {} determined exactly by others (collinear columns): {}{}; such boundaries are not unique, "
                  "drop one column of each such group for a sharper answer",
                  count, count == 1 ? "variable is" : "variables are", fmt::join(examples, "; "),
                  count > 3 ? fmt::format(" and {} more", count - 3) : ""));
}

// A boundary that the estimator could not make as large as it would be is not silently cut.
void warn_of_limited(BoundariesResult& result) {
  std::vector<std::string> names;
  for (const Boundary& boundary : result.found.boundaries) {
    if (boundary.limited) {
      names.push_back(fmt::format("'{}'", excerpt(result.variables[static_cast<std::size_t>(boundary.target)])));
    }
  }
  if (names.empty()) return;
  const std::size_t count = names.size(), more = count - std::min<std::size_t>(count, 3);
  names.resize(count - more);
  const bool flow = result.estimator == EstimatorKind::flow;
  result.warnings.push_back(fmt::format(
      "[mb] {} may lack members ({}{}): {} allow {} at most in one boundary, and those with the weakest evidence are "
      "left out",
      count == 1 ? "1 boundary" : fmt::format("{} boundaries", count), fmt::join(names, ", "),
      more > 0 ? fmt::format(" and {} more", more) : "", flow ? "these networks" : fmt::format("{} rows", result.rows),
      result.found.largest_set));
}

// Every answer is held against the knowledge, whatever way it was found. A copy has its original's boundary, which is
// judged there.
void throw_if_disobedient(const BoundariesResult& result, const Knowledge& knowledge) {
  if (knowledge.empty()) return;
  std::vector<std::vector<int>> boundaries(result.variables.size());
  std::vector<int> targets;
  for (const Boundary& boundary : result.found.boundaries) {
    if (result.copy_of[static_cast<std::size_t>(boundary.target)] >= 0) continue;
    boundaries[static_cast<std::size_t>(boundary.target)] = boundary.variables();
    targets.push_back(boundary.target);
  }
  if (targets.empty()) return;
  const std::vector<std::string> violations = knowledge.violations_of_boundaries(boundaries, targets);
  if (!violations.empty()) {
    throw Error(fmt::format("[mb] the boundaries found are against the knowledge: {}", violations.front()));
  }
}

// Shares of the time budget that is left when networks are begun, about as a run without one spends its time (on 100
// variables 31 % training, 46 % searching, 23 % the graph): what training may take, and when growing comes to an
// answer, so that there is time to test it.
constexpr double kTrainShare = 0.35;
constexpr double kGrowShare = 0.65;
// Of the whole, when the Gaussian estimator's searches do.
constexpr double kGaussianShare = 0.5;

// Asks a causal graph inside the moral graph of the boundaries found, and takes its word if it may and there is time.
void refine_by_graph(const Dataset& data, const SearchEstimator& estimator, const Budget& budget, Boundaries& found,
                     BoundariesResult& result, Progress& progress) {
  const BoundariesParams& params = result.params;
  if (!asks_graph(params, result.estimator)) return;
  const Stopwatch watch;
  causal::AdditiveNoiseParams noise = graph_settings(params);
  noise.checkpoint = CheckpointFiles(params.files.checkpoint).refine;
  Deadline deadline(progress, budget.watch(), budget.never(), budget.end());
  try {
    result.graph =
        find_obedient_graph(data.values, links_of(found, data.variables()), result.knowledge, noise, deadline);
    result.refined = params.refine != Refine::automatic || result.graph->additivity.additive;
    if (result.refined) found = refined(estimator, found, result.graph->dag, deadline);
  } catch (const Interrupted&) {
    if (!deadline.expired()) throw;
    result.graph.reset();
    result.refined = false;
    add_sentence(result.unfinished, "time ran out before a causal graph could refine the boundaries");
  }
  result.graph_seconds = watch.seconds();
}

// What the state of a search depends on.
StateIdentity identity_of(const Dataset& data, const SearchScope& scope, const SearchParams& search,
                          std::uint64_t model_hash) {
  return fansite::identity_of(
      data.values,
      fmt::format("boundaries: model {:016x}, targets {}, patience {}, at most {} members, rule {}, knowledge {:016x}",
                  model_hash, fmt::join(scope.targets, " "), search.patience, search.max_size, name(search.rule),
                  hash_of(scope.knowledge.to_text())));
}

// After hours of training it would be late to learn that the networks cannot hold all that is known.
void check_known(const SearchScope& scope, int largest, const BoundariesResult& result) {
  if (scope.knowledge.empty()) return;
  for (const int target : scope.targets) {
    const std::size_t known = scope.knowledge.known_boundary(target).size();
    check(static_cast<int>(known) <= largest,
          "[mb] {} variables are known to be in the boundary of '{}', but networks for {} variables allow {} at most; "
          "say fewer, or use --estimator gaussian",
          known, excerpt(result.variables[static_cast<std::size_t>(target)]), result.variables.size(), largest);
  }
}

// The networks, trained or loaded. Nothing: there is no time to train any.
std::optional<flow::Ensemble> networks_for(const Dataset& learnable, const SearchScope& scope, const Budget& budget,
                                           BoundariesResult& result, Progress& progress) {
  BoundariesParams& params = result.params;
  flow::EnsembleParams settings =
      networks(params, result.linearity ? &*result.linearity : nullptr, static_cast<int>(result.variables.size()));
  if (params.files.model.empty()) {
    check_known(scope, largest_set(complete(settings, learnable.variables(), learnable.rows()).shape), result);
  }
  const bool begun = !params.files.checkpoint.empty() && std::filesystem::exists(params.files.checkpoint);
  if (budget.limited() && params.files.model.empty() && !begun) {
    const double steps = static_cast<double>(settings.members()) * static_cast<double>(settings.train.steps);
    const double rate = steps / flow::training_seconds(learnable, settings, progress);
    const auto possible = fitted(settings, rate * kTrainShare * budget.left());
    if (!possible) return std::nullopt;
    if (*possible != settings) {
      params.files.checkpoint.clear();  // another run would have no use for these
      add_sentence(result.unfinished,
                   fmt::format("time allowed {} networks of {} steps instead of {} of {}", possible->members(),
                               possible->train.steps, settings.members(), settings.train.steps));
    }
    settings = *possible;
  }
  flow::ModelFiles files = params.files;
  files.keep_checkpoint = true;  // the search can be interrupted too
  flow::Ensemble ensemble = flow::train_or_load(learnable, settings, files, progress);
  if (!ensemble.warning().empty()) result.warnings.push_back(ensemble.warning());
  result.flow = ensemble.params;
  result.members = static_cast<int>(ensemble.members.size());
  result.training_steps = ensemble.steps();
  result.curve = ensemble.curve();
  return ensemble;
}

// How well the networks know each target given its boundary.
flow::Calibration calibration_of(const FlowEstimator& estimator, const Boundaries& found, Progress& progress) {
  std::vector<EntropyQuery> queries;
  for (const Boundary& boundary : found.boundaries) {
    if (estimator.informative(boundary.target)) queries.push_back({boundary.target, boundary.variables()});
  }
  return estimator.calibration(queries, {}, progress);
}

// Nothing: there was no time for networks.
std::optional<Boundaries> search_with_flow(const Dataset& data, SearchScope scope, const Budget& budget,
                                           BoundariesResult& result, Progress& progress) {
  Stopwatch watch;
  const BoundariesParams& params = result.params;
  const Dataset learnable = learnable_columns(data);
  if (learnable.variables() < 2) {  // nothing to be a boundary
    const GaussianEstimator alone(covariance(data.values, progress));
    return find_boundaries(alone, params.search, scope, progress);
  }
  const double grow_by = budget.after(kGrowShare);
  const std::optional<flow::Ensemble> ensemble = networks_for(learnable, scope, budget, result, progress);
  if (!ensemble) return std::nullopt;
  const bool resumable = !params.files.checkpoint.empty();
  std::uint64_t model_hash = 0;
  if (!params.files.model.empty() || resumable) model_hash = hash_of(to_bytes(*ensemble));
  if (!params.files.model.empty()) result.model_hash = model_hash;
  const FlowEstimator estimator(data, *ensemble);
  check(params.search.stop == StopRule::paper || estimator.out_of_sample(),
        "[mb] the model has seen every row of this table; the calibrated rule needs networks that left rows out: train "
        "with two folds or more, or use --stop paper");
  result.train_seconds = watch.lap();
  const SearchParams search = flow_search(params);
  std::optional<SearchKeeper> keeper;
  if (resumable) {
    keeper.emplace(CheckpointFiles(params.files.checkpoint).search, identity_of(data, scope, search, model_hash));
  }
  scope.keeper = keeper ? &*keeper : nullptr;
  Deadline deadline(progress, budget.watch(), grow_by, budget.end());
  Boundaries found = find_boundaries(estimator, search, scope, deadline);
  result.search_seconds = watch.lap();
  refine_by_graph(data, estimator, budget, found, result, progress);
  watch.lap();
  if (estimator.out_of_sample()) result.calibration = calibration_of(estimator, found, progress);
  result.calibration_seconds = watch.seconds();
  result.evaluations = estimator.evaluations();
  return found;
}

// With networks if there is time, else the boundaries that the Gaussian estimator gives.
void answer_with_flow(const Dataset& data, const GaussianEstimator& gaussian, const SearchScope& scope,
                      const Budget& budget, BoundariesResult& result, Progress& progress) {
  Deadline deadline(progress, budget.watch(), budget.never(), budget.end());
  BoundariesResult attempt = result;
  std::optional<Boundaries> found;
  try {
    found = search_with_flow(data, scope, budget, attempt, deadline);
  } catch (const Interrupted&) {
    if (!deadline.expired()) throw;
  }
  if (found) {
    result = std::move(attempt);
    result.found = std::move(*found);
    return;
  }
  result.estimator = EstimatorKind::gaussian;
  if (result.found.boundaries.empty()) result.found = find_boundaries(gaussian, result.params.search, scope, progress);
  add_sentence(result.unfinished,
               "there was no time to train networks and search with them, so these boundaries are the Gaussian "
               "estimator's, which sees linear relations only");
}

}  // namespace

flow::EnsembleParams search_ensemble(const BoundariesParams& params, int variables, bool linear) {
  // Long training and the paper's own model, without a Gaussian base, rank best, and networks that have seen nine
  // tenths of the rows test better than ones that have seen four fifths (docs/method.md, "What the networks are
  // worth"). From 100 variables on a step has 256 rows instead of 64 and costs ten times as much, but no fewer steps
  // will do: what networks have not learnt about a target, other variables seem to tell. So there are fewer networks.
  flow::EnsembleParams flow;
  flow.seed = params.seed;
  const bool wide = variables >= 100;
  switch (params.effort) {
    case Effort::quick:
      flow.folds = 5;
      flow.repeats = 1;
      flow.train.steps = wide ? 12000 : 8000;
      break;
    case Effort::normal:
      flow.folds = 10;
      flow.repeats = wide ? 2 : 4;
      flow.train.steps = 15000;
      break;
    case Effort::thorough:
      flow.folds = 10;
      flow.repeats = wide ? 4 : 8;
      flow.train.steps = 20000;
      break;
  }
  if (params.folds > 0) flow.folds = params.folds;
  if (params.repeats > 0) flow.repeats = params.repeats;
  if (params.steps > 0) flow.train.steps = params.steps;
  flow.train.base = linear ? flow::BaseKind::gaussian : flow::BaseKind::none;
  flow.train.held_out = 0;
  return flow;
}

BoundariesResult markov_boundaries(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                                   Progress& progress) {
  const Stopwatch since_begin;
  const Budget budget(params.time_budget, since_begin);
  BoundariesResult result;
  result.variables = data.names;
  result.rows = data.rows();
  result.params = params;
  result.knowledge = knowledge;
  result.data_hash = hash_of(data);

  Deadline answer(progress, since_begin, kGaussianShare * budget.end(), budget.never());
  Preparation prepared = prepare(data, knowledge, params, answer);
  const SearchedTargets& targets = prepared.targets;
  result.copy_of = prepared.copy_of;
  result.warnings = std::move(prepared.warnings);
  result.linearity = prepared.linearity;
  result.estimator = prepared.estimator;
  result.prepare_seconds = prepared.prepare_seconds;
  result.search_seconds = prepared.search_seconds;
  if (prepared.found) result.found = std::move(*prepared.found);
  if (result.estimator == EstimatorKind::flow) {
    const SearchScope scope{targets.searched, targets.excluded, knowledge};
    answer_with_flow(data, prepared.gaussian, scope, budget, result, progress);
  } else {
    refine_by_graph(data, prepared.gaussian, budget, result.found, result, progress);
  }
  if (result.found.cut_short > 0) {
    add_sentence(result.unfinished, fmt::format("time ran out while {} of {} boundaries were still growing",
                                                result.found.cut_short, targets.searched.size()));
  }
  if (result.estimator != EstimatorKind::flow && !params.files.save_model.empty()) {
    result.warnings.push_back(fmt::format("[mb] {} is not written: the Gaussian estimator was used and has no model",
                                          params.files.save_model));
  }

  std::vector<Boundary> boundaries;
  for (const int t : targets.asked) {
    const auto slot = static_cast<std::size_t>(targets.slot_of[static_cast<std::size_t>(t)]);
    boundaries.push_back(result.found.boundaries[slot]);
    boundaries.back().target = t;
  }
  result.found.boundaries = std::move(boundaries);
  throw_if_disobedient(result, knowledge);
  warn_of_determined(result);
  warn_of_limited(result);
  if (!params.files.checkpoint.empty() && !params.files.keep_checkpoint && result.unfinished.empty()) {
    CheckpointFiles(params.files.checkpoint).remove();
  }
  return result;
}

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress) {
  return markov_boundaries(data, Knowledge(), params, progress);
}

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params) {
  NoProgress silent;
  return markov_boundaries(data, params, silent);
}

std::string_view name(Refine value) {
  return value == Refine::none ? "none" : value == Refine::graph ? "graph" : "auto";
}

Refine parse_refine(std::string_view name) {
  for (const Refine refine : {Refine::none, Refine::graph, Refine::automatic}) {
    if (fansite::name(refine) == name) return refine;
  }
  throw UsageError(fmt::format("[mb] refine '{}' is unknown; use none, graph or auto", name));
}

std::string_view name(Effort value) {
  return value == Effort::quick ? "quick" : value == Effort::normal ? "normal" : "thorough";
}

Effort parse_effort(std::string_view name) {
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    if (fansite::name(effort) == name) return effort;
  }
  throw UsageError(fmt::format("[mb] effort '{}' is unknown; use quick, normal or thorough", name));
}

}  // namespace fansite
