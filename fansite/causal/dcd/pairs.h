// SPDX-License-Identifier: Apache-2.0
//
// The (parent, child) pairs among which a graph is sought. Whatever has one value per pair costs what the pairs cost,
// not d².
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite::causal {

/// Pair e is parent[e] → child[e]; ordered by child, then by parent.
struct AllowedPairs {
  AllowedPairs() = default;
  /// The nonzero entries (i, j), i ≠ j, of a square matrix.
  explicit AllowedPairs(const ByteMatrix& mask);

  int variables = 0;
  std::vector<int> parent, child;
  std::vector<Index> start = {0};  ///< child j has the pairs start[j] .. start[j+1]−1

  Index count() const { return static_cast<Index>(parent.size()); }
  Index parents(int j) const { return start[static_cast<std::size_t>(j) + 1] - start[static_cast<std::size_t>(j)]; }
  ByteMatrix mask() const;
  /// d×d, 0 outside the pairs.
  Matrix spread(std::span<const double> values) const;
};

/// Whether the pairs whose weight exceeds the threshold form no cycle; a NaN exceeds nothing.
bool acyclic_above(const AllowedPairs& pairs, std::span<const double> weights, double threshold);

}  // namespace fansite::causal
