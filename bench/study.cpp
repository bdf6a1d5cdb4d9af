// SPDX-License-Identifier: Apache-2.0
//
// A study to calibrate on: does the FDR level mean what it says whatever the equations, the noise, the rows, the
// variables and the density, and what does deciding the sizes cost against being told them? The full grid is far too
// large for flows; forty settings stand for it, chosen so that every level of each factor meets each level of the
// others about equally often (--list shows them). Each table is trained on once, for all FDR levels.
//   bench_study --list
//   bench_study --settings 1..12 --seeds 2 --csv study.csv --svg study.svg
//   bench_study --from-csv study.csv --svg study.svg
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "bench/machine.h"
#include "bench/score.h"
#include "bench/study_plot.h"
#include "bench/study_rows.h"
#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/base/stopwatch.h"
#include "fansite/simulate/simulate.h"

using namespace fansite;
using namespace study;

namespace {

constexpr int kNoiseNodes = 20;        // of a pure-noise table
constexpr std::uint64_t kDesign = 76;  // of the keys 0..99 the one with the best balance

struct Options {
  std::string settings = "1..40";
  int seeds = 1, noise_tables = 0;
  std::vector<double> fdr_levels = {0.05, 0.1};
  std::string effort = "normal", estimator = "auto";
  std::int64_t steps = 0;
  std::string csv, from_csv, svg;
  bool list = false;
};

// ---- The settings ---------------------------------------------------------------------------------------------------

using Design = std::vector<std::vector<int>>;  // [factor][setting]: its level

// How unevenly the levels of two factors meet, over what their frequencies alone would give.
double imbalance(const std::vector<int>& a, const std::vector<int>& b) {
  std::array<double, 6> of_a{}, of_b{};
  std::array<std::array<double, 6>, 6> both{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<std::size_t>(a[i]), y = static_cast<std::size_t>(b[i]);
    ++of_a.at(x);
    ++of_b.at(y);
    ++both.at(x).at(y);
  }
  double sum = 0;
  for (std::size_t x = 0; x < of_a.size(); ++x) {
    for (std::size_t y = 0; y < of_b.size(); ++y) {
      const double excess = both[x][y] - of_a[x] * of_b[y] / static_cast<double>(a.size());
      sum += excess * excess;
    }
  }
  return sum;
}

double imbalance(const Design& design, std::size_t factor) {
  double sum = 0;
  for (std::size_t other = 0; other < design.size(); ++other) {
    if (other != factor) sum += imbalance(design[factor], design[other]);
  }
  return sum;
}

// Columns that hold each level equally often, shuffled; then pairs of entries change places as long as that does not
// worsen the balance. The first factor stays: settings 1..12, 13..24 and 25..36 are each balanced by themselves.
Design balanced_design(const std::vector<int>& levels, int settings) {
  Random random(Key{kDesign});
  Design design;
  for (const int count : levels) {
    const std::vector<int> order = random.permutation(settings);
    std::vector<int>& column = design.emplace_back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      column[i] = design.size() == 1 ? static_cast<int>(i) * count / settings : order[i] % count;
  }
  for (int& level : design.back()) level = level == 0 ? 1 : 0;  // the last: a quarter and three quarters
  for (int move = 0; move < 20000; ++move) {
    const std::size_t factor = 1 + random.below(static_cast<std::uint32_t>(levels.size() - 1));
    int& one = design[factor][random.below(static_cast<std::uint32_t>(settings))];
    int& two = design[factor][random.below(static_cast<std::uint32_t>(settings))];
    if (one == two) continue;
    const double before = imbalance(design, factor);
    std::swap(one, two);
    if (imbalance(design, factor) > before) std::swap(one, two);
  }
  return design;
}

constexpr std::array kSems = {Sem::gp, Sem::mlp, Sem::linear};
constexpr std::array kNoises = {Noise::gauss,  Noise::uniform,     Noise::laplace,
                                Noise::gumbel, Noise::exponential, Noise::mixed};
constexpr std::array kNodes = {10, 20, 30, 50};
constexpr std::array<Index, 3> kRows = {300, 1000, 3000};
constexpr std::array kDegrees = {1.0, 2.0, 3.0, 4.0};

// 36 by the design, and four post-nonlinear ones.
std::vector<SimulateParams> all_settings() {
  const Design design =
      balanced_design({3, kSems.size(), kNoises.size(), kNodes.size(), kRows.size(), kDegrees.size(), 4}, 36);
  std::vector<SimulateParams> settings(36);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto level = [&](std::size_t factor) { return static_cast<std::size_t>(design[factor][i]); };
    settings[i].sem = kSems.at(level(1));
    settings[i].noise = kNoises.at(level(2));
    settings[i].nodes = kNodes.at(level(3));
    settings[i].rows = kRows.at(level(4));
    settings[i].degree = kDegrees.at(level(5));
    settings[i].graph = level(6) == 1 ? GraphModel::sf : GraphModel::er;
  }
  using enum Noise;
  for (const auto& [graph, noise, nodes, rows, degree] :
       {std::tuple(GraphModel::er, gauss, 20, 1000, 2.0), std::tuple(GraphModel::er, mixed, 30, 3000, 1.0),
        std::tuple(GraphModel::sf, laplace, 10, 1000, 3.0), std::tuple(GraphModel::er, exponential, 50, 1000, 1.0)}) {
    SimulateParams& setting = settings.emplace_back();
    setting.sem = Sem::pnl;
    std::tie(setting.graph, setting.noise, setting.nodes, setting.rows, setting.degree) =
        std::tuple(graph, noise, nodes, Index{rows}, degree);
  }
  return settings;
}

std::string describe(int number, const SimulateParams& setting) {
  return fmt::format("{:>3} {:<6} {:<5} {:<11} {:>3} {:>5} {:>4}", number, name(setting.sem), name(setting.graph),
                     name(setting.noise), setting.nodes, setting.rows, setting.degree);
}
const std::string kDescription =
    fmt::format("{:>3} {:<6} {:<5} {:<11} {:>3} {:>5} {:>4}", "#", "sem", "graph", "noise", "d", "N", "deg");

class Collector {
 public:
  explicit Collector(const std::string& path) {
    if (path.empty()) return;
    const bool begun = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
    file_.open(path, std::ios::app);
    check(file_.is_open(), "[study] {} cannot be written", path);
    if (!begun) file_ << kHeader << std::endl;
  }
  void add(const Row& row) {
    rows.push_back(row);
    if (file_.is_open()) file_ << to_csv(row) << std::endl;
  }

  std::vector<Row> rows;

 private:
  std::ofstream file_;
};

// ---- One table ------------------------------------------------------------------------------------------------------

// Removed with everything in it.
struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("bench_study_{}", ::getpid());
  TemporaryFolder() { std::filesystem::create_directories(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// A row per FDR level. The first FDR level's search decides between the estimators and trains; the others use its
// networks.
std::vector<Row> study(const Options& options, int number, int seed, SimulateParams setting,
                       const std::vector<double>& fdr_levels) {
  setting.seed = 1000u * static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(seed);
  const Simulation simulation = simulate(setting);
  const TemporaryFolder folder;
  const std::string model = folder.path / "model";
  BoundariesParams params;
  params.fansite().estimator = options.estimator;
  params.fansite().effort = parse<Effort>(options.effort);
  params.fansite().steps = options.steps;
  params.run.seed = setting.seed;
  if (fdr_levels.size() > 1) params.run.save_model = model;
  std::vector<Row> rows;
  for (const double fdr_level : fdr_levels) {
    params.fansite().search.fdr = fdr_level;
    const Stopwatch watch;
    const BoundariesResult result = markov_boundaries(simulation.data, params);
    Row& row = rows.emplace_back();
    row.seconds = watch.seconds();
    row.setting = number;
    row.seed = seed;
    row.sem = name(setting.sem);
    row.graph = name(setting.graph);
    row.noise = name(setting.noise);
    row.nodes = setting.nodes;
    row.rows = static_cast<int>(setting.rows);
    row.degree = setting.degree;
    row.fdr_level = fdr_level;
    row.effort = effort_text(options.effort, options.steps);
    row.estimator = result.estimator;
    const Scored scored = score(simulation.data, result, simulation.dag);
    row.fdr = scored.honest.false_discovery_rate;
    row.precision = scored.honest.mean.precision;
    row.recall = scored.honest.mean.recall;
    row.f1 = scored.honest.mean.f1;
    row.ndcg = scored.honest.mean.ndcg;
    row.average_precision = scored.honest.mean.average_precision;
    row.oracle_f1 = scored.oracle.mean.f1;
    row.oracle_ndcg = scored.oracle.mean.ndcg;
    row.found = scored.found;
    row.expected = scored.expected;

    params.fansite().estimator = result.estimator;
    params.run.save_model.clear();
    if (result.estimator == "flow") params.run.model = model;
  }
  return rows;
}

std::string level_headings(const std::vector<double>& fdr_levels) {
  std::string text;
  for (const double fdr_level : fdr_levels) text += fmt::format(" {:>8}", fmt::format("FDR@{}", fdr_level));
  return text;
}

void print_table(const std::vector<Row>& rows, const SimulateParams& setting) {
  const Row& first = rows.front();
  double seconds = 0;
  fmt::print("{} {:>4}", describe(first.setting, setting), first.seed);
  for (const Row& row : rows) {
    seconds += row.seconds;
    fmt::print(" {:>8.3f}", row.fdr);
  }
  fmt::print(" {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f} {:>9.1f} {:<9} {:>7.1f}\n", 100 * first.precision,
             100 * first.recall, 100 * first.f1, 100 * first.ndcg, 100 * first.oracle_f1, first.estimator, seconds);
  std::fflush(stdout);
}

void run_settings(const Options& options, int first, int last, Collector& collector) {
  const std::vector<SimulateParams> settings = all_settings();
  fmt::print("{} {:>4}{} {:>6} {:>6} {:>6} {:>6} {:>9} {:<9} {:>7}\n", kDescription, "seed",
             level_headings(options.fdr_levels), "prec", "recall", "F1", "nDCG", "oracle F1", "estimator", "seconds");
  for (int seed = 1; seed <= options.seeds; ++seed) {
    for (int number = first; number <= last; ++number) {
      const SimulateParams& setting = settings[static_cast<std::size_t>(number - 1)];
      try {
        const std::vector<Row> rows = study(options, number, seed, setting, options.fdr_levels);
        for (const Row& row : rows) collector.add(row);
        print_table(rows, setting);
      } catch (const Error& error) {
        fmt::print("{} {:>4} failed: {}\n", describe(number, setting), seed, error.what());
      }
    }
  }
}

void run_noise(const Options& options, Collector& collector) {
  for (const Noise noise : kNoises) {
    for (const Index rows : {Index{500}, Index{1000}}) {
      for (int seed = 1; seed <= options.noise_tables; ++seed) {
        SimulateParams setting;
        setting.nodes = kNoiseNodes;
        setting.degree = 0;
        setting.rows = rows;
        setting.noise = noise;
        collector.add(study(options, 0, seed, setting, {options.fdr_levels.front()}).front());
      }
      fmt::print("pure {} noise, {} × {}: {} tables done\n", name(noise), rows, kNoiseNodes, options.noise_tables);
      std::fflush(stdout);
    }
  }
}

// ---- Summaries ------------------------------------------------------------------------------------------------------

struct Factor {
  std::string name;
  std::function<std::string(const Row&)> level;
};

const std::vector<Factor> kFactors = {
    {"all", [](const Row&) { return std::string("all"); }},
    {"sem", [](const Row& row) { return row.sem; }},
    {"noise", [](const Row& row) { return row.noise; }},
    {"N", [](const Row& row) { return fmt::format("{}", row.rows); }},
    {"d", [](const Row& row) { return fmt::format("{}", row.nodes); }},
    {"degree", [](const Row& row) { return fmt::format("{}", row.degree); }},
    {"graph", [](const Row& row) { return row.graph; }},
    {"estimator", [](const Row& row) { return row.estimator; }},
};

struct Group {
  std::string factor, level;
  std::map<double, std::vector<Row>> by_level;
};

// Levels in order of size where they are numbers, else of name.
std::vector<Group> groups_of(const std::vector<Row>& rows) {
  std::vector<Group> groups;
  for (const Factor& factor : kFactors) {
    std::map<std::pair<double, std::string>, Group> found;
    for (const Row& row : rows) {
      const std::string level = factor.level(row);
      Group& group = found[{std::atof(level.c_str()), level}];
      group.factor = factor.name;
      group.level = level;
      group.by_level[row.fdr_level].push_back(row);
    }
    for (auto& [key, group] : found) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<double> values(const std::vector<Row>& rows, double Row::*field, double factor = 1) {
  std::vector<double> result;
  for (const Row& row : rows) result.push_back(factor * row.*field);
  return result;
}

void print_means(const std::vector<Row>& rows, double first_level) {
  fmt::print("\nMean ± sd over tables, scores in percent, at the FDR level {}; oracle: at the true sizes\n",
             first_level);
  fmt::print("{:<22} {:>6} {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "", "tables", "FDR", "precision",
             "recall", "F1", "nDCG", "oracle F1", "seconds");
  for (const Group& group : groups_of(rows)) {
    const auto found = group.by_level.find(first_level);
    if (found == group.by_level.end()) continue;
    const std::vector<Row>& all = found->second;
    fmt::print("{:<10} {:<11} {:>6} {:>12}", group.factor, group.level, all.size(),
               mean_text(values(all, &Row::fdr), 3));
    for (double Row::*field : {&Row::precision, &Row::recall, &Row::f1, &Row::ndcg, &Row::oracle_f1}) {
      fmt::print(" {:>10}", mean_text(values(all, field, 100), 1));
    }
    fmt::print(" {:>9.1f}\n", mean_and_spread(values(all, &Row::seconds)).mean);
  }
}

void print_calibration(std::vector<Row> rows, const std::vector<double>& fdr_levels) {
  std::erase_if(rows, [](const Row& row) { return row.rows < kEnoughRows; });
  if (rows.empty()) return;
  fmt::print("\nRealised share of false members against the FDR level, N ≥ {}: mean ± standard error over tables\n",
             kEnoughRows);
  fmt::print("{:<22} {:>6}", "", "tables");
  for (const double fdr_level : fdr_levels)
    fmt::print(" {:>14} {:>16}", fmt::format("FDR level {}", fdr_level), "target");
  fmt::print("\n");
  int over = 0, all = 0;
  for (const Group& group : groups_of(rows)) {
    fmt::print("{:<10} {:<11} {:>6}", group.factor, group.level, group.by_level.begin()->second.size());
    for (const double fdr_level : fdr_levels) {
      const auto found = group.by_level.find(fdr_level);
      if (found == group.by_level.end()) {
        fmt::print(" {:>14} {:>16}", "-", "-");
        continue;
      }
      const std::vector<double> rates = values(found->second, &Row::fdr);
      const double mean = mean_and_spread(rates).mean;
      ++all;
      over += mean > kSlack * fdr_level;
      fmt::print(" {:>14} {:>16}", fmt::format("{:.3f}±{:.3f}", mean, standard_error(rates)),
                 fmt::format("≤ {:.3f} {}", kSlack * fdr_level, mean > kSlack * fdr_level ? "OVER" : "met "));
    }
    fmt::print("\n");
  }
  fmt::print("groups whose realised share exceeds {} times the FDR level: {} of {} (target 0)\n", kSlack, over, all);
}

void print_noise(const std::vector<Row>& rows) {
  std::map<std::pair<std::string, int>, std::pair<int, int>> empty;  // out of
  std::pair<int, int> total;
  for (const Row& row : rows) {
    for (auto* count : {&empty[{row.noise, row.rows}], &total}) {
      count->first += row.found == 0;
      ++count->second;
    }
  }
  if (rows.empty()) return;
  const double target = 100 * (1 - rows.front().fdr_level);
  fmt::print("\nPure noise, {} variables, FDR level {}: share of tables with empty boundaries\n", kNoiseNodes,
             rows.front().fdr_level);
  const auto print = [&](const std::string& what, std::pair<int, int> count) {
    fmt::print("{:<18} {:>6.1f} % of {:>5} tables (target {:g})\n", what, 100.0 * count.first / count.second,
               count.second, target);
  };
  for (const auto& [key, count] : empty) print(fmt::format("{:<12} {:>5}", key.first, key.second), count);
  print("all", total);
}

// ---- The program ----------------------------------------------------------------------------------------------------

void list_settings() {
  const std::vector<SimulateParams> settings = all_settings();
  fmt::print("{}\n", kDescription);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    fmt::print("{}\n", describe(static_cast<int>(i) + 1, settings[i]));
    Row& row = rows.emplace_back();
    row.sem = name(settings[i].sem);
    row.noise = name(settings[i].noise);
    row.graph = name(settings[i].graph);
    row.rows = static_cast<int>(settings[i].rows);
    row.nodes = settings[i].nodes;
    row.degree = settings[i].degree;
  }
  rows.resize(36);
  fmt::print("\nHow often two levels meet among the first 36 (1: as often as an even spread has them meet)\n");
  for (std::size_t a = 1; a + 1 < kFactors.size(); ++a) {
    for (std::size_t b = a + 1; b + 1 < kFactors.size(); ++b) {
      std::map<std::string, int> of_a, of_b;
      std::map<std::pair<std::string, std::string>, int> both;
      for (const Row& row : rows) {
        ++of_a[kFactors[a].level(row)];
        ++of_b[kFactors[b].level(row)];
        ++both[{kFactors[a].level(row), kFactors[b].level(row)}];
      }
      double least = 1e9, most = 0;
      for (const auto& [x, n] : of_a) {
        for (const auto& [y, m] : of_b) {
          const double share = both[{x, y}] * 36.0 / (n * m);
          least = std::min(least, share);
          most = std::max(most, share);
        }
      }
      fmt::print("{:<6} × {:<6} {:.2f} to {:.2f}\n", kFactors[a].name, kFactors[b].name, least, most);
    }
  }
}

void summarise(const std::vector<Row>& rows, const Options& options) {
  std::vector<Row> noise, tables;
  for (const Row& row : rows) (row.setting == 0 ? noise : tables).push_back(row);
  std::vector<double> fdr_levels = options.fdr_levels;
  if (!options.from_csv.empty()) {
    std::set<double> found;
    for (const Row& row : tables) found.insert(row.fdr_level);
    fdr_levels.assign(found.begin(), found.end());
  }
  if (!tables.empty()) {
    print_means(tables, fdr_levels.front());
    print_calibration(tables, fdr_levels);
    if (!options.svg.empty()) {
      write_svg(tables, fdr_levels, options.svg);
      fmt::print("plot: {}\n", options.svg);
    }
  }
  print_noise(noise);
}

std::pair<int, int> parse_range(const std::string& range) {
  const auto dots = range.find("..");
  int first = 0, last = 0;
  std::istringstream(range.substr(0, dots)) >> first;
  std::istringstream(dots == std::string::npos ? range : range.substr(dots + 2)) >> last;
  check(first >= 0 && last <= 40 && (first == 0) == (last == 0),
        "[study] settings '{}' is no range within 1..40; 0 for none", range);
  return {first, last};
}

void run(const Options& options) {
  if (options.list) return list_settings();
  if (!options.from_csv.empty()) return summarise(read_rows(options.from_csv), options);
  fmt::print("Realised false discovery rates, estimator {}, effort {}; {}\n", options.estimator,
             effort_text(options.effort, options.steps), machine());
  const auto [first, last] = parse_range(options.settings);
  Collector collector(options.csv);
  if (first > 0) run_settings(options, first, last, collector);
  if (options.noise_tables > 0) run_noise(options, collector);
  summarise(collector.rows, options);
}

int program(int argc, char** argv) {
  Options options;
  CLI::App app("Realised false discovery rates and scores over simulations of many kinds");
  app.add_flag("--list", options.list, "print the settings and how balanced they are, and stop");
  app.add_option("--settings", options.settings,
                 "which of the 40 settings, e.g. 1..12 (balanced by themselves, as are 13..24 and 25..36); 0: none")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "tables of each setting")->capture_default_str();
  app.add_option("--noise-tables", options.noise_tables,
                 "pure-noise tables of each distribution, for 500 and for 1000 rows")
      ->capture_default_str();
  app.add_option("--fdr-levels", options.fdr_levels, "false discovery rates to ask for; scores are at the first")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--effort", options.effort)
      ->check(CLI::IsMember({"quick", "normal", "thorough"}))
      ->capture_default_str();
  app.add_option("--estimator", options.estimator)
      ->check(CLI::IsMember({"auto", "flow", "gaussian"}))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "training steps of each network; 0: by effort")->capture_default_str();
  app.add_option("--csv", options.csv, "append a row per table and FDR level to this file");
  app.add_option("--from-csv", options.from_csv, "summarise this file and compute nothing")->check(CLI::ExistingFile);
  app.add_option("--svg", options.svg, "write the plot to this file");
  CLI11_PARSE(app, argc, argv);
  run(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
