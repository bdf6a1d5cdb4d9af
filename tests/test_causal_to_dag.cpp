// SPDX-License-Identifier: Apache-2.0
//
// From weights to a graph: the heaviest edges first, and never a cycle.
#include "fansite/causal/to_dag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

TEST(ToDag, TakesTheHeaviestFirst) {
  Matrix a = Matrix::Zero(3, 3);
  a(0, 1) = 0.9;
  a(1, 2) = 0.8;
  a(2, 0) = 0.7;
  a(0, 2) = 0.1;
  a(1, 0) = 0.95;
  ByteMatrix expected = ByteMatrix::Zero(3, 3);
  expected(1, 0) = expected(1, 2) = expected(2, 0) = 1;
  EXPECT_EQ(to_dag(a, 0.1), expected);
}

TEST(ToDag, KeepsAWeightAtTheThresholdAndTheFirstOfEqualOnes) {
  Matrix a = Matrix::Zero(3, 3);
  a(0, 1) = a(1, 0) = 0.5;
  a(1, 2) = 0.1;
  a(2, 0) = std::nextafter(0.1, 0.0);
  a(2, 2) = 3;
  ByteMatrix expected = ByteMatrix::Zero(3, 3);
  expected(0, 1) = expected(1, 2) = 1;
  EXPECT_EQ(to_dag(a, 0.1), expected);
}

TEST(ToDag, WhatIsNotANumberCountsAsZero) {
  Matrix a = Matrix::Constant(3, 3, std::nan(""));
  EXPECT_EQ(to_dag(a, 0.1), ByteMatrix::Zero(3, 3));
  a(2, 1) = HUGE_VAL;
  a(0, 2) = 0.2;
  ByteMatrix expected = ByteMatrix::Zero(3, 3);
  expected(2, 1) = expected(0, 2) = 1;
  EXPECT_EQ(to_dag(a, 0.1), expected);
  EXPECT_EQ(to_dag(Matrix(0, 0), 0.1).size(), 0);
  EXPECT_THAT(message_of<UsageError>([] { to_dag(Matrix(2, 3), 0.1); }), HasSubstr("must be square"));
}

// The definition: a search for a path back at every edge.
ByteMatrix plain_to_dag(const Matrix& weights, double threshold) {
  const Index d = weights.rows();
  std::vector<std::pair<double, Index>> edges;  // −weight, row-major place
  for (Index k = 0; k < d * d; ++k) edges.emplace_back(-weights(k / d, k % d), k);
  std::sort(edges.begin(), edges.end());
  ByteMatrix dag = ByteMatrix::Zero(d, d);
  for (const auto& [minus, place] : edges) {
    const Index from = place / d, to = place % d;
    if (-minus < threshold) break;
    std::vector<Index> seen = {to};
    for (std::size_t s = 0; s < seen.size(); ++s) {
      for (Index j = 0; j < d; ++j) {
        if (dag(seen[s], j) != 0 && std::find(seen.begin(), seen.end(), j) == seen.end()) seen.push_back(j);
      }
    }
    if (std::find(seen.begin(), seen.end(), from) == seen.end()) dag(from, to) = 1;
  }
  return dag;
}

TEST(ToDag, IsAcyclicAndAsDefined) {
  EXPECT_TRUE(rc::check("any weights, equal ones among them", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 1 + static_cast<int>(random.below(12));
    const bool ties = random.coin();
    Matrix weights(d, d);
    for (double& weight : weights.reshaped()) weight = ties ? 0.1 * random.below(6) : random.uniform();
    const double threshold = ties ? 0.1 * random.below(6) : random.uniform();
    const ByteMatrix dag = to_dag(weights, threshold);
    RC_ASSERT(find_cycle(dag).empty());
    RC_ASSERT(dag == plain_to_dag(weights, threshold));
  }));
}

// More nodes than fit into a word of bits, all pairs weighted: an order of the nodes, every pair linked.
TEST(ToDag, OfADenseGraphIsATournament) {
  Random random(Key{10});
  Matrix weights(150, 150);
  for (double& weight : weights.reshaped()) weight = random.uniform();
  const ByteMatrix dag = to_dag(weights, 0);
  EXPECT_TRUE(find_cycle(dag).empty());
  EXPECT_EQ((dag.array() != 0).count(), 150 * 149 / 2);
}

}  // namespace
}  // namespace fansite::causal
