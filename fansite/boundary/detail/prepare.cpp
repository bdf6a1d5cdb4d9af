// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/prepare.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/causal/constrained_graph.h"
#include "fansite/table/findings.h"

namespace fansite {
namespace {

// Training takes hours for more variables than this, and networks learn little from fewer rows: `automatic` leaves such
// tables to the Gaussian estimator, and says so.
constexpr int kMostForFlow = 300;
constexpr Index kFewestForFlow = 100;

// Half the steps of a search are the misses at its end; a quick one has two of them instead of seven.
constexpr int kQuickPatience = 1;

// For a quick graph so many rows and landmarks are enough.
constexpr Index kQuickRows = 1000;
constexpr int kQuickLandmarks = 30;

// 0 stands for what the effort says; nothing else that is no number of networks or steps does.
void validate(const BoundariesParams& params) {
  validate(params.search);
  check(params.repeats >= 0, "[mb] {} repeats; use 1 or more, or 0 for what the effort says", params.repeats);
  check(params.folds >= 0, "[mb] {} folds; use 2 or more, or 0 for what the effort says", params.folds);
  check(params.time_budget >= 0, "[mb] a time budget of {} seconds; use more than 0, or 0 for none",
        params.time_budget);
  check(params.steps >= 0, "[mb] {} steps; use 1 or more, or 0 for what the effort says", params.steps);
}

// Of all variables, whatever the targets: without the boundary of a variable its noise shows in others.
Boundaries of_all_variables(const Preparation& prepared, const Knowledge& knowledge, const BoundariesParams& params,
                            Progress& progress) {
  if (params.targets.empty() && prepared.found && !prepared.found->boundaries.empty()) return *prepared.found;
  SearchParams search = params.search;
  search.evidence = false;
  return find_boundaries(prepared.gaussian, search, {{}, prepared.targets.excluded, knowledge}, progress);
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

EstimatorKind choose(const Dataset& data, Preparation& prepared) {
  if (prepared.linearity->linear_equations) return EstimatorKind::gaussian;
  if (prepared.targets.searched.size() == 1 && first_of_two_values(data, prepared.targets.searched) >= 0) {
    prepared.warnings.push_back(
        fmt::format("[mb] '{}' holds two values, in which flows see little; the Gaussian estimator is used, which sees "
                    "linear relations only",
                    excerpt(data.names[static_cast<std::size_t>(prepared.targets.searched.front())])));
    return EstimatorKind::gaussian;
  }
  if (data.variables() <= kMostForFlow && data.rows() >= kFewestForFlow) return EstimatorKind::flow;
  prepared.warnings.push_back(fmt::format(
      "[mb] '{}' and '{}' depend on each other in ways that are not linear, but {}; the Gaussian estimator sees linear "
      "relations only, --estimator flow sees all",
      excerpt(data.names[static_cast<std::size_t>(prepared.linearity->pair.first)]),
      excerpt(data.names[static_cast<std::size_t>(prepared.linearity->pair.second)]),
      data.rows() < kFewestForFlow
          ? fmt::format("{} rows are few to learn that from (fewer than {})", data.rows(), kFewestForFlow)
          : fmt::format("{} variables are many to train networks for (more than {})", data.variables(), kMostForFlow)));
  return EstimatorKind::gaussian;
}

}  // namespace

SearchedTargets::SearchedTargets(const Dataset& data, const std::vector<std::string>& names,
                                 const std::vector<int>& copy_of)
    : slot_of(copy_of.size(), -1) {
  for (const std::string& name : names) {
    const int t = data.index_of(name);
    check(std::find(asked.begin(), asked.end(), t) == asked.end(), "[mb] target '{}' is asked for twice", name);
    asked.push_back(t);
  }
  if (asked.empty()) {
    asked.resize(copy_of.size());
    std::iota(asked.begin(), asked.end(), 0);
  }
  for (std::size_t z = 0; z < copy_of.size(); ++z) {
    if (copy_of[z] >= 0) excluded.push_back(static_cast<int>(z));
  }
  for (const int t : asked) {
    const int original = copy_of[static_cast<std::size_t>(t)];
    int& slot = slot_of[static_cast<std::size_t>(original >= 0 ? original : t)];
    if (slot < 0) {
      slot = static_cast<int>(searched.size());
      searched.push_back(original >= 0 ? original : t);
    }
    slot_of[static_cast<std::size_t>(t)] = slot;
  }
}

Preparation prepare(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                    Progress& progress) {
  Stopwatch watch;
  validate(params);
  const std::vector<Finding> findings = inspect(data);
  std::vector<int> copy_of = copies(findings, data.variables());
  check(knowledge.empty() || knowledge.variables() == data.variables(),
        "[mb] knowledge about {} variables for a table of {}", knowledge.variables(), data.variables());
  SearchedTargets targets(data, params.targets, copy_of);
  throw_if_fatal(findings);
  check_usable(knowledge, data, findings);
  Preparation prepared{.copy_of = std::move(copy_of),
                       .targets = std::move(targets),
                       .gaussian = GaussianEstimator(covariance(data.values, progress))};
  for (const Finding& finding : findings) prepared.warnings.push_back(finding.message);
  for (const Finding& finding : near_duplicates(data, prepared.gaussian.covariance().correlation, findings)) {
    prepared.warnings.push_back(finding.message);
  }

  // A model that is given is meant to be used.
  const bool choosing = params.estimator == EstimatorKind::automatic && params.files.model.empty();
  const bool gaussian = choosing || params.estimator == EstimatorKind::gaussian;
  prepared.estimator = gaussian ? EstimatorKind::gaussian : EstimatorKind::flow;
  prepared.prepare_seconds = watch.lap();
  if (gaussian) {
    const SearchScope scope{prepared.targets.searched, prepared.targets.excluded, knowledge};
    prepared.found = find_boundaries(prepared.gaussian, params.search, scope, progress);
    prepared.search_seconds = watch.lap();
  }
  if (params.files.model.empty() && params.estimator != EstimatorKind::gaussian) {
    prepared.all = of_all_variables(prepared, knowledge, params, progress);
    std::vector<std::vector<int>> sets(static_cast<std::size_t>(data.variables()));
    for (const Boundary& boundary : prepared.all->boundaries) {
      sets[static_cast<std::size_t>(boundary.target)] = boundary.variables();
    }
    prepared.linearity = test_linearity(data, sets, {}, progress);
    if (choosing) prepared.estimator = choose(data, prepared);
    prepared.prepare_seconds += watch.lap();
  }
  const int coarse = first_of_two_values(data, prepared.targets.searched);
  if (prepared.estimator == EstimatorKind::flow && coarse >= 0) {
    const std::string name = excerpt(data.names[static_cast<std::size_t>(coarse)]);
    prepared.warnings.push_back(fmt::format(
        "[mb] '{}' holds two values, in which flows see little; for its boundary use --estimator gaussian", name));
  }
  return prepared;
}

flow::EnsembleParams networks(const BoundariesParams& params, const LinearityTest* linearity, int variables) {
  const bool linear = linearity != nullptr && linearity->linear_equations;
  const flow::EnsembleParams settings = search_ensemble(params, variables, linear);
  check(params.search.stop == StopRule::paper || settings.folds > 1 || !params.files.model.empty(),
        "[mb] with one fold every network sees every row; the calibrated rule needs networks that left rows out: train "
        "with two folds or more, or use --stop paper");
  return settings;
}

SearchParams flow_search(const BoundariesParams& params) {
  SearchParams search = params.search;
  const bool hurried = params.effort == Effort::quick && search.stop == StopRule::calibrated;
  if (search.patience < 0 && hurried) search.patience = kQuickPatience;
  return search;
}

bool asks_graph(const BoundariesParams& params, EstimatorKind estimator) {
  const bool automatic = params.refine == Refine::automatic;
  const bool usual = params.search.stop == StopRule::calibrated && params.search.rule == Symmetry::or_;
  if (params.refine == Refine::none) return false;
  if (automatic && (!params.targets.empty() || !usual || estimator != EstimatorKind::flow)) return false;
  check(params.targets.empty(),
        "[mb] a graph needs the boundaries of all variables; leave the targets out, or do not "
        "refine");
  return true;
}

causal::AdditiveNoiseParams graph_settings(const BoundariesParams& params) {
  causal::AdditiveNoiseParams noise;
  noise.seed = params.seed;
  if (params.effort == Effort::quick) {
    noise.max_rows = kQuickRows;
    noise.regression.landmarks = noise.regression.landmarks_per_parent = kQuickLandmarks;
  }
  return noise;
}

}  // namespace fansite
