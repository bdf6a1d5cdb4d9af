// SPDX-License-Identifier: Apache-2.0
//
// Boundaries of tables whose columns are levels, counts and numbers, beside those of the same tables before they were
// made coarse; and of the same columns, each in an order of its own, in which there is nothing to find. Figures stand
// beside targets, which are for 20 tables.
//   bench_mixed_tables --effort quick
//   bench_mixed_tables --kinds continuous --missing-share 0.1      # what missing cells cost, and nothing else
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/score.h"
#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/base/stopwatch.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

constexpr double kShareOfF1 = 0.9, kSlackOfFdr = 1.5, kShareOfEmpty = 0.95;  // the targets

struct Options {
  int tables = 20, nodes = 15;
  Index rows = 1000;
  std::string kinds = "mixed", children_see = "variables", missing_by = "random", effort = "normal", estimator = "auto",
              refine = "auto";
  double missing_share = 0, fdr = 0.05;
  bool noise = true;
  std::string csv;
};

// ---- Tables ---------------------------------------------------------------------------------------------------------

// The equations in turn, so that every kind of column meets every kind of relation.
SimulateParams fine_params(const Options& options, int seed) {
  constexpr std::array<Sem, 4> kSems = {Sem::gp, Sem::mlp, Sem::linear, Sem::pnl};
  SimulateParams params;
  params.sem = kSems[static_cast<std::size_t>(seed - 1) % kSems.size()];
  params.noise = Noise::mixed;
  params.nodes = options.nodes;
  params.rows = options.rows;
  params.seed = static_cast<std::uint64_t>(seed);
  return params;
}

SimulateParams coarse_params(const Options& options, int seed) {
  SimulateParams params = fine_params(options, seed);
  params.kinds = parse<Kinds>(options.kinds);
  params.children_see = parse<ChildrenSee>(options.children_see);
  params.missing_share = options.missing_share;
  params.missing_by = parse<MissingBy>(options.missing_by);
  return params;
}

// Every column in an order of its own: the same values, and nothing that any of them says about another.
Dataset shuffled(const Dataset& data, Key key) {
  Dataset result = data;
  for (int column = 0; column < data.variables(); ++column) {
    const std::vector<int> order =
        Random(key.split(static_cast<std::uint64_t>(column))).permutation(static_cast<int>(data.rows()));
    result.values.col(column) = data.values.col(column)(order);
  }
  return result;
}

// ---- Runs -----------------------------------------------------------------------------------------------------------

struct Outcome {
  double f1 = 0, fdr = 0, found = 0, expected = 0, seconds = 0;
  bool empty = true;
  std::string estimator = "-";
  std::string failure = {};  // a table that is refused has nothing found
};

Outcome run(const Dataset& data, const Dag& truth, const Options& options, int seed) {
  BoundariesParams params;
  params.fansite().estimator = options.estimator;
  params.fansite().effort = parse<Effort>(options.effort);
  params.fansite().refine = parse<Refine>(options.refine);
  params.fansite().search.fdr = options.fdr;
  params.run.seed = static_cast<std::uint64_t>(seed);
  Outcome outcome;
  const Stopwatch watch;
  try {
    const BoundariesResult result = markov_boundaries(data, params);
    std::vector<std::vector<int>> found, expected;
    for (const Boundary& boundary : result.found.boundaries) {
      found.push_back(boundary.member_indices());
      expected.push_back(truth.markov_boundary(boundary.target));
      outcome.found += static_cast<double>(found.back().size()) / truth.nodes();
      outcome.expected += static_cast<double>(expected.back().size()) / truth.nodes();
    }
    const BoundariesScore score = score_boundaries(found, expected);
    outcome.f1 = 100 * score.mean.f1;
    outcome.fdr = 100 * score.false_discovery_rate;
    outcome.empty = outcome.found == 0;
    outcome.estimator = result.estimator;
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  outcome.seconds = watch.seconds();
  return outcome;
}

struct Row {
  int seed = 0;
  Sem sem = Sem::linear;
  Outcome fine, coarse;
  std::optional<Outcome> noise;
};

Row run_seed(const Options& options, int seed) {
  const SimulateParams params = fine_params(options, seed);
  const Simulation fine = simulate(params), coarse = simulate(coarse_params(options, seed));
  Row row{seed, params.sem, run(fine.data, fine.dag, options, seed), run(coarse.data, fine.dag, options, seed), {}};
  if (options.noise) {
    const Dag nothing(options.nodes, {});
    row.noise = run(shuffled(coarse.data, Key{params.seed}), nothing, options, seed);
  }
  return row;
}

// ---- Printing -------------------------------------------------------------------------------------------------------

std::string shown(const Outcome& outcome) {
  if (!outcome.failure.empty()) return "failed";
  return fmt::format("{:.1f} / {:.1f}  {:.2f}  {}", outcome.f1, outcome.fdr, outcome.found, outcome.estimator);
}

void print_row(const Row& row) {
  std::string noise = "-";
  if (row.noise) noise = row.noise->failure.empty() ? (row.noise->empty ? "nothing" : "SOMETHING") : "failed";
  fmt::print("{:>4} {:<7} {:>28} {:>28} {:>10} {:>10.2f} {:>9.1f}\n", row.seed, name(row.sem), shown(row.fine),
             shown(row.coarse), noise, row.fine.expected, row.coarse.seconds);
  for (const Outcome* outcome : {&row.fine, &row.coarse, row.noise ? &*row.noise : nullptr}) {
    if (outcome != nullptr && !outcome->failure.empty()) fmt::print("     {}\n", outcome->failure);
  }
  std::fflush(stdout);
}

std::string verdict(bool met) { return met ? "met" : "MISSED"; }

std::vector<double> column(const std::vector<Row>& rows, Outcome Row::*table, double Outcome::*figure) {
  std::vector<double> result;
  for (const Row& row : rows) result.push_back(row.*table.*figure);
  return result;
}

void print_summary(const Options& options, const std::vector<Row>& rows) {
  const std::vector<double> fine = column(rows, &Row::fine, &Outcome::f1);
  const std::vector<double> coarse = column(rows, &Row::coarse, &Outcome::f1);
  const std::vector<double> rates = column(rows, &Row::coarse, &Outcome::fdr);
  const double share = mean_and_spread(coarse).mean / mean_and_spread(fine).mean;
  const double rate = mean_and_spread(rates).mean, most = 100 * kSlackOfFdr * options.fdr;
  fmt::print("\n{} tables; means with their spread; a table that failed has nothing found\n", rows.size());
  fmt::print("  F1   {} before, {} after: {:.1f} % (target ≥ {:g} % {})\n", mean_text(fine, 1), mean_text(coarse, 1),
             100 * share, 100 * kShareOfF1, verdict(share >= kShareOfF1));
  fmt::print("  FDR  {} % before, {} % after (target ≤ {:g} % {})\n",
             mean_text(column(rows, &Row::fine, &Outcome::fdr), 1), mean_text(rates, 1), most, verdict(rate <= most));
  fmt::print("  members  {} before, {} after, {} true; seconds {} before, {} after\n",
             mean_text(column(rows, &Row::fine, &Outcome::found), 2),
             mean_text(column(rows, &Row::coarse, &Outcome::found), 2),
             mean_text(column(rows, &Row::fine, &Outcome::expected), 2),
             mean_text(column(rows, &Row::fine, &Outcome::seconds), 1),
             mean_text(column(rows, &Row::coarse, &Outcome::seconds), 1));
  if (!options.noise) return;
  double empty = 0;  // a refusal is no answer, so it does not count
  for (const Row& row : rows) empty += row.noise->empty && row.noise->failure.empty();
  empty /= static_cast<double>(rows.size());
  fmt::print("  pure noise of the same kinds: nothing found in {:.0f} % (target ≥ {:g} % {})\n", 100 * empty,
             100 * kShareOfEmpty, verdict(empty >= kShareOfEmpty));
}

void write_csv(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream file(path);
  file << "seed,sem,table,f1,fdr,found,expected,estimator,seconds\n";
  for (const Row& row : rows) {
    const auto line = [&](const char* table, const Outcome& o) {
      file << fmt::format("{},{},{},{:.3f},{:.3f},{:.4f},{:.4f},{},{:.2f}\n", row.seed, name(row.sem), table, o.f1,
                          o.fdr, o.found, o.expected, o.failure.empty() ? o.estimator : "failed", o.seconds);
    };
    line("fine", row.fine);
    line("coarse", row.coarse);
    if (row.noise) line("noise", *row.noise);
  }
  check(static_cast<bool>(file.flush()), "[mixed_tables] {} cannot be written", path);
}

// ---- The program ----------------------------------------------------------------------------------------------------

int program(int argc, char** argv) {
  Options options;
  CLI::App app("Boundaries of tables with levels, counts and missing cells");
  app.add_option("--tables", options.tables, "seeds 1, 2, …")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--nodes", options.nodes)->check(CLI::Range(3, 1000))->capture_default_str();
  app.add_option("--rows", options.rows)->check(CLI::Range(20, 5000))->capture_default_str();
  app.add_option("--kinds", options.kinds, "as of fansite simulate")->capture_default_str();
  app.add_option("--children-see", options.children_see, "as of fansite simulate; columns: the graph's boundaries hold")
      ->capture_default_str();
  app.add_option("--missing-share", options.missing_share, "as of fansite simulate")->capture_default_str();
  app.add_option("--missing-by", options.missing_by, "as of fansite simulate")->capture_default_str();
  app.add_option("--effort", options.effort)->capture_default_str();
  app.add_option("--estimator", options.estimator)->capture_default_str();
  app.add_option("--refine", options.refine, "as of fansite mb")->capture_default_str();
  app.add_option("--fdr", options.fdr, "the FDR level")->capture_default_str();
  app.add_flag("!--no-noise", options.noise, "leave out the tables of pure noise");
  app.add_option("--csv", options.csv, "write three rows per table to this file");
  CLI11_PARSE(app, argc, argv);
  fmt::print("Boundaries of {} tables of {} × {}, children see {}, effort {}; {}\n", options.kinds, options.rows,
             options.nodes, options.children_see, options.effort, machine());
  fmt::print("{:>4} {:<7} {:>28} {:>28} {:>10} {:>10} {:>9}\n", "seed", "", "before: F1 / FDR  found", "after",
             "pure noise", "true", "seconds");
  std::vector<Row> rows;
  for (int seed = 1; seed <= options.tables; ++seed) {
    rows.push_back(run_seed(options, seed));
    print_row(rows.back());
  }
  print_summary(options, rows);
  if (!options.csv.empty()) write_csv(options.csv, rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
