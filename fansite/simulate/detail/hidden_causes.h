// SPDX-License-Identifier: Apache-2.0
//
// Causes that act on several variables of a table and have no column in it.
#pragma once

#include <utility>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/graph/dag.h"

namespace fansite::hidden_causes {

/// The children of each cause, ascending.
using Children = std::vector<std::vector<int>>;

/// Two or three children for each of `count` causes, at most one for every pair of nodes. No two children share a
/// second cause, and none are adjacent as long as other pairs are left; a cause of an adjacent pair has no third child.
Children draw(const Dag& observed, int count, Key key);

/// The graph with a root for each cause, behind the observed nodes: weights and noise of those are drawn first, so they
/// are what the seed gives without causes.
Dag add(const Dag& observed, const Children& causes);

/// The pairs of nodes that share a cause, each with the smaller node first, ascending.
std::vector<std::pair<int, int>> pairs(const Children& causes);

}  // namespace fansite::hidden_causes
