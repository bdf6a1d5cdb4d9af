// SPDX-License-Identifier: Apache-2.0
#include "fansite/plan.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fansite/dag/graph_search.h"
#include "fansite/error.h"
#include "fansite/flow/estimator.h"
#include "fansite/parallel.h"
#include "fansite/prepare.h"
#include "fansite/random.h"
#include "fansite/refine.h"
#include "fansite/search_growth.h"
#include "fansite/stopwatch.h"

namespace fansite {
namespace {

// A search that goes on for longer beyond its end takes more for a member, to be tested, by luck: quick ones tested 0.6
// to 1.4 times the pairs supposed on 10 simulated tables of 10 to 30 variables, patient ones more.
constexpr double kLuck = 0.1;  // of the pairs, for each miss of its patience

// From 100 variables on one in twenty seems to tell something to networks of a few thousand steps, hardly any to those
// of so many (docs/method.md, "What the networks are worth").
constexpr int kWide = 100;
constexpr double kSeemToTell = 0.05, kLearnt = 15000;

constexpr double kMeasure = 0.4;   // seconds for each rate of training
constexpr int kCandidates = 150;   // of a timed step of the search, some targets together
constexpr int kDryLinks = 100;     // of the rehearsed graph
constexpr Index kDryRows = 300;    // of its regressions …
constexpr int kDryLandmarks = 20;  // … which then cost a twentieth or less
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
ByteMatrix visible_links(const Dataset& data, const Knowledge& knowledge, const std::vector<int>& copies,
                         Progress& progress) {
  const Index d = data.variables();
  Matrix features(data.rows(), 2 * d);
  for (Index j = 0; j < d; ++j) {
    features.col(j) = normal_scores(data.values.col(j));
    features.col(d + j) = features.col(j).array().square() - 1;
  }
  SearchParams search;
  search.evidence = false;
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

struct Supposed {
  ByteMatrix links;
  std::vector<double> sizes;  // per target searched
  double pairs = 0;           // with an end searched, each once

  Supposed(ByteMatrix pairs_linked, const std::vector<int>& targets, double more = 0) : links(std::move(pairs_linked)) {
    std::vector<char> searched(static_cast<std::size_t>(links.rows()), 0);
    for (const int t : targets) searched[static_cast<std::size_t>(t)] = 1;
    for (const int t : targets) {
      sizes.push_back(more + links.col(t).cast<double>().sum());
      pairs += 0.5 * more;
      for (Index z = 0; z < links.rows(); ++z) {
        if (links(z, t)) pairs += searched[static_cast<std::size_t>(z)] ? 0.5 : 1.0;
      }
    }
  }

  double mean_size() const {
    return sizes.empty() ? 0.0 : std::accumulate(sizes.begin(), sizes.end(), 0.0) / count(sizes.size());
  }
};

// Members that networks take in because they have not learnt enough.
double taken_for_members(const flow::EnsembleParams& settings) {
  const int d = settings.shape.variables;
  const double unlearnt = 1 - static_cast<double>(settings.train.steps) / kLearnt;
  return d < kWide ? 0.0 : kSeemToTell * d * std::max(unlearnt, 0.0);
}

// ---- Training -------------------------------------------------------------------------------------------------------

// Steps a second of `at_once` networks side by side, or of one with a team.
double steps_per_second(const flow::RowTable& table, const flow::EnsembleParams& settings, int at_once, Team* team,
                        const Progress& progress) {
  const auto kept = static_cast<std::size_t>(table.rows()) -
                    (settings.folds > 1 ? static_cast<std::size_t>(table.rows() / settings.folds) : 0);
  std::vector<int> rows(kept);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<double> rates(static_cast<std::size_t>(at_once));
  parallel_for(at_once, [&](Index i) {
    flow::TrainParams endless = settings.train;
    endless.steps = std::int64_t{1} << 40;
    flow::Training training(table, rows, settings.shape, endless, Key{static_cast<std::uint64_t>(i)}, team);
    training.advance(2);  // pages and caches
    const Stopwatch watch;
    std::int64_t steps = 0;
    for (; watch.seconds() < kMeasure; steps += 5) {
      throw_if_interrupted(progress);
      training.advance(5);
    }
    rates[static_cast<std::size_t>(i)] = static_cast<double>(steps) / watch.seconds();
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// As train_ensemble does it: members side by side, a last one with all the threads.
double training_seconds(const Dataset& learnable, const flow::Ensemble& ensemble, const flow::EnsembleParams& settings,
                        const Progress& progress) {
  const int threads = thread_count(), members = settings.members();
  const bool last_alone = threads > 1 && members % threads == 1;
  const int together = members - (last_alone ? 1 : 0);
  const flow::RowTable table = apply_transforms(ensemble.transforms, learnable.values).cast<float>();
  const auto steps = static_cast<double>(settings.train.steps);
  double seconds = 0;
  if (together > 0) {
    const int at_once = std::min(threads, together);
    const int rounds = (together + at_once - 1) / at_once;
    seconds += rounds * at_once * steps / steps_per_second(table, settings, at_once, nullptr, progress);
  }
  if (last_alone) {
    Team team;
    seconds += steps / steps_per_second(table, settings, 1, &team, progress);
  }
  return seconds;
}

// ---- Search ---------------------------------------------------------------------------------------------------------

// Times the pieces of a search with real queries; what a density costs does not depend on the weights.
class SearchTimer {
 public:
  SearchTimer(const FlowEstimator& estimator, const Search& search, Progress& progress)
      : estimator_(estimator), search_(search), progress_(progress) {}

  // One step of one target whose set has `size` members.
  double step(int size) const {
    const std::vector<int> targets = some_targets();
    const auto frontier = estimator_.open(targets, search_.candidates, progress_);
    std::vector<EntropyQuery> entropies;
    std::vector<InformationQuery> gains;
    std::vector<int> slots(targets.size());
    std::iota(slots.begin(), slots.end(), 0);
    for (const int slot : slots) {
      const int target = targets[static_cast<std::size_t>(slot)];
      std::vector<int> set = any_set(target, size);
      for (const int z : set) frontier->add(slot, z);
      entropies.push_back({target, set});
      std::vector<int> newest;
      if (!set.empty()) newest.push_back(set.back());
      if (!set.empty()) set.pop_back();
      gains.push_back({target, std::move(newest), std::move(set)});
    }
    throw_if_interrupted(progress_);
    std::vector<Candidate> best(slots.size());
    const Stopwatch watch;
    if (search_.screens()) {
      estimator_.conditional_entropy(entropies);
      estimator_.mutual_information(gains);
    }
    frontier->find_best(slots, best);
    return watch.seconds() / count(targets.size());
  }

  // The test of one pair, each given `size` others.
  double pair(int size) const {
    std::vector<PairQuery> queries;
    for (int i = 0; i < 2 * thread_count(); ++i) {
      PairQuery& query = queries.emplace_back();
      query.a = search_.targets[static_cast<std::size_t>(i) % search_.targets.size()];
      const std::vector<int> of_a = any_set(query.a, size + 1);
      if (of_a.empty()) return 0;
      query.b = of_a.front();
      query.given_a = {of_a.begin() + 1, of_a.end()};
      query.given_b = query.given_a;
      query.both_looks = !search_.directed();
    }
    const Stopwatch watch;
    parallel_for(static_cast<Index>(queries.size()), [&](Index i) {
      throw_if_interrupted(progress_);
      estimator_.pair_evidence(queries[static_cast<std::size_t>(i)]);
    });
    return watch.seconds() / count(queries.size());
  }

  // What is told of one boundary of `size` members, each with what it gains and is worth alone.
  double description(int size) const {
    const std::vector<int> targets = some_targets();
    const Stopwatch watch;
    for (const int target : targets) {
      throw_if_interrupted(progress_);
      Boundary boundary;
      boundary.target = target;
      for (const int z : any_set(target, size)) boundary.members.emplace_back().variable = z;
      fill_gains(estimator_, boundary);
    }
    return watch.seconds() / count(targets.size());
  }

 private:
  std::vector<int> some_targets() const {
    const auto most = static_cast<std::size_t>(1 + kCandidates / estimator_.variables());
    return {search_.targets.begin(),
            search_.targets.begin() + static_cast<std::ptrdiff_t>(std::min(most, search_.targets.size()))};
  }

  // Random others, as far as there are so many.
  std::vector<int> any_set(int target, int size) const {
    std::vector<int> set;
    for (const int z : Random(Key{}.split(static_cast<std::uint64_t>(target))).permutation(estimator_.variables())) {
      if (static_cast<int>(set.size()) == size) break;
      if (search_.candidates.may_join(z, target)) set.push_back(z);
    }
    return set;
  }

  const FlowEstimator& estimator_;
  const Search& search_;
  Progress& progress_;
};

// The steps of every target: to the size supposed, and the misses that end its search.
std::vector<int> steps_of(const Search& search, const Supposed& supposed) {
  std::vector<int> steps;
  for (std::size_t s = 0; s < search.targets.size(); ++s) {
    const int most = std::min(search.largest, search.choices[s]);
    const int size = static_cast<int>(std::lround(supposed.sizes[s]));
    steps.push_back(std::min(size + search.patience + 1, most));
  }
  return steps;
}

struct SearchCost {
  double seconds = 0;
  double describing = 0;  // of that
  double evaluations = 0;
};

SearchCost search_cost(const FlowEstimator& estimator, const Search& search, const Supposed& supposed, double pairs,
                       Progress& progress) {
  SearchCost cost;
  if (search.targets.empty()) return cost;
  const std::vector<int> steps = steps_of(search, supposed);
  const int longest = *std::max_element(steps.begin(), steps.end());
  const int size = static_cast<int>(std::lround(supposed.mean_size()));
  const SearchTimer timer(estimator, search, progress);
  // A step costs more the larger the set is, nearly in proportion: measured at both ends and between them.
  const std::int64_t before = estimator.evaluations();
  const int top = std::max(longest - 1, 1), middle = top / 2;
  timer.step(0);  // pages and caches
  const double low = timer.step(0), high = timer.step(top), between = middle > 0 ? timer.step(middle) : low;
  const auto at = [&](int k) {
    if (k < middle) return low + (between - low) * k / middle;
    return between + (high - between) * (k - middle) / (top - middle);
  };
  double number = 0;
  for (const int of_target : steps) {
    for (int k = 0; k < of_target; ++k) cost.seconds += at(k);
    number += of_target;
  }
  // Each timed step was one of so many targets.
  const double timed =
      (middle > 0 ? 4.0 : 3.0) * std::min(1.0 + kCandidates / estimator.variables(), count(search.targets.size()));
  cost.evaluations = static_cast<double>(estimator.evaluations() - before) / timed * number;
  cost.seconds += pairs * timer.pair(std::max(size, 1));
  cost.describing = count(search.targets.size()) * timer.description(size);
  cost.seconds += cost.describing;
  return cost;
}

// ---- Graph ----------------------------------------------------------------------------------------------------------

// Variables that hang together, with at most kDryLinks links among them but for one variable's.
std::vector<int> some_variables(const ByteMatrix& links) {
  const auto d = static_cast<int>(links.rows());
  std::vector<int> chosen;
  std::vector<char> seen(static_cast<std::size_t>(d), 0);
  int inside = 0;
  for (int first = 0; first < d; ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    std::vector<int> waiting = {first};
    seen[static_cast<std::size_t>(first)] = 1;
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      if (inside >= kDryLinks) return chosen;
      const int node = waiting[next];
      for (const int other : chosen) inside += links(node, other);
      chosen.push_back(node);
      for (int z = 0; z < d; ++z) {
        if (!links(node, z) || seen[static_cast<std::size_t>(z)]) continue;
        seen[static_cast<std::size_t>(z)] = 1;
        waiting.push_back(z);
      }
    }
  }
  return chosen;
}

// Seconds that regressions on so many parents take, every thread busy, in units of one.
double regression_seconds(const dag::Regression& regression, int parents, const Progress& progress) {
  const auto d = static_cast<int>(regression.values().cols());
  std::vector<dag::LocalScores::Query> queries;
  for (int i = 0; i < thread_count(); ++i) {
    std::vector<int> set = Random(Key{}.split(static_cast<std::uint64_t>(i))).subset(d, parents + 1);
    const int child = set.back();
    set.pop_back();
    std::sort(set.begin(), set.end());
    queries.emplace_back(child, std::move(set));
  }
  dag::LocalScores scores(regression, dag::NoiseLaw::any);
  const Stopwatch watch;
  scores.prepare(queries, progress);
  return watch.seconds();
}

dag::Regression regression_of(const Matrix& values, const dag::AdditiveNoiseParams& params) {
  const Index rows = params.max_rows > 0 ? std::min(params.max_rows, values.rows()) : values.rows();
  return {dag::standardised(values.topRows(rows)), params.regression, Key{}};
}

// A rehearsal of the search inside the links supposed, or some of them, with few rows and landmarks; its time is then
// multiplied by what a regression costs with all of them.
double graph_seconds(const Dataset& data, const Knowledge& knowledge, const Supposed& supposed,
                     const dag::AdditiveNoiseParams& params, Progress& progress) {
  const double links = supposed.links.cast<double>().sum() / 2;
  const std::vector<int> chosen = some_variables(supposed.links);
  if (links == 0 || chosen.size() < 2) return 0;
  ByteMatrix allowed = supposed.links;
  if (!knowledge.empty()) allowed = allowed.cwiseProduct(knowledge.allowed());
  dag::GraphConstraints constraints;
  constraints.allowed = allowed(chosen, chosen);
  const Matrix values = data.values(Eigen::all, chosen);
  dag::AdditiveNoiseParams dry = params;
  dry.scale = dag::NoiseScale::original;
  dry.max_rows = kDryRows;
  dry.regression.landmarks = dry.regression.landmarks_per_parent = kDryLandmarks;
  const Stopwatch watch;
  const dag::AdditiveNoiseResult rehearsal = dag::find_additive_noise_graph(values, constraints, dry, progress);
  const double rehearsed = watch.seconds();

  // A child's regressions have as many parents as it was found to have, or one more; those with many links have most.
  std::vector<double> weight;  // by number of parents
  for (int j = 0; j < rehearsal.dag.nodes(); ++j) {
    const auto parents = std::min<std::size_t>(rehearsal.dag.parents(j).size() + 1, chosen.size() - 1);
    if (weight.size() <= parents) weight.resize(parents + 1, 0);
    weight[parents] += constraints.allowed.col(j).cast<double>().sum();
  }
  const dag::Regression full = regression_of(values, params), small = regression_of(values, dry);
  double in_full = 0, in_small = 0;
  for (std::size_t p = 1; p < weight.size(); ++p) {
    if (weight[p] == 0) continue;
    const int parents = static_cast<int>(p);
    in_full += weight[p] * regression_seconds(full, parents, progress);
    in_small += weight[p] * regression_seconds(small, parents, progress);
  }
  const double inside = constraints.allowed.cast<double>().sum() / 2;
  if (in_small == 0 || inside == 0) return 0;
  return rehearsed * in_full / in_small * links / inside;
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

double graph_memory_mb(const dag::AdditiveNoiseParams& params, Index rows, int variables, double links) {
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
  const dag::AdditiveNoiseParams settings = graph_settings(params);
  const double seconds = graph_seconds(data, knowledge, supposed, settings, progress) + refining;
  result.phases.push_back({"graph", seconds,
                           "a causal graph inside the boundaries; from a rehearsal with fewer rows. Where noise does "
                           "not seem to add, up to twice that"});
}

void add_flow(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
              const Preparation& prepared, Plan& result, Progress& progress) {
  const flow::EnsembleParams asked = networks(params, prepared, data.variables());
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
    const double training = training_seconds(learnable, ensemble, settings, progress);
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
  const Supposed supposed(visible_links(data, knowledge, prepared.targets.excluded, progress), search.targets,
                          taken_for_members(trains ? settings : ensemble.params));
  result.boundary_size = supposed.mean_size();
  result.tested_pairs = (1 + kLuck * search.patience) * supposed.pairs;
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
  result.phases.push_back(
      {"preparing", prepared.prepare_seconds,
       prepared.linearity ? "checks, covariance, the test of linearity; measured" : "checks and covariance; measured"});
  if (prepared.found) {
    result.phases.push_back({"searching", prepared.search_seconds, "with Gaussian entropies; measured"});
  }
  if (result.estimator == EstimatorKind::flow) {
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
