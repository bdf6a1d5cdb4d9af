// SPDX-License-Identifier: Apache-2.0
//
// How near does a plan come? Plans, then runs, each in a process of its own so that its memory is its own, back to
// back. On a busy machine the two get different shares of it: the second ratio is of the times that equal shares would
// have given.
//   bench_plan [times, default 3] [settings whose name holds this, default all]
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "fansite/base/stopwatch.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

struct Setting {
  std::string name;
  SimulateParams table;
  BoundariesParams run;
};

Setting setting(std::string name, Sem sem, int nodes, Index rows, Effort effort, std::int64_t steps = 0) {
  Setting result{std::move(name), {}, {}};
  result.table.sem = sem;
  result.table.nodes = nodes;
  result.table.rows = rows;
  result.table.degree = 1;
  result.table.seed = 7;
  result.run.fansite().effort = effort;
  result.run.fansite().steps = steps;
  return result;
}

struct Measured {
  double seconds = 0, own_seconds = 0, memory_mb = 0;
  double phases[3] = {0, 0, 0};  // training, searching, graph
  double share = 0;              // of a processor that the child had
};

// Calls the work in a child and takes over what it measured, with the child's own peak of memory unless it set one.
Measured in_a_child(const std::function<Measured()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const Stopwatch watch;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    const Measured measured = work();
    const bool written = write(ends[1], &measured, sizeof measured) == sizeof measured;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured measured;
  const bool complete = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  if (!complete || status != 0) throw std::runtime_error("the child failed");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  measured.share = (seconds(usage.ru_utime) + seconds(usage.ru_stime)) / watch.seconds();
  if (measured.memory_mb == 0) measured.memory_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  return measured;
}

Measured planned(const Setting& setting) {
  const Plan found = plan(simulate(setting.table).data, setting.run);
  Measured measured;
  measured.seconds = found.total_seconds();
  measured.own_seconds = found.seconds;
  measured.memory_mb = found.peak_memory_mb;
  for (const PlannedPhase& phase : found.phases) {
    if (phase.name == "training") measured.phases[0] += phase.seconds;
    if (phase.name == "searching") measured.phases[1] += phase.seconds;
    if (phase.name == "graph") measured.phases[2] += phase.seconds;
  }
  return measured;
}

Measured run(const Setting& setting) {
  const Dataset data = simulate(setting.table).data;
  const Stopwatch watch;
  const BoundariesResult result = markov_boundaries(data, setting.run);
  Measured measured;
  measured.seconds = watch.seconds();
  measured.phases[0] = phase_seconds(result, "train");
  measured.phases[1] = phase_seconds(result, "search");
  measured.phases[2] = phase_seconds(result, "graph");
  return measured;
}

int program(int times, const std::string& only) {
  const std::vector<Setting> settings = {
      setting("linear d100 N2000", Sem::linear, 100, 2000, Effort::normal),
      setting("gp d15 N500 quick", Sem::gp, 15, 500, Effort::quick),
      setting("gp d30 N1000 quick", Sem::gp, 30, 1000, Effort::quick),
      setting("gp d30 N1000 normal", Sem::gp, 30, 1000, Effort::normal),
      setting("gp d100 N1000 quick, 500 steps", Sem::gp, 100, 1000, Effort::quick, 500),
  };
  fmt::print("Plans against runs, seconds (training, searching, graph) and MB; {}\n", machine());
  int all = 0, within = 0, memory_within = 0;
  for (const Setting& s : settings) {
    if (s.name.find(only) == std::string::npos) continue;
    for (int i = 0; i < times; ++i) {
      const Measured before = in_a_child([&] { return planned(s); });
      const Measured after = in_a_child([&] { return run(s); });
      const double ratio = before.seconds / after.seconds, memory = before.memory_mb / after.memory_mb;
      const auto near = [](double r) { return r < Plan::kWithin && r > 1 / Plan::kWithin; };
      ++all;
      within += near(ratio);
      memory_within += near(memory);
      const auto times_of = [](const Measured& m) {
        return fmt::format("{:.2f} ({:.2f}, {:.2f}, {:.2f})", m.seconds, m.phases[0], m.phases[1], m.phases[2]);
      };
      fmt::print(
          "{:<31} planned {} in {:.1f} s, took {}: ratio {:.2f}, {:.2f} at equal shares ({:.2f}, {:.2f}); "
          "memory {:.0f} and {:.0f}: {:.2f}\n",
          s.name, times_of(before), before.own_seconds, times_of(after), ratio, ratio * before.share / after.share,
          before.share, after.share, before.memory_mb, after.memory_mb, memory);
      std::fflush(stdout);
    }
  }
  fmt::print("within a factor of {}: time {} of {}, memory {} of {} (target all)\n", Plan::kWithin, within, all,
             memory_within, all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc > 1 ? std::atoi(argv[1]) : 3, argc > 2 ? argv[2] : ""); });
}
