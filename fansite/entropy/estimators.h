// SPDX-License-Identifier: Apache-2.0
//
// The list of entropy estimators. Adding one is a source with its row, and a line in estimators.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/context/context.h"
#include "fansite/context/effort.h"
#include "fansite/entropy/entropy.h"
#include "fansite/entropy/training_report.h"

namespace fansite {

/// An estimator fitted to a table.
struct FittedEstimator {
  std::unique_ptr<SearchEstimator> estimator;
  Parameters parameters;                    ///< in force: zeros that stand for defaults are filled in
  std::optional<TrainingReport> training;   ///< nothing for closed forms
  std::optional<std::uint64_t> model_hash;  ///< of a model that was given, or whose state is kept
  std::function<std::string()> model;       ///< its bytes, for EstimatorMethod::load; null: there is none
  bool state_kept = false;                  ///< what comes next can go on from it
  std::vector<std::string> warnings;        ///< one sentence each
  std::string unfinished;                   ///< what the time budget cut short; "": nothing
};

/// A search needs an estimator for a table of this size, whose relations are linear or not.
struct SearchNeeds {
  Effort effort = Effort::normal;
  int variables = 0;
  Index rows = 0;
  bool linear = false;
};

/// What training an estimator costs, before it is done.
struct TrainingPlan {
  /// Of networks as large as the run's, which have learnt nothing: what a density costs does not depend on the weights.
  /// Of the run's own if a model is given.
  std::unique_ptr<SearchEstimator> estimator;
  int networks = 0;
  std::int64_t steps = 0;  ///< of each network, at most
  bool trains = false;     ///< no: a model is given
  bool may_end_early = false;
  double seconds = 0;     ///< of the training, at most
  double setting_up = 0;  ///< seconds for the estimator without it
  /// Of training and densities, beside what the process held before; with the rows that were drawn by then.
  std::function<double()> memory_mb;
};

/// The context lives as long as `fit`, `plan` and `load` run: an estimator keeps what it needs of the table itself.
struct EstimatorMethod : Method {
  /// The parameters that a search uses; null: the defaults.
  std::function<Parameters(const SearchNeeds&)> for_search;
  /// Training may take this share of what is left of the time budget. Nothing: that is too little to learn anything.
  std::function<std::optional<FittedEstimator>(const Context&, const Parameters&, double share)> fit;
  /// What `fit` would take, by some seconds of measuring; null: that is not known beforehand.
  std::function<TrainingPlan(const Context&, const Parameters&)> plan;
  /// The largest set that a search can ask about with these parameters; null: as large as the rows allow.
  std::function<int(const Context&, const Parameters&)> largest_set;
  /// From the bytes of a fitted model; null: there are none, fit again.
  std::function<FittedEstimator(const Context&, std::string_view bytes)> load;
};

MethodList<EstimatorMethod>& entropy_estimators();

}  // namespace fansite
