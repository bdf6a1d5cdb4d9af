// SPDX-License-Identifier: Apache-2.0
//
// Tables on which an answer should not be believed, beside clean ones: how many are warned of, and what the boundaries
// are worth. Figures stand beside targets, which are for 20 tables of each kind. F1 and FDR are against
// the graph; `own FDR` is against the boundaries that the columns have, among which are those that share a hidden
// cause.
//   bench_trust --tables 20
//   bench_trust --only walks,copies
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/machine.h"
#include "bench/score.h"
#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;

namespace {

constexpr double kFalseAlarms = 0.05, kWarned = 0.9, kSlackOfFdr = 1.5, kDamagedFdr = 2, kDamagedF1 = 10;  // targets

struct Options {
  int tables = 20, nodes = 10;
  Index rows = 800;
  std::string effort = "quick";
  double fdr = 0.05;
  std::vector<std::string> only;
};

struct Table {
  Dataset data;
  Dag truth;
  std::vector<std::vector<int>> own = {};  // the boundaries that the table has, if hidden causes make them others
};

// ---- Tables ---------------------------------------------------------------------------------------------------------

SimulateParams clean_params(const Options& options, int seed, Sem sem = Sem::gp, Noise noise = Noise::gauss) {
  SimulateParams params;
  params.sem = sem;
  params.noise = noise;
  params.nodes = options.nodes;
  params.rows = options.rows;
  params.seed = static_cast<std::uint64_t>(seed);
  return params;
}

// Variables depend on each other given all others if a path of colliders joins them: in the moral graph with the hidden
// causes, a path whose inner nodes are hidden.
std::vector<std::vector<int>> boundaries_beside_hidden(const Dag& dag, const std::vector<std::pair<int, int>>& pairs) {
  const Index d = dag.nodes(), all = d + static_cast<Index>(pairs.size());
  ByteMatrix edges = ByteMatrix::Zero(all, all);
  edges.topLeftCorner(d, d) = dag.adjacency();
  for (std::size_t h = 0; h < pairs.size(); ++h) {
    edges(d + static_cast<Index>(h), pairs[h].first) = edges(d + static_cast<Index>(h), pairs[h].second) = 1;
  }
  const Dag whole(edges);
  std::vector<std::vector<int>> result;
  for (int target = 0; target < static_cast<int>(d); ++target) {
    std::vector<char> seen(static_cast<std::size_t>(all), 0);
    std::vector<int> open = {target}, found;
    seen[static_cast<std::size_t>(target)] = 1;
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int next : whole.markov_boundary(node)) {
        if (std::exchange(seen[static_cast<std::size_t>(next)], 1) != 0) continue;
        (next < static_cast<int>(d) ? found : open).push_back(next);
      }
    }
    result.push_back(std::move(found));
  }
  return result;
}

Table simulated(const SimulateParams& params) {
  Simulation made = simulate(params);
  Table table{std::move(made.data), std::move(made.dag)};
  if (!made.hidden_cause_pairs.empty()) table.own = boundaries_beside_hidden(table.truth, made.hidden_cause_pairs);
  return table;
}

// Independent series with a memory: x_i = memory · x_{i−1} + noise.
Table series(int seed, double memory) {
  Table table{{default_names(6), Matrix(400, 6)}, Dag(6, {})};
  for (Index j = 0; j < 6; ++j) {
    Random random(Key{static_cast<std::uint64_t>(seed)}.split(static_cast<std::uint64_t>(j)));
    double x = 0;
    for (double& cell : table.data.values.col(j)) cell = x = memory * x + random.normal();
  }
  return table;
}

// A twentieth of the rows, twenty times each.
Table copied_rows(const Options& options, int seed) {
  Table table = simulated(clean_params(options, seed));
  for (Index i = 0; i < table.data.rows(); ++i) {
    table.data.values.row(i) = Vector(table.data.values.row(i % (options.rows / 20))).transpose();
  }
  return table;
}

Table outliers(const Options& options, int seed) {
  Table table = simulated(clean_params(options, seed));
  table.data.values(seed % options.rows, seed % options.nodes) = 1e5;
  return table;
}

// Linear equations whose noise grows with a parent, x = Σ parents + e^{0.8 parent} · noise.
Table heteroscedastic(const Options& options, int seed) {
  Table table = simulated(clean_params(options, seed));
  Random random(Key{static_cast<std::uint64_t>(seed)}.split(7));
  for (const int node : table.truth.topological_order()) {
    Vector x(options.rows);
    for (Index i = 0; i < x.size(); ++i) {
      double mean = 0, first = 0;
      for (const int parent : table.truth.parents(node)) mean += first = table.data.values(i, parent);
      x[i] = mean + std::exp(0.8 * std::clamp(first, -3.0, 3.0)) * random.normal();
    }
    const double scale = std::sqrt((x.array() - x.mean()).square().mean());
    table.data.values.col(node) = (x.array() - x.mean()) / scale;
  }
  return table;
}

// Four batches of rows, one after the other, each with its own mean of every column.
Table batches(const Options& options, int seed) {
  Table table = simulated(clean_params(options, seed));
  Random random(Key{static_cast<std::uint64_t>(seed)}.split(9));
  for (Index j = 0; j < options.nodes; ++j) {
    auto column = table.data.values.col(j);
    const double scale = std::sqrt((column.array() - column.mean()).square().mean());
    for (Index batch = 0; batch < 4; ++batch) {
      column.segment(batch * options.rows / 4, options.rows / 4).array() += 1.5 * scale * random.normal();
    }
  }
  return table;
}

struct Kind {
  std::string name;
  bool clean = false;
  std::function<Table(const Options&, int)> make;
};

std::vector<Kind> all_kinds() {
  const auto with = [](auto change) {
    return [change](const Options& options, int seed) {
      SimulateParams params = clean_params(options, seed);
      change(params);
      return simulated(params);
    };
  };
  const auto equations = [](Sem sem, Noise noise) {
    return [=](const Options& options, int seed) { return simulated(clean_params(options, seed, sem, noise)); };
  };
  return {{"gp", true, equations(Sem::gp, Noise::gauss)},
          {"linear", true, equations(Sem::linear, Noise::gauss)},
          {"mixed noise", true, equations(Sem::gp, Noise::mixed)},
          {"post-nonlinear", true, equations(Sem::pnl, Noise::gauss)},
          {"walks", false, [](const Options&, int seed) { return series(seed, 1); }},
          {"AR(0.95)", false, [](const Options&, int seed) { return series(seed, 0.95); }},
          {"AR(0.5)", false, [](const Options&, int seed) { return series(seed, 0.5); }},
          {"copied rows", false, copied_rows},
          {"outliers", false, outliers},
          {"2 hidden", false, with([](SimulateParams& p) { p.hidden = 2; })},
          {"5 hidden", false, with([](SimulateParams& p) { p.hidden = 5; })},
          {"noise 5 %", false, with([](SimulateParams& p) { p.measurement_noise = 0.05; })},
          {"noise 20 %", false, with([](SimulateParams& p) { p.measurement_noise = 0.2; })},
          {"heteroscedastic", false, heteroscedastic},
          {"discrete", false, with([](SimulateParams& p) { p.kinds = Kinds::mixed; })},
          {"batches", false, batches}};
}

// ---- Runs -----------------------------------------------------------------------------------------------------------

struct Outcome {
  double f1 = 0, fdr = 0;
  double members = 0, members_false_own = 0;  // and how many are not in the table's own boundaries
  double firm = 0, firm_false = 0;            // members that are not marked fragile, and how many of them are false
  bool warned = false;
};

Outcome run(const Table& table, const Options& options, int seed) {
  BoundariesParams params;
  params.fansite().effort = parse<Effort>(options.effort);
  params.fansite().search.fdr = options.fdr;
  params.run.seed = static_cast<std::uint64_t>(seed);
  const BoundariesResult result = markov_boundaries(table.data, params);
  Outcome outcome;
  std::vector<std::vector<int>> found, expected;
  for (const Boundary& boundary : result.found.boundaries) {
    found.push_back(boundary.member_indices());
    expected.push_back(table.truth.markov_boundary(boundary.target));
    const auto& truth = expected.back();
    const auto& own = table.own.empty() ? truth : table.own[static_cast<std::size_t>(boundary.target)];
    const auto is_false = [](const std::vector<int>& in, int variable) {
      return std::find(in.begin(), in.end(), variable) == in.end() ? 1.0 : 0.0;
    };
    for (const Member& member : boundary.members) {
      ++outcome.members;
      outcome.members_false_own += is_false(own, member.variable);
      if (member.fragile) continue;
      ++outcome.firm;
      outcome.firm_false += is_false(truth, member.variable);
    }
  }
  const BoundariesScore score = score_boundaries(found, expected);
  outcome.f1 = 100 * score.mean.f1;
  outcome.fdr = 100 * score.false_discovery_rate;
  outcome.warned = !result.warnings.empty();
  return outcome;
}

// ---- Printing -------------------------------------------------------------------------------------------------------

std::string verdict(bool met) { return met ? "met" : "MISSED"; }

void print_kind(const Kind& kind, const std::vector<Outcome>& outcomes, const std::vector<double>& clean_f1,
                const Options& options) {
  std::vector<double> f1, fdr;
  double warned = 0, damaged = 0, warned_of_damage = 0, members = 0, false_own = 0, firm = 0, firm_false = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    f1.push_back(outcome.f1);
    fdr.push_back(outcome.fdr);
    warned += outcome.warned;
    const bool harmed =
        outcome.fdr > 100 * kDamagedFdr * options.fdr || (i < clean_f1.size() && outcome.f1 < clean_f1[i] - kDamagedF1);
    damaged += harmed;
    warned_of_damage += harmed && outcome.warned;
    members += outcome.members;
    false_own += outcome.members_false_own;
    firm += outcome.firm;
    firm_false += outcome.firm_false;
  }
  const auto count = static_cast<double>(outcomes.size());
  const double rate = firm > 0 ? firm_false / firm : 0;
  std::string judged;
  if (kind.clean) {
    judged = fmt::format("false alarms {}", verdict(warned / count <= kFalseAlarms));
  } else {
    judged = damaged > 0 ? fmt::format("warned of damage {:.0f} % {}", 100 * warned_of_damage / damaged,
                                       verdict(warned_of_damage >= kWarned * damaged))
                         : "no damage";
    judged += fmt::format(", firm FDR {}", verdict(rate <= kSlackOfFdr * options.fdr));
  }
  const auto share = [&](double part) { return members > 0 ? 100 * part / members : 0.0; };
  fmt::print("{:<16} {:>7.0f} {:>14} {:>14} {:>8.1f} {:>7.0f} {:>9.1f} {:>8.0f}   {}\n", kind.name,
             100 * warned / count, mean_text(f1, 1), mean_text(fdr, 1), share(false_own), share(firm), 100 * rate,
             damaged, judged);
  std::fflush(stdout);
}

int program(int argc, char** argv) {
  Options options;
  CLI::App app("Tables on which an answer should not be believed, and clean ones");
  app.add_option("--tables", options.tables, "of each kind: seeds 1, 2, …")->check(CLI::PositiveNumber);
  app.add_option("--nodes", options.nodes)->check(CLI::Range(6, 100))->capture_default_str();
  app.add_option("--rows", options.rows)->check(CLI::Range(100, 5000))->capture_default_str();
  app.add_option("--effort", options.effort)->capture_default_str();
  app.add_option("--fdr", options.fdr, "the FDR level")->capture_default_str();
  app.add_option("--only", options.only, "these kinds of tables")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  const std::vector<Kind> kinds = all_kinds();
  for (const std::string& wanted : options.only) {
    check(std::any_of(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == wanted; }),
          "[trust] there are no tables '{}'", wanted);
  }
  fmt::print("{} tables of each kind, {} × {} (series 400 × 6), effort {}; {}\n", options.tables, options.rows,
             options.nodes, options.effort, machine());
  fmt::print("{:<16} {:>7} {:>14} {:>14} {:>8} {:>7} {:>9} {:>8}\n", "", "warned", "F1", "FDR %", "own FDR", "firm %",
             "firm FDR", "damaged");
  std::vector<double> clean_f1;  // of the tables that most others are made from
  for (const Kind& kind : kinds) {
    const bool wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), kind.name) != options.only.end();
    if (!wanted) continue;
    std::vector<Outcome> outcomes;
    for (int seed = 1; seed <= options.tables; ++seed) {
      outcomes.push_back(run(kind.make(options, seed), options, seed));
      if (kind.name == "gp") clean_f1.push_back(outcomes.back().f1);
    }
    const bool from_gp = !kind.clean && kind.name != "walks" && kind.name != "AR(0.95)";
    print_kind(kind, outcomes, from_gp ? clean_f1 : std::vector<double>(), options);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
