// SPDX-License-Identifier: Apache-2.0
//
// The subsets of a few variables, the smaller ones first, those of one size in the order of their members.
#pragma once

#include <algorithm>
#include <vector>

namespace fansite {

/// Calls visit(subset) for subsets of least..most members of `pool`, each ascending, until it says true; whether one
/// did. `needed` ≥ 0: only those that have it; it must be in the pool.
template <class Visit>
bool any_subset(std::vector<int> pool, int least, int most, int needed, const Visit& visit) {
  std::erase(pool, needed);
  std::sort(pool.begin(), pool.end());
  const int with = needed >= 0 ? 1 : 0;
  const int size = static_cast<int>(pool.size());
  std::vector<int> subset;
  for (int count = std::max(least - with, 0); count <= std::min(most - with, size); ++count) {
    std::vector<int> at(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) at[static_cast<std::size_t>(i)] = i;
    for (;;) {
      subset.clear();
      for (const int i : at) subset.push_back(pool[static_cast<std::size_t>(i)]);
      if (with != 0) subset.insert(std::lower_bound(subset.begin(), subset.end(), needed), needed);
      if (visit(subset)) return true;
      int last = count - 1;  // the last place that can still move on
      while (last >= 0 && at[static_cast<std::size_t>(last)] == size - count + last) --last;
      if (last < 0) break;
      ++at[static_cast<std::size_t>(last)];
      for (int i = last + 1; i < count; ++i) at[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(i - 1)] + 1;
    }
  }
  return false;
}

}  // namespace fansite
