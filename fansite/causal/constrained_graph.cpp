// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/constrained_graph.h"

#include <fmt/core.h>

#include "fansite/base/error.h"
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

}  // namespace

void check_usable(const Knowledge& knowledge, const Dataset& data, const std::vector<Finding>& findings) {
  if (knowledge.empty()) return;
  const auto name = [&](int column) { return excerpt(data.names[static_cast<std::size_t>(column)]); };
  for (const Finding& finding : findings) {
    const bool duplicate = finding.kind == Finding::Kind::duplicate;
    if (!duplicate && finding.kind != Finding::Kind::constant) continue;
    for (std::size_t i = duplicate ? 1 : 0; i < finding.columns.size(); ++i) {
      const std::vector<int> known = knowledge.known_boundary(finding.columns[i]);
      if (known.empty()) continue;
      throw DataError(
          fmt::format("[knowledge] '{}' and '{}' are to be in each other's boundary, but the column '{}' {}; {}",
                      name(finding.columns[i]), name(known.front()), name(finding.columns[i]),
                      duplicate ? fmt::format("is a copy of '{}'", name(finding.columns.front())) : "is constant",
                      duplicate ? "say it of that one" : "leave that out of the knowledge"));
    }
  }
}

causal::AdditiveNoiseResult find_obedient_graph(const Matrix& values, const ByteMatrix& links,
                                                const Knowledge& knowledge, const causal::AdditiveNoiseParams& params,
                                                Progress& progress) {
  causal::GraphConstraints constraints;
  constraints.allowed = links;
  if (knowledge.empty()) return causal::find_additive_noise_graph(values, constraints, params, progress);
  constraints.allowed = links.cwiseProduct(knowledge.allowed());
  constraints.required = knowledge.required_edges();
  constraints.required_links = knowledge.open_links();
  constraints.apart = ByteMatrix::Ones(links.rows(), links.cols()) - knowledge.boundary_candidates();
  for (;;) {
    for (const auto& [i, j] : constraints.required_links) {
      constraints.allowed(i, j) = knowledge.allows(i, j);
      constraints.allowed(j, i) = knowledge.allows(j, i);
    }
    causal::AdditiveNoiseResult found = causal::find_additive_noise_graph(values, constraints, params, progress);
    if (!bring_together(found.dag, links, knowledge, constraints)) return found;
  }
}

}  // namespace fansite
