// SPDX-License-Identifier: Apache-2.0
//
// The list of methods that find causal graphs. Adding one is a source with its row, and a line in methods.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fansite/causal/additive_noise.h"
#include "fansite/context/context.h"

namespace fansite {

/// Edges are sought among the links (symmetric); columns that take no part have none.
struct GraphProblem {
  const Context& context;
  const ByteMatrix& links;
};

/// What was found, whatever the method.
struct GraphAnswer {
  PartialDag graph;
  Matrix weights;                        ///< (i, j): of i → j, in the method's unit; empty: 1 for each edge
  std::vector<causal::GraphEdge> edges;  ///< with the evidence for each; empty: the method weighs none
  std::optional<causal::AdditivityTest> additivity;  ///< whether noise adds, if that was tested …
  std::optional<causal::NoiseScale> scale;           ///< … and on which scale of the columns
  /// Pairs of which the equations leave over what is related; nothing: that was not looked at.
  std::optional<std::vector<causal::HiddenCause>> hidden_causes;
  std::vector<std::pair<std::string, Value>> details;  ///< what else the method reports, for the result
  std::string how;                                     ///< what was done, in a few words for people
  std::vector<std::string> warnings;                   ///< one sentence each
  std::string unfinished;                              ///< what the time budget cut short; "": nothing
};

struct GraphMethod : Method {
  std::function<GraphAnswer(const GraphProblem&, const Parameters&)> run;
  /// Throws, before the boundaries are found, what run would for its checkpoint; null: it has none.
  std::function<void(const Context&, const Parameters&)> check_checkpoint;
  /// Throws, before the boundaries are found, what run would for parameters that do not fit the table; null: all do.
  std::function<void(const Context&, const Parameters&)> check_table;
};

MethodList<GraphMethod>& graph_methods();

}  // namespace fansite
