// SPDX-License-Identifier: Apache-2.0
//
// Tables, networks and comparisons for the tests of SDCD and FANSITE-DCD.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "fansite/base/random.h"
#include "fansite/causal/dcd/detail/learner.h"
#include "fansite/graph/dag.h"
#include "support.h"

namespace fansite::causal {

inline constexpr Variance kKinds[] = {Variance::network, Variance::unit, Variance::parameter};

inline double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

// Networks, a mask and rows, all of them numbers that single precision holds.
struct Example {
  NetworkParameters parameters;
  ByteMatrix mask;
  Matrix rows;
  Variance kind = Variance::network;

  int variables() const { return static_cast<int>(mask.rows()); }
  int hidden() const { return static_cast<int>(parameters.b.cols()); }
};

inline Example random_example(Random& random, int variables, int hidden, Index rows, double density, Variance kind) {
  Example example;
  example.kind = kind;
  example.mask = ByteMatrix::Zero(variables, variables);
  example.parameters = zero_networks(variables, hidden);
  NetworkParameters& p = example.parameters;
  for (int i = 0; i < variables; ++i) {
    for (int j = 0; j < variables; ++j) {
      if (i == j || random.uniform() >= density) continue;
      example.mask(i, j) = 1;
      if (random.below(8) == 0) continue;  // weights of 0, where norm and absolute value have a kink
      for (double& w : p.w[static_cast<std::size_t>(j)].row(i)) w = rounded(0.5 * random.normal());
    }
  }
  const double head = 1 / std::sqrt(static_cast<double>(hidden));
  for (Matrix* part : {&p.b, &p.m, &p.s}) {
    for (double& value : part->reshaped()) value = rounded(head * random.normal());
  }
  for (Vector* part : {&p.m0, &p.s0}) {
    for (double& value : *part) value = rounded(random.normal());
  }
  example.rows.resize(rows, variables);
  for (double& value : example.rows.reshaped()) value = rounded(random.normal());
  return example;
}

// The rows as one batch.
inline Batches batches_of(const Matrix& rows, Index batch = 1 << 20) {
  const Eigen::MatrixXf columns = rows.cast<float>();
  std::vector<int> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), 0);
  Batches batches(static_cast<int>(rows.cols()), rows.rows(), batch);
  for (int j = 0; j < rows.cols(); ++j) batches.fill(j, columns.col(j).data(), order);
  return batches;
}

inline Learner learner_of(const Example& example, std::optional<int> power_iterations = 15, Team* team = nullptr) {
  Learner learner(AllowedPairs(example.mask), example.hidden(), example.kind, power_iterations, team);
  learner.set(example.parameters);
  return learner;
}

struct Tensor {
  const char* name;
  std::vector<double> values;
};

inline std::vector<Tensor> tensors(const NetworkParameters& p) {
  std::vector<Tensor> list = {{"W", {}}};
  for (const Matrix& w : p.w) list[0].values.insert(list[0].values.end(), w.reshaped().begin(), w.reshaped().end());
  for (const auto& [name, part] : {std::pair("b", &p.b), {"m", &p.m}, {"s", &p.s}})
    list.push_back({name, {part->reshaped().begin(), part->reshaped().end()}});
  for (const auto& [name, part] : {std::pair("m0", &p.m0), {"s0", &p.s0}})
    list.push_back({name, {part->begin(), part->end()}});
  return list;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::isnan(value) ? HUGE_VAL : std::max(most, std::abs(value));
  return most;
}

inline double largest(const NetworkParameters& p) {
  double most = 0;
  for (const Tensor& tensor : tensors(p)) most = std::max(most, largest(tensor.values));
  return most;
}

// The tensors that differ by more than `bound`.
inline std::string differences(const NetworkParameters& value, const NetworkParameters& expected, double bound) {
  const auto ours = tensors(value), theirs = tensors(expected);
  std::string names;
  for (std::size_t t = 0; t < ours.size(); ++t) {
    std::vector<double> difference = ours[t].values;
    for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= theirs[t].values[k];
    if (!(largest(difference) <= bound)) names += fmt::format("{} by {:.1e}; ", ours[t].name, largest(difference));
  }
  return names;
}

inline Matrix slopes_of(const SpectralPenalty& penalty, int variables) {
  Matrix slopes(variables, variables);
  for (int i = 0; i < variables; ++i) {
    for (int j = 0; j < variables; ++j) slopes(i, j) = penalty.slope(i, j);
  }
  return slopes;
}

}  // namespace fansite::causal
