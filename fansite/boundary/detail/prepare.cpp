// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/prepare.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

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
// A column with no more values than this has levels; one with more is a rounded number.
constexpr std::size_t kFewLevels = 10;

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

// Nominal columns of more than two levels have no scale that a linear model could use.
std::vector<std::string> without_scale(const Context& context) {
  std::vector<std::string> names;
  for (int j = 0; j < context.data().variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool nominal = context.facts().kinds[at] == ColumnKind::nominal;
    if (nominal && nominal_levels(context.data(), j).values.size() > 2) names.push_back(context.data().names[at]);
  }
  return names;
}

// The test of linearity asks for whole and independent rows: the first whole one of each group. Nothing: there are too
// few.
std::optional<LinearityTest> tested_linearity(const Context& context, const std::vector<std::vector<int>>& sets,
                                              Progress& progress) {
  const Dataset& data = context.tame();
  if (!data.values.hasNaN() && data.groups.empty()) return test_linearity(data, context.facts(), sets, {}, progress);
  std::vector<int> whole;
  std::set<int> seen;
  for (Index row = 0; row < data.rows(); ++row) {
    if (data.values.row(row).hasNaN()) continue;
    const bool first = data.groups.empty() || seen.insert(data.groups[static_cast<std::size_t>(row)]).second;
    if (first) whole.push_back(static_cast<int>(row));
  }
  if (static_cast<Index>(whole.size()) < kFewestForFlow) return std::nullopt;
  const Dataset complete = take_rows(data, whole);
  return test_linearity(complete, TableFacts(complete), sets, {}, progress);
}

// Why `auto` does not use the estimator for relations of any shape, or "" if it does.
std::string why_not_general(const BoundaryProblem& problem, const std::optional<LinearityTest>& linearity) {
  const Dataset& data = problem.context.data();
  const auto quoted = [&](int variable) { return excerpt(data.names[static_cast<std::size_t>(variable)]); };
  if (data.variables() <= kMostForFlow && data.rows() >= kFewestForFlow) return "";
  const std::string why = linearity && !linearity->linear_equations
                              ? fmt::format("'{}' and '{}' depend on each other in ways that are not linear",
                                            quoted(linearity->pair.first), quoted(linearity->pair.second))
                              : "not all relations of this table can be linear";
  return fmt::format(
      "[mb] {}, but {}; the Gaussian estimator sees linear relations only, --estimator flow sees all", why,
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
  const std::vector<std::string> no_scale = without_scale(context);
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
    prepared.linearity = tested_linearity(context, sets, progress);
    if (choosing && (!prepared.linear() || !no_scale.empty())) {
      const std::string why_not = why_not_general(problem, prepared.linearity);
      if (why_not.empty()) prepared.estimator = &estimators.at(kGeneral);
      if (!why_not.empty()) prepared.warnings.push_back(why_not);
    }
    prepared.prepare_seconds += watch.lap();
  }
  asks_graph(problem, params, *prepared.estimator);  // throws what would else be known after the training
  if (!prepared.estimator->can.trains && !no_scale.empty()) {
    prepared.warnings.push_back(fmt::format(
        "[mb] the Gaussian estimator cannot use {}: levels without an order have no scale; --estimator flow "
        "can",
        quoted_list(no_scale)));
  }
  return prepared;
}

Parameters network_parameters(const BoundaryProblem& problem, const FansiteParams& params,
                              const Preparation& prepared) {
  const EstimatorMethod& row = *prepared.estimator;
  const Dataset& data = problem.context.data();
  const SearchNeeds needs = {params.effort, data.variables(), data.rows(), prepared.linear()};
  Parameters result = row.for_search ? row.for_search(needs) : row.parameters;
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
  if (search.stop != StopRule::calibrated) return search;
  const EffortMeaning effort = meaning(params.effort, variables);
  if (search.patience < 0) search.patience = effort.patience;
  if (search.max_size == 0) search.max_size = effort.max_size;
  if (search.test_rows == 0) search.test_rows = effort.test_rows;
  return search;
}

SearchParams draft_search(SearchParams search) {
  search.patience = 1;
  return search;
}

namespace {

// Whether noise can be something that is added: not to the levels of a column that has few of them.
bool noise_can_add(const Context& context) {
  for (int j = 0; j < context.data().variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const ColumnKind kind = context.facts().kinds[at];
    if (context.facts().takes_part[at] == 0 || kind == ColumnKind::continuous || kind == ColumnKind::atoms) continue;
    if (kind == ColumnKind::nominal || distinct_values(context.data().values.col(j)) <= kFewLevels) return false;
  }
  return true;
}

}  // namespace

bool asks_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& estimator) {
  const bool automatic = params.refine == Refine::automatic;
  const bool usual = params.search.stop == StopRule::calibrated && params.search.rule == Symmetry::or_;
  if (params.refine == Refine::none) return false;
  if (automatic && (!problem.targets.all || !usual || !estimator.can.trains)) return false;
  if (automatic && !noise_can_add(problem.context)) return false;
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
  noise.only_if_additive = params.refine == Refine::automatic;
  if (effort.graph_rows > 0) noise.max_rows = effort.graph_rows;
  if (effort.graph_landmarks > 0) {
    noise.regression.landmarks = noise.regression.landmarks_per_parent = effort.graph_landmarks;
  }
  return noise;
}

}  // namespace fansite
