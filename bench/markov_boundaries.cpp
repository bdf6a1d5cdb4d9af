// SPDX-License-Identifier: Apache-2.0
//
// The paper's table for linear data on our own simulations: ours, published, difference, seconds.
//   bench_markov_boundaries [seeds, default 20 up to d = 100 and 5 beyond] [largest d, default 5000]
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/published.h"
#include "fansite/base/stopwatch.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

struct Setting {
  std::string name;
  int nodes;
  double degree;
  Index rows;
  double eps_grow, eps_shrink;  // the paper's, by density
  int patience;
};

const std::vector<Setting> kSettings = {
    {"d30", 30, 1.0, 1000, 0.005, 0.002, 15},     {"d100-1", 100, 1.0, 5000, 0.005, 0.002, 15},
    {"d100-2", 100, 6.0, 5000, 0.001, 0.001, 15}, {"d1000", 1000, 1.0, 5000, 0.005, 0.002, 15},
    {"d5000", 5000, 1.5, 5000, 0.005, 0.002, 50},
};

struct Rule {
  std::string name;
  StopRule stop;
  Symmetry symmetry;
};

const std::vector<Rule> kRules = {{"default", StopRule::calibrated, Symmetry::or_},
                                  {"paper, or", StopRule::paper, Symmetry::or_},
                                  {"paper, and", StopRule::paper, Symmetry::and_}};

constexpr std::array<const char*, 3> kMetrics = {"nDCG", "AveP", "F1"};

struct RuleScores {
  std::array<std::vector<double>, 3> metrics;
  std::vector<double> false_discovery_rate, seconds;
};

void score(const Setting& setting, const Simulation& simulation, const Rule& rule, RuleScores& column) {
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  SearchParams& search = params.fansite().search;
  search.stop = rule.stop;
  search.rule = rule.symmetry;
  if (rule.stop == StopRule::paper) {
    search.eps_grow = setting.eps_grow;
    search.eps_shrink = setting.eps_shrink;
    search.patience = setting.patience;
  }
  const Stopwatch watch;
  const BoundariesResult result = markov_boundaries(simulation.data, params);
  column.seconds.push_back(watch.seconds());
  std::vector<std::vector<int>> predicted, truth;
  for (const Boundary& boundary : result.found.boundaries) {
    predicted.push_back(boundary.member_indices());
    truth.push_back(simulation.dag.markov_boundary(boundary.target));
  }
  const BoundariesScore scored = score_boundaries(predicted, truth);
  column.metrics[0].push_back(100 * scored.mean.ndcg);
  column.metrics[1].push_back(100 * scored.mean.average_precision);
  column.metrics[2].push_back(100 * scored.mean.f1);
  column.false_discovery_rate.push_back(100 * scored.false_discovery_rate);
}

}  // namespace

int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 0;
  const int largest = argc > 2 ? std::atoi(argv[2]) : 5000;
  const Published table = published("table_mb.csv");
  fmt::print("Markov boundaries of linear Gaussian data, mean ± sd over seeds, in percent; {}\n", machine());
  fmt::print("{:<8} {:<11} {:<5} {:>15} {:>15} {:>8} {:>8} {:>9}\n", "setting", "rule", "", "ours", "published", "diff",
             "FDR", "seconds");
  for (const Setting& setting : kSettings) {
    if (setting.nodes > largest) continue;
    const int seeds = asked > 0 ? asked : setting.nodes <= 100 ? 20 : 5;
    std::vector<RuleScores> columns(kRules.size());
    for (int seed = 1; seed <= seeds; ++seed) {
      SimulateParams params;
      params.nodes = setting.nodes;
      params.degree = setting.degree;
      params.rows = setting.rows;
      params.seed = static_cast<std::uint64_t>(seed);
      const Simulation simulation = simulate(params);
      for (std::size_t r = 0; r < kRules.size(); ++r) score(setting, simulation, kRules[r], columns[r]);
    }
    for (std::size_t r = 0; r < kRules.size(); ++r) {
      for (std::size_t m = 0; m < kMetrics.size(); ++m) {
        const MeanAndSpread ours = mean_and_spread(columns[r].metrics[m]);
        const auto cell = table.find(fmt::format("Linear data,{},{}", setting.name, kMetrics[m]));
        const bool known = cell != table.end();
        const MeanAndSpread theirs = known ? published_mean(cell->second) : MeanAndSpread{};
        fmt::print("{:<8} {:<11} {:<5} {:>15} {:>15} {:>8}", setting.name, kRules[r].name, kMetrics[m],
                   fmt::format("{:.2f}±{:.2f}", ours.mean, ours.standard_deviation),
                   known ? fmt::format("{:.2f}±{:.2f}", theirs.mean, theirs.standard_deviation) : "-",
                   known ? fmt::format("{:+.2f}", ours.mean - theirs.mean) : "-");
        if (m == 2) {
          fmt::print(" {:>8.2f} {:>9.3f}", mean_and_spread(columns[r].false_discovery_rate).mean,
                     mean_and_spread(columns[r].seconds).mean);
        }
        fmt::print("\n");
      }
    }
  }
  return 0;
}
