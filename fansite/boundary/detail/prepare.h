// SPDX-License-Identifier: Apache-2.0
//
// What finding boundaries does before it trains anything: checks, Gaussian boundaries, the choice of the estimator, and
// which settings an effort means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fansite/entropy/gaussian.h"
#include "fansite/run/boundaries.h"

namespace fansite {

/// What is searched: a copy through its original, which never joins a boundary beside it.
struct SearchedTargets {
  std::vector<int> asked;     ///< as asked for
  std::vector<int> searched;  ///< originals, each once
  std::vector<int> slot_of;   ///< per variable its place in `searched`
  std::vector<int> excluded;  ///< copies

  SearchedTargets(const Dataset& data, const std::vector<std::string>& names, const std::vector<int>& copy_of);
};

struct Preparation {
  std::vector<int> copy_of;  ///< per variable: the column it repeats, or −1
  SearchedTargets targets;
  GaussianEstimator gaussian;
  EstimatorKind estimator = EstimatorKind::gaussian;  ///< the one to use
  std::optional<Boundaries> found = {};               ///< Gaussian boundaries of the targets, if it may be the Gaussian
  std::optional<Boundaries> all = {};                 ///< Gaussian boundaries of every variable …
  std::optional<LinearityTest> linearity = {};        ///< … if linearity was tested
  std::vector<std::string> warnings = {};             ///< one sentence each
  double prepare_seconds = 0;                         ///< checks, covariance, and the test of linearity
  double search_seconds = 0;                          ///< for `found`
};

/// Throws what a run would: a DataError when the table allows no answer, a UsageError for settings that make no sense.
Preparation prepare(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                    Progress& progress);

/// The networks to train, by the test of linearity if there was one; a UsageError if they could not judge any row.
flow::EnsembleParams networks(const BoundariesParams& params, const LinearityTest* linearity, int variables);
/// The search with flows: a quick one is less patient.
SearchParams flow_search(const BoundariesParams& params);
/// Whether a graph is asked; a UsageError if it is wanted and cannot be.
bool asks_graph(const BoundariesParams& params, EstimatorKind estimator);
causal::AdditiveNoiseParams graph_settings(const BoundariesParams& params);

}  // namespace fansite
