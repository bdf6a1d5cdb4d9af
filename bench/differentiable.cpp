// SPDX-License-Identifier: Apache-2.0
//
// Cost of FANSITE-DCD against the number of allowed pairs, the time of a whole training and the memory of a large one.
//   bench_differentiable [epochs of the whole training, default 2000]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "bench/machine.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/stopwatch.h"
#include "fansite/causal/dcd/differentiable.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

Matrix table(int nodes, Index rows) {
  SimulateParams params;
  params.nodes = nodes;
  params.degree = 1.5;
  params.rows = rows;
  params.seed = 1;
  return simulate(params).data.values;
}

// That many directed entries, both directions of half as many random links.
ByteMatrix random_mask(int nodes, int pairs) {
  ByteMatrix mask = ByteMatrix::Zero(nodes, nodes);
  Random random(Key{1});
  for (int made = 0; made < pairs;) {
    const auto i = static_cast<Index>(random.below(static_cast<std::uint32_t>(nodes)));
    const auto j = static_cast<Index>(random.below(static_cast<std::uint32_t>(nodes)));
    if (i == j || mask(i, j) != 0) continue;
    mask(i, j) = mask(j, i) = 1;
    made += 2;
  }
  return mask;
}

// No stop before the last epoch.
causal::DifferentiableParams whole() {
  causal::DifferentiableParams params;
  params.patience = std::numeric_limits<int>::max();
  return params;
}

double seconds_per_epoch(const Matrix& data, const ByteMatrix& mask, Team& team) {
  causal::DifferentiableTraining training(data, mask, whole(), &team);
  training.advance(2);  // caches and pages warm
  const Stopwatch watch;
  int epochs = 0;
  while (epochs < 3 || watch.seconds() < 0.3) {
    training.advance(1);
    ++epochs;
  }
  return watch.seconds() / epochs;
}

}  // namespace

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 2000;
  Team team;
  fmt::print("FANSITE-DCD, 5000 rows (4000 to train on), batches of 256, 10 hidden units, {} threads; {}\n",
             team.size(), machine());
  const Matrix data = table(100, 5000);
  fmt::print("{:>6} {:>7} {:>10} {:>21} {:>14}\n", "d", "pairs", "ms/epoch", "ns per row and pair", "GFMA/s");
  for (const int pairs : {0, 200, 600, 2000, 9900}) {
    const double seconds = seconds_per_epoch(data, random_mask(100, pairs), team);
    // A pair costs 10 multiply-adds forward and 10 backward per row.
    fmt::print("{:>6} {:>7} {:>10.2f} {:>21.2f} {:>14.1f}\n", 100, pairs, 1e3 * seconds,
               pairs > 0 ? 1e9 * seconds / (4000.0 * pairs) : 0.0, 4000.0 * pairs * 20 / seconds / 1e9);
  }

  causal::DifferentiableParams params = whole();
  params.second.max_epochs = epochs;
  NoProgress progress;
  const Stopwatch watch;
  const causal::DifferentiableResult result = causal::fansite_dcd(data, random_mask(100, 600), params, progress);
  fmt::print("d=100, 600 pairs, {} epochs: {:.1f} s (target for 2000 epochs on 2 cores: 60 s)\n", result.second.epochs,
             watch.seconds());

  const double before = peak_gigabytes();
  const Matrix large = table(1000, 5000);
  const double with_data = peak_gigabytes();
  const double seconds = seconds_per_epoch(large, random_mask(1000, 3000), team);
  fmt::print(
      "d=1000, 3000 pairs: {:.1f} ms per epoch, peak {:.2f} GB (target: below 1 GB), {:.2f} GB before the table, "
      "{:.2f} "
      "with it\n",
      1e3 * seconds, peak_gigabytes(), before, with_data);
  return 0;
}
