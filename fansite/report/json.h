// SPDX-License-Identifier: Apache-2.0
//
// Results as JSON, and back. Formats: fansite.boundaries/1, fansite.graph/1, fansite.entropy/1 (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/report/timing.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "fansite/run/information.h"

namespace fansite {

/// fansite.boundaries/1, one boundary a line. All but the last key, "timing", depends on data, settings and seed alone.
std::string to_json(const BoundariesResult& result, const RunTiming& timing);

/// fansite.entropy/1; again all but "timing" depends on data, settings and seed alone.
std::string to_json(const InformationResult& result, const RunTiming& timing);

/// fansite.graph/1, one edge a line; all but "timing" depends on data, settings and seed alone.
std::string to_json(const CausalGraphResult& result, const RunTiming& timing);

/// What evaluation needs of a boundaries file.
struct SavedBoundaries {
  std::vector<std::string> variables;
  std::vector<int> targets;
  std::vector<std::vector<int>> members;  ///< per target, in order of admission
  std::vector<std::vector<int>> paths;    ///< per target, the order of admission beyond its size; empty: not known
};

/// What evaluation needs of a graph file.
struct SavedGraph {
  std::vector<std::string> variables;
  ByteMatrix adjacency;  ///< an undirected edge has both entries
};

/// The "format" of a JSON text, e.g. "fansite.boundaries/1"; a DataError naming `where` if it is no result of ours.
std::string result_format(std::string_view json, const std::string& where);
SavedBoundaries parse_boundaries(std::string_view json, const std::string& where);
SavedGraph parse_graph(std::string_view json, const std::string& where);

}  // namespace fansite
