// SPDX-License-Identifier: Apache-2.0
//
// Causal graphs against the truth: fansite-anm inside honest boundaries (no truth anywhere) and inside the true moral
// graph (--links oracle), and the published methods, read as they are and transposed; targets and published figures
// beside them. Boundaries are scored as the search found them, as the graph has them, and as `fansite mb` would choose
// between the two.
//   bench_graphs --sets gp_d30 --links oracle
//   bench_graphs --sets d30-G,d30-MN --seeds 5 --effort normal --csv graphs.csv
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "bench/machine.h"
#include "bench/published.h"
#include "bench/score.h"
#include "bench/tables.h"
#include "fansite/boundary/links.h"
#include "fansite/run/causal_graph.h"

using namespace fansite;

namespace {

struct Options {
  std::vector<std::string> sets = {"gp_d30"};
  std::vector<std::string> methods = {"fansite-anm", "fansite-dcd", "sdcd"};
  std::string links = "honest", effort = "normal";
  int seeds = 5, orders = 3;
  std::string csv, models;
};

struct Set {
  std::string name;
  double shd_target = 0;       // of fansite-anm: at most; 0: none
  double f1_target = 0;        // of the boundaries after refinement: at least; 0: none
  std::string published = {};  // "group,dataset" of the paper's table; "": none
};

std::vector<Set> all_sets() {
  return {{"gp_d30", 4, 95, "Nonlinear data,d30-G"},
          {"d30-G", 6.4, 95, "Nonlinear data,d30-G"},
          {"d30-MN", 9.1, 91, "Nonlinear data,d30-MN"},
          {"d100-1", 12.8, 92, "Nonlinear data,d100-1"},
          {"sachs", 0, 0, "Real/Semi-real networks,Sachs"},
          {"syntren", 15, 0, "Real/Semi-real networks,SynTReN"},
          {"pnl"},
          {"scale-free"},
          {"linear"},
          {"linear-uniform"}};
}

struct Figures {
  GraphScore score, transposed;  // of the DAG that is best, every edge directed
  double directions = 0;         // share of the true links found that have the true direction
  int undecided = 0;             // edges that the answer leaves open …
  int wrong = 0;                 // … and true links that it directs against the truth
  double found_f1 = 0;           // boundaries as the search found them, in percent; NaN with oracle links
  double graph_f1 = 0;           // as the graph has them
  double chosen_f1 = 0;          // as fansite mb chooses
  double seconds = 0;
};

double boundary_f1(const std::vector<std::vector<int>>& found, const Dag& truth) {
  std::vector<std::vector<int>> expected;
  for (int t = 0; t < truth.nodes(); ++t) expected.push_back(truth.markov_boundary(t));
  return 100 * score_boundaries(found, expected).mean.f1;
}

// The best graph, in which every edge has a direction, whether the data decide it or not.
ByteMatrix best_dag(const CausalGraphResult& result) {
  ByteMatrix dag = result.graph.directed;
  for (const causal::GraphEdge& edge : result.edges) dag(edge.from, edge.to) = 1;
  return dag;
}

Figures judge(const CausalGraphResult& result, const Dag& truth, const std::optional<BoundariesResult>& searched) {
  Figures figures;
  const ByteMatrix dag = best_dag(result);
  figures.score = score_graph(dag, truth.adjacency());
  figures.transposed = score_graph(dag.transpose(), truth.adjacency());
  figures.directions = figures.score.direction_accuracy;
  figures.undecided = result.graph.undirected.cast<int>().sum() / 2;
  figures.wrong = score_graph(result.graph.directed, truth.adjacency()).reversed;
  const Dag graph(dag);
  std::vector<std::vector<int>> read, found;
  for (int t = 0; t < truth.nodes(); ++t) read.push_back(graph.markov_boundary(t));
  figures.graph_f1 = figures.found_f1 = figures.chosen_f1 = boundary_f1(read, truth);
  if (searched) {
    for (const Boundary& boundary : searched->found.boundaries) found.push_back(boundary.member_indices());
    figures.found_f1 = boundary_f1(found, truth);
    const bool refines = searched->estimator == "flow" && result.additivity && result.additivity->additive;
    if (!refines) figures.chosen_f1 = figures.found_f1;
  }
  figures.seconds = result.graph_seconds;
  return figures;
}

void print_headings() {
  fmt::print("{:<15} {:<16} {:<12} {:>4} {:>13} {:>6} {:>7} {:>7} {:>6} {:>9} {:>5}  {:>5} {:>5} {:>6} {:>8}\n", "", "",
             "", "SHD", "+  −  turned", "transp", "AUC-ROC", "AUC-PR", "dir %", "undecided", "wrong", "MB F1", "graph",
             "chosen", "seconds");
}

void print_figures(const Set& set, const Table& table, const std::string& method, const Figures& figures) {
  const GraphScore& score = figures.score;
  fmt::print(
      "{:<15} {:<16} {:<12} {:>4} {:>5} {:>2} {:>3}   {:>6} {:>7.3f} {:>7.3f} {:>6.1f} {:>9} {:>5}  {:>5.1f} "
      "{:>5.1f} {:>6.1f} {:>8.1f}\n",
      set.name, table.run, method, score.shd, score.extra, score.missing, score.reversed, figures.transposed.shd,
      score.auc_roc, score.auc_pr, 100 * figures.directions, figures.undecided, figures.wrong, figures.found_f1,
      figures.graph_f1, figures.chosen_f1, figures.seconds);
  std::fflush(stdout);
}

void append_csv(const std::string& path, const Options& options, const Set& set, const Table& table,
                const std::string& method, const Figures& figures) {
  const bool begun = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  std::ofstream csv(path, std::ios::app);
  if (!begun) {
    csv << "set,run,links,effort,method,shd,extra,missing,reversed,transposed_shd,auc_roc,auc_pr,directions,undecided,"
           "wrong,found_f1,graph_f1,chosen_f1,seconds\n";
  }
  std::string run = table.run;
  std::erase(run, ',');
  const GraphScore& score = figures.score;
  csv << fmt::format("{},{},{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{},{},{:.2f},{:.2f},{:.2f},{:.2f}\n", set.name,
                     run, options.links, options.effort, method, score.shd, score.extra, score.missing, score.reversed,
                     figures.transposed.shd, score.auc_roc, score.auc_pr, figures.directions, figures.undecided,
                     figures.wrong, figures.found_f1, figures.graph_f1, figures.chosen_f1, figures.seconds);
  check(static_cast<bool>(csv.flush()), "[graphs] {} cannot be written", path);
}

// "SHD / AUC-ROC / AUC-PR" of FANSITE-DCD.
std::string published_text(const Set& set) {
  static const Published table = published("table_cd.csv");
  if (set.published.empty()) return "-";
  const auto figure = [&](const char* metric) { return table.at(set.published + "," + metric); };
  return fmt::format("{} / {} / {}", figure("SHD"), figure("AUC-ROC"), figure("AUC-PR"));
}

void print_summary(const Set& set, const std::string& method, const std::vector<Figures>& all) {
  const auto over = [&](const auto& figure) {
    std::vector<double> values;
    for (const Figures& figures : all) values.push_back(figure(figures));
    return values;
  };
  const auto verdict = [](bool met) { return met ? "met" : "MISSED"; };
  const bool judged = method == "fansite-anm";
  const std::vector<double> shd = over([](const Figures& f) { return double(f.score.shd); });
  const std::vector<double> chosen = over([](const Figures& f) { return f.chosen_f1; });
  const double mean_shd = mean_and_spread(shd).mean, mean_f1 = mean_and_spread(chosen).mean;
  fmt::print("  {} {} ({}): SHD {}{}, transposed {}, AUC-ROC {}, AUC-PR {}, directions {} %\n", set.name, method,
             all.size(), mean_text(shd, 1),
             judged && set.shd_target > 0
                 ? fmt::format(" (target ≤ {} {})", set.shd_target, verdict(mean_shd <= set.shd_target))
                 : "",
             mean_text(over([](const Figures& f) { return double(f.transposed.shd); }), 1),
             mean_text(over([](const Figures& f) { return f.score.auc_roc; }), 3),
             mean_text(over([](const Figures& f) { return f.score.auc_pr; }), 3),
             mean_text(over([](const Figures& f) { return 100 * f.directions; }), 1));
  fmt::print("    boundaries F1 {} found, {} by the graph, {} chosen{}; {} s; published FANSITE-DCD {}\n",
             mean_text(over([](const Figures& f) { return f.found_f1; }), 1),
             mean_text(over([](const Figures& f) { return f.graph_f1; }), 1), mean_text(chosen, 1),
             judged && set.f1_target > 0
                 ? fmt::format(" (target ≥ {} {})", set.f1_target, verdict(mean_f1 >= set.f1_target))
                 : "",
             mean_text(over([](const Figures& f) { return f.seconds; }), 1), published_text(set));
  std::fflush(stdout);
}

void run_set(const Set& set, const Options& options) {
  const Tables tables = tables_named(set.name);
  std::map<std::string, std::vector<Figures>> all;
  for_each_table(tables, options.seeds, options.orders, [&](const Table& table) {
    NoProgress silent;
    ByteMatrix links = table.truth.moral_graph();
    std::optional<BoundariesResult> searched;
    if (options.links == "honest") {
      BoundariesParams params;
      params.fansite().effort = parse<Effort>(options.effort);
      params.fansite().refine = Refine::none;
      params.run.seed = static_cast<std::uint64_t>(table.number);
      keep_model(params.run, options.models, tables, table, options.effort);
      searched = markov_boundaries(table.data, params);
      links = fansite::links(searched->found, table.data.variables());
    }
    for (const std::string& method : options.methods) {
      const CausalGraphParams params(method);
      const CausalGraphResult result = causal_graph(table.data, &links, {}, params, silent);
      all[method].push_back(judge(result, table.truth, searched));
      print_figures(set, table, method, all[method].back());
      if (!options.csv.empty()) append_csv(options.csv, options, set, table, method, all[method].back());
    }
  });
  for (const auto& [method, figures] : all) print_summary(set, method, figures);
}

int program(int argc, char** argv) {
  Options options;
  const std::vector<Set> sets = all_sets();
  std::vector<std::string> names;
  for (const Set& set : sets) names.push_back(set.name);
  CLI::App app("Causal graphs against the truth");
  app.add_option("--sets", options.sets)->delimiter(',')->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--methods", options.methods, "fansite-anm, fansite-dcd, sdcd")->delimiter(',')->capture_default_str();
  app.add_option("--links", options.links, "honest (boundaries found) or oracle (the true moral graph)")
      ->check(CLI::IsMember({"honest", "oracle"}))
      ->capture_default_str();
  app.add_option("--effort", options.effort, "of honest boundaries")->capture_default_str();
  app.add_option("--seeds", options.seeds, "tables of each simulated set")->capture_default_str();
  app.add_option("--orders", options.orders, "random column orders of each shared table")->capture_default_str();
  app.add_option("--models", options.models, "a folder where trained networks are kept, and found the next time");
  app.add_option("--csv", options.csv, "append a line for each table and method to this file");
  CLI11_PARSE(app, argc, argv);
  fmt::print("Causal graphs inside {} links, effort {}; {}\n", options.links, options.effort, machine());
  print_headings();
  for (const Set& set : sets) {
    if (std::find(options.sets.begin(), options.sets.end(), set.name) != options.sets.end()) run_set(set, options);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
