// SPDX-License-Identifier: Apache-2.0
//
// The flow among the entropy estimators: an ensemble trained on a table, or loaded, within a time budget.
#pragma once

#include <optional>
#include <vector>

#include "fansite/context/context.h"
#include "fansite/entropy/estimators.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

EstimatorMethod flow_estimator();

/// The nominal columns of the table that networks learn, each as the indicators of its levels.
std::vector<Factor> factors_of(const Context& context);

/// As many networks and steps as fit into so many steps in all: divisions of the rows go first, of which one is enough,
/// then folds beyond five, then steps. Nothing: too few are left to learn anything.
std::optional<EnsembleParams> fitted_to(EnsembleParams params, double steps);

/// Networks that are asked by FlowEstimator, whatever their kind; sizes in bytes.
struct NetworkSizes {
  int networks = 0, folds = 1;
  Index columns = 0;
  double weights = 0;   ///< of one network
  double density = 0;   ///< what its density holds beside them
  double training = 0;  ///< of all that train at a time, at most
};
/// What their large arrays hold, in megabytes, over so many rows.
double memory_mb(const NetworkSizes& sizes, Index rows);

}  // namespace fansite::flow
