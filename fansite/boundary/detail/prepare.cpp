// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/prepare.h"

#include <fmt/core.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

// What `auto` chooses between.
constexpr std::string_view kLinear = "gaussian", kGeneral = "flow";

// Training takes hours for more variables than this, and networks learn little from fewer rows: `auto` leaves such
// tables to the Gaussian estimator, and says so.
constexpr int kMostForFlow = 300;
constexpr Index kFewestForFlow = 100;

// Of all variables, whatever the targets: without the boundary of a variable its noise shows in others.
std::vector<std::vector<int>> sets_of_all_variables(const BoundaryProblem& problem, const FansiteParams& params,
                                                    const Preparation& prepared, Progress& progress) {
  Boundaries all;
  const bool known =
      problem.targets.all && !prepared.closed_form && prepared.found && !prepared.found->boundaries.empty();
  if (!known) {
    SearchParams search = params.search;
    search.evidence = false;
    all = find_boundaries(prepared.gaussian, search, {{}, problem.targets.excluded, problem.context.knowledge()},
                          progress);
  }
  std::vector<std::vector<int>> sets(static_cast<std::size_t>(problem.context.data().variables()));
  for (const Boundary& boundary : known ? prepared.found->boundaries : all.boundaries) {
    sets[static_cast<std::size_t>(boundary.target)] = boundary.member_indices();
  }
  return sets;
}

// The first target of two values, or −1. Flows are densities, and there is none of two values: of the 13 features of
// five such targets flows found none and the Gaussian estimator 8, with no false one.
int first_of_two_values(const Dataset& data, const std::vector<int>& targets) {
  const auto has_two = [&](int target) {
    const auto column = data.values.col(target).array();
    const double least = column.minCoeff(), most = column.maxCoeff();
    return least < most && (column == least || column == most).all();
  };
  const auto found = std::find_if(targets.begin(), targets.end(), has_two);
  return found == targets.end() ? -1 : *found;
}

// Why `auto` does not use the estimator for relations of any shape, or "" if it does.
std::string why_not_general(const BoundaryProblem& problem, const LinearityTest& linearity) {
  const Dataset& data = problem.context.data();
  const auto quoted = [&](int variable) { return excerpt(data.names[static_cast<std::size_t>(variable)]); };
  const std::vector<int>& searched = problem.targets.searched;
  if (searched.size() == 1 && first_of_two_values(data, searched) >= 0) {
    return fmt::format(
        "[mb] '{}' holds two values, in which flows see little; the Gaussian estimator is used, which sees linear "
        "relations only",
        quoted(searched.front()));
  }
  if (data.variables() <= kMostForFlow && data.rows() >= kFewestForFlow) return "";
  return fmt::format(
      "[mb] '{}' and '{}' depend on each other in ways that are not linear, but {}; the Gaussian estimator sees linear "
      "relations only, --estimator flow sees all",
      quoted(linearity.pair.first), quoted(linearity.pair.second),
      data.rows() < kFewestForFlow
          ? fmt::format("{} rows are few to learn that from (fewer than {})", data.rows(), kFewestForFlow)
          : fmt::format("{} variables are many to train networks for (more than {})", data.variables(), kMostForFlow));
}

}  // namespace

SearchScope scope(const BoundaryProblem& problem) {
  return {problem.targets.searched, problem.targets.excluded, problem.context.knowledge()};
}

Preparation prepare(const BoundaryProblem& problem, const FansiteParams& params, Progress& progress) {
  Stopwatch watch;
  const Context& context = problem.context;
  const Dataset& data = context.data();
  const bool given_model = !context.run().model.empty();  // a model that is given is meant to be used
  const bool choosing = params.estimator == "auto" && !given_model;
  const MethodList<EstimatorMethod>& estimators = entropy_estimators();
  Preparation prepared{.gaussian = GaussianEstimator(context.covariance())};
  for (const Finding& finding : near_duplicates(data, context.covariance()->correlation, context.facts().findings)) {
    prepared.warnings.push_back(finding.message);
  }
  prepared.estimator = &estimators.at(params.estimator != "auto" ? params.estimator : choosing ? kLinear : kGeneral);
  prepared.prepare_seconds = watch.lap();
  const bool trains = prepared.estimator->can.trains;
  if (!trains && prepared.estimator->name != kLinear) {
    const EstimatorMethod& row = *prepared.estimator;
    prepared.closed_form = row.fit(context, network_parameters(problem, params, prepared), 1).value().estimator;
  }
  if (!trains) {
    if (given_model) throw ParameterError("model", fmt::format("{} has none; leave it out", prepared.estimator->name));
    prepared.found = find_boundaries(prepared.without_training(), params.search, scope(problem), progress);
    prepared.search_seconds = watch.lap();
  }
  if (choosing || (trains && !given_model)) {
    const auto sets = sets_of_all_variables(problem, params, prepared, progress);
    prepared.linearity = test_linearity(data, context.facts(), sets, {}, progress);
    if (choosing && !prepared.linear()) {
      const std::string why_not = why_not_general(problem, *prepared.linearity);
      if (why_not.empty()) prepared.estimator = &estimators.at(kGeneral);
      if (!why_not.empty()) prepared.warnings.push_back(why_not);
    }
    prepared.prepare_seconds += watch.lap();
  }
  asks_graph(problem, params, *prepared.estimator);  // throws what would else be known after the training
  const int coarse = first_of_two_values(data, problem.targets.searched);
  if (prepared.estimator->can.trains && coarse >= 0) {
    const std::string name = excerpt(data.names[static_cast<std::size_t>(coarse)]);
    prepared.warnings.push_back(fmt::format(
        "[mb] '{}' holds two values, in which flows see little; for its boundary use --estimator gaussian", name));
  }
  return prepared;
}

Parameters network_parameters(const BoundaryProblem& problem, const FansiteParams& params,
                              const Preparation& prepared) {
  const EstimatorMethod& row = *prepared.estimator;
  const int variables = problem.context.data().variables();
  Parameters result = row.for_search ? row.for_search({params.effort, variables, prepared.linear()}) : row.parameters;
  const auto override_with = [&](std::string_view name, std::int64_t value) {
    if (value > 0 && result.has(name)) result.set(name, value);
  };
  override_with("folds", params.folds);
  override_with("repeats", params.repeats);
  override_with("steps", params.steps);
  const bool one_fold = result.has("folds") && result.get("folds") == Value(std::int64_t{1});
  check(params.search.stop == StopRule::paper || !one_fold || !problem.context.run().model.empty(),
        "[mb] with one fold every network sees every row; the calibrated rule needs networks that left rows out: train "
        "with two folds or more, or use --stop paper");
  return result;
}

void check_out_of_sample(const SearchEstimator& estimator, const FansiteParams& params) {
  check(params.search.stop == StopRule::paper || estimator.out_of_sample(),
        "[mb] the model has seen every row of this table; the calibrated rule needs networks that left rows out: train "
        "with two folds or more, or use --stop paper");
}

SearchParams network_search(const FansiteParams& params, int variables) {
  SearchParams search = params.search;
  if (search.patience < 0 && search.stop == StopRule::calibrated) {
    search.patience = meaning(params.effort, variables).patience;
  }
  return search;
}

bool asks_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& estimator) {
  const bool automatic = params.refine == Refine::automatic;
  const bool usual = params.search.stop == StopRule::calibrated && params.search.rule == Symmetry::or_;
  if (params.refine == Refine::none) return false;
  if (automatic && (!problem.targets.all || !usual || !estimator.can.trains)) return false;
  check(problem.targets.all,
        "[mb] a graph needs the boundaries of all variables; leave the targets out, or do not refine");
  return true;
}

causal::AdditiveNoiseParams graph_parameters(const Context& context, const FansiteParams& params) {
  const EffortMeaning effort = meaning(params.effort, context.data().variables());
  causal::AdditiveNoiseParams noise;
  noise.seed = context.run().seed;
  noise.checkpoint = context.checkpoint(&CheckpointFiles::refine);
  noise.values_hash = context.facts().values_hash;
  if (effort.graph_rows > 0) noise.max_rows = effort.graph_rows;
  if (effort.graph_landmarks > 0) {
    noise.regression.landmarks = noise.regression.landmarks_per_parent = effort.graph_landmarks;
  }
  return noise;
}

}  // namespace fansite
