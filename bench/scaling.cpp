// SPDX-License-Identifier: Apache-2.0
//
// Cost of all Markov boundaries against the number of variables, from an .npy file, and against the straightforward
// way: a determinant per candidate.
//   bench_scaling [largest d, default 5000]
#include <fmt/core.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "bench/machine.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

Simulation simulate_linear(int nodes, double degree) {
  SimulateParams params;
  params.nodes = nodes;
  params.degree = degree;
  params.rows = 5000;
  params.seed = 1;
  return simulate(params);
}

// Half the log determinant of the covariance of `set`, from scratch.
double half_log_determinant(const Matrix& covariance, const std::vector<int>& set) {
  const auto k = static_cast<Index>(set.size());
  Matrix part(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j)
      part(i, j) = covariance(set[static_cast<std::size_t>(i)], set[static_cast<std::size_t>(j)]);
  }
  return 0.5 * std::log(part.determinant());
}

// H(T|S) up to a constant, as the authors' script has it: two determinants.
double entropy(const Matrix& covariance, int target, std::vector<int> given) {
  const double without = given.empty() ? 0.0 : half_log_determinant(covariance, given);
  given.push_back(target);
  return half_log_determinant(covariance, given) - without;
}

// Algorithm 1 for one target with nothing reused: every candidate of every step by its determinants.
std::vector<int> plain_boundary(const Matrix& covariance, int target, const SearchParams& params) {
  std::vector<int> set;
  double current = entropy(covariance, target, set);
  int misses = 0;
  while (static_cast<Index>(set.size()) < covariance.rows() - 1) {
    int best = -1;
    double lowest = 0;
    for (int z = 0; z < covariance.rows(); ++z) {
      if (z == target || std::find(set.begin(), set.end(), z) != set.end()) continue;
      auto with = set;
      with.push_back(z);
      const double h = entropy(covariance, target, with);
      if (best < 0 || h < lowest) {
        best = z;
        lowest = h;
      }
    }
    const bool miss = current - lowest <= params.eps_grow;
    if (miss && misses == params.patience) break;
    misses = miss ? misses + 1 : 0;
    set.push_back(best);
    current = lowest;
  }
  set.resize(set.size() - static_cast<std::size_t>(misses));
  current = entropy(covariance, target, set);
  while (!set.empty()) {
    std::size_t weakest = 0;
    double lowest = 0;
    for (std::size_t m = 0; m < set.size(); ++m) {
      auto rest = set;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(m));
      const double h = entropy(covariance, target, rest);
      if (m == 0 || h < lowest) {
        weakest = m;
        lowest = h;
      }
    }
    if (lowest - current > params.eps_shrink) break;
    set.erase(set.begin() + static_cast<std::ptrdiff_t>(weakest));
    current = lowest;
  }
  return set;
}

void compare_with_determinants() {
  const Simulation simulation = simulate_linear(100, 1.0);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  SearchParams params;
  params.stop = StopRule::paper;
  params.rule = Symmetry::none;
  const auto average = [&] {
    find_boundaries(estimator, params);  // threads and pages warm
    constexpr int kRepeats = 50;
    const Stopwatch watch;
    for (int i = 0; i < kRepeats; ++i) find_boundaries(estimator, params);
    return watch.seconds() / kRepeats;
  };
  const double with_evidence = average();
  params.evidence = false;  // the plain version has none
  const double fast = average();
  const Boundaries ours = find_boundaries(estimator, params);

  const Stopwatch watch;
  int same = 0;
  for (int t = 0; t < 100; ++t) {
    same += plain_boundary(estimator.covariance().correlation, t, params) ==
            ours.boundaries[static_cast<std::size_t>(t)].member_indices();
  }
  const double plain = watch.seconds();
  fmt::print(
      "d=100, paper's rule: a determinant per candidate {:.2f} s on one thread, ours {:.5f} s on {}: {:.0f} times "
      "(target 500); "
      "{} of 100 boundaries the same\n",
      plain, fast, thread_count(), plain / fast, same);
  fmt::print("with the evidence for every member, which the plain version has not: {:.5f} s\n", with_evidence);
}

}  // namespace

int main(int argc, char** argv) {
  const int largest = argc > 1 ? std::atoi(argv[1]) : 5000;
  fmt::print("All boundaries, paper's rule with patience 50, 5000 rows, average degree 1.5, from an .npy file; {}\n",
             machine());
  fmt::print("{:>6} {:>9} {:>11} {:>9} {:>9} {:>9}\n", "d", "load s", "prepare s", "search s", "total s", "peak GB");
  const auto folder = std::filesystem::temp_directory_path() / "fansite-bench-scaling";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "data.npy").string();
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  int points = 0;
  for (const int nodes : {500, 1000, 2000, 5000}) {
    if (nodes > largest) continue;
    save(simulate_linear(nodes, 1.5).data, path);
    const Stopwatch watch;
    const Dataset data = load(path);
    const double loaded = watch.seconds();
    BoundariesParams params;
    params.fansite().estimator = "gaussian";
    params.fansite().search.stop = StopRule::paper;
    params.fansite().search.patience = 50;
    const BoundariesResult result = markov_boundaries(data, params);
    const double total = watch.seconds();
    const double searching = phase_seconds(result, "search");
    fmt::print("{:>6} {:>9.2f} {:>11.2f} {:>9.2f} {:>9.2f} {:>9.2f}", nodes, loaded, phase_seconds(result, "prepare"),
               searching, total, peak_gigabytes());
    fmt::print("{}\n", nodes == 5000 ? "   (targets: 15 s, 1.5 GB; the peak includes the simulation)" : "");
    const double x = std::log(nodes), y = std::log(searching);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
    ++points;
  }
  if (points > 1) {
    fmt::print("search time grows as d^{:.2f} (2 is the floor: every target looks at every candidate)\n",
               (points * sum_xy - sum_x * sum_y) / (points * sum_xx - sum_x * sum_x));
  }
  std::filesystem::remove_all(folder);
  compare_with_determinants();
  return 0;
}
