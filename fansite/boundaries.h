// SPDX-License-Identifier: Apache-2.0
//
// From a table to the Markov boundary of every variable: the one call behind `fansite mb` and the Python class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/data.h"
#include "fansite/search.h"

namespace fansite {

enum class EstimatorKind {
  gaussian  ///< closed form; linear relations
};

struct BoundariesParams {
  std::vector<std::string> targets;  ///< names; empty: every variable
  EstimatorKind estimator = EstimatorKind::gaussian;
  SearchParams search;
  std::uint64_t seed = 0;  ///< of every random choice; the Gaussian estimator makes none
};

struct BoundariesResult {
  std::vector<std::string> variables;
  Index rows = 0;
  BoundariesParams params;
  Boundaries found;
  std::vector<int> copy_of;           ///< per variable: the column it repeats, or −1; a copy shares its boundary
  std::vector<std::string> warnings;  ///< one sentence each
  double prepare_seconds = 0;         ///< checks and covariance
  double search_seconds = 0;
};

/// Throws a DataError when the table allows no answer, a UsageError for an unknown target.
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress);
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params = {});

std::string_view name(EstimatorKind value);
EstimatorKind parse_estimator(std::string_view name);

}  // namespace fansite
