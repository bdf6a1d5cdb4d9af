// SPDX-License-Identifier: Apache-2.0
//
// What fansite does before it trains anything: checks, Gaussian boundaries, the choice of the estimator; and what its
// parameters mean for the stages that follow. The run and its plan share all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fansite/boundary/fansite.h"
#include "fansite/entropy/estimators.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {

struct Preparation {
  GaussianEstimator gaussian;
  const EstimatorMethod* estimator = nullptr;   ///< the one to use
  std::optional<Boundaries> found = {};         ///< Gaussian boundaries of the targets, if it may be the Gaussian
  std::optional<LinearityTest> linearity = {};  ///< if it was tested
  std::vector<std::string> warnings = {};       ///< one sentence each
  double prepare_seconds = 0;                   ///< covariance, and the test of linearity
  double search_seconds = 0;                    ///< for `found`

  bool linear() const { return linearity && linearity->linear_equations; }
};

/// Throws what a run would before it trains.
Preparation prepare(const BoundaryProblem& problem, const FansiteParams& params, Progress& progress);

SearchScope scope(const BoundaryProblem& problem);

/// The estimator's parameters for this search; a UsageError if its networks could not judge any row.
Parameters network_parameters(const BoundaryProblem& problem, const FansiteParams& params, const Preparation& prepared);
/// A UsageError if the estimator judges rows that it has seen, and the rule needs ones that it has not.
void check_out_of_sample(const SearchEstimator& estimator, const FansiteParams& params);
/// The search with networks: a quick one is less patient.
SearchParams network_search(const FansiteParams& params, int variables);
/// Whether a graph is asked; a UsageError if it is wanted and cannot be.
bool asks_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& estimator);
causal::AdditiveNoiseParams graph_parameters(const Context& context, const FansiteParams& params);

}  // namespace fansite
