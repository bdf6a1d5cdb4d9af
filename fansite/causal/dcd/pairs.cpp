// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/pairs.h"

#include "fansite/base/error.h"

namespace fansite::causal {

AllowedPairs::AllowedPairs(const ByteMatrix& mask) : variables(static_cast<int>(mask.cols())) {
  check(mask.rows() == mask.cols(), "[pairs] a mask of {} rows and {} columns; it must be square", mask.rows(),
        mask.cols());
  for (int j = 0; j < variables; ++j) {
    for (int i = 0; i < variables; ++i) {
      if (i == j || mask(i, j) == 0) continue;
      parent.push_back(i);
      child.push_back(j);
    }
    start.push_back(count());
  }
}

ByteMatrix AllowedPairs::mask() const {
  ByteMatrix mask = ByteMatrix::Zero(variables, variables);
  for (std::size_t e = 0; e < parent.size(); ++e) mask(parent[e], child[e]) = 1;
  return mask;
}

Matrix AllowedPairs::spread(std::span<const double> values) const {
  Matrix matrix = Matrix::Zero(variables, variables);
  for (std::size_t e = 0; e < parent.size(); ++e) matrix(parent[e], child[e]) = values[e];
  return matrix;
}

// Takes away nodes without parents until none is left (Kahn); what then remains has a cycle.
bool acyclic_above(const AllowedPairs& pairs, std::span<const double> weights, double threshold) {
  const auto d = static_cast<std::size_t>(pairs.variables);
  std::vector<std::vector<int>> children(d);
  std::vector<int> parents(d, 0), free;
  for (std::size_t e = 0; e < pairs.parent.size(); ++e) {
    if (!(weights[e] > threshold)) continue;
    children[static_cast<std::size_t>(pairs.parent[e])].push_back(pairs.child[e]);
    ++parents[static_cast<std::size_t>(pairs.child[e])];
  }
  for (std::size_t i = 0; i < d; ++i) {
    if (parents[i] == 0) free.push_back(static_cast<int>(i));
  }
  std::size_t taken = 0;
  for (; taken < free.size(); ++taken) {
    const auto node = static_cast<std::size_t>(free[taken]);
    for (const int j : children[node]) {
      if (--parents[static_cast<std::size_t>(j)] == 0) free.push_back(j);
    }
  }
  return taken == d;
}

}  // namespace fansite::causal
