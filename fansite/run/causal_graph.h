// SPDX-License-Identifier: Apache-2.0
//
// From a table to a causal graph: the one call behind `fansite dag` and the Python class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fansite/causal/fansite_anm.h"
#include "fansite/causal/methods.h"
#include "fansite/run/boundaries.h"

namespace fansite {

struct CausalGraphParams {
  std::string method = "fansite-anm";               ///< of the list of graph methods
  Parameters options = causal::FansiteAnmParams();  ///< of that method
  RunParams run;
  /// How boundaries are found, if the method needs them and none are given. Their targets and run are the graph's.
  BoundariesParams boundaries;

  CausalGraphParams() = default;
  /// With the defaults of this method; a ParameterError if there is none called so.
  explicit CausalGraphParams(const std::string& method);
};

struct CausalGraphResult : GraphAnswer {
  std::vector<std::string> names;
  Index rows = 0;
  CausalGraphParams params;
  Knowledge knowledge;          ///< satisfied
  std::uint64_t data_hash = 0;  ///< of the table
  TableRoles roles;             ///< that its columns were given
  ByteMatrix links;             ///< symmetric: the pairs among which edges were sought; all if no boundaries are needed
  bool needs_links = true;      ///< whether the method looked at them
  std::optional<BoundariesResult> boundaries;  ///< found on the way
  double boundary_seconds = 0, graph_seconds = 0;

  /// Of the model that was given for the boundaries.
  std::optional<std::uint64_t> model_hash() const { return boundaries ? boundaries->model_hash : std::nullopt; }
};

/// `links`: the moral graph to search in, symmetric, or null to find boundaries first, if the method needs any. The
/// graph satisfies the knowledge. Throws a DataError when the table allows no answer, a UsageError for a request that
/// the method cannot meet.
CausalGraphResult causal_graph(const Dataset& data, const ByteMatrix* links, const Knowledge& knowledge,
                               const CausalGraphParams& params, Progress& progress);

/// The same in a context of the caller, who removes its state when the result is kept.
CausalGraphResult causal_graph(const Context& context, const ByteMatrix* links, const CausalGraphParams& params);

}  // namespace fansite
