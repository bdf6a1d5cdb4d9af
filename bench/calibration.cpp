// SPDX-License-Identifier: Apache-2.0
//
// Does the FDR level mean what it says? Realised share of false members against --fdr over a grid of linear
// simulations, and how often a table of pure noise gives an empty answer.
//   bench_calibration [seeds per setting, default 20]
#include <fmt/core.h>

#include <cstdlib>

#include "bench/machine.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

struct Outcome {
  std::vector<double> fdr, precision, recall, f1;
  int empty = 0;
};

void add(const SimulateParams& setting, double fdr_level, Outcome& outcome) {
  const Simulation simulation = simulate(setting);
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  params.fansite().search.fdr = fdr_level;
  const BoundariesResult result = markov_boundaries(simulation.data, params);
  std::vector<std::vector<int>> predicted, truth;
  for (const Boundary& boundary : result.found.boundaries) {
    predicted.push_back(boundary.member_indices());
    truth.push_back(simulation.dag.markov_boundary(boundary.target));
  }
  outcome.empty += result.found.moral_edges.empty();
  const BoundariesScore score = score_boundaries(predicted, truth);
  outcome.fdr.push_back(score.false_discovery_rate);
  outcome.precision.push_back(100 * score.mean.precision);
  outcome.recall.push_back(100 * score.mean.recall);
  outcome.f1.push_back(100 * score.mean.f1);
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 20;
  fmt::print("Calibration on linear data, {} seeds a row; {}\n", seeds, machine());
  fmt::print("{:<12} {:>4} {:>6} {:>7} {:>6} {:>14} {:>10} {:>8} {:>8}\n", "noise", "d", "rows", "degree", "fdr",
             "realised", "precision", "recall", "F1");
  int rows_over = 0, rows_all = 0;
  for (const Noise noise : {Noise::gauss, Noise::uniform, Noise::laplace, Noise::exponential, Noise::mixed}) {
    for (const auto& [nodes, rows, degree] :
         {std::tuple(20, Index{300}, 1.0), std::tuple(30, Index{1000}, 2.0), std::tuple(50, Index{5000}, 4.0)}) {
      for (const double fdr_level : {0.01, 0.05, 0.1, 0.2}) {
        Outcome outcome;
        for (int seed = 1; seed <= seeds; ++seed) {
          SimulateParams setting;
          setting.nodes = nodes;
          setting.rows = rows;
          setting.degree = degree;
          setting.noise = noise;
          setting.weight_low = 0.1;  // weak effects too, so that the FDR level has something to decide
          setting.weight_high = 1.0;
          setting.seed = 1000u + static_cast<std::uint64_t>(seed);
          add(setting, fdr_level, outcome);
        }
        const MeanAndSpread fdr = mean_and_spread(outcome.fdr);
        fmt::print("{:<12} {:>4} {:>6} {:>7} {:>6} {:>14} {:>10.1f} {:>8.1f} {:>8.1f}\n", name(noise), nodes, rows,
                   degree, fdr_level, fmt::format("{:.3f}±{:.3f}", fdr.mean, fdr.standard_deviation),
                   mean_and_spread(outcome.precision).mean, mean_and_spread(outcome.recall).mean,
                   mean_and_spread(outcome.f1).mean);
        ++rows_all;
        rows_over += fdr.mean > 1.5 * fdr_level;
      }
    }
  }
  fmt::print("settings whose realised rate exceeds 1.5 times the FDR level: {} of {} (target 0)\n", rows_over,
             rows_all);

  for (const Noise noise : {Noise::gauss, Noise::laplace, Noise::exponential, Noise::mixed}) {
    Outcome outcome;
    const int tables = 10 * seeds;
    for (int seed = 1; seed <= tables; ++seed) {
      SimulateParams setting;
      setting.degree = 0;
      setting.noise = noise;
      setting.seed = static_cast<std::uint64_t>(seed);
      add(setting, 0.05, outcome);
    }
    fmt::print("pure {} noise, 30 × 1000: {:.1f} % of {} tables give empty boundaries (target 95)\n", name(noise),
               100.0 * outcome.empty / tables, tables);
  }
  return 0;
}
