// SPDX-License-Identifier: Apache-2.0
//
// Small sets of variables, as lists in an order that means something.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace fansite {

using Sets = std::vector<std::vector<int>>;
using Pair = std::pair<int, int>;

inline bool contains(const std::vector<int>& set, int member) {
  return std::find(set.begin(), set.end(), member) != set.end();
}

inline std::vector<int> without(std::vector<int> set, int member) {
  std::erase(set, member);
  return set;
}

}  // namespace fansite
