// SPDX-License-Identifier: Apache-2.0
//
// All subsets of one size, in lexicographic order.
#pragma once

#include <cstddef>
#include <vector>

namespace fansite {

/// Calls visit(subset) for each subset of so many items, until one returns false; whether all returned true.
template <class Visit>
bool for_each_subset(const std::vector<int>& items, std::size_t size, const Visit& visit) {
  if (size > items.size()) return true;
  std::vector<std::size_t> place(size);
  std::vector<int> subset(size);
  for (std::size_t k = 0; k < size; ++k) {
    place[k] = k;
    subset[k] = items[k];
  }
  while (true) {
    if (!visit(subset)) return false;
    std::size_t k = size;
    while (k > 0 && place[k - 1] == items.size() - size + k - 1) --k;
    if (k == 0) return true;
    ++place[k - 1];
    for (std::size_t next = k; next < size; ++next) place[next] = place[next - 1] + 1;
    for (std::size_t next = k - 1; next < size; ++next) subset[next] = items[place[next]];
  }
}

}  // namespace fansite
