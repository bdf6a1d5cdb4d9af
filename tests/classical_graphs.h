// SPDX-License-Identifier: Apache-2.0
//
// Graphs and tables for the classical methods: known small ones, and covariances of infinitely many rows.
#pragma once

#include <fmt/core.h>

#include <Eigen/LU>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/causal/orientation.h"
#include "fansite/graph/dag.h"
#include "fansite/run/causal_graph.h"
#include "fansite/table/covariance.h"
#include "separation_oracle.h"

namespace fansite {

/// "0>1" is directed, "0-1" is not; by the smaller node, then the larger.
inline std::vector<std::string> written(const PartialDag& graph) {
  std::vector<std::string> result;
  for (int i = 0; i < graph.directed.rows(); ++i) {
    for (int j = i + 1; j < graph.directed.rows(); ++j) {
      if (graph.directed(i, j)) result.push_back(fmt::format("{}>{}", i, j));
      if (graph.directed(j, i)) result.push_back(fmt::format("{}>{}", j, i));
      if (graph.undirected(i, j)) result.push_back(fmt::format("{}-{}", i, j));
    }
  }
  return result;
}

/// What independences tell of a graph.
inline PartialDag class_of(const Dag& dag) { return causal::oriented(dag, ByteMatrix::Zero(dag.nodes(), dag.nodes())); }

inline ByteMatrix all_links(int nodes) {
  ByteMatrix links = ByteMatrix::Ones(nodes, nodes);
  links.diagonal().setZero();
  return links;
}

/// Random graphs of 5 to 12 nodes and all densities, one for each seed.
inline Dag some_dag(std::uint64_t seed) {
  Random random(Key{seed}.split(1));
  const int nodes = 5 + static_cast<int>(random.below(8));
  return random_dag(nodes, random.uniform(0.1, nodes > 9 ? 0.4 : 0.7), seed);
}

/// Of x = Bᵀx + noise of variance 1, with coefficients of ±0.5 to ±1 along the edges, as if of so many rows.
inline std::shared_ptr<const Covariance> population(const Dag& dag, Index rows, std::uint64_t seed) {
  Random random(Key{seed}.split(2));
  Matrix coefficients = Matrix::Zero(dag.nodes(), dag.nodes());
  for (int j = 0; j < dag.nodes(); ++j) {
    for (const int i : dag.parents(j)) coefficients(i, j) = (random.coin() ? 1 : -1) * random.uniform(0.5, 1);
  }
  const Matrix inverse = (Matrix::Identity(dag.nodes(), dag.nodes()) - coefficients).inverse();
  const Matrix covariance = inverse.transpose() * inverse;
  auto result = std::make_shared<Covariance>();
  result->rows = rows;
  result->mean = Vector::Zero(dag.nodes());
  result->scale = covariance.diagonal().cwiseSqrt();
  result->correlation =
      result->scale.cwiseInverse().asDiagonal() * covariance * result->scale.cwiseInverse().asDiagonal();
  result->correlation.diagonal().setOnes();
  return result;
}

/// The graph that a method finds with these options.
inline CausalGraphResult found_by(const std::string& method, const Dataset& data,
                                  const std::vector<std::pair<std::string, Value>>& options = {},
                                  const Knowledge& knowledge = {}) {
  CausalGraphParams params(method);
  for (const auto& [name, value] : options) params.options.set(name, value);
  NoProgress progress;
  return causal_graph(data, nullptr, knowledge, params, progress);
}

/// The same table with its columns in another order: column k is the old order[k].
inline Dataset with_columns(const Dataset& data, const std::vector<int>& order) {
  Dataset result = data;
  result.values = data.values(Eigen::all, order);
  for (std::size_t k = 0; k < order.size(); ++k) result.names[k] = data.names[static_cast<std::size_t>(order[k])];
  return result;
}

}  // namespace fansite
