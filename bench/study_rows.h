// SPDX-License-Identifier: Apache-2.0
//
// What the study finds, as rows of a CSV.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/graph/metrics.h"

namespace study {

using namespace fansite;

constexpr double kSlack = 1.5;     // the realised share may exceed the FDR level by this factor …
constexpr int kEnoughRows = 1000;  // … on tables of at least so many rows

// One table at one FDR level. Shares and scores in [0, 1].
struct Row {
  int setting = 0, seed = 0;  // setting 0: pure noise
  std::string sem, graph, noise;
  int nodes = 0, rows = 0;
  double degree = 0, fdr_level = 0;
  std::string effort, estimator;
  double fdr = 0, precision = 0, recall = 0, f1 = 0, ndcg = 0, average_precision = 0;
  double oracle_f1 = 0, oracle_ndcg = 0, found = 0, expected = 0, seconds = 0;
};

const std::string kHeader =
    "setting,seed,sem,graph,noise,nodes,rows,degree,fdr_level,effort,estimator,fdr,precision,recall,f1,ndcg,"
    "average_precision,oracle_f1,oracle_ndcg,found,expected,seconds";

inline std::string to_csv(const Row& r) {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.5f},{:.4f},{:.4f},{:.2f}",
      r.setting, r.seed, r.sem, r.graph, r.noise, r.nodes, r.rows, r.degree, r.fdr_level, r.effort, r.estimator, r.fdr,
      r.precision, r.recall, r.f1, r.ndcg, r.average_precision, r.oracle_f1, r.oracle_ndcg, r.found, r.expected,
      r.seconds);
}

Row parse_row(const std::string& line, const std::string& path) {
  std::string spaced = line;
  check_data(std::count(line.begin(), line.end(), ',') == std::count(kHeader.begin(), kHeader.end(), ','),
             "[study] {}: '{}' is no row of a study", path, line);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream in(spaced);
  Row r;
  in >> r.setting >> r.seed >> r.sem >> r.graph >> r.noise >> r.nodes >> r.rows >> r.degree >> r.fdr_level >>
      r.effort >> r.estimator >> r.fdr >> r.precision >> r.recall >> r.f1 >> r.ndcg >> r.average_precision >>
      r.oracle_f1 >> r.oracle_ndcg >> r.found >> r.expected >> r.seconds;
  check_data(!in.fail(), "[study] {}: '{}' is no row of a study", path, line);
  return r;
}

// A table that was computed twice counts once, as it was last.
inline std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  check_data(static_cast<bool>(std::getline(file, line)) && line == kHeader,
             "[study] {} does not begin with the header of a study", path);
  std::map<std::tuple<int, std::string, int, int, double>, Row> rows;
  while (std::getline(file, line)) {
    const Row row = parse_row(line, path);
    rows[{row.setting, row.noise, row.rows, row.seed, row.fdr_level}] = row;
  }
  std::vector<Row> result;
  for (const auto& [key, row] : rows) result.push_back(row);
  return result;
}

// Keeps rows, and writes each at once, so that an interrupted run loses none.

inline double standard_error(const std::vector<double>& sample) {
  return mean_and_spread(sample).standard_deviation / std::sqrt(static_cast<double>(sample.size()));
}

}  // namespace study
