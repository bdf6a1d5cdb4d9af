// SPDX-License-Identifier: Apache-2.0
//
// A kind of network among the entropy estimators: an ensemble trained on a table, or loaded, within a time budget.
#pragma once

#include <functional>
#include <string>

#include "fansite/entropy/estimators.h"
#include "fansite/entropy/neural/ensemble.h"

namespace fansite::neural {

struct NetworkKind {
  std::string name, summary, citation;
  Parameters parameters;  ///< with their defaults
  std::string warning;    ///< of every answer; "": none
  /// Networks and training as these parameters say; name, settings and seed are filled in by others.
  std::function<Recipe(const Parameters&)> recipe;
  std::function<void(Parameters&, NetworksParams, std::int64_t steps)> set;  ///< what a search or the time left wants
};

EstimatorMethod network_estimator(NetworkKind kind);

}  // namespace fansite::neural
