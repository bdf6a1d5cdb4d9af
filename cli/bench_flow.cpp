// SPDX-License-Identifier: Apache-2.0
//
// fansite bench flow: how fast this machine trains flows and computes densities, on the processor beside the targets on
// two cores or on a GPU beside those on an H200. Only the work of selected (rank, variable) pairs counts as useful.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command.h"
#include "cli/fma_peak.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/device_training.h"
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
  std::string device = std::string(name(Device::cpu));
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

std::vector<int> all_of(Index rows) {
  std::vector<int> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Steps a second.
struct TrainingRates {
  double ensemble = 0, single = 0;
  long single_steps = 0;
};

// One model for each thread, side by side; then one model with all threads.
TrainingRates rates_on_processor(const Setting& setting) {
  const flow::RowTable table = noise(setting.rows, setting.shape.variables);
  const std::vector<int> rows = all_of(setting.rows);
  const int threads = thread_count();
  std::vector<double> rates(static_cast<std::size_t>(threads));
  parallel_for(threads, [&](std::ptrdiff_t i) {
    flow::Training training(table, rows, setting.shape, setting.params(), Key{static_cast<std::uint64_t>(i)});
    training.advance(setting.single_steps / 100);  // warm
    const Stopwatch watch;
    const auto before = training.steps();
    while (watch.seconds() < setting.ensemble_seconds) training.advance(10);
    rates[static_cast<std::size_t>(i)] = static_cast<double>(training.steps() - before) / watch.seconds();
  });
  Team team;
  flow::Training training(table, rows, setting.shape, setting.params(), Key{1}, &team);
  const Stopwatch watch;
  training.advance(setting.single_steps);
  return {std::accumulate(rates.begin(), rates.end(), 0.0), static_cast<double>(setting.single_steps) / watch.seconds(),
          setting.single_steps};
}

// As many models as the device has room for, side by side; then one.
TrainingRates rates_on_device(const Setting& setting, const flow::Accelerator& device) {
  constexpr std::int64_t kPiece = 200;  // steps of each between two calls, as in a real run or fewer
  const flow::RowTable table = noise(setting.rows, setting.shape.variables);
  const std::vector<int> rows = all_of(setting.rows);
  const auto rate = [&](int networks, std::int64_t& taken) {
    flow::TrainParams endless = setting.params();
    endless.steps = std::int64_t{1} << 40;
    endless.evaluate_every = endless.steps;
    std::vector<flow::Training> begun;
    begun.reserve(static_cast<std::size_t>(networks));
    std::vector<flow::Training*> trainings;
    for (int i = 0; i < networks; ++i) {
      begun.emplace_back(table, rows, setting.shape, endless, Key{static_cast<std::uint64_t>(i)});
      trainings.push_back(&begun.back());
    }
    flow::DeviceTrainer trainer(trainings, device);
    trainer.advance(kPiece);  // warm
    const Stopwatch watch;
    taken = 0;
    while (watch.seconds() < setting.ensemble_seconds) taken += trainer.advance(kPiece);
    return static_cast<double>(taken) / watch.seconds();
  };
  TrainingRates rates;
  std::int64_t taken = 0;
  rates.ensemble = rate(device.networks_at_once(), taken);
  rates.single = rate(1, taken);
  rates.single_steps = static_cast<long>(taken);
  return rates;
}

Json measure_training(const Setting& setting, double peak, const flow::Accelerator* device) {
  const TrainingRates rates = device != nullptr ? rates_on_device(setting, *device) : rates_on_processor(setting);
  Json json;
  json["ensemble_steps_per_s"] = rates.ensemble;
  json["single_model_steps_per_s"] = rates.single;
  json["single_model_steps"] = rates.single_steps;
  json["single_model_seconds"] = static_cast<double>(rates.single_steps) / rates.single;
  json["useful_mflop_per_step"] = setting.useful_operations() * 1e-6;
  json["share_of_peak"] = rates.ensemble * setting.useful_operations() * 1e-9 / peak;
  return json;
}

Json measure_density(double peak, const flow::Accelerator* device) {
  constexpr int kSubsets = 1800, kSize = 6;
  constexpr Index kRows = 1000;
  const flow::Shape shape = flow::paper_shape(30);
  const flow::Weights weights = flow::pack(flow::initial_parameters(shape, Key{1}));
  const flow::Density on_processor(weights);
  const std::shared_ptr<const flow::SubsetDensity> on_device = device != nullptr ? flow::density_of(weights) : nullptr;
  const flow::Table table = noise(kRows, shape.variables);
  Random random(Key{2});
  std::vector<flow::Subset> subsets;
  for (int s = 0; s < kSubsets; ++s) subsets.push_back(random.subset(shape.variables, kSize));
  Eigen::MatrixXf out(kRows, kSubsets);
  double best = 1e9;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Stopwatch watch;
    if (on_device != nullptr) {
      out = on_device->log_density(table, subsets);
    } else {
      on_processor.log_density(table, subsets, out);
    }
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

// Of all threads at once.
double peak_of_processor() {
  std::vector<double> peaks(static_cast<std::size_t>(thread_count()));
  parallel_for(thread_count(), [&](std::ptrdiff_t i) { peaks[static_cast<std::size_t>(i)] = fma_peak_gflops(); });
  return std::accumulate(peaks.begin(), peaks.end(), 0.0);
}

// Of each kind of work, for two cores and for an H200.
struct Targets {
  const char* machine;
  double d30, d100, compact, density_seconds;
};
constexpr Targets kTwoCores{"two cores", 9000, 700, 700, 0.1};
constexpr Targets kH200{"an NVIDIA H200", 600'000, 30'000, 30'000, 0.0006};

void print(const Json& json, const Targets& targets) {
  fmt::print("{}, {}, {:.0f} GFLOP/s of multiply-adds; targets are for {}\n", json["device"].get<std::string>(),
             counted(json["threads"].get<long>(), "thread"), json["fma_peak_gflops"].get<double>(), targets.machine);
  const auto training = [&](const char* label, const Json& result, double target) {
    fmt::print("{:<34} {:>7.0f} steps/s side by side (target {:.0f}), {:.0f} one model; {:.1f} % of the peak\n", label,
               result["ensemble_steps_per_s"].get<double>(), target, result["single_model_steps_per_s"].get<double>(),
               100 * result["share_of_peak"].get<double>());
  };
  training("train d=30, batch 64, M=20", json["train_d30"], targets.d30);
  training("train d=100, batch 256, M=30", json["train_d100"], targets.d100);
  training("train d=100 compact, R=60", json["train_d100_compact"], targets.compact);
  const Json& authors = json["authors_protocol"];
  fmt::print("{:<34} {:>7.1f} s (target on two cores 14); the authors' code takes {:.1f} hours: {:.0f} times as long\n",
             "80,000 steps of one model, d=30", authors["seconds"].get<double>(), kAuthorsSeconds / 3600,
             authors["ratio"].get<double>());
  fmt::print("{:<34} {:>7.5f} s (target {}), {:.0f} subsets/s; {:.1f} % of the peak\n",
             "1800 densities of 6, 1000 rows", json["density_d30"]["seconds_for_1800"].get<double>(),
             targets.density_seconds, json["density_d30"]["subsets_per_s"].get<double>(),
             100 * json["density_d30"]["share_of_peak"].get<double>());
}

void run(const FlowBenchOptions& options) {
  const ThreadLimit limit(options.threads);
  const DeviceChoice choice(parse<Device>(options.device, "device"));
  const flow::Accelerator* device = flow::accelerator();
  const double peak = device != nullptr ? device->fma_peak_gflops() : peak_of_processor();
  const flow::Shape d30{.variables = 30, .ranks = 29, .outputs = 20};
  const flow::Shape d100{.variables = 100, .ranks = 99, .outputs = 16};
  const flow::Shape compact{.variables = 100, .ranks = 60, .outputs = 16};
  Json json;
  json["device"] = flow::device_name();
  json["threads"] = thread_count();
  json["fma_peak_gflops"] = peak;
  const long part = options.quick ? 100 : 1;
  const double seconds_each = options.quick ? 0.1 : 3;
  json["train_d30"] = measure_training({d30, 1000, 20, kAuthorsSteps / part, seconds_each}, peak, device);
  json["train_d100"] = measure_training({d100, 5000, 30, 2000 / part, seconds_each}, peak, device);
  json["train_d100_compact"] = measure_training({compact, 5000, 30, 2000 / part, seconds_each}, peak, device);
  json["density_d30"] = measure_density(peak, device);
  const std::string failure = device_failure();  // what the processor did instead is no figure of the device
  if (!failure.empty()) throw Error(fmt::format("[bench] the GPU was given up, so there are no figures: {}", failure));
  const double seconds = kAuthorsSteps / json["train_d30"]["single_model_steps_per_s"].get<double>();
  json["authors_protocol"] = {{"steps", kAuthorsSteps},
                              {"seconds", seconds},
                              {"authors_seconds_on_2_cores", kAuthorsSeconds},
                              {"ratio", kAuthorsSeconds / seconds}};
  if (options.json) {
    fmt::print("{}\n", json.dump());
  } else {
    print(json, device != nullptr ? kH200 : kTwoCores);
  }
}

}  // namespace

void add_bench_flow(CLI::App& bench) {
  const auto options = std::make_shared<FlowBenchOptions>();
  CLI::App* command = bench.add_subcommand("flow", "measure training and densities on this machine");
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_flag("--quick", options->quick, "a hundredth of the work: rough figures");
  command->add_option("--device", options->device, "what to measure")
      ->check(CLI::IsMember(all_names<Device>()))
      ->capture_default_str();
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
