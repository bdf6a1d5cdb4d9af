// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/roles.h"

namespace fansite::causal {

std::vector<RoleOf> roles(const PartialDag& graph, int target) {
  const auto d = static_cast<int>(graph.directed.rows());
  std::vector<RoleOf> result;
  for (int other = 0; other < d; ++other) {
    if (other == target) continue;
    RoleOf found;
    found.variable = other;
    if (graph.undirected(target, other)) {
      found.role = Role::undecided;
    } else if (graph.directed(other, target)) {
      found.role = Role::parent;
    } else if (graph.directed(target, other)) {
      found.role = Role::child;
    } else {
      found.role = Role::spouse;
      for (int child = 0; child < d; ++child) {
        if (graph.directed(target, child) && graph.directed(other, child)) found.through.push_back(child);
      }
      if (found.through.empty()) continue;
    }
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace fansite::causal
