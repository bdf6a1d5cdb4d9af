// SPDX-License-Identifier: Apache-2.0
//
// fansite bench: a fixed small workload and one fingerprint of its results. A change that should not alter any answer
// leaves the fingerprint as it is.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/version.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"

namespace fansite::cli {
namespace {

struct BenchOptions : CommonOptions {
  bool json = false;
};

// FNV-1a over whole numbers.
class Fingerprint {
 public:
  void add(long long value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ static_cast<std::uint64_t>(value >> (8 * byte) & 0xff)) * 0x100000001b3u;
    }
  }
  // To six decimals: BLAS may round the last bits differently on another machine.
  void add_rounded(double value) { add(std::isfinite(value) ? std::llround(value * 1e6) : -1); }
  std::string text() const { return fmt::format("{:08x}", static_cast<std::uint32_t>(hash_ ^ hash_ >> 32)); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

void add_boundaries(const BoundariesResult& result, Fingerprint& fingerprint) {
  for (const Boundary& boundary : result.found.boundaries) {
    fingerprint.add(boundary.target);
    for (const Member& member : boundary.members) {
      fingerprint.add(member.variable);
      fingerprint.add_rounded(member.gain);
    }
  }
}

void run(const BenchOptions& options) {
  const ThreadLimit limit(options.threads);
  const Stopwatch watch;
  Fingerprint fingerprint;
  SimulateParams setting;
  setting.nodes = 60;
  setting.degree = 1.5;
  setting.rows = 500;
  for (const auto& [sem, noise] : {std::pair(Sem::linear, Noise::gauss), std::pair(Sem::linear, Noise::mixed),
                                   std::pair(Sem::gp, Noise::gauss), std::pair(Sem::gene, Noise::gauss)}) {
    setting.sem = sem;
    setting.noise = noise;
    ++setting.seed;
    const Simulation simulation = simulate(setting);
    for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
      BoundariesParams params;
      params.fansite().estimator = "gaussian";
      params.fansite().search.stop = stop;
      add_boundaries(markov_boundaries(simulation.data, params), fingerprint);
    }
  }
  const double seconds = watch.seconds();
  if (options.json) {
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"fingerprint", fingerprint.text()}, {"version", FANSITE_VERSION}, {"seconds", seconds}}
            .dump());
  } else {
    fmt::print("fingerprint {}\n", fingerprint.text());
    say(options, fmt::format("{:.2f} s on {}", seconds, counted(thread_count(), "thread")));
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "run a fixed small workload and print one fingerprint of its results");
  command->add_flag("--json", options->json, "print one JSON object");
  options->add_to(*command);
  add_bench_flow(*command);
  command->callback([options, command] {
    if (command->get_subcommands().empty()) run(*options);
  });
}

}  // namespace fansite::cli
