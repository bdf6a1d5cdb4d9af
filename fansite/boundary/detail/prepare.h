// SPDX-License-Identifier: Apache-2.0
//
// What fansite does before it trains anything: checks, Gaussian boundaries, the choice of the estimator; and what its
// parameters mean for the stages that follow. The run and its plan share all of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fansite/boundary/fansite.h"
#include "fansite/entropy/estimators.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {

struct Preparation {
  GaussianEstimator gaussian;                  ///< of the test of linearity, and where there is no time for more
  const EstimatorMethod* estimator = nullptr;  ///< the one to use
  std::shared_ptr<const SearchEstimator> closed_form = {};  ///< fitted, if it trains nothing and is not the Gaussian
  std::optional<Boundaries> found = {};  ///< of the targets, by the estimator that trains nothing, if there is one
  std::optional<LinearityTest> linearity = {};  ///< if it was tested
  std::vector<std::string> warnings = {};       ///< one sentence each
  double prepare_seconds = 0;                   ///< covariance, and the test of linearity
  double search_seconds = 0;                    ///< for `found`

  const SearchEstimator& without_training() const {
    return closed_form ? *closed_form : static_cast<const SearchEstimator&>(gaussian);
  }
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
/// The search for the sets that missing cells are drawn by, which is made so often: what a variable hardly depends on
/// is not missed in its draws.
SearchParams draft_search(SearchParams search);
inline constexpr int kDraftRounds = 2;
/// Whether a graph is asked; a UsageError if it is wanted and cannot be.
bool asks_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& estimator);
causal::AdditiveNoiseParams graph_parameters(const Context& context, const FansiteParams& params);

}  // namespace fansite
