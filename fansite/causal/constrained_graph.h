// SPDX-License-Identifier: Apache-2.0
//
// Answers that obey prior knowledge.
#pragma once

#include <vector>

#include "fansite/causal/additive_noise.h"
#include "fansite/graph/knowledge.h"
#include "fansite/table/dataset.h"
#include "fansite/table/findings.h"

namespace fansite {

/// Throws a DataError that names a column of which nothing can be learnt (constant, or a copy of another), but whose
/// membership in a boundary is said to be known.
void check_usable(const Knowledge& knowledge, const Dataset& data, const std::vector<Finding>& findings);

/// The best graph with additive noise among those inside `links` (symmetric; edges that must be are added to them) that
/// obey the knowledge.
causal::AdditiveNoiseResult find_obedient_graph(const Matrix& values, const ByteMatrix& links,
                                                const Knowledge& knowledge, const causal::AdditiveNoiseParams& params,
                                                Progress& progress);

}  // namespace fansite
