// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/plan_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/stopwatch.h"
#include "fansite/causal/detail/graph_search.h"

namespace fansite {
namespace {

constexpr int kCandidates = 150;         // of a timed step of the search, some targets together
constexpr int kDryLinks = 100;           // of the rehearsed graph
constexpr Index kDryRows = 300;          // of its regressions …
constexpr int kDryLandmarks = 20;        // … which then cost a twentieth or less
constexpr std::size_t kMostParents = 5;  // that are timed: landmarks are at their most from there on

double count(std::size_t n) { return static_cast<double>(n); }

// ---- Search ---------------------------------------------------------------------------------------------------------

// Times the pieces of a search with real queries; what a density costs does not depend on the weights.
class SearchTimer {
 public:
  SearchTimer(const SearchEstimator& estimator, const Search& search, Progress& progress)
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
    if (search_.on_held_out_rows()) {
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
      query.both_sides = !search_.directed();
      query.most_rows = search_.params.test_rows;
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

  const SearchEstimator& estimator_;
  const Search& search_;
  Progress& progress_;
};

// The steps of every target: to the size supposed, and the misses that end its search.
std::vector<int> steps_of(const Search& search, const Supposed& supposed) {
  std::vector<int> steps;
  for (std::size_t s = 0; s < search.targets.size(); ++s) {
    const int most = std::min(search.largest, search.choices[s]);
    const int size = static_cast<int>(std::lround(supposed.sizes[s]));
    // By gains, the nearest miss is one step more.
    steps.push_back(std::min(size + search.patience + (search.on_held_out_rows() ? 1 : 2), most));
  }
  return steps;
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
double regression_seconds(const causal::Regression& regression, int parents, const Progress& progress) {
  const auto d = static_cast<int>(regression.values().cols());
  std::vector<causal::LocalScores::Query> queries;
  for (int i = 0; i < thread_count(); ++i) {
    std::vector<int> set = Random(Key{}.split(static_cast<std::uint64_t>(i))).subset(d, parents + 1);
    const int child = set.back();
    set.pop_back();
    std::sort(set.begin(), set.end());
    queries.emplace_back(child, std::move(set));
  }
  causal::LocalScores scores(regression, causal::NoiseDistribution::any);
  const Stopwatch watch;
  scores.prepare(queries, progress);
  return watch.seconds();
}

causal::Regression regression_of(const Matrix& values, const causal::AdditiveNoiseParams& params) {
  const Index rows = params.max_rows > 0 ? std::min(params.max_rows, values.rows()) : values.rows();
  return {causal::standardised(values.topRows(rows)), params.regression, Key{}};
}

}  // namespace

Supposed::Supposed(ByteMatrix linked, const std::vector<int>& targets, double more) : links(std::move(linked)) {
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

double Supposed::mean_size() const {
  return sizes.empty() ? 0.0 : std::accumulate(sizes.begin(), sizes.end(), 0.0) / count(sizes.size());
}

SearchCost search_cost(const SearchEstimator& estimator, const Search& search, const Supposed& supposed, double pairs,
                       Progress& progress) {
  SearchCost cost;
  if (search.targets.empty()) return cost;
  const std::vector<int> steps = steps_of(search, supposed);
  const int longest = *std::max_element(steps.begin(), steps.end());
  const int size = std::min(static_cast<int>(std::lround(supposed.mean_size())), search.largest);
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

double graph_seconds(const Dataset& data, const Knowledge& knowledge, const Supposed& supposed,
                     const causal::AdditiveNoiseParams& params, Progress& progress) {
  const double links = supposed.links.cast<double>().sum() / 2;
  const std::vector<int> chosen = some_variables(supposed.links);
  if (links == 0 || chosen.size() < 2) return 0;
  ByteMatrix allowed = supposed.links;
  if (!knowledge.empty()) allowed = allowed.cwiseProduct(knowledge.allowed());
  causal::GraphConstraints constraints;
  constraints.allowed = allowed(chosen, chosen);
  Matrix values = data.values(Eigen::all, chosen);
  for (auto column : values.colwise()) {  // what a fit costs does not depend on what fills a missing cell
    double mean = 0, count = 0;
    for (const double x : column) {
      if (std::isnan(x)) continue;
      mean += x;
      ++count;
    }
    for (double& x : column) x = std::isnan(x) ? mean / std::max(count, 1.0) : x;
  }
  causal::AdditiveNoiseParams dry = params;
  dry.scale = causal::NoiseScale::original;
  dry.max_rows = kDryRows;
  dry.regression.landmarks = dry.regression.landmarks_per_parent = kDryLandmarks;
  const Stopwatch watch;
  const causal::AdditiveNoiseResult rehearsal = causal::find_additive_noise_graph(values, constraints, dry, progress);
  const double rehearsed = watch.seconds();

  // A child's regressions have as many parents as it was found to have, or one more; those with many links have most.
  std::vector<double> weight;  // by number of parents
  for (int j = 0; j < rehearsal.dag.nodes(); ++j) {
    const auto parents = std::min({rehearsal.dag.parents(j).size() + 1, chosen.size() - 1, kMostParents});
    if (weight.size() <= parents) weight.resize(parents + 1, 0);
    weight[parents] += constraints.allowed.col(j).cast<double>().sum();
  }
  const causal::Regression full = regression_of(values, params), small = regression_of(values, dry);
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

}  // namespace fansite
