// SPDX-License-Identifier: Apache-2.0
//
// The paper's figures, from bench/published.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/graph/metrics.h"

/// {"Nonlinear data,d30-G,nDCG": "93.5±1.63", …} from a method's column of "table_mb.csv" or "table_cd.csv"; "": the
/// last, its own method's.
using Published = std::map<std::string, std::string>;

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream words(line);
  for (std::string cell; std::getline(words, cell, ',');) cells.push_back(cell);
  return cells;
}

inline Published published(const std::string& name, const std::string& method = "") {
  const std::string path = FANSITE_PUBLISHED_DIR "/" + name;
  std::ifstream file(path);
  fansite::check(static_cast<bool>(file), "[bench] {} is missing; it is part of the source tree", path);
  Published table;
  std::size_t column = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 4) continue;
    if (column == 0) {
      const auto found = std::find(cells.begin(), cells.end(), method);
      fansite::check(method.empty() || found != cells.end(), "[bench] {} has no column {}", path, method);
      column = method.empty() ? cells.size() - 1 : static_cast<std::size_t>(found - cells.begin());
    }
    table[cells[0] + "," + cells[1] + "," + cells[2]] = cells[column];
  }
  return table;
}

/// "93.5±1.63" as two numbers; the second is 0 where the paper has none.
inline fansite::MeanAndSpread published_mean(const std::string& cell) {
  fansite::MeanAndSpread value;
  value.mean = std::atof(cell.c_str());
  const std::string sign = "±";
  const auto at = cell.find(sign);
  if (at != std::string::npos) value.standard_deviation = std::atof(cell.c_str() + at + sign.size());
  return value;
}
