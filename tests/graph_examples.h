// SPDX-License-Identifier: Apache-2.0
//
// Tables whose equations are known, and what may be found in them.
#pragma once

#include <cmath>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/causal/additive_noise.h"

namespace fansite::causal {

using Edges = std::vector<Edge>;

/// Rows that draw(random, row) makes of independent normal numbers.
template <class Draw>
inline Matrix table(Index rows, Index columns, std::uint64_t seed, Draw&& draw) {
  Random random(Key{seed});
  Matrix values(rows, columns);
  for (auto row : values.rowwise()) {
    for (double& cell : row) cell = random.normal();
    draw(random, row);
  }
  return values;
}

inline Matrix noise_table(Index rows, Index columns, std::uint64_t seed) {
  return table(rows, columns, seed, [](Random&, auto&&) {});
}

/// 0 → 1 → 2 → …, linear and Gaussian.
inline Matrix linear_chain(Index rows, Index columns, std::uint64_t seed) {
  return table(rows, columns, seed, [&](Random&, auto&& x) {
    for (Index j = 1; j < columns; ++j) x[j] = 0.9 * x[j - 1] + 0.7 * x[j];
  });
}

/// 0 → 1 → 2, 0 → 3 ← 2, all curved.
inline Matrix curved_table(Index rows, std::uint64_t seed) {
  return table(rows, 4, seed, [](Random&, auto&& x) {
    x[1] = std::tanh(2 * x[0]) + 0.3 * x[1];
    x[2] = std::cos(2 * x[1]) + 0.3 * x[2];
    x[3] = x[0] * x[0] + std::sin(2 * x[2]) + 0.4 * x[3];
  });
}

inline GraphConstraints anything(Index variables) {
  GraphConstraints constraints;
  constraints.allowed = ByteMatrix::Ones(variables, variables);
  return constraints;
}

/// Its links, in either direction.
inline GraphConstraints chain_links(int variables) {
  GraphConstraints constraints;
  constraints.allowed = ByteMatrix::Zero(variables, variables);
  for (int j = 1; j < variables; ++j) constraints.allowed(j - 1, j) = constraints.allowed(j, j - 1) = 1;
  return constraints;
}

/// These edges and no others.
inline GraphConstraints exactly(int variables, const Edges& edges) {
  GraphConstraints constraints;
  constraints.allowed = ByteMatrix::Zero(variables, variables);
  constraints.required = edges;
  return constraints;
}

/// Few landmarks and one kernel, for searches where only the rules matter.
inline AdditiveNoiseParams rough() {
  AdditiveNoiseParams params;
  params.regression.landmarks = params.regression.max_landmarks = 10;
  params.regression.widths = {1};
  params.regression.ridges = {0.3};
  return params;
}

}  // namespace fansite::causal
