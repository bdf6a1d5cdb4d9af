// SPDX-License-Identifier: Apache-2.0
//
// From a table to the Markov boundary of every variable: the one call behind `fansite mb` and the Python class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/boundary/search.h"
#include "fansite/causal/additive_noise.h"
#include "fansite/entropy/flow/calibration.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/entropy/linearity.h"
#include "fansite/graph/knowledge.h"
#include "fansite/table/dataset.h"

namespace fansite {

/// How much work the flow estimator is worth; the Gaussian one needs none.
enum class Effort {
  quick,    ///< a tenth of the time, for a first look
  normal,   ///< what the figures in docs/method.md are for
  thorough  ///< twice the networks, trained for longer
};

/// Whether a causal graph has the last word (fansite/refine.h). It supposes additive noise, and tests that.
enum class Refine {
  none,
  graph,
  automatic  ///< if the flow was used, every variable is a target, and nothing speaks against additive noise
};

struct BoundariesParams {
  std::vector<std::string> targets;  ///< names; empty: every variable
  EstimatorKind estimator = EstimatorKind::automatic;
  Effort effort = Effort::normal;
  SearchParams search;
  Refine refine = Refine::automatic;
  int repeats = 0;         ///< flow: random divisions of the rows into folds; 0: by effort
  int folds = 0;           ///< flow: parts of the rows, each left out by one network of a division; 0: by effort
  std::int64_t steps = 0;  ///< flow: training steps of each network; 0: by effort
  flow::ModelFiles files;
  std::uint64_t seed = 0;  ///< of every random choice; the Gaussian estimator makes none
  /// Seconds after which the best answer so far is wanted (docs/method.md, "A time budget"); 0: as long as it takes.
  double time_budget = 0;
};

struct BoundariesResult {
  std::vector<std::string> variables;
  Index rows = 0;
  BoundariesParams params;
  Knowledge knowledge;                                ///< obeyed
  std::uint64_t data_hash = 0;                        ///< of the table
  std::optional<std::uint64_t> model_hash;            ///< flow: of the model that was given
  EstimatorKind estimator = EstimatorKind::gaussian;  ///< the one used
  std::optional<LinearityTest> linearity;             ///< what the estimator, or the networks' base, was chosen by
  Boundaries found;
  std::optional<causal::AdditiveNoiseResult> graph;  ///< the graph that was asked …
  bool refined = false;                              ///< … and whether the boundaries are its
  std::vector<int> copy_of;           ///< per variable: the column it repeats, or −1; a copy shares its boundary
  std::vector<std::string> warnings;  ///< one sentence each
  std::string unfinished;             ///< what the time budget cut short, in a sentence; "": nothing
  flow::EnsembleParams flow;          ///< flow: the networks used
  int members = 0;                    ///< flow: networks
  std::int64_t training_steps = 0;    ///< flow: over all members
  std::optional<flow::Calibration> calibration;  ///< flow: of each target given its boundary, on rows not seen
  std::vector<flow::MeanCurvePoint> curve;       ///< flow: of the training
  std::int64_t evaluations = 0;  ///< flow: densities computed in the search, of one subset, row and network each
  double prepare_seconds = 0;    ///< checks, covariance, and the test of linearity
  double train_seconds = 0;
  double search_seconds = 0;
  double graph_seconds = 0;
  double calibration_seconds = 0;
};

/// Boundaries that obey the knowledge. Throws a DataError when the table allows no answer, a UsageError for an unknown
/// target.
BoundariesResult markov_boundaries(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                                   Progress& progress);
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress);
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params = {});

/// The networks that `effort` and the other settings mean, for a table of this width; over a Gaussian base if its
/// relations are linear.
flow::EnsembleParams search_ensemble(const BoundariesParams& params, int variables, bool linear);

std::string_view name(Refine value);
Refine parse_refine(std::string_view name);
std::string_view name(Effort value);
Effort parse_effort(std::string_view name);

}  // namespace fansite
