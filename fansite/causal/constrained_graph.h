// SPDX-License-Identifier: Apache-2.0
//
// Graphs that satisfy the constraints of prior knowledge.
#pragma once

#include <vector>

#include "fansite/causal/additive_noise.h"
#include "fansite/graph/knowledge.h"

namespace fansite {

/// The best graph with additive noise among those inside `links` (symmetric; edges that must be are added to them) that
/// satisfy the knowledge. The table's context is in every equation and in no edge.
causal::AdditiveNoiseResult find_constrained_graph(const causal::GraphTable& table, const ByteMatrix& links,
                                                   const Knowledge& knowledge,
                                                   const causal::AdditiveNoiseParams& params, Progress& progress);
/// Of numbers.
inline causal::AdditiveNoiseResult find_constrained_graph(const Matrix& values, const ByteMatrix& links,
                                                          const Knowledge& knowledge,
                                                          const causal::AdditiveNoiseParams& params,
                                                          Progress& progress) {
  return find_constrained_graph(causal::GraphTable{values}, links, knowledge, params, progress);
}

}  // namespace fansite
