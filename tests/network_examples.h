// SPDX-License-Identifier: Apache-2.0
//
// What tests of NAF, BNAF and ACE share: batches with subsets, and gradients held against differences of losses.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fansite/entropy/neural/network.h"

namespace fansite::neural {

/// Normal numbers, subsets of all sizes; one row lacks a cell.
inline SubsetBatch<double> example_batch(Index rows, int variables, std::uint64_t seed) {
  Random random{Key{seed}};
  SubsetBatch<double> batch;
  batch.values.resize(rows, variables);
  for (Index i = 0; i < batch.values.size(); ++i) batch.values.data()[i] = random.normal();
  batch.mask = Rows<double>::Zero(rows, variables);
  batch.present = Rows<double>::Ones(rows, variables);
  if (rows > 2 && variables > 1) {
    batch.present(1, 1) = 0;
    batch.values(1, 1) = 0;
  }
  for (Index r = 0; r < rows; ++r) {
    const int size = static_cast<int>(r % (variables + 1));
    for (const int j : random.subset(variables, size)) batch.mask(r, j) = batch.present(r, j);
  }
  batch.key = Key{seed}.split(1);
  return batch;
}

/// Parameters away from where training starts, so that no gradient is small by construction.
inline std::vector<double> example_parameters(const SubsetNetwork<double>& network, std::uint64_t seed,
                                              double spread = 0.3) {
  std::vector<double> parameters(network.size());
  network.start(Key{seed}, parameters);
  Random random{Key{seed}.split(7)};
  for (double& p : parameters) p += spread * random.normal();
  return parameters;
}

/// Every parameter's derivative against a central difference.
inline void expect_gradient(const SubsetNetwork<double>& network, const SubsetBatch<double>& batch,
                            std::vector<double> parameters, double tolerance) {
  std::vector<double> gradient(parameters.size(), std::nan(""));
  const double loss = network.loss(parameters, batch, gradient);
  EXPECT_EQ(loss, network.loss(parameters, batch, {})) << "the loss depends on whether its gradient is wanted";
  constexpr double kStep = 1e-5;
  double largest = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double own = parameters[i];
    parameters[i] = own + kStep;
    const double above = network.loss(parameters, batch, {});
    parameters[i] = own - kStep;
    const double below = network.loss(parameters, batch, {});
    parameters[i] = own;
    const double slope = (above - below) / (2 * kStep);
    largest = std::max(largest, std::abs(slope));
    ASSERT_NEAR(gradient[i], slope, tolerance * (1 + std::abs(slope))) << "parameter " << i;
  }
  EXPECT_GT(largest, 1e-3);
}

/// log p of every subset of the rows' own variables, by the network's density.
inline Eigen::MatrixXf densities(const SubsetNetwork<double>& network, const std::vector<double>& parameters,
                                 const flow::Table& table, const std::vector<flow::Subset>& subsets) {
  return network.density(parameters)->log_density(table, subsets);
}

inline std::vector<flow::Subset> all_subsets(int variables) {
  std::vector<flow::Subset> subsets;
  for (unsigned bits = 0; bits < (1u << variables); ++bits) {
    flow::Subset& subset = subsets.emplace_back();
    for (int j = 0; j < variables; ++j) {
      if ((bits >> j & 1u) != 0) subset.push_back(j);
    }
  }
  return subsets;
}

inline flow::Table example_table(Index rows, int variables, std::uint64_t seed) {
  Random random{Key{seed}};
  flow::Table table(rows, variables);
  for (Index i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(random.normal());
  return table;
}

}  // namespace fansite::neural
