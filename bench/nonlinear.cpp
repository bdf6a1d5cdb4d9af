// SPDX-License-Identifier: Apache-2.0
//
// The paper's table for nonlinear data and the data with known truth of ../shared: ours honest (sizes decided from the
// data) and at oracle size (the ranking alone), beside the published figures and the targets, which are for --effort
// normal. With --effort normal all sets take hours on two cores.
//   bench_nonlinear --sets gp_d30,sachs --orders 1 --effort quick
//   bench_nonlinear --sets d30 --seeds 3        # every set whose name begins so
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/published.h"
#include "bench/score.h"
#include "bench/tables.h"
#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"

using namespace fansite;

namespace {

struct Options {
  std::vector<std::string> sets;
  int seeds = 5, orders = 3;
  std::string effort = "normal", estimator = "auto";
  std::string refine = "auto";
  std::int64_t steps = 0;
  std::string csv, models;
};

// ---- The sets -------------------------------------------------------------------------------------------------------

constexpr std::array<const char*, 3> kMetrics = {"nDCG", "AveP", "F1"};
using Metrics = std::array<double, 3>;  // in percent; as a target, 0: none

struct Set {
  std::string name;
  Tables tables;
  std::string published = {};        // "group,dataset" of the paper's table; "": none
  std::string estimator = {};        // "": as asked for
  Metrics honest = {}, oracle = {};  // targets: at least
  double below_oracle = 0;           // target: honest F1 is at most this far below the one at oracle size; 0: none
  double seconds = 0;                // target: at most; 0: none
};

std::vector<Set> all_sets() {
  std::vector<Set> sets;
  const auto add = [&](const std::string& name, const std::string& published) -> Set& {
    return sets.emplace_back(Set{.name = name, .tables = tables_named(name), .published = published});
  };
  Set& shared = add("gp_d30", "Nonlinear data,d30-G");
  shared.honest = {93, 90, 93};
  shared.oracle = {96, 94, 95};
  shared.seconds = 45;
  add("sachs", "Real/Semi-real networks,Sachs").honest = {0, 0, 70};
  add("syntren", "Real/Semi-real networks,SynTReN");
  add("sergio", "Real/Semi-real networks,SERGIO").seconds = 1200;
  add("arth150", "Real/Semi-real networks,ARTH150").honest = {0, 0, 96};
  Set& gauss = add("d30-G", "Nonlinear data,d30-G");
  gauss.honest = {92.5, 0, 91.2};
  gauss.seconds = 45;
  Set& mixed = add("d30-MN", "Nonlinear data,d30-MN");
  mixed.honest = {89.7, 0, 87.7};
  mixed.seconds = 45;
  Set& wide = add("d100-1", "Nonlinear data,d100-1");
  wide.honest = {0, 0, 87.5};
  wide.seconds = 400;
  add("pnl", "").below_oracle = 3;
  add("scale-free", "").below_oracle = 10;
  for (const std::string estimator : {"flow", "gaussian"}) {
    Set& linear = add("linear", "Linear data,d30");
    linear.name = "linear-" + estimator;
    linear.estimator = estimator;
  }
  return sets;
}

// ---- Runs -----------------------------------------------------------------------------------------------------------

// The highest resident memory since the last call of forget_peak (Linux; else of the process).
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1e3;
  }
  return 0;
}

struct Outcome {
  std::string run;
  std::string estimator;
  Index rows = 0;
  int nodes = 0;
  Scored scored;
  double seconds = 0, peak = 0;
};

Metrics metrics(const BoundariesScore& score) {
  return {100 * score.mean.ndcg, 100 * score.mean.average_precision, 100 * score.mean.f1};
}

Outcome run(const Table& table, const Set& set, const Options& options) {
  BoundariesParams params;
  params.fansite().estimator = set.estimator.empty() ? options.estimator : set.estimator;
  params.fansite().effort = parse<Effort>(options.effort);
  params.fansite().steps = options.steps;
  params.fansite().refine = parse<Refine>(options.refine);
  params.run.seed = static_cast<std::uint64_t>(table.number);
  keep_model(params.run, options.models, set.tables, table, effort_text(options.effort, options.steps));
  forget_peak();
  const Stopwatch watch;
  const BoundariesResult result = markov_boundaries(table.data, params);
  Outcome outcome;
  outcome.seconds = watch.seconds();
  outcome.peak = peak_megabytes();
  outcome.run = table.run;
  outcome.estimator = result.estimator;
  outcome.rows = table.data.rows();
  outcome.nodes = table.data.variables();
  outcome.scored = score(table.data, result, table.truth);
  return outcome;
}

void print_headings() {
  fmt::print("{:<16} {:<19} {:>11}  {:>17}  {:>17} {:>6} {:>12}  {:<9} {:>7} {:>6}\n", "", "", "N × d", "nDCG/AveP/F1",
             "at oracle size", "FDR %", "found / true", "estimator", "seconds", "MB");
}

void print_run(const Set& set, const Outcome& outcome) {
  const auto three = [](const Metrics& m) { return fmt::format("{:.1f}/{:.1f}/{:.1f}", m[0], m[1], m[2]); };
  fmt::print("{:<16} {:<19} {:>11}  {:>17}  {:>17} {:>6.1f} {:>12}  {:<9} {:>7.1f} {:>6.0f}\n", set.name, outcome.run,
             fmt::format("{} × {}", outcome.rows, outcome.nodes), three(metrics(outcome.scored.honest)),
             three(metrics(outcome.scored.oracle)), 100 * outcome.scored.honest.false_discovery_rate,
             fmt::format("{:.2f} / {:.2f}", outcome.scored.found, outcome.scored.expected), outcome.estimator,
             outcome.seconds, outcome.peak);
  std::fflush(stdout);
}

void append_csv(const std::string& path, const Set& set, const Outcome& outcome, const Options& options) {
  const bool begun = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  std::ofstream file(path, std::ios::app);
  if (!begun) {
    file << "set,run,rows,nodes,effort,estimator,ndcg,average_precision,f1,precision,recall,fdr,oracle_ndcg,"
            "oracle_average_precision,oracle_f1,found,expected,seconds,peak_mb\n";
  }
  std::string run = outcome.run;
  std::erase(run, ',');
  const BoundariesScore& honest = outcome.scored.honest;
  const BoundaryScore& oracle = outcome.scored.oracle.mean;
  file << fmt::format(
      "{},{},{},{},{},{},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.4f},{:.4f},{:.2f},{:.3f}\n",
      set.name, run, outcome.rows, outcome.nodes, effort_text(options.effort, options.steps), outcome.estimator,
      honest.mean.ndcg, honest.mean.average_precision, honest.mean.f1, honest.mean.precision, honest.mean.recall,
      honest.false_discovery_rate, oracle.ndcg, oracle.average_precision, oracle.f1, outcome.scored.found,
      outcome.scored.expected, outcome.seconds, outcome.peak);
  check(static_cast<bool>(file.flush()), "[nonlinear] {} cannot be written", path);
}

// ---- Summary of a set -----------------------------------------------------------------------------------------------

std::string verdict(bool met) { return met ? "met" : "MISSED"; }

std::string target_text(double mean, double target) {
  return target > 0 ? fmt::format("≥ {:g} {}", target, verdict(mean >= target)) : "-";
}

void print_summary(const Set& set, const std::vector<Outcome>& outcomes, const Published& paper) {
  std::array<std::vector<double>, 3> honest, oracle;
  std::vector<double> rate, found, expected, seconds, peak;
  for (const Outcome& outcome : outcomes) {
    for (std::size_t m = 0; m < kMetrics.size(); ++m) {
      honest.at(m).push_back(metrics(outcome.scored.honest).at(m));
      oracle.at(m).push_back(metrics(outcome.scored.oracle).at(m));
    }
    rate.push_back(100 * outcome.scored.honest.false_discovery_rate);
    found.push_back(outcome.scored.found);
    expected.push_back(outcome.scored.expected);
    seconds.push_back(outcome.seconds);
    peak.push_back(outcome.peak);
  }
  fmt::print("\n  {:<20} {:<5} {:>12} {:>14} {:>14} {:>14} {:>13}\n", fmt::format("{} ({})", set.name, outcomes.size()),
             "", "honest", "target", "oracle size", "target", "published");
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    const auto theirs = paper.find(fmt::format("{},{}", set.published, kMetrics.at(m)));
    fmt::print("  {:<20} {:<5} {:>12} {:>14} {:>14} {:>14} {:>13}\n", "", kMetrics.at(m), mean_text(honest.at(m), 2),
               target_text(mean_and_spread(honest.at(m)).mean, set.honest.at(m)), mean_text(oracle.at(m), 2),
               target_text(mean_and_spread(oracle.at(m)).mean, set.oracle.at(m)),
               theirs == paper.end() ? "-" : theirs->second);
  }
  if (set.below_oracle > 0) {
    const double gap = mean_and_spread(oracle[2]).mean - mean_and_spread(honest[2]).mean;
    fmt::print("  {:<20} F1 is {:.2f} below the one at oracle size (target ≤ {:g} {})\n", "", gap, set.below_oracle,
               verdict(gap <= set.below_oracle));
  }
  const double mean_seconds = mean_and_spread(seconds).mean;
  fmt::print(
      "  {:<20} FDR {} %; members {:.2f} found, {:.2f} true; {} s{}; peak {:.0f} MB\n\n", "", mean_text(rate, 1),
      mean_and_spread(found).mean, mean_and_spread(expected).mean, mean_text(seconds, 1),
      set.seconds > 0 ? fmt::format(" (target ≤ {:g} {})", set.seconds, verdict(mean_seconds <= set.seconds)) : "",
      *std::max_element(peak.begin(), peak.end()));
  std::fflush(stdout);
}

void run_set(const Set& set, const Options& options, const Published& paper) {
  std::vector<Outcome> outcomes;
  for_each_table(set.tables, options.seeds, options.orders, [&](const Table& table) {
    outcomes.push_back(run(table, set, options));
    print_run(set, outcomes.back());
    if (!options.csv.empty()) append_csv(options.csv, set, outcomes.back(), options);
  });
  if (!outcomes.empty()) print_summary(set, outcomes, paper);
}

void run_all(const Options& options, const std::vector<Set>& sets) {
  const Published paper = published("table_mb.csv");
  fmt::print("Markov boundaries of nonlinear data, in percent, effort {}; {}\n",
             effort_text(options.effort, options.steps), machine());
  if (options.effort == "quick" || options.steps > 0) fmt::print("(the targets are for --effort normal)\n");
  print_headings();
  for (const Set& set : sets) {
    const bool asked = std::any_of(options.sets.begin(), options.sets.end(),
                                   [&](const std::string& prefix) { return set.name.starts_with(prefix); });
    if (asked || options.sets.empty()) run_set(set, options, paper);
  }
}

int program(int argc, char** argv) {
  Options options;
  const std::vector<Set> sets = all_sets();
  std::string names;
  for (const Set& set : sets) names += (names.empty() ? "" : ", ") + set.name;
  const auto known = [&](const std::string& prefix) {
    const bool found =
        std::any_of(sets.begin(), sets.end(), [&](const Set& set) { return set.name.starts_with(prefix); });
    return found ? std::string() : fmt::format("no set begins with '{}'; there are {}", prefix, names);
  };
  CLI::App app("Markov boundaries of nonlinear data beside published figures and targets");
  app.add_option("--sets", options.sets, "which, by their names' beginnings: " + names)->delimiter(',')->check(known);
  app.add_option("--seeds", options.seeds, "tables of each simulated set")->capture_default_str();
  app.add_option("--orders", options.orders, "random column orders of each shared table")->capture_default_str();
  app.add_option("--effort", options.effort)
      ->check(CLI::IsMember({"quick", "normal", "thorough"}))
      ->capture_default_str();
  app.add_option("--estimator", options.estimator, "save for the linear sets")
      ->check(CLI::IsMember({"auto", "flow", "gaussian"}))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "training steps of each network; 0: by effort")->capture_default_str();
  app.add_option("--refine", options.refine, "as of fansite mb")->capture_default_str();
  app.add_option("--models", options.models, "a folder where trained networks are kept, and found the next time");
  app.add_option("--csv", options.csv, "append a row per table to this file");
  CLI11_PARSE(app, argc, argv);
  run_all(options, sets);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
