// SPDX-License-Identifier: Apache-2.0
//
// Which directions of a graph are known if only some are decided: those, colliders, and what follows from both.
#pragma once

#include "fansite/graph/dag.h"
#include "fansite/graph/partial_dag.h"

namespace fansite::causal {

/// Of a DAG: edges with decided(i, j) ≠ 0 keep their direction, and so do those into colliders i → k ← j whose parents
/// are not linked, which no other graph with the same independences has. Then Meek's four rules: no new collider, no
/// cycle. The rest is undirected; the DAG is one of those that the result stands for.
PartialDag oriented(const Dag& dag, const ByteMatrix& decided);

}  // namespace fansite::causal
