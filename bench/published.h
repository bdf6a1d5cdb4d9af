// SPDX-License-Identifier: Apache-2.0
//
// The paper's figures for its own method, from bench/published.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "fansite/base/error.h"
#include "fansite/graph/metrics.h"

/// {"Nonlinear data,d30-G,nDCG": "93.5±1.63", …} from the last column of "table_mb.csv" or "table_cd.csv".
using Published = std::map<std::string, std::string>;

inline Published published(const std::string& name) {
  const std::string path = FANSITE_PUBLISHED_DIR "/" + name;
  std::ifstream file(path);
  fansite::check(static_cast<bool>(file), "[bench] {} is missing; it is part of the source tree", path);
  Published table;
  for (std::string line; std::getline(file, line);) {
    std::size_t end = 0;
    for (int comma = 0; comma < 3 && end != std::string::npos; ++comma) end = line.find(',', end + 1);
    if (end != std::string::npos) table[line.substr(0, end)] = line.substr(line.rfind(',') + 1);
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
