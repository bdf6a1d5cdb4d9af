// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/constrained_graph.h"

#include <fmt/core.h>

#include "fansite/base/error.h"
#include "fansite/base/sets.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

// Pairs known to be in one boundary that the graph leaves apart must be linked from now on, or, where that cannot be,
// have a common child, best one that the data link to them; true if there are any that were not asked for yet.
bool bring_together(const Dag& dag, const ByteMatrix& links, const Knowledge& knowledge,
                    causal::GraphConstraints& constraints) {
  const std::size_t before = constraints.required.size() + constraints.required_links.size();
  const ByteMatrix together = dag.moral_graph();
  for (int i = 0; i < knowledge.variables(); ++i) {
    for (const int j : knowledge.known_boundary(i)) {
      if (j < i || together(i, j)) continue;
      if (knowledge.may_neighbour(i, j)) {
        constraints.required_links.emplace_back(i, j);
        continue;
      }
      int child = -1, most = -1;
      for (int k = 0; k < knowledge.variables(); ++k) {
        const int linked = links(i, k) + links(j, k);
        if (!knowledge.allows(i, k) || !knowledge.allows(j, k) || linked <= most) continue;
        child = k;
        most = linked;
      }
      if (child < 0) continue;
      constraints.required.emplace_back(i, child);
      constraints.required.emplace_back(j, child);
    }
  }
  return constraints.required.size() + constraints.required_links.size() > before;
}

// Conditioning on a column is having it among the parents.
void require_context(const std::vector<int>& context, causal::GraphConstraints& constraints) {
  ByteMatrix& allowed = constraints.allowed;
  std::vector<int> linked;
  for (const int c : context) allowed.row(c).setZero(), allowed.col(c).setZero();
  for (Index j = 0; j < allowed.cols(); ++j) {
    if (allowed.row(j).any() || allowed.col(j).any()) linked.push_back(static_cast<int>(j));
  }
  for (const int c : context) {
    for (const int j : linked) {
      allowed(c, j) = 1;
      constraints.required.emplace_back(c, j);
    }
  }
}

// What the context tells is no finding.
void leave_out(const std::vector<int>& context, causal::AdditiveNoiseResult& result) {
  const auto is_context = [&](int variable) { return contains(context, variable); };
  ByteMatrix edges = result.dag.adjacency();
  for (const int c : context) {
    edges.row(c).setZero();
    if (result.partial.directed.size() > 0) result.partial.directed.row(c).setZero();
    if (result.weights.size() > 0) result.weights.row(c).setZero();
  }
  result.dag = Dag(edges);
  std::erase_if(result.edges, [&](const causal::GraphEdge& edge) { return is_context(edge.from); });
  std::erase_if(result.hidden_causes,
                [&](const causal::HiddenCause& pair) { return is_context(pair.a) || is_context(pair.b); });
  std::erase_if(result.discrete, is_context);
}

causal::AdditiveNoiseResult find_beside_context(const causal::GraphTable& table, causal::GraphConstraints constraints,
                                                causal::AdditiveNoiseParams params, Progress& progress) {
  if (table.context.empty()) return causal::find_additive_noise_graph(table, constraints, params, progress);
  require_context(table.context, constraints);
  params.max_parents += static_cast<int>(table.context.size());
  causal::AdditiveNoiseResult result = causal::find_additive_noise_graph(table, constraints, params, progress);
  leave_out(table.context, result);
  return result;
}

}  // namespace

causal::AdditiveNoiseResult find_constrained_graph(const causal::GraphTable& table, const ByteMatrix& links,
                                                   const Knowledge& knowledge,
                                                   const causal::AdditiveNoiseParams& params, Progress& progress) {
  causal::GraphConstraints constraints;
  constraints.allowed = links;
  if (knowledge.empty()) return find_beside_context(table, constraints, params, progress);
  constraints.allowed = links.cwiseProduct(knowledge.allowed());
  constraints.required = knowledge.required_edges();
  constraints.required_links = knowledge.open_links();
  constraints.apart = ByteMatrix::Ones(links.rows(), links.cols()) - knowledge.boundary_candidates();
  for (;;) {
    for (const auto& [i, j] : constraints.required_links) {
      constraints.allowed(i, j) = knowledge.allows(i, j);
      constraints.allowed(j, i) = knowledge.allows(j, i);
    }
    causal::AdditiveNoiseResult found = find_beside_context(table, constraints, params, progress);
    if (!bring_together(found.dag, links, knowledge, constraints)) return found;
  }
}

}  // namespace fansite
