// SPDX-License-Identifier: Apache-2.0
//
// Which directions of a graph are known if only some are decided: those, colliders, and what follows from both.
#pragma once

#include <optional>

#include "fansite/graph/dag.h"
#include "fansite/graph/partial_dag.h"

namespace fansite::causal {

/// Of a DAG: edges with decided(i, j) ≠ 0 keep their direction, and so do those into colliders i → k ← j whose parents
/// are not linked, which no other graph with the same independences has. Then Meek's four rules: no new collider, no
/// cycle. The rest is undirected; the DAG is one of those that the result stands for.
PartialDag oriented(const Dag& dag, const ByteMatrix& decided);

/// The same rules for a graph of which no DAG is known: what its directed edges make certain. Edges that contradict
/// each other may end in a cycle.
PartialDag closed_under_meek_rules(PartialDag graph);

/// A DAG with the same links, the directed edges and no collider of unlinked parents but theirs (Dor and Tarsi, 1992);
/// nothing if there is none.
std::optional<Dag> consistent_extension(const PartialDag& graph);

}  // namespace fansite::causal
