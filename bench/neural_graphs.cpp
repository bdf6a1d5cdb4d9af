// SPDX-License-Identifier: Apache-2.0
//
// Graph methods that others have published against the truth, with the paper's figures beside them: read as they are
// and transposed, in several column orders, on raw and on standardised columns. Any graph method, with options as in
// `fansite compare`.
//   bench_neural_graphs --quick                              a minute or two: gp_d30, first file, one order
//   bench_neural_graphs --methods dagma,cosmo,notears --tables gp_d30,sachs,syntren
//   bench_neural_graphs --methods dagma:relations=linear,cosmo:unit-weights=norm --tables d30-G,d30-MN --seeds 5
//   bench_neural_graphs --methods dagma,cosmo --tables d100-1 --seeds 5 --orders 1 --csv d100.csv
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <numeric>

#include "bench/machine.h"
#include "bench/published.h"
#include "bench/score.h"
#include "bench/tables.h"
#include "fansite/base/parallel.h"
#include "fansite/run/compare.h"

using namespace fansite;

namespace {

struct Options {
  std::vector<std::string> tables = {"gp_d30", "d30-G", "d30-MN", "sachs", "syntren"};
  std::vector<std::string> methods = {"dagma", "dagma:relations=linear", "notears", "cosmo", "cosmo:relations=linear"};
  std::vector<std::string> columns = {"raw", "standardised"};
  int seeds = 5, orders = 3, threads = 0;
  bool quick = false;
  std::string csv;
};

// "group,dataset" of the paper's table, and its column of a method.
const std::map<std::string, std::string> kPublishedSet = {
    {"gp_d30", "Nonlinear data,d30-G"},         {"d30-G", "Nonlinear data,d30-G"},
    {"d30-MN", "Nonlinear data,d30-MN"},        {"d100-1", "Nonlinear data,d100-1"},
    {"sachs", "Real/Semi-real networks,Sachs"}, {"syntren", "Real/Semi-real networks,SynTReN"}};
const std::map<std::string, std::string> kPublishedMethod = {{"dagma", "DAGMA"},   {"cosmo", "COSMO"},
                                                             {"sdcd", "SDCD"},     {"dat", "DAT"},
                                                             {"marvel", "MARVEL"}, {"fansite-dcd", "FANSITE-DCD"}};

struct Figures {
  GraphScore score, transposed;
  CurveAreas by_weight;  // of absolute weights, before any threshold
  int edges = 0;
  double seconds = 0;
};

Table in_order(const Table& table, int order) {
  if (order == 0) return table;
  Table other = table;
  const std::vector<int> column =
      Random(Key{static_cast<std::uint64_t>(order)}.split(99)).permutation(table.data.variables());
  other.data.values = table.data.values(Eigen::all, column);
  for (std::size_t k = 0; k < column.size(); ++k) {
    other.data.names[k] = table.data.names[static_cast<std::size_t>(column[k])];
  }
  other.truth = Dag(table.truth.adjacency()(column, column));
  return other;
}

void standardise(Dataset& data) {
  for (auto column : data.values.colwise()) {
    column.array() -= column.mean();
    const double deviation = column.norm() / std::sqrt(static_cast<double>(data.rows() - 1));
    if (deviation > 0) column /= deviation;
  }
}

Figures judged(const ComparedMethod& method, const Table& table) {
  NoProgress silent;
  CausalGraphParams params = method.graph;
  const CausalGraphResult result = causal_graph(table.data, nullptr, {}, params, silent);
  Figures figures;
  figures.score = score_graph(result.graph.directed, table.truth.adjacency());
  figures.transposed = score_graph(result.graph.directed.transpose(), table.truth.adjacency());
  figures.by_weight = curve_areas(result.weights.cwiseAbs(), table.truth.adjacency());
  figures.edges = result.graph.directed.cast<int>().sum();
  figures.seconds = result.graph_seconds;
  return figures;
}

void print_line(const std::string& set, const std::string& run, const std::string& columns, const std::string& method,
                const Figures& f) {
  fmt::print(
      "{:<8} {:<24} {:<12} {:<24} {:>4} {:>4} {:>3} {:>3} {:>7.3f} {:>6.3f} {:>6.3f} {:>6.3f}  {:>4} {:>6.3f} {:>6.3f}"
      " {:>5} {:>8.1f}\n",
      set, run, columns, method, f.score.shd, f.score.extra, f.score.missing, f.score.reversed, f.score.auc_roc,
      f.score.auc_pr, f.by_weight.auc_roc, f.by_weight.auc_pr, f.transposed.shd, f.transposed.auc_roc,
      f.transposed.auc_pr, f.edges, f.seconds);
  std::fflush(stdout);
}

void append_csv(const std::string& path, const std::string& set, std::string run, const std::string& columns,
                const std::string& method, const Figures& f) {
  const bool begun = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  std::ofstream csv(path, std::ios::app);
  if (!begun) {
    csv << "set,run,columns,method,shd,extra,missing,reversed,auc_roc,auc_pr,weighted_auc_roc,weighted_auc_pr,"
           "transposed_shd,transposed_auc_roc,transposed_auc_pr,edges,seconds\n";
  }
  std::erase(run, ',');
  csv << fmt::format("{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{},{:.4f},{:.4f},{},{:.2f}\n", set, run,
                     columns, method, f.score.shd, f.score.extra, f.score.missing, f.score.reversed, f.score.auc_roc,
                     f.score.auc_pr, f.by_weight.auc_roc, f.by_weight.auc_pr, f.transposed.shd, f.transposed.auc_roc,
                     f.transposed.auc_pr, f.edges, f.seconds);
  check(static_cast<bool>(csv.flush()), "[bench] {} cannot be written", path);
}

// How many of the paper's standard deviations ours is off, where it has one.
std::string distance(double ours, const std::string& published) {
  const MeanAndSpread theirs = published_mean(published);
  if (theirs.standard_deviation == 0) return published;
  const double off = (ours - theirs.mean) / theirs.standard_deviation;
  return fmt::format("{} ({:+.1f} sd{})", published, off, std::abs(off) > 2 ? ", FAR" : "");
}

void print_summary(const std::string& set, const std::string& columns, const std::string& method,
                   const std::vector<Figures>& all) {
  const auto over = [&](const auto& figure) {
    std::vector<double> values;
    for (const Figures& figures : all) values.push_back(figure(figures));
    return values;
  };
  const auto shd = over([](const Figures& f) { return double(f.score.shd); });
  const auto roc = over([](const Figures& f) { return f.score.auc_roc; });
  const auto pr = over([](const Figures& f) { return f.score.auc_pr; });
  fmt::print("  {} {} {} ({}): SHD {}, AUC-ROC {}, AUC-PR {}; transposed {}, {}, {}; {} s\n", set, columns, method,
             all.size(), mean_text(shd, 1), mean_text(roc, 3), mean_text(pr, 3),
             mean_text(over([](const Figures& f) { return double(f.transposed.shd); }), 1),
             mean_text(over([](const Figures& f) { return f.transposed.auc_roc; }), 3),
             mean_text(over([](const Figures& f) { return f.transposed.auc_pr; }), 3),
             mean_text(over([](const Figures& f) { return f.seconds; }), 1));
  const auto place = kPublishedSet.find(set);
  const auto column = kPublishedMethod.find(method.substr(0, method.find(':')));
  if (place != kPublishedSet.end() && column != kPublishedMethod.end()) {
    const Published table = published("table_cd.csv", column->second);
    const auto figure = [&](const char* metric) { return table.at(place->second + "," + metric); };
    fmt::print("    published {}: SHD {}, AUC-ROC {}, AUC-PR {}\n", column->second,
               distance(mean_and_spread(shd).mean, figure("SHD")),
               distance(mean_and_spread(roc).mean, figure("AUC-ROC")),
               distance(mean_and_spread(pr).mean, figure("AUC-PR")));
  }
  std::fflush(stdout);
}

void run_set(const std::string& set, const Options& options, const std::vector<ComparedMethod>& methods) {
  Tables tables = tables_named(set);
  if (options.quick && tables.files.size() > 1) tables.files.resize(1);
  std::map<std::pair<std::string, std::string>, std::vector<Figures>> all;
  // Files come in so many orders already; simulated tables as they are, then at random.
  for_each_table(tables, options.seeds, options.orders, [&](const Table& table) {
    for (int order = 0; order < (tables.files.empty() ? options.orders : 1); ++order) {
      Table ordered = in_order(table, order);
      if (order > 0) ordered.run += fmt::format(", order {}", order);
      for (const std::string& columns : options.columns) {
        if (columns == "standardised") standardise(ordered.data);
        for (const ComparedMethod& method : methods) {
          try {
            const Figures figures = judged(method, ordered);
            all[{columns, method.label}].push_back(figures);
            print_line(set, ordered.run, columns, method.label, figures);
            if (!options.csv.empty()) append_csv(options.csv, set, ordered.run, columns, method.label, figures);
          } catch (const Error& error) {
            fmt::print("{:<8} {:<24} {:<12} {:<24} failed: {}\n", set, ordered.run, columns, method.label,
                       error.what());
          }
        }
      }
    }
  });
  for (const auto& [key, figures] : all) print_summary(set, key.first, key.second, figures);
}

int program(int argc, char** argv) {
  Options options;
  CLI::App app("Published graph methods against the truth");
  app.add_option("--tables", options.tables, "sets of bench/tables.h")->delimiter(',')->capture_default_str();
  app.add_option("--methods", options.methods, "graph methods, with options as in cosmo:relations=linear")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--columns", options.columns, "raw, standardised or both, in that order")
      ->delimiter(',')
      ->check(CLI::IsMember({"raw", "standardised"}))
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "tables of each simulated set")->capture_default_str();
  app.add_option("--orders", options.orders, "column orders of each table")->capture_default_str();
  app.add_option("--threads", options.threads, "0: one for each core")->capture_default_str();
  app.add_option("--csv", options.csv, "append a line for each table and method to this file");
  app.add_flag("--quick", options.quick, "one table of each set, one order, raw columns, gp_d30 and sachs alone");
  CLI11_PARSE(app, argc, argv);
  if (options.quick) {
    options.seeds = options.orders = 1;
    options.columns = {"raw"};
    if (app.count("--tables") == 0) options.tables = {"gp_d30", "sachs"};
    if (app.count("--methods") == 0)
      options.methods = {"dagma:relations=linear", "notears", "cosmo", "cosmo:relations=linear"};
  }
  std::sort(options.columns.begin(), options.columns.end());  // raw comes first: what is standardised stays so
  const ThreadLimit limit(options.threads);
  const std::vector<ComparedMethod> methods = compared_methods(options.methods);
  for (const ComparedMethod& method : methods) {
    check(method.kind == CompareKind::graph, "[bench] {} finds no graph", method.label);
  }
  fmt::print("Published graph methods; {}, {} threads\n", machine(), thread_count());
  fmt::print("{:<8} {:<24} {:<12} {:<24} {:>4} {:>12} {:>7} {:>6} {:>13}  {:>18} {:>5} {:>8}\n", "", "", "columns", "",
             "SHD", "+   −  turn", "AUC-ROC", "AUC-PR", "by weight", "transposed", "edges", "seconds");
  for (const std::string& set : options.tables) run_set(set, options, methods);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
