// SPDX-License-Identifier: Apache-2.0
//
// The subsets of a few variables, the smaller ones first, those of one size in the order of their members.
#pragma once

#include <algorithm>
#include <vector>

#include "fansite/base/subsets.h"

namespace fansite {

/// Calls visit(subset) for subsets of least..most members of `pool`, each ascending, until it says true; whether one
/// did. `needed` ≥ 0: only those that have it; it must be in the pool.
template <class Visit>
bool any_subset(std::vector<int> pool, int least, int most, int needed, const Visit& visit) {
  std::erase(pool, needed);
  std::sort(pool.begin(), pool.end());
  const int with = needed >= 0 ? 1 : 0;
  const auto size = static_cast<int>(pool.size());
  std::vector<int> chosen;
  for (int count = std::max(least - with, 0); count <= std::min(most - with, size); ++count) {
    const bool none = for_each_subset(pool, static_cast<std::size_t>(count), [&](const std::vector<int>& subset) {
      chosen = subset;
      if (with != 0) chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), needed), needed);
      return !visit(chosen);
    });
    if (!none) return true;
  }
  return false;
}

}  // namespace fansite
