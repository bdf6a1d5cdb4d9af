// SPDX-License-Identifier: Apache-2.0
//
// What a member of a Markov boundary is to its target: parent, child, spouse, or a neighbour of unknown direction.
#pragma once

#include <string_view>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/causal/orientation.h"

namespace fansite::causal {

enum class Role { parent, child, spouse, undecided };
constexpr auto enum_names(Role) {
  return std::to_array<EnumName<Role>>(
      {{Role::parent, "parent"}, {Role::child, "child"}, {Role::spouse, "spouse"}, {Role::undecided, "undecided"}});
}

struct RoleOf {
  int variable = 0;
  Role role = Role::undecided;
  std::vector<int> through;  ///< a spouse's common children with the target, ascending
};

/// Everything in the boundary of `target` that the graph knows of: neighbours, and the other parents of its children.
/// Ascending; a neighbour that is a spouse too is told as a neighbour.
std::vector<RoleOf> roles(const PartialDag& graph, int target);

}  // namespace fansite::causal
