// SPDX-License-Identifier: Apache-2.0
//
// fansite among the boundary methods: FANSITEMB with entropies in closed form or from flows, sizes decided by the data
// or by the paper's thresholds, and a causal graph that may have the last word.
#pragma once

#include <cstdint>
#include <string>

#include "fansite/boundary/methods.h"
#include "fansite/boundary/search.h"
#include "fansite/context/effort.h"

namespace fansite {

/// Whether a causal graph has the last word (fansite/boundary/refine.h). It supposes additive noise, and tests that.
enum class Refine {
  none,
  graph,
  automatic  ///< if networks were used, every variable is a target, and nothing speaks against additive noise
};
constexpr auto enum_names(Refine) {
  return std::to_array<EnumName<Refine>>(
      {{Refine::automatic, "auto"}, {Refine::graph, "graph"}, {Refine::none, "none"}});
}

struct FansiteParams {
  std::string estimator = "auto";  ///< of the list of entropy estimators, or auto: by a test of the data
  Effort effort = Effort::normal;
  SearchParams search;
  Refine refine = Refine::automatic;
  int repeats = 0;         ///< networks: random divisions of the rows into folds; 0: by effort
  int folds = 0;           ///< networks: parts of the rows, each left out by one network of a division; 0: by effort
  std::int64_t steps = 0;  ///< training steps of each network; 0: by effort
  /// Rows that may depend on each other: auto (blocks, if neighbouring rows do, and copies), none, or so many in a row.
  /// They are left out together and count as one in tests, like those of a declared group.
  std::string block = "auto";

  static const Description& description();
};

BoundaryMethod fansite_method();

}  // namespace fansite
