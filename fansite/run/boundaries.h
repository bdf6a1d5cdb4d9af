// SPDX-License-Identifier: Apache-2.0
//
// From a table to the Markov boundary of every variable: the one call behind `fansite mb` and the Python class.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fansite/boundary/fansite.h"
#include "fansite/boundary/methods.h"
#include "fansite/context/context.h"

namespace fansite {

struct BoundariesParams {
  std::string method = "fansite";        ///< of the list of boundary methods
  Parameters options = FansiteParams();  ///< of that method
  std::vector<std::string> targets;      ///< names; empty: every variable
  RunParams run;

  BoundariesParams() = default;
  /// With the defaults of this method; a ParameterError if there is none called so.
  explicit BoundariesParams(const std::string& method);
  /// The options of fansite, the default method.
  FansiteParams& fansite() { return options.as<FansiteParams>(); }
  const FansiteParams& fansite() const { return options.as<FansiteParams>(); }
};

struct BoundariesResult : BoundaryAnswer {
  std::vector<std::string> names;
  Index rows = 0;
  BoundariesParams params;
  Knowledge knowledge;          ///< satisfied
  std::uint64_t data_hash = 0;  ///< of the table
  TableRoles roles;             ///< that its columns were given
  std::vector<int> copy_of;     ///< per variable: the column it repeats, or −1; a copy shares its boundary
};

/// Boundaries that satisfy the knowledge. Throws a DataError when the table allows no answer, a UsageError for an
/// unknown target or a request that the method cannot meet.
BoundariesResult markov_boundaries(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                                   Progress& progress);
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress);
BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params = {});

/// The same in a context of the caller, who removes its state when the result is kept or a longer run has ended.
BoundariesResult markov_boundaries(const Context& context, const BoundariesParams& params);

/// What markov_boundaries would cost; throws what it would before it trains, and a UsageError for a method whose cost
/// is not known beforehand.
Plan plan(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params, Progress& progress);
Plan plan(const Dataset& data, const BoundariesParams& params = {});

}  // namespace fansite
