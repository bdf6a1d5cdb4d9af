// SPDX-License-Identifier: Apache-2.0
//
// Results as JSON, and back (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/report/timing.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "fansite/run/entropy_model.h"

namespace fansite {

inline constexpr std::string_view kBoundariesFormat = "fansite.boundaries/2";
inline constexpr std::string_view kGraphFormat = "fansite.graph/2";
inline constexpr std::string_view kEntropyFormat = "fansite.entropy/2";
inline constexpr std::string_view kPlanFormat = "fansite.plan/2";
inline constexpr std::string_view kSimulationFormat = "fansite.simulation/2";

/// One boundary a line. All but the last key, "timing", depends on data, settings and seed alone.
std::string to_json(const BoundariesResult& result, const RunTiming& timing);

/// Again all but "timing" depends on data, settings and seed alone.
std::string to_json(const InformationResult& result, const RunTiming& timing);

/// One edge a line; all but "timing" depends on data, settings and seed alone.
std::string to_json(const CausalGraphResult& result, const RunTiming& timing);

std::string to_json(const Plan& plan);

/// What evaluation needs of a boundaries file.
struct SavedBoundaries {
  std::vector<std::string> names;
  std::vector<int> targets;
  std::vector<std::vector<int>> members;  ///< per target, in order of admission
  std::vector<std::vector<int>> paths;    ///< per target, the order of admission beyond its size; empty: not known
};

/// What evaluation needs of a graph file.
struct SavedGraph {
  std::vector<std::string> names;
  ByteMatrix adjacency;  ///< an undirected edge has both entries
};

/// The "format" of a JSON text, e.g. "fansite.boundaries/2"; a DataError naming `where` if it is no result of ours.
std::string result_format(std::string_view json, const std::string& where);
SavedBoundaries parse_boundaries(std::string_view json, const std::string& where);
SavedGraph parse_graph(std::string_view json, const std::string& where);

/// The links that saved boundaries make, in the table's columns. A UsageError if they are of other variables, a
/// DataError if some are missing.
ByteMatrix saved_links(std::string_view json, const std::string& where, const Dataset& data);

}  // namespace fansite
