// SPDX-License-Identifier: Apache-2.0
//
// Causal graphs against the truth: fansite-anm inside honest boundaries (no truth anywhere) and inside the true moral
// graph (--links oracle), and the published methods, read as they are and transposed; targets and published figures
// beside them.
//   bench_graphs --sets gp_d30 --links oracle
//   bench_graphs --sets d30-G,d30-MN --seeds 5 --effort normal --csv graphs.csv
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "bench/machine.h"
#include "bench/score.h"
#include "fansite/causal_graph.h"
#include "fansite/refine.h"
#include "fansite/simulate.h"

using namespace fansite;

namespace {

struct Options {
  std::vector<std::string> sets = {"gp_d30"};
  std::vector<std::string> methods = {"fansite-anm", "fansite-dcd", "sdcd"};
  std::string links = "honest", effort = "normal";
  int seeds = 5;
  std::string csv;
};

struct Table {
  std::string name;
  Dataset data;
  Dag truth;
};

struct Set {
  std::string name;
  std::vector<std::string> files;  // under ../shared/data; none: simulated
  SimulateParams simulate;
  double shd_target = 0;  // of fansite-anm; 0: none
  std::string published;  // SHD / AUC-ROC / AUC-PR of FANSITE-DCD
};

std::vector<Set> all_sets() {
  const auto simulated = [](Noise noise, int nodes, Index rows) {
    SimulateParams params;
    params.sem = Sem::gp;
    params.noise = noise;
    params.degree = 1;
    params.nodes = nodes;
    params.rows = rows;
    return params;
  };
  return {{"gp_d30", {"gp_d30_seed42.npz", "gp_d30_seed123.npz", "gp_d30_seed1234.npz"}, {}, 4, "12.8 / 0.902 / 0.592"},
          {"d30-G", {}, simulated(Noise::gauss, 30, 1000), 6.4, "12.8 / 0.902 / 0.592"},
          {"d30-MN", {}, simulated(Noise::mixed, 30, 1000), 9.1, "18.2 / 0.866 / 0.466"},
          {"d100-1", {}, simulated(Noise::gauss, 100, 5000), 12.8, "25.6 / 0.920 / 0.694"},
          {"sachs", {"sachs"}, {}, 0, "10 / 0.73 / 0.45"},
          {"syntren", {"syntren"}, {}, 15, "19 / 0.82 / 0.42"}};
}

std::vector<Table> tables_of(const Set& set, int seeds) {
  namespace fs = std::filesystem;
  std::vector<Table> tables;
  for (const std::string& file : set.files) {
    const fs::path path = fs::path(FANSITE_SHARED_DIR) / "data" / file;
    if (!fs::exists(path)) {
      fmt::print("{}: not there, skipped\n", path.string());
      continue;
    }
    const bool folder = fs::is_directory(path);
    const std::string data = folder ? (path / "data.csv").string() : path.string();
    const std::string truth = folder ? (path / "dag.csv").string() : path.string();
    tables.push_back({file, load(data), load_dag(truth).dag});
  }
  for (int seed = 1; set.files.empty() && seed <= seeds; ++seed) {
    SimulateParams params = set.simulate;
    params.seed = static_cast<std::uint64_t>(seed);
    Simulation made = simulate(params);
    tables.push_back({fmt::format("seed {}", seed), std::move(made.data), std::move(made.dag)});
  }
  return tables;
}

struct Figures {
  GraphScore score, transposed;
  double directions = 0;  // share of the true links found that have the true direction
  double undecided = 0;
  double boundary_f1 = 0;
  double seconds = 0;
};

Figures judge(const CausalGraphResult& result, const Dag& truth, const ByteMatrix& dag) {
  Figures figures;
  figures.score = score_graph(dag, truth.adjacency());
  figures.transposed = score_graph(dag.transpose(), truth.adjacency());
  const int right = figures.score.true_positives, found = right + figures.score.reversed;
  figures.directions = found == 0 ? 1 : static_cast<double>(right) / found;
  figures.undecided = result.graph.undirected.cast<double>().sum() / 2;
  const Dag graph(dag);
  std::vector<std::vector<int>> predicted, expected;
  for (int t = 0; t < truth.nodes(); ++t) {
    predicted.push_back(graph.markov_boundary(t));
    expected.push_back(truth.markov_boundary(t));
  }
  figures.boundary_f1 = score_boundaries(predicted, expected).mean.f1;
  figures.seconds = result.graph_seconds;
  return figures;
}

void run(const Options& options) {
  fmt::print("Causal graphs inside {} links; {}\n", options.links, machine());
  fmt::print("{:<34} {:<12} {:>4} {:>13} {:>6} {:>7} {:>7} {:>6} {:>9} {:>6} {:>8}\n", "", "", "SHD", "+  −  turned",
             "transp", "AUC-ROC", "AUC-PR", "dir %", "undecided", "MB F1", "seconds");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv);
    csv << "set,table,method,shd,extra,missing,reversed,transposed_shd,auc_roc,auc_pr,directions,undecided,mb_f1,"
           "seconds\n";
  }
  for (const Set& set : all_sets()) {
    if (std::find(options.sets.begin(), options.sets.end(), set.name) == options.sets.end()) continue;
    std::map<std::string, std::vector<double>> shd, roc, pr, f1, directions;
    for (const Table& table : tables_of(set, options.seeds)) {
      NoProgress silent;
      ByteMatrix links = table.truth.moral_graph();
      if (options.links == "honest") {
        BoundariesParams params;
        params.effort = parse_effort(options.effort);
        params.refine = Refine::none;
        links = links_of(markov_boundaries(table.data, params).found, table.data.variables());
      }
      for (const std::string& method : options.methods) {
        CausalGraphParams params;
        params.method = parse_graph_method(method);
        const CausalGraphResult result = causal_graph(table.data, &links, {}, params, silent);
        const ByteMatrix dag = result.additive_noise ? result.additive_noise->dag.adjacency() : result.graph.directed;
        const Figures figures = judge(result, table.truth, dag);
        const GraphScore& score = figures.score;
        fmt::print(
            "{:<10} {:<23} {:<12} {:>4} {:>5} {:>2} {:>3}   {:>6} {:>7.3f} {:>7.3f} {:>6.1f} {:>9.0f} {:>6.1f} "
            "{:>8.1f}\n",
            set.name, table.name, method, score.shd, score.extra, score.missing, score.reversed, figures.transposed.shd,
            score.auc_roc, score.auc_pr, 100 * figures.directions, figures.undecided, 100 * figures.boundary_f1,
            figures.seconds);
        std::fflush(stdout);
        if (csv.is_open()) {
          csv << fmt::format("{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{},{:.4f},{:.2f}\n", set.name, table.name,
                             method, score.shd, score.extra, score.missing, score.reversed, figures.transposed.shd,
                             score.auc_roc, score.auc_pr, figures.directions, figures.undecided, figures.boundary_f1,
                             figures.seconds)
              << std::flush;
        }
        shd[method].push_back(score.shd);
        roc[method].push_back(score.auc_roc);
        pr[method].push_back(score.auc_pr);
        f1[method].push_back(100 * figures.boundary_f1);
        directions[method].push_back(100 * figures.directions);
      }
    }
    for (const auto& [method, values] : shd) {
      const double mean = mean_and_spread(values).mean;
      const bool judged = method == "fansite-anm" && set.shd_target > 0;
      fmt::print(
          "  {} {}: SHD {}{}, AUC-ROC {}, AUC-PR {}, directions {} %, boundaries F1 {}; published FANSITE-DCD {}\n",
          set.name, method, mean_text(values, 1),
          judged ? fmt::format(" (target ≤ {} {})", set.shd_target, mean <= set.shd_target ? "met" : "MISSED") : "",
          mean_text(roc[method], 3), mean_text(pr[method], 3), mean_text(directions[method], 1),
          mean_text(f1[method], 1), set.published);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Causal graphs against the truth");
  app.add_option("--sets", options.sets, "gp_d30, d30-G, d30-MN, d100-1, sachs, syntren")->delimiter(',');
  app.add_option("--methods", options.methods, "fansite-anm, fansite-dcd, sdcd")->delimiter(',');
  app.add_option("--links", options.links, "honest (boundaries found) or oracle (the true moral graph)")
      ->check(CLI::IsMember({"honest", "oracle"}));
  app.add_option("--effort", options.effort, "of honest boundaries");
  app.add_option("--seeds", options.seeds, "simulated tables of each set");
  app.add_option("--csv", options.csv, "a line for each table and method");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_graphs: {}\n", error.what());
    return 1;
  }
  return 0;
}
