// SPDX-License-Identifier: Apache-2.0
//
// The classical methods on the FANS authors' own tables, in the columns' stored order, as the published figures were
// made: nDCG / AveP / F1 in percent for each table, and mean and spread beside those of all five tables. Of these only
// some are in ../shared/data, so the two agree as far as those do; with all five there they must.
//   bench_classical [METHOD [KEY=VALUE …]]: DAT-Moral, whose networks take minutes to hours, only by its name, as in
//   bench_classical dat-moral moral_steps=3000
#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/graph/dag.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/boundaries.h"
#include "fansite/table/dataset.h"

namespace {

using namespace fansite;

struct Option {
  std::string name;
  Value value;
};
struct Setting {
  std::string label;
  std::string method;
  std::vector<Option> options;
  std::string of_five;    // by independent programs on all five tables
  std::string published;  // the paper's
  bool slow = false;      // only by name
};
struct Family {
  std::string name;
  std::string prefix;  // of the files
  std::vector<Setting> settings;
};

std::vector<Family> families() {
  const Option pyset{"order", std::string("pyset")}, onesided{"legacy_onesided", true};
  const auto alpha = [](double value) { return Option{"alpha", value}; };
  return {{"d30-G",
           "gp_d30_seed",
           {{"TC", "tc", {}, "55.67±10.22 / 47.23±11.29 / 55.52±10.05", "the same"},
            {"IAMB one-sided, pyset", "iamb", {pyset, onesided}, "29.25±10.20 / 22.81±9.33 / 30.49±9.82", "the same"},
            {"IAMB", "iamb", {}, "61.52 / 53.40 / 58.61", ""},
            {"EEMB pyset", "eemb", {pyset}, "56.70 / 48.16 / 59.06±9.65", "56.57±10.14 / 48.05±10.83 / 59.06±9.65"},
            {"EEMB", "eemb", {}, "60.32 / 52.05 / 59.06", ""},
            {"STMB", "stmb", {}, "58.78 / 50.52 / 59.03", ""},
            {"S2TMB", "s2tmb", {}, "61.28 / 53.33 / 58.41±10.88", "56.76±9.78 / 48.28±10.30 / 58.8±9.20"},
            {"GS", "gs", {}, "", ""},
            {"KMB (reconstructed)", "kmb", {}, "", "68.50±7.43 / 59.00±8.26 / 61.84±8.26"},
            {"DAT-Moral", "dat-moral", {}, "", "80.88±4.59 / 74.11±5.77 / 21.28±3.22", true}}},
          {"linear d100-1",
           "linear_d100_seed",
           {{"TC", "tc", {}, "99.90±0.22 / 99.85±0.34 / 98.59±0.60", "the same"},
            {"IAMB one-sided 1e-8, pyset",
             "iamb",
             {pyset, onesided, alpha(1e-8)},
             "41.64 / 34.47 / 42.87±5.64",
             "41.71±5.36 / 34.54±5.37 / 42.87±5.64"},
            {"IAMB", "iamb", {}, "99.76 / 99.67 / 90.07", ""},
            {"EEMB", "eemb", {}, "97.18 / 95.77 / 96.42", "96.01±2.00 / 94.29±2.88 / 96.64±1.91"},
            {"STMB alpha 0.001", "stmb", {alpha(0.001)}, "95.68 / 93.62 / 94.94", ""},
            {"S2TMB", "s2tmb", {}, "", "94.27±1.90 / 91.80±2.74 / 95.60±1.73"},
            {"DAT-Moral", "dat-moral", {}, "", "97.42±1.34 / 96.33±1.72 / 22.33±1.14", true}}}};
}

// KEY=VALUE
Option option(const std::string& method, const std::string& text) {
  const Parameters parameters = BoundariesParams(method).options;
  const std::string name = text.substr(0, text.find('='));
  for (const Description::Field& field : parameters.fields()) {
    if (field.name == name && name.size() < text.size())
      return {name, parse_value(field, text.substr(name.size() + 1))};
  }
  throw UsageError(fmt::format("{} has no option {}; write KEY=VALUE", method, name));
}

struct Table {
  std::string seed;
  Dataset data;
  Dag truth;
};

std::vector<Table> tables(const std::string& prefix) {
  std::vector<Table> result;
  for (const char* seed : {"42", "123", "1234", "12345", "123456"}) {
    const std::string path = fmt::format("{}/data/{}{}.npz", FANSITE_SHARED_DIR, prefix, seed);
    if (std::filesystem::exists(path)) result.push_back({seed, load(path), load_dag(path).dag});
  }
  return result;
}

BoundariesScore score_of(const Table& table, const Setting& setting) {
  BoundariesParams params(setting.method);
  for (const Option& option : setting.options) params.options.set(option.name, option.value);
  std::vector<std::vector<int>> found, truth;
  for (const Boundary& boundary : markov_boundaries(table.data, params).found.boundaries) {
    found.push_back(boundary.member_indices());
    truth.push_back(table.truth.markov_boundary(boundary.target));
  }
  return score_boundaries(found, truth);
}

void measure(const std::vector<Table>& tables, const Setting& setting) {
  std::vector<double> ndcg, precision, f1;
  const Stopwatch watch;
  fmt::print("{}\n", setting.label);
  for (const Table& table : tables) {
    const BoundaryScore mean = score_of(table, setting).mean;
    ndcg.push_back(100 * mean.ndcg);
    precision.push_back(100 * mean.average_precision);
    f1.push_back(100 * mean.f1);
    fmt::print("  seed {:<10} {:.2f} / {:.2f} / {:.2f}\n", table.seed, ndcg.back(), precision.back(), f1.back());
  }
  const auto text = [](const std::vector<double>& values) {
    const MeanAndSpread mean = mean_and_spread(values);
    return fmt::format("{:.2f}±{:.2f}", mean.mean, mean.standard_deviation);
  };
  fmt::print("  mean of {}       {} / {} / {}   ({:.1f} s)\n", tables.size(), text(ndcg), text(precision), text(f1),
             watch.seconds());
  if (!setting.of_five.empty()) fmt::print("  expected of 5   {}\n", setting.of_five);
  if (!setting.published.empty()) fmt::print("  published       {}\n", setting.published);
}

}  // namespace

int main(int argc, char** argv) try {
  for (const Family& family : families()) {
    const std::vector<Table> found = tables(family.prefix);
    if (found.empty()) {
      fmt::print("{}: skipped, {}*.npz is not in ../shared/data\n", family.name, family.prefix);
      continue;
    }
    fmt::print("---- {}: nDCG / AveP / F1, {} of 5 tables\n", family.name, found.size());
    for (Setting setting : family.settings) {
      if (argc < 2 ? setting.slow : setting.method != argv[1]) continue;
      for (int i = 2; i < argc; ++i) setting.options.push_back(option(setting.method, argv[i]));
      measure(found, setting);
    }
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
