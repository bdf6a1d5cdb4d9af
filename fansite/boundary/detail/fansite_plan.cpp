// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/fansite_plan.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/detail/plan_costs.h"
#include "fansite/boundary/detail/prepare.h"
#include "fansite/boundary/links.h"

namespace fansite {
namespace {

// The FDR level of what is supposed. Quick searches tested 0.6 to 1.4 times the pairs that 0.05 shows, on 10 simulated
// tables of 10 to 30 variables; patient ones by many networks find weaker members too.
constexpr double kQuickLevel = 0.05, kPatientLevel = 0.5;

// Noise is tried on one scale or, if it does not seem to add there, on two.
constexpr double kScales = 1.5;

// From 100 variables on one in twenty seems to tell something to networks of a few thousand steps, hardly any to those
// of so many (docs/evidence.md, "What the networks are worth").
constexpr int kWide = 100;
constexpr double kSeemToTell = 0.05, kLearnt = 15000;

constexpr double kMegabyte = 1 << 20;

double peak_so_far_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in kilobytes
}

// ---- What is supposed about the answer ------------------------------------------------------------------------------

// Pairs that normal scores and their squares show with Gaussian entropies, in milliseconds: relations that rise or
// bend. They stand for what networks will find.
ByteMatrix visible_links(const Dataset& data, const Knowledge& knowledge, const std::vector<int>& copies, double level,
                         Progress& progress) {
  const Index d = data.variables();
  Matrix features(data.rows(), 2 * d);
  for (Index j = 0; j < d; ++j) {
    features.col(j) = normal_scores(data.values.col(j));
    features.col(d + j) = features.col(j).array().square() - 1;
  }
  SearchParams search;
  search.evidence = false;
  search.fdr = level;
  SearchScope scope;
  for (const int copy : copies) {
    scope.excluded.push_back(copy);
    scope.excluded.push_back(copy + data.variables());
  }
  const GaussianEstimator estimator(covariance(features, progress));
  ByteMatrix links = ByteMatrix::Zero(d, d);
  for (const auto& [i, j] : find_boundaries(estimator, search, scope, progress).moral_edges) {
    links(i % d, j % d) = links(j % d, i % d) = 1;
  }
  links.diagonal().setZero();
  if (!knowledge.empty()) links = links.cwiseProduct(knowledge.boundary_candidates());
  return links;
}

// Members that networks take in because they have not learnt enough.
double taken_for_members(int d, std::int64_t steps) {
  const double unlearnt = 1 - static_cast<double>(steps) / kLearnt;
  return d < kWide ? 0.0 : kSeemToTell * d * std::max(unlearnt, 0.0);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

double graph_memory_mb(const causal::AdditiveNoiseParams& params, Index rows, int variables, double links) {
  const double n = static_cast<double>(params.max_rows > 0 ? std::min(params.max_rows, rows) : rows);
  // Each thread: distances, kernel, features and smoother at some 150 landmarks; scores of rows; resampling weights.
  const double regression = thread_count() * n *
                            (params.regression.landmarks + 2.0 * params.regression.landmarks_per_parent) * 5 *
                            sizeof(double);
  const double scores = n * (100 + 4 * links) * sizeof(float) + 2 * n * variables * sizeof(double);
  return (regression + scores) / kMegabyte;
}

// ---- All of it ------------------------------------------------------------------------------------------------------

void add_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& estimator,
               const Supposed& supposed, double refining, Plan& result) {
  if (!asks_graph(problem, params, estimator)) return;
  const Context& context = problem.context;
  const causal::AdditiveNoiseParams settings = graph_parameters(context, params);
  const double seconds =
      kScales * graph_seconds(context.tame(), context.knowledge(), supposed, settings, context.progress()) + refining;
  result.phases.push_back({"graph", seconds,
                           "a causal graph inside the boundaries, from a rehearsal with fewer rows; the least certain "
                           "part, since it grows faster than the number of members"});
}

void add_training(const TrainingPlan& planned, Plan& result) {
  result.networks = planned.networks;
  if (!planned.trains) {
    result.phases.push_back({"loading", planned.setting_up, fmt::format("{} networks; measured", result.networks)});
    return;
  }
  result.training_steps = planned.steps * planned.networks;
  result.phases.push_back(
      {"training", planned.seconds + planned.setting_up,
       fmt::format("{} networks of {}{} steps, {:.0f} steps/s; from the beginning, whatever a checkpoint holds",
                   result.networks, planned.may_end_early ? "at most " : "", planned.steps,
                   static_cast<double>(result.training_steps) / planned.seconds)});
}

void add_networks(const BoundaryProblem& problem, const FansiteParams& params, const Preparation& prepared,
                  Plan& result) {
  const Context& context = problem.context;
  const Dataset& data = context.data();
  if (context.learnable_columns() < 2) {  // nothing to be a boundary
    result.phases.push_back({"searching", 0, "nothing: fewer than two columns can be learnt"});
    return;
  }
  check(prepared.estimator->plan != nullptr, "[plan] what {} costs is not known beforehand", prepared.estimator->name);
  const double base = peak_so_far_mb();
  const TrainingPlan planned = prepared.estimator->plan(context, network_parameters(problem, params, prepared));
  SearchEstimator& estimator = *planned.estimator;
  check_out_of_sample(estimator, params);
  add_training(planned, result);

  const SearchParams search_params = network_search(params, data.variables());
  const bool draws = search_params.stop == StopRule::calibrated &&
                     estimator.complete(data, context.facts(), {}, Key{}, context.progress());
  const Search search(estimator, search_params, problem.targets.searched, scope(problem));
  const double level = params.effort == Effort::quick ? kQuickLevel : kPatientLevel;
  const Supposed supposed(visible_links(data, context.knowledge(), problem.targets.excluded, level, context.progress()),
                          search.targets, taken_for_members(context.learnable().data.variables(), planned.steps));
  result.boundary_size = supposed.mean_size();
  result.tested_pairs = supposed.pairs;
  SearchCost cost = search_cost(estimator, search, supposed, result.tested_pairs, context.progress());
  if (draws) {
    const SearchParams draft = draft_search(search_params);
    const Search drafted(estimator, draft, problem.targets.searched, scope(problem));
    const SearchCost more = search_cost(estimator, drafted, supposed, 0, context.progress());
    cost.seconds += kDraftRounds * (more.seconds - more.describing);
    cost.evaluations += kDraftRounds * more.evaluations;
  }
  result.evaluations = cost.evaluations;
  result.phases.push_back({"searching", cost.seconds,
                           fmt::format("boundaries of {:.1f} on average, as normal scores and their squares show, and "
                                       "{} steps beyond each; {:.0f} pairs tested{}",
                                       result.boundary_size, search.patience + 1, result.tested_pairs,
                                       draws ? "; rows that lack cells count several times, with these drawn" : "")});
  add_graph(problem, params, *prepared.estimator, supposed, cost.describing, result);
  result.peak_memory_mb = base + planned.memory_mb();
  if (asks_graph(problem, params, *prepared.estimator)) {
    result.peak_memory_mb +=
        graph_memory_mb(graph_parameters(context, params), data.rows(), data.variables(), result.tested_pairs);
  }
}

}  // namespace

Plan plan_fansite(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<FansiteParams>();
  const Context& context = problem.context;
  const Preparation prepared = prepare(problem, params, context.progress());
  Plan result;
  result.estimator = prepared.estimator->name;
  result.warnings = prepared.warnings;
  const bool trains = prepared.estimator->can.trains;
  result.phases.push_back(
      {"preparing", prepared.prepare_seconds + (trains ? prepared.search_seconds : 0.0),
       prepared.linearity ? "checks, covariance, the test of linearity; measured" : "checks and covariance; measured"});
  if (!trains) result.phases.push_back({"searching", prepared.search_seconds, "with Gaussian entropies; measured"});
  if (trains) {
    add_networks(problem, params, prepared, result);
  } else {
    const Supposed supposed(links(*prepared.found, context.data().variables()), problem.targets.searched);
    result.boundary_size = supposed.mean_size();
    result.peak_memory_mb = peak_so_far_mb();
    add_graph(problem, params, *prepared.estimator, supposed, 0, result);
  }
  result.peak_memory_mb = std::max(result.peak_memory_mb, peak_so_far_mb());
  return result;
}

}  // namespace fansite
