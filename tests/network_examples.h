// SPDX-License-Identifier: Apache-2.0
//
// What tests of NAF, BNAF and ACE share: batches with subsets, and gradients held against differences of losses.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

/// The map of each variable of a subset depends on none after it, and its slope is what its logarithm says.
template <class Network>
void expect_autoregressive(const Network& network, const std::vector<double>& parameters, std::uint64_t seed) {
  Random random{Key{seed}};
  const auto d = static_cast<std::size_t>(network.variables());
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> row(d);
    for (double& x : row) x = random.normal();
    const int size = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(d)));
    const flow::Subset subset = random.subset(static_cast<int>(d), size);
    const auto mapped = network.reference(parameters, row, subset);
    for (std::size_t k = 0; k < subset.size(); ++k) {
      const auto moved = [&](double by) {
        std::vector<double> other = row;
        other[static_cast<std::size_t>(subset[k])] += by;
        return network.reference(parameters, other, subset);
      };
      const auto above = moved(1e-5), below = moved(-1e-5);
      const double slope = (above.z[k] - below.z[k]) / 2e-5;
      EXPECT_NEAR(slope, std::exp(mapped.log_slope[k]), 1e-6 * (1 + slope));
      EXPECT_GT(slope, 0);
      for (std::size_t before = 0; before < k; ++before) EXPECT_EQ(above.z[before], mapped.z[before]);
    }
    // Variables outside of the subset do not count.
    std::vector<double> other = row;
    for (std::size_t j = 0; j < d; ++j) {
      if (!std::binary_search(subset.begin(), subset.end(), static_cast<int>(j))) other[j] += 3;
    }
    EXPECT_EQ(network.reference(parameters, other, subset).z, mapped.z);
  }
}

/// A row has the same bits whatever its company, an absent cell gives NaN, and trials are cells of a table.
inline void expect_rows_alone(const SubsetNetwork<double>& network, const std::vector<double>& parameters) {
  const int d = network.variables();
  const auto density = network.density(parameters);
  flow::Table table = example_table(150, d, 11);
  const std::vector<flow::Subset> subsets = all_subsets(d);
  const Eigen::MatrixXf all = density->log_density(table, subsets);
  const std::vector<int> some = {149, 3, 70};
  const flow::Table few = table(some, Eigen::all);
  const std::vector<flow::Subset> one = {subsets.back()};
  const Eigen::MatrixXf again = density->log_density(few, subsets), alone = density->log_density(table, one);
  for (Index i = 0; i < 3; ++i) {
    for (Index s = 0; s < all.cols(); ++s) EXPECT_EQ(again(i, s), all(some[static_cast<std::size_t>(i)], s));
  }
  EXPECT_EQ(alone.col(0), all.col(all.cols() - 1));
  // The last variable tried, then absent.
  const flow::Trial trial(d - 1, example_table(150, 3, 12));
  const Eigen::MatrixXf tried = density->log_density(table, one.front(), {&trial, 1});
  table.col(d - 1) = trial.columns.front().values.col(2);
  EXPECT_EQ(tried.col(2), density->log_density(table, one).col(0));
  table(5, d - 1) = std::nanf("");
  const Eigen::MatrixXf lacking = density->log_density(table, subsets);
  for (Index s = 0; s < all.cols(); ++s) {
    const flow::Subset& subset = subsets[static_cast<std::size_t>(s)];
    const bool asked = !subset.empty() && subset.back() == d - 1;
    EXPECT_EQ(std::isnan(lacking(5, s)), asked);
  }
}

/// log p of every subset of the rows' own variables, by the network's density.
inline Eigen::MatrixXf densities(const SubsetNetwork<double>& network, const std::vector<double>& parameters,
                                 const flow::Table& table, const std::vector<flow::Subset>& subsets) {
  return network.density(parameters)->log_density(table, subsets);
}

}  // namespace fansite::neural
