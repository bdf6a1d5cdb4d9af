// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/links.h"

namespace fansite {

ByteMatrix links(const std::vector<int>& targets, const std::vector<std::vector<int>>& members, int variables) {
  ByteMatrix result = ByteMatrix::Zero(variables, variables);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    for (const int member : members[t]) result(targets[t], member) = result(member, targets[t]) = 1;
  }
  return result;
}

ByteMatrix links(const Boundaries& found, int variables) {
  std::vector<int> targets;
  std::vector<std::vector<int>> members;
  for (const Boundary& boundary : found.boundaries) {
    targets.push_back(boundary.target);
    members.push_back(boundary.member_indices());
  }
  return links(targets, members, variables);
}

}  // namespace fansite
