// SPDX-License-Identifier: Apache-2.0
//
// The list of methods that find Markov boundaries. Adding one is a source with its row, and a line in methods.cpp
// (CONTRIBUTING.md has an example).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fansite/boundary/plan.h"
#include "fansite/boundary/search.h"
#include "fansite/causal/additive_noise.h"
#include "fansite/context/context.h"
#include "fansite/entropy/calibration.h"
#include "fansite/entropy/linearity.h"
#include "fansite/entropy/training_report.h"

namespace fansite {

/// What is searched: a copy through its original, which never joins a boundary beside it.
struct SearchedTargets {
  std::vector<int> asked;     ///< as asked for
  std::vector<int> searched;  ///< originals, each once
  std::vector<int> excluded;  ///< copies
  bool all = false;           ///< every variable was asked for

  /// Of these names, or of all variables if there are none; a UsageError for an unknown one or one named twice.
  SearchedTargets(const Dataset& data, const std::vector<std::string>& names, const std::vector<int>& copy_of);
};

struct BoundaryProblem {
  const Context& context;
  const SearchedTargets& targets;
};

/// What was found, whatever the method.
struct BoundaryAnswer {
  Boundaries found;                                     ///< one for each target searched, in that order
  std::string estimator;                                ///< of the entropies, by its name; "": the method uses none
  std::optional<LinearityTest> linearity;               ///< what the estimator was chosen by
  Parameters estimator_parameters;                      ///< in force, if the estimator was trained
  std::optional<TrainingReport> training;               ///< of its networks
  std::optional<std::uint64_t> model_hash;              ///< of the model that was given
  std::optional<Calibration> calibration;               ///< of each target given its boundary, on rows not seen
  std::int64_t evaluations = 0;                         ///< densities computed, of one subset, row and network each
  std::optional<causal::AdditiveNoiseResult> graph;     ///< the graph that was asked …
  bool refined = false;                                 ///< … and whether the boundaries are its
  std::vector<std::pair<std::string, Value>> details;   ///< what else the method reports, for the result
  std::string how;                                      ///< what was done, in a few words for people
  std::vector<std::string> warnings;                    ///< one sentence each, beside those of the table
  std::string unfinished;                               ///< what the time budget cut short; "": nothing
  std::vector<std::pair<std::string, double>> seconds;  ///< of each phase
};

struct BoundaryMethod : Method {
  std::function<BoundaryAnswer(const BoundaryProblem&, const Parameters&)> run;
  /// What run would cost; null: that is not known beforehand.
  std::function<Plan(const BoundaryProblem&, const Parameters&)> plan;
};

MethodList<BoundaryMethod>& boundary_methods();

}  // namespace fansite
