// SPDX-License-Identifier: Apache-2.0
//
// A test that knows the graph: what constraint-based methods find with it must be exact.
#pragma once

#include <utility>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "fansite/independence/independence_test.h"

namespace fansite {

/// Independent if the graph d-separates the two (p = 1, strength 0), else dependent (p = 0, strength 1).
class SeparationOracle final : public IndependenceTest {
 public:
  explicit SeparationOracle(Dag dag) : dag_(std::move(dag)) {}

  const Dag& dag() const { return dag_; }
  int variables() const override { return dag_.nodes(); }
  IndependenceVerdict test(int a, int b, std::span<const int> given) const override {
    const bool separated = dag_.d_separated(a, b, std::vector<int>(given.begin(), given.end()));
    return separated ? IndependenceVerdict{1, 0} : IndependenceVerdict{0, 1};
  }

 private:
  Dag dag_;
};

/// A random graph of so many nodes, each pair linked with this chance, along a random order of the nodes.
inline Dag random_dag(int nodes, double chance, std::uint64_t seed) {
  Random random(Key{seed});
  const std::vector<int> order = random.permutation(nodes);
  std::vector<std::pair<int, int>> edges;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (random.uniform() < chance) edges.emplace_back(order[i], order[j]);
    }
  }
  return Dag(nodes, edges);
}

}  // namespace fansite
