// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the flow share: the golden files, written by the authors' own model in double precision, and random
// networks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/entropy/flow/parameters.h"

namespace fansite::flow {

// ---- Golden files ---------------------------------------------------------------------------------------------------

struct Golden {
  Shape shape;
  Parameters parameters;
  Matrix rows;
  std::vector<Subset> subsets;                      ///< one for each row
  std::vector<std::vector<int>> rank_per_variable;  ///< as in the file: from 1, and 0 for a variable without a rank
  std::vector<double> log_density;                  ///< of each row
  double loss = 0;                                  ///< −mean log density
  Parameters gradient;                              ///< of the loss
  double learning_rate = 0, clip = 0;               ///< of the ten steps of Adam
  std::vector<double> adam_losses, adam_norms;      ///< before each step; norms before the clip
};

inline const std::array<const char*, 5> kGoldenNames = {"tiny_full", "small_full", "small_compact",
                                                        "small_compact_wide", "init_full"};

inline std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(FANSITE_GOLDEN_DIR) / (name + ".json");
}

/// The file's tensors in our order of hidden nodes. The file's come in any order, `hidden_rank` telling each one's rank
/// from 1; the k-th node of a rank becomes block k.
inline Parameters golden_parameters(const Shape& shape, const nlohmann::json& tensors, const std::vector<int>& rank) {
  std::vector<Index> node;  // ours, for each of the file's
  std::vector<Index> seen(static_cast<std::size_t>(shape.ranks));
  for (const int r : rank) node.push_back(seen.at(static_cast<std::size_t>(r - 1))++ * shape.ranks + r - 1);

  Parameters p = zero_parameters(shape);
  const auto vector = [&](const char* name, Vector& to) {
    for (std::size_t i = 0; i < tensors.at(name).size(); ++i) to[static_cast<Index>(i)] = tensors.at(name).at(i);
  };
  for (std::size_t h = 0; h < node.size(); ++h) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.variables); ++i) {
      p.w1(node[h], static_cast<Index>(i)) = tensors.at("W1").at(h).at(i);
    }
    p.s1[node[h]] = tensors.at("s1").at(h);
    p.b1[node[h]] = tensors.at("b1").at(h);
    for (std::size_t row = 0; row < static_cast<std::size_t>(p.w2.rows()); ++row) {
      p.w2(static_cast<Index>(row), node[h]) = tensors.at("W2").at(row).at(h);
    }
  }
  vector("s2", p.s2);
  vector("b2", p.b2);
  for (Index q = 0; q < p.v.rows(); ++q) {
    for (Index l = 0; l < p.v.cols(); ++l) {
      p.v(q, l) = tensors.at("V").at(static_cast<std::size_t>(q)).at(static_cast<std::size_t>(l)).at(0);
    }
  }
  vector("c", p.c);
  return p;
}

inline Golden load_golden(const std::string& name) {
  std::ifstream file(golden_path(name));
  if (!file) throw std::runtime_error(golden_path(name).string() + " is missing; it is part of the source tree");
  const auto json = nlohmann::json::parse(file);
  Golden golden;
  golden.shape = {json.at("d"), json.at("blocks"), json.at("nodes_per_block"), json.at("outputs_per_variable"),
                  json.at("sigmoids")};
  const auto hidden_rank = json.at("hidden_rank").get<std::vector<int>>();
  golden.parameters = golden_parameters(golden.shape, json.at("params"), hidden_rank);
  golden.gradient = golden_parameters(golden.shape, json.at("grads"), hidden_rank);

  const auto x = json.at("x").get<std::vector<std::vector<double>>>();
  const auto mask = json.at("mask").get<std::vector<std::vector<int>>>();
  golden.rows.resize(static_cast<Index>(x.size()), golden.shape.variables);
  golden.subsets.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (int j = 0; j < golden.shape.variables; ++j) {
      golden.rows(static_cast<Index>(i), j) = x[i].at(static_cast<std::size_t>(j));
      if (mask.at(i).at(static_cast<std::size_t>(j)) != 0) golden.subsets[i].push_back(j);
    }
  }
  json.at("rank_per_variable").get_to(golden.rank_per_variable);
  json.at("log_prob").get_to(golden.log_density);
  json.at("loss").get_to(golden.loss);
  const auto& adam = json.at("adam");
  adam.at("lr").get_to(golden.learning_rate);
  adam.at("clip").get_to(golden.clip);
  adam.at("losses").get_to(golden.adam_losses);
  adam.at("grad_norms_before_clip").get_to(golden.adam_norms);
  return golden;
}

/// A test for each of the golden files.
class GoldenTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { golden = load_golden(GetParam()); }

  Golden golden;
};

inline auto golden_files() { return testing::ValuesIn(kGoldenNames); }
inline std::string golden_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

// ---- Tensors by name ------------------------------------------------------------------------------------------------

template <class Number>
struct Tensor {
  const char* name;
  std::span<Number> values;
};

template <class Number, class P>
std::array<Tensor<Number>, 8> tensors_of(P& p) {
  const auto tensor = [](const char* name, auto& t) {
    return Tensor<Number>{name, {t.data(), static_cast<std::size_t>(t.size())}};
  };
  return {tensor("W1", p.w1), tensor("s1", p.s1), tensor("b1", p.b1), tensor("W2", p.w2),
          tensor("s2", p.s2), tensor("b2", p.b2), tensor("V", p.v),   tensor("c", p.c)};
}

inline auto tensors(Parameters& p) { return tensors_of<double>(p); }
inline auto tensors(const Parameters& p) { return tensors_of<const double>(p); }

/// The largest difference of two tensors, relative to the largest entry of the second.
inline double relative_error(std::span<const double> value, std::span<const double> expected) {
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(value[i] - expected[i]);
    if (std::isnan(difference)) return difference;  // max would pass over it
    error = std::max(error, difference);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return error == 0 ? 0 : error / largest;
}

// ---- Random networks ------------------------------------------------------------------------------------------------

/// Uniform on {least, …, most}.
inline int between(Random& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint32_t>(most - least + 1)));
}

inline Shape random_shape(Random& random, int most_variables) {
  Shape shape;
  shape.variables = between(random, 1, most_variables);
  shape.ranks = shape.variables == 1 ? 0 : between(random, 1, shape.variables - 1);
  if (random.coin()) shape.ranks = shape.variables - 1;
  shape.blocks = between(random, 1, 13);
  shape.outputs = between(random, 1, 40);
  shape.sigmoids = between(random, 1, 6);
  return shape;
}

/// Any size that the shape allows, from `least` on.
inline Subset random_subset(Random& random, const Shape& shape, int least = 0) {
  return random.subset(shape.variables, between(random, least, shape.ranks + 1));
}

/// Entries of standard deviation `size`, so that with 0.5 nothing is near zero and nothing saturates.
inline Parameters random_parameters(const Shape& shape, Random& random, double size = 0.5) {
  Parameters p = zero_parameters(shape);
  for (const auto& tensor : tensors(p)) {
    for (double& value : tensor.values) value = size * random.normal();
  }
  return p;
}

}  // namespace fansite::flow
