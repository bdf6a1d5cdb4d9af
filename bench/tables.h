// SPDX-License-Identifier: Apache-2.0
//
// The tables with known graphs that benchmarks run on, by name: those of ../shared/data in random column orders (the
// order of some files leaks the truth), and simulated ones.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"
#include "fansite/table/dataset.h"

struct Tables {
  std::string name;
  std::vector<std::string> files = {};  // under ../shared/data: an .npz, or a folder; none: simulated
  fansite::SimulateParams simulate = {};
  std::vector<int> nodes = {};  // simulated: taken in turn, seed after seed
};

struct Table {
  std::string run;  // which of the set
  int number = 0;   // its seed, or its column order
  fansite::Dataset data;
  fansite::Dag truth;  // of the columns as they stand
};

inline std::vector<Tables> all_tables() {
  using namespace fansite;
  using enum Sem;
  using enum GraphModel;
  const auto simulated = [](std::string name, Sem sem, Noise noise, GraphModel graph, double degree, Index rows,
                            std::vector<int> nodes) {
    Tables tables{std::move(name)};
    tables.simulate.sem = sem;
    tables.simulate.noise = noise;
    tables.simulate.graph = graph;
    tables.simulate.degree = degree;
    tables.simulate.rows = rows;
    tables.nodes = std::move(nodes);
    return tables;
  };
  return {{"gp_d30", {"gp_d30_seed42.npz", "gp_d30_seed123.npz", "gp_d30_seed1234.npz"}},
          {"linear_d100", {"linear_d100_seed42.npz", "linear_d100_seed123.npz"}},
          {"sachs", {"sachs"}},
          {"syntren", {"syntren"}},
          {"sergio", {"sergio"}},
          {"arth150", {"arth150"}},
          simulated("d30-G", gp, Noise::gauss, er, 1, 1000, {30}),
          simulated("d30-MN", gp, Noise::mixed, er, 1, 1000, {30}),
          simulated("d100-1", gp, Noise::gauss, er, 1, 5000, {100}),
          simulated("pnl", pnl, Noise::gauss, er, 1, 1000, {10, 15, 20}),
          simulated("scale-free", gp, Noise::gauss, sf, 2, 1000, {10, 15, 20}),
          simulated("linear", linear, Noise::gauss, er, 1, 1000, {30}),
          simulated("linear-uniform", linear, Noise::uniform, er, 1, 1000, {30})};
}

inline Tables tables_named(const std::string& name) {
  for (Tables& tables : all_tables()) {
    if (tables.name == name) return tables;
  }
  throw fansite::UsageError(fmt::format("[bench] there are no tables '{}'", name));
}

inline Table load_table(const std::string& file, int order) {
  using namespace fansite;
  const std::filesystem::path path = std::filesystem::path(FANSITE_SHARED_DIR "/data") / file;
  const bool folder = std::filesystem::is_directory(path);
  const Dataset stored = load(folder ? path / "data.csv" : path);
  const NamedDag truth = load_dag(folder ? path / "dag.csv" : path);
  check_data(stored.variables() == truth.dag.nodes() && (!folder || stored.names == truth.names),
             "[bench] {}: the graph is not of the table's columns", file);
  const std::vector<int> column = Random(Key{static_cast<std::uint64_t>(order)}).permutation(stored.variables());
  const auto seed = file.find("seed");
  const std::string which = folder ? "" : file.substr(seed, file.find('.') - seed) + ", ";
  Table table{fmt::format("{}order {}", which, order), order, stored, Dag(truth.dag.adjacency()(column, column))};
  table.data.values = stored.values(Eigen::all, column);
  for (std::size_t i = 0; i < column.size(); ++i) {
    table.data.names[i] = stored.names[static_cast<std::size_t>(column[i])];
  }
  return table;
}

inline Table simulate_table(const Tables& tables, int seed) {
  fansite::SimulateParams params = tables.simulate;
  params.nodes = tables.nodes[static_cast<std::size_t>(seed - 1) % tables.nodes.size()];
  params.seed = static_cast<std::uint64_t>(seed);
  fansite::Simulation made = fansite::simulate(params);
  return {fmt::format("seed {}", seed), seed, std::move(made.data), std::move(made.dag)};
}

// Calls `use(table)` for each of so many seeds, or of so many orders of each file; one that fails, or is not there, is
// named and passed over.
template <class Use>
void for_each_table(const Tables& tables, int seeds, int orders, const Use& use) {
  const auto attempt = [&](const std::string& what, const auto& make) {
    try {
      use(make());
    } catch (const fansite::Error& error) {
      fmt::print("{:<16} {} failed: {}\n", tables.name, what, error.what());
    }
  };
  for (int seed = 1; tables.files.empty() && seed <= seeds; ++seed) {
    attempt(fmt::format("seed {}", seed), [&] { return simulate_table(tables, seed); });
  }
  for (const std::string& file : tables.files) {
    if (!std::filesystem::exists(std::filesystem::path(FANSITE_SHARED_DIR "/data") / file)) {
      fmt::print("{:<16} skipped: {} is not in ../shared/data\n", tables.name, file);
      continue;
    }
    for (int order = 1; order <= orders; ++order) {
      attempt(fmt::format("{} order {}", file, order), [&] { return load_table(file, order); });
    }
  }
}

// Where the networks of a table are kept between benchmarks: trained once, used by all that ask for the same ones.
inline void keep_model(fansite::RunParams& run, const std::string& folder, const Tables& tables, const Table& table,
                       const std::string& effort) {
  if (folder.empty()) return;
  std::string name = fmt::format("{}_{}_{}.fans", tables.name, table.run, effort);
  std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
  std::replace(name.begin(), name.end(), '/', '_');  // of "quick/50"
  const std::string path = (std::filesystem::path(folder) / name).string();
  (std::filesystem::exists(path) ? run.model : run.save_model) = path;
}
