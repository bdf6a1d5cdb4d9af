// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/plan.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/boundary/detail/prepare.h"
#include "fansite/boundary/refine.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/run/detail/plan_costs.h"

namespace fansite {
namespace {

// The dial of what is supposed. Quick searches tested 0.6 to 1.4 times the pairs that 0.05 shows, on 10 simulated
// tables of 10 to 30 variables; patient ones by many networks find weaker members too.
constexpr double kQuickDial = 0.05, kPatientDial = 0.5;

// Noise is tried on one scale or, if it does not seem to add there, on two.
constexpr double kScales = 1.5;

// From 100 variables on one in twenty seems to tell something to networks of a few thousand steps, hardly any to those
// of so many (docs/method.md, "What the networks are worth").
constexpr int kWide = 100;
constexpr double kSeemToTell = 0.05, kLearnt = 15000;

constexpr double kMegabyte = 1 << 20;

double count(std::size_t n) { return static_cast<double>(n); }

double peak_so_far_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in kilobytes
}

// ---- What is supposed about the answer ------------------------------------------------------------------------------

// Pairs that normal scores and their squares show with Gaussian entropies, in milliseconds: relations that rise or
// bend. They stand for what networks will find.
ByteMatrix visible_links(const Dataset& data, const Knowledge& knowledge, const std::vector<int>& copies, double dial,
                         Progress& progress) {
  const Index d = data.variables();
  Matrix features(data.rows(), 2 * d);
  for (Index j = 0; j < d; ++j) {
    features.col(j) = normal_scores(data.values.col(j));
    features.col(d + j) = features.col(j).array().square() - 1;
  }
  SearchParams search;
  search.evidence = false;
  search.fdr = dial;
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
double taken_for_members(const flow::EnsembleParams& settings) {
  const int d = settings.shape.variables;
  const double unlearnt = 1 - static_cast<double>(settings.train.steps) / kLearnt;
  return d < kWide ? 0.0 : kSeemToTell * d * std::max(unlearnt, 0.0);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

// What the large arrays hold, in megabytes, beside what the process holds already.
double flow_memory_mb(const flow::EnsembleParams& settings, Index rows, bool trains) {
  const flow::Layout layout(settings.shape);
  const auto weights = static_cast<double>(layout.size) * sizeof(float);
  const auto table = static_cast<double>(rows * settings.shape.variables) * sizeof(float);
  const auto n = static_cast<double>(rows);
  const double members = settings.members(), threads = thread_count();
  // Each network in training: weights, gradient and two moments, the states to go back to, and the rows in its order.
  const double training = trains ? 2 * table + std::min(threads, members) * (11 * weights + table) : 0;
  // Each member's weights, the same folded for densities (half of it or so), and the rows in its order, once whole,
  // once those it judges, and the sampled ones.
  const double sampled =
      rows > flow::EnsembleDensity::kSampleRows ? count(flow::EnsembleDensity::kSampleRows) / n : 0.0;
  const double densities = members * (0.6 * weights + table * (1 + 1.0 / settings.folds + sampled)) + 2 * table;
  // 512 queries at once: two densities of each, and two numbers of each to mix members with.
  const double search = 512.0 * 4 * n * sizeof(float);
  return (members * weights + std::max(training, densities + search)) / kMegabyte;
}

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

void add_graph(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
               const Supposed& supposed, double refining, Plan& result, Progress& progress) {
  if (!asks_graph(params, result.estimator)) return;
  const causal::AdditiveNoiseParams settings = graph_settings(params);
  const double seconds = kScales * graph_seconds(data, knowledge, supposed, settings, progress) + refining;
  result.phases.push_back({"graph", seconds,
                           "a causal graph inside the boundaries, from a rehearsal with fewer rows; the least certain "
                           "part, since it grows faster than the number of members"});
}

void add_flow(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
              const Preparation& prepared, Plan& result, Progress& progress) {
  const flow::EnsembleParams asked =
      networks(params, prepared.linearity ? &*prepared.linearity : nullptr, data.variables());
  const bool graph = asks_graph(params, result.estimator);
  const Dataset learnable = learnable_columns(data);
  if (learnable.variables() < 2) {  // nothing to be a boundary
    result.phases.push_back({"searching", 0, "nothing: fewer than two columns can be learnt"});
    return;
  }
  const double base = peak_so_far_mb();
  Stopwatch watch;
  const bool trains = params.files.model.empty();
  const flow::EnsembleParams settings = trains ? complete(asked, learnable.variables(), learnable.rows()) : asked;
  flow::EnsembleParams one_step = settings;
  one_step.train.steps = 1;
  const flow::Ensemble ensemble =
      trains ? flow::train_ensemble(learnable, one_step, progress) : flow::load_model(params.files.model);
  const FlowEstimator estimator(data, ensemble);
  check(params.search.stop == StopRule::paper || estimator.out_of_sample(),
        "[mb] the model has seen every row of this table; the calibrated rule needs networks that left rows out: train "
        "with two folds or more, or use --stop paper");
  const double setting_up = watch.lap();
  result.networks = static_cast<int>(ensemble.members.size());
  if (trains) {
    const double training = flow::training_seconds(learnable, settings, progress);
    result.training_steps = settings.train.steps * settings.members();
    result.phases.push_back(
        {"training", training + setting_up,
         fmt::format("{} networks of {} steps, {:.0f} steps/s; from the beginning, whatever a "
                     "checkpoint holds",
                     result.networks, settings.train.steps, static_cast<double>(result.training_steps) / training)});
  } else {
    result.phases.push_back({"loading", setting_up, fmt::format("{} networks; measured", result.networks)});
  }

  const SearchParams search_params = flow_search(params);
  const Search search(estimator, search_params, prepared.targets.searched,
                      {prepared.targets.searched, prepared.targets.excluded, knowledge});
  const double dial = params.effort == Effort::quick ? kQuickDial : kPatientDial;
  const Supposed supposed(visible_links(data, knowledge, prepared.targets.excluded, dial, progress), search.targets,
                          taken_for_members(trains ? settings : ensemble.params));
  result.boundary_size = supposed.mean_size();
  result.tested_pairs = supposed.pairs;
  const SearchCost cost = search_cost(estimator, search, supposed, result.tested_pairs, progress);
  result.evaluations = cost.evaluations;
  result.phases.push_back({"searching", cost.seconds,
                           fmt::format("boundaries of {:.1f} on average, as normal scores and their squares show, and "
                                       "{} steps beyond each; {:.0f} pairs tested",
                                       result.boundary_size, search.patience + 1, result.tested_pairs)});
  add_graph(data, knowledge, params, supposed, cost.describing, result, progress);
  result.peak_memory_mb = base + flow_memory_mb(ensemble.params, data.rows(), trains);
  if (graph) {
    result.peak_memory_mb +=
        graph_memory_mb(graph_settings(params), data.rows(), data.variables(), result.tested_pairs);
  }
}

}  // namespace

double Plan::total_seconds() const {
  double sum = 0;
  for (const PlannedPhase& phase : phases) sum += phase.seconds;
  return sum;
}

Plan plan(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params, Progress& progress) {
  const Stopwatch watch;
  const Preparation prepared = prepare(data, knowledge, params, progress);
  Plan result;
  result.variables = data.variables();
  result.rows = data.rows();
  result.estimator = prepared.estimator;
  result.threads = thread_count();
  result.warnings = prepared.warnings;
  const bool flow = result.estimator == EstimatorKind::flow;
  result.phases.push_back(
      {"preparing", prepared.prepare_seconds + (flow ? prepared.search_seconds : 0.0),
       prepared.linearity ? "checks, covariance, the test of linearity; measured" : "checks and covariance; measured"});
  if (!flow) result.phases.push_back({"searching", prepared.search_seconds, "with Gaussian entropies; measured"});
  if (flow) {
    add_flow(data, knowledge, params, prepared, result, progress);
  } else {
    const Supposed supposed(links_of(*prepared.found, data.variables()), prepared.targets.searched);
    result.boundary_size = supposed.mean_size();
    result.peak_memory_mb = peak_so_far_mb();
    add_graph(data, knowledge, params, supposed, 0, result, progress);
  }
  result.peak_memory_mb = std::max(result.peak_memory_mb, peak_so_far_mb());
  result.seconds = watch.seconds();
  return result;
}

Plan plan(const Dataset& data, const BoundariesParams& params) {
  NoProgress silent;
  return plan(data, Knowledge(), params, silent);
}

}  // namespace fansite
