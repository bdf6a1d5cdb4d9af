// SPDX-License-Identifier: Apache-2.0
//
// The classical graph methods against the truth, with the published figures of MARVEL beside them. A graph is scored
// twice: with a direction for every edge (dag), and by its decided edges alone.
//   bench_classical_graphs
//   bench_classical_graphs --sets d100-1 --seeds 5            some minutes, most of them to simulate
//   bench_classical_graphs --sets linear --seeds 10 --methods pc,ges
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>

#include "bench/machine.h"
#include "bench/published.h"
#include "bench/score.h"
#include "bench/tables.h"
#include "fansite/run/causal_graph.h"

using namespace fansite;

namespace {

struct Options {
  std::vector<std::string> sets = {"gp_d30", "linear_d100", "d30-G", "sachs", "syntren"};
  std::vector<std::string> methods = {"pc", "ges", "marvel"};
  int seeds = 5, orders = 1;
};

// "group,dataset" of the paper's table.
const std::map<std::string, std::string> kPublished = {
    {"gp_d30", "Nonlinear data,d30-G"},         {"d30-G", "Nonlinear data,d30-G"},
    {"d30-MN", "Nonlinear data,d30-MN"},        {"d100-1", "Nonlinear data,d100-1"},
    {"sachs", "Real/Semi-real networks,Sachs"}, {"syntren", "Real/Semi-real networks,SynTReN"}};

struct Figures {
  GraphScore dag, decided;
  int edges = 0, undecided = 0;
  double seconds = 0;
};

Figures judged(const std::string& method, const Table& table) {
  CausalGraphParams params(method);
  NoProgress silent;
  const CausalGraphResult open = causal_graph(table.data, nullptr, {}, params, silent);
  params.options.set("dag", true);
  const CausalGraphResult dag = causal_graph(table.data, nullptr, {}, params, silent);
  Figures figures;
  figures.dag = score_graph(dag.graph.directed, table.truth.adjacency());
  figures.decided = score_graph(open.graph.directed, table.truth.adjacency());
  figures.edges = dag.graph.directed.cast<int>().sum();
  figures.undecided = open.graph.undirected.cast<int>().sum() / 2;
  figures.seconds = open.graph_seconds;
  return figures;
}

void print_line(const std::string& set, const std::string& run, const std::string& method, const Figures& figures) {
  const GraphScore& score = figures.dag;
  fmt::print("{:<12} {:<18} {:<7} {:>4} {:>5} {:>3} {:>4}  {:>7.3f} {:>6.3f} {:>6} {:>9} {:>7} {:>9.4f}\n", set, run,
             method, score.shd, score.extra, score.missing, score.reversed, score.auc_roc, score.auc_pr, figures.edges,
             figures.undecided, figures.decided.shd, figures.seconds);
  std::fflush(stdout);
}

void print_summary(const std::string& set, const std::string& method, const std::vector<Figures>& all) {
  const auto over = [&](const auto& figure, int digits) {
    std::vector<double> values;
    for (const Figures& figures : all) values.push_back(figure(figures));
    return mean_text(values, digits);
  };
  std::string published_text;
  if (const auto place = kPublished.find(set); method == "marvel" && place != kPublished.end()) {
    static const Published table = published("table_cd.csv", "MARVEL");
    const auto figure = [&](const char* metric) { return table.at(place->second + "," + metric); };
    published_text = fmt::format("; published MARVEL SHD {}, AUC-ROC {}, AUC-PR {}", figure("SHD"), figure("AUC-ROC"),
                                 figure("AUC-PR"));
  }
  fmt::print("  {} {} ({}): SHD {}, of decided edges {}, AUC-ROC {}, AUC-PR {}, links F1 {}, {} s{}\n", set, method,
             all.size(), over([](const Figures& f) { return double(f.dag.shd); }, 1),
             over([](const Figures& f) { return double(f.decided.shd); }, 1),
             over([](const Figures& f) { return f.dag.auc_roc; }, 3),
             over([](const Figures& f) { return f.dag.auc_pr; }, 3),
             over([](const Figures& f) { return f.dag.skeleton_f1; }, 3),
             over([](const Figures& f) { return f.seconds; }, 3), published_text);
}

int program(int argc, char** argv) {
  Options options;
  CLI::App app("The classical graph methods against the truth");
  app.add_option("--sets", options.sets)->delimiter(',')->capture_default_str();
  app.add_option("--methods", options.methods)->delimiter(',')->capture_default_str();
  app.add_option("--seeds", options.seeds, "tables of each simulated set")->capture_default_str();
  app.add_option("--orders", options.orders, "random column orders of each shared table")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  fmt::print("Classical graph methods with their defaults; {}\n", machine());
  fmt::print("{:<12} {:<18} {:<7} {:>4} {:>14}  {:>7} {:>6} {:>6} {:>9} {:>7} {:>9}\n", "", "", "", "SHD",
             "+   − turned", "AUC-ROC", "AUC-PR", "edges", "undecided", "decided", "seconds");
  for (const std::string& set : options.sets) {
    std::map<std::string, std::vector<Figures>> all;
    for_each_table(tables_named(set), options.seeds, options.orders, [&](const Table& table) {
      for (const std::string& method : options.methods) {
        all[method].push_back(judged(method, table));
        print_line(set, table.run, method, all[method].back());
      }
    });
    for (const auto& [method, figures] : all) print_summary(set, method, figures);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
