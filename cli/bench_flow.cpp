// SPDX-License-Identifier: Apache-2.0
//
// fansite bench flow: how fast this machine trains flows and computes densities, beside the targets on two cores. Only
// the work of selected (rank, variable) pairs counts as useful.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/fma_peak.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/trainer.h"

namespace fansite::cli {
namespace {

using Json = nlohmann::ordered_json;
// The authors' 5000 epochs of 1000 rows, d = 30, on two such cores: 1.5 s an epoch.
constexpr double kAuthorsSeconds = 2.1 * 3600;
constexpr long kAuthorsSteps = 80000;

struct FlowBenchOptions : CommonOptions {
  bool json = false;
  bool quick = false;
};

flow::RowTable noise(Index rows, Index columns) {
  flow::RowTable table(rows, columns);
  Random random(Key{1});
  for (Index i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(random.normal());
  return table;
}

struct Setting {
  flow::Shape shape;
  Index rows;
  int max_size;
  long single_steps;
  double ensemble_seconds;

  flow::TrainParams params() const {
    flow::TrainParams params = flow::paper_training(shape.variables, rows);
    params.max_size = max_size;
    return params;
  }

  // Multiply-adds of one step that belong to selected pairs, forward and backward: W2 and V three times, W1, whose
  // inputs need no gradient, twice. Sizes n of the prefix are uniform on 0..M.
  double useful_operations() const {
    double per_row = 0;
    for (int n = 0; n <= max_size; ++n) {
      const double pairs = 0.5 * n * (n + 1);
      per_row += pairs * shape.blocks * (2 + 3 * shape.outputs) + 3.0 * (n + 1) * 3 * shape.sigmoids * shape.outputs;
    }
    return 2 * per_row / (max_size + 1) * params().batch;
  }
};

Json measure_training(const Setting& setting, double peak) {
  const flow::RowTable table = noise(setting.rows, setting.shape.variables);
  std::vector<int> rows(static_cast<std::size_t>(setting.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  const int threads = thread_count();

  // One model for each thread, side by side.
  std::vector<double> rates(static_cast<std::size_t>(threads));
  parallel_for(threads, [&](std::ptrdiff_t i) {
    flow::Training training(table, rows, setting.shape, setting.params(), Key{static_cast<std::uint64_t>(i)});
    training.advance(setting.single_steps / 100);  // warm
    const Stopwatch watch;
    const auto before = training.steps();
    while (watch.seconds() < setting.ensemble_seconds) training.advance(10);
    rates[static_cast<std::size_t>(i)] = static_cast<double>(training.steps() - before) / watch.seconds();
  });
  double ensemble = 0;
  for (const double rate : rates) ensemble += rate;

  // One model with all threads.
  Team team;
  flow::Training training(table, rows, setting.shape, setting.params(), Key{1}, &team);
  const Stopwatch watch;
  training.advance(setting.single_steps);
  const double seconds = watch.seconds();

  Json json;
  json["ensemble_steps_per_s"] = ensemble;
  json["single_model_steps_per_s"] = static_cast<double>(setting.single_steps) / seconds;
  json["single_model_steps"] = setting.single_steps;
  json["single_model_seconds"] = seconds;
  json["useful_mflop_per_step"] = setting.useful_operations() * 1e-6;
  json["share_of_peak"] = ensemble * setting.useful_operations() * 1e-9 / peak;
  return json;
}

Json measure_density(double peak) {
  constexpr int kSubsets = 1800, kSize = 6;
  constexpr Index kRows = 1000;
  const flow::Shape shape = flow::paper_shape(30);
  const flow::Density density(flow::pack(flow::initial_parameters(shape, Key{1})));
  const flow::Table table = noise(kRows, shape.variables);
  Random random(Key{2});
  std::vector<flow::Subset> subsets;
  for (int s = 0; s < kSubsets; ++s) subsets.push_back(random.subset(shape.variables, kSize));
  Eigen::MatrixXf out(kRows, kSubsets);
  double best = 1e9;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Stopwatch watch;
    density.log_density(table, subsets, out);
    best = std::min(best, watch.seconds());
  }
  const double pairs = 0.5 * kSize * (kSize - 1);
  const double operations = 2 * pairs * shape.blocks * (1 + 3 * shape.sigmoids) * kRows;
  Json json;
  json["subsets_per_s"] = kSubsets / best;
  json["seconds_for_1800"] = best;
  json["share_of_peak"] = kSubsets / best * operations * 1e-9 / peak;
  return json;
}

void run(const FlowBenchOptions& options) {
  const ThreadLimit limit(options.threads);
  const int threads = thread_count();
  std::vector<double> peaks(static_cast<std::size_t>(threads));
  parallel_for(threads, [&](std::ptrdiff_t i) { peaks[static_cast<std::size_t>(i)] = fma_peak_gflops(); });
  double peak = 0;  // of all threads at once
  for (const double p : peaks) peak += p;
  const flow::Shape d30{.variables = 30, .ranks = 29, .outputs = 20};
  const flow::Shape d100{.variables = 100, .ranks = 99, .outputs = 16};
  const flow::Shape compact{.variables = 100, .ranks = 60, .outputs = 16};
  Json json;
  json["threads"] = threads;
  json["fma_peak_gflops"] = peak;
  const long part = options.quick ? 100 : 1;
  const double seconds_each = options.quick ? 0.1 : 3;
  json["train_d30"] = measure_training({d30, 1000, 20, kAuthorsSteps / part, seconds_each}, peak);
  json["train_d100"] = measure_training({d100, 5000, 30, 2000 / part, seconds_each}, peak);
  json["train_d100_compact"] = measure_training({compact, 5000, 30, 2000 / part, seconds_each}, peak);
  json["density_d30"] = measure_density(peak);
  const double seconds = json["train_d30"]["single_model_seconds"].get<double>() * static_cast<double>(part);
  json["authors_protocol"] = {{"steps", kAuthorsSteps},
                              {"seconds", seconds},
                              {"authors_seconds_on_2_cores", kAuthorsSeconds},
                              {"ratio", kAuthorsSeconds / seconds}};
  if (options.json) {
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{}, {:.0f} GFLOP/s of multiply-adds in registers; targets are for two cores\n",
             counted(threads, "thread"), peak);
  const auto training = [&](const char* label, const Json& result, double target) {
    fmt::print("{:<34} {:>7.0f} steps/s side by side (target {:.0f}), {:.0f} one model; {:.0f} % of the peak\n", label,
               result["ensemble_steps_per_s"].get<double>(), target, result["single_model_steps_per_s"].get<double>(),
               100 * result["share_of_peak"].get<double>());
  };
  training("train d=30, batch 64, M=20", json["train_d30"], 9000);
  training("train d=100, batch 256, M=30", json["train_d100"], 700);
  training("train d=100 compact, R=60", json["train_d100_compact"], 700);
  fmt::print("{:<34} {:>7.1f} s (target 14); the authors' code takes {:.1f} hours: {:.0f} times as long\n",
             "80,000 steps of one model, d=30", seconds, kAuthorsSeconds / 3600, kAuthorsSeconds / seconds);
  fmt::print("{:<34} {:>7.3f} s (target 0.1), {:.0f} subsets/s; {:.0f} % of the peak\n",
             "1800 densities of 6, 1000 rows", json["density_d30"]["seconds_for_1800"].get<double>(),
             json["density_d30"]["subsets_per_s"].get<double>(),
             100 * json["density_d30"]["share_of_peak"].get<double>());
}

}  // namespace

void add_bench_flow(CLI::App& bench) {
  const auto options = std::make_shared<FlowBenchOptions>();
  CLI::App* command = bench.add_subcommand("flow", "measure training and densities on this machine");
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_flag("--quick", options->quick, "a hundredth of the work: rough figures");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
