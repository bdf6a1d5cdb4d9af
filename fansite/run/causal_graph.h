// SPDX-License-Identifier: Apache-2.0
//
// From a table to a causal graph: the one call behind `fansite dag` and the Python class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/causal/additive_noise.h"
#include "fansite/causal/dcd/differentiable.h"
#include "fansite/graph/knowledge.h"
#include "fansite/run/boundaries.h"

namespace fansite {

enum class GraphMethod {
  additive_noise,  ///< "fansite-anm": additive noise inside the moral graph of the boundaries
  differentiable,  ///< "fansite-dcd": SDCD's second stage there, as published, for comparison
  sdcd             ///< "sdcd": both stages, without boundaries, as published, for comparison
};

struct CausalGraphParams {
  GraphMethod method = GraphMethod::additive_noise;
  bool force_dag = false;       ///< every edge gets the direction it has in the best graph, decided or not
  BoundariesParams boundaries;  ///< of those that are found if none are given
  causal::AdditiveNoiseParams additive_noise;
  causal::DifferentiableParams differentiable;
  std::uint64_t seed = 0;  ///< of every random choice; goes before the seeds of the parts
  /// fansite-anm: seconds after which the best answer so far is wanted; 0: as long as it takes. Goes before that of the
  /// boundaries, which get their share.
  double time_budget = 0;
  /// Where the run keeps its state: networks in this file, the searches in files that add ".search" and ".graph" to its
  /// name. What is there already is continued from, and the result has the same bits as without. They are removed when
  /// all has ended well. "": nowhere. Goes before the paths of the parts.
  std::string checkpoint;
};

struct CausalGraphResult {
  std::vector<std::string> variables;
  Index rows = 0;
  CausalGraphParams params;
  Knowledge knowledge;          ///< obeyed
  std::uint64_t data_hash = 0;  ///< of the table
  PartialDag graph;
  Matrix weights;                              ///< (i, j): of i → j; nats (fansite-anm), or norms of network weights
  ByteMatrix links;                            ///< symmetric: the pairs among which edges were sought; all for sdcd
  std::optional<BoundariesResult> boundaries;  ///< found on the way
  std::optional<causal::AdditiveNoiseResult> additive_noise;   ///< fansite-anm
  std::optional<causal::DifferentiableResult> differentiable;  ///< the others
  std::vector<std::string> warnings;                           ///< one sentence each
  std::string unfinished;  ///< what the time budget cut short, in a sentence; "": nothing
  double boundary_seconds = 0, graph_seconds = 0;

  /// Of the model that was given for the boundaries.
  std::optional<std::uint64_t> model_hash() const { return boundaries ? boundaries->model_hash : std::nullopt; }
};

/// `links`: the moral graph to search in, symmetric, or null to find boundaries first (sdcd needs none). The graph
/// obeys the knowledge. Throws a DataError when the table allows no answer.
CausalGraphResult causal_graph(const Dataset& data, const ByteMatrix* links, const Knowledge& knowledge,
                               const CausalGraphParams& params, Progress& progress);

std::string_view name(GraphMethod method);
GraphMethod parse_graph_method(std::string_view name);

}  // namespace fansite
