// SPDX-License-Identifier: Apache-2.0
//
// Hidden causes in simulated tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/simulate/detail/hidden_causes.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

SimulateParams hidden_params(int hidden, double degree, Sem sem = Sem::linear) {
  SimulateParams result;
  result.sem = sem;
  result.nodes = 12;
  result.degree = degree;
  result.hidden = hidden;
  result.rows = 2000;
  result.seed = 11;
  return result;
}

// FNV-1a over the bytes of a table.
std::uint64_t fingerprint(const Matrix& table) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < table.size(); ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, table.data() + i, sizeof bits);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

double correlation(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  return x.dot(y) / std::sqrt(x.squaredNorm() * y.squaredNorm());
}

bool linked(const Dag& dag, int a, int b) { return dag.has_edge(a, b) || dag.has_edge(b, a); }

// ---- Which variables share a cause ----------------------------------------------------------------------------------

TEST(HiddenCauses, HaveTwoOrThreeChildrenEachPairOnce) {
  const Dag observed = random_dag(GraphModel::er, 20, 1.5, Key{3});
  const hidden_causes::Children causes = hidden_causes::draw(observed, 15, Key{4});
  ASSERT_EQ(causes.size(), 15u);
  std::set<std::size_t> sizes;
  for (const std::vector<int>& children : causes) {
    sizes.insert(children.size());
    EXPECT_TRUE(std::is_sorted(children.begin(), children.end()));
  }
  EXPECT_THAT(sizes, testing::ElementsAre(2, 3));
  const auto pairs = hidden_causes::pairs(causes);
  EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
  for (const auto& [a, b] : pairs) {
    EXPECT_LT(a, b);
    EXPECT_FALSE(linked(observed, a, b)) << a << ", " << b;
  }
}

TEST(HiddenCauses, AreAsManyAsThereArePairsAndAvoidAdjacentOnes) {
  EXPECT_TRUE(rc::check("any graph and number of causes", [] {
    const int nodes = *rc::gen::inRange(1, 9), pairs = nodes * (nodes - 1) / 2;
    const double degree = 0.5 * (nodes - 1) * *rc::gen::inRange(0, 101) / 100;
    const int count = *rc::gen::inRange(0, pairs + 1);
    const Key key{*rc::gen::arbitrary<std::uint64_t>()};
    const Dag observed = random_dag(GraphModel::er, nodes, degree, key.split(0));
    const hidden_causes::Children causes = hidden_causes::draw(observed, count, key.split(1));
    RC_ASSERT(static_cast<int>(causes.size()) == count);
    const auto shared = hidden_causes::pairs(causes);
    RC_ASSERT(std::set(shared.begin(), shared.end()).size() == shared.size());
    int adjacent = 0;
    for (const auto& [a, b] : shared) adjacent += linked(observed, a, b);
    RC_ASSERT(adjacent == std::max(0, count - (pairs - observed.edges())));
  }));
}

TEST(HiddenCauses, AreRootsBehindTheGraph) {
  const Dag observed = random_dag(GraphModel::sf, 10, 1, Key{3});
  const Dag dag = hidden_causes::add(observed, {{1, 4}, {2, 3, 7}});
  EXPECT_EQ(dag.nodes(), 12);
  EXPECT_EQ(dag.edges(), observed.edges() + 5);
  EXPECT_EQ(ByteMatrix(dag.adjacency().topLeftCorner(10, 10)), observed.adjacency());
  EXPECT_THAT(dag.parents(10), testing::IsEmpty());
  EXPECT_THAT(dag.children(11), testing::ElementsAre(2, 3, 7));
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

// Without edges nothing but a hidden cause links two columns.
TEST(HiddenCauses, CorrelateTheirChildrenAlone) {
  const Simulation simulation = simulate(hidden_params(5, 0));
  EXPECT_EQ(simulation.dag.edges(), 0);
  const auto& pairs = simulation.hidden_cause_pairs;
  ASSERT_GE(pairs.size(), 5u);
  // A child of two causes does not link the other children of one with those of the other.
  const std::set<std::pair<int, int>> shared(pairs.begin(), pairs.end());
  for (int a = 0; a < 12; ++a) {
    for (int b = a + 1; b < 12; ++b) {
      const double z =
          std::abs(correlation(simulation.data.values.col(a), simulation.data.values.col(b))) * std::sqrt(2000.0);
      EXPECT_EQ(z > 4.5, shared.count({a, b}) == 1) << a << ", " << b << ": " << z;
    }
  }
}

TEST(HiddenCauses, ActInEveryKindOfEquation) {
  for (const Sem sem : {Sem::linear, Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) {
    SimulateParams chosen = hidden_params(0, 0, sem);
    chosen.nodes = 4;
    chosen.rows = 500;
    const Simulation without = simulate(chosen);
    chosen.hidden = 1;
    const Simulation with = simulate(chosen);
    EXPECT_TRUE(with.data.values.allFinite());
    std::set<int> children;
    for (const auto& [a, b] : with.hidden_cause_pairs) children.insert({a, b});
    for (int node = 0; node < 4; ++node) {
      EXPECT_EQ(with.data.values.col(node) != without.data.values.col(node), children.count(node) == 1)
          << name(sem) << ", " << node;
    }
  }
}

TEST(HiddenCauses, AreInNothingThatIsTold) {
  for (const Noise noise : {Noise::gauss, Noise::mixed}) {
    SimulateParams chosen = hidden_params(0, 1.5);
    chosen.noise = noise;
    chosen.kinds = Kinds::mixed;
    const Simulation without = simulate(chosen);
    EXPECT_THAT(without.hidden_cause_pairs, testing::IsEmpty());
    chosen.hidden = 4;
    const Simulation with = simulate(chosen);
    EXPECT_EQ(with.dag.nodes(), 12);
    EXPECT_EQ(with.dag.adjacency(), without.dag.adjacency());
    EXPECT_EQ(with.weights, without.weights);
    EXPECT_EQ(with.noise, without.noise);
    EXPECT_EQ(with.kinds, without.kinds);
    EXPECT_EQ(with.data.names, without.data.names);
    EXPECT_EQ(with.data.values.cols(), 12);
    for (const auto& [a, b] : with.hidden_cause_pairs) {
      EXPECT_LT(a, b);
      EXPECT_LT(b, 12);
      EXPECT_FALSE(linked(with.dag, a, b));
    }
  }
}

TEST(HiddenCauses, AreAtMostOneForEachPair) {
  SimulateParams chosen = hidden_params(3, 1);
  chosen.nodes = 3;
  EXPECT_THAT(simulate(chosen).hidden_cause_pairs,
              testing::ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)));
  chosen.hidden = 4;
  EXPECT_EQ(message_of<UsageError>([&] { simulate(chosen); }),
            "[simulate] hidden 4 is too large for 3 nodes; each hidden cause needs a pair of nodes of its own, so the "
            "largest possible is 3");
  chosen.hidden = -1;
  EXPECT_THAT(message_of<UsageError>([&] { simulate(chosen); }), HasSubstr("[hidden] -1 is out of range"));
  chosen.nodes = 1;
  chosen.degree = 0;
  chosen.hidden = 1;
  EXPECT_THAT(message_of<UsageError>([&] { simulate(chosen); }), HasSubstr("the largest possible is 0"));
}

// ---- Reproducibility ------------------------------------------------------------------------------------------------

TEST(HiddenCauses, DoNotDependOnThreads) {
  const std::uint64_t all_threads = fingerprint(simulate(hidden_params(4, 1.5, Sem::mlp)).data.values);
  const ThreadLimit limit(1);
  EXPECT_EQ(fingerprint(simulate(hidden_params(4, 1.5, Sem::mlp)).data.values), all_threads);
}

// A change here changes what every seed means, as in FrozenData of test_simulate.
TEST(HiddenCauses, HaveTheBitsTheyAlwaysHad) {
  EXPECT_EQ(fingerprint(simulate(hidden_params(4, 1.5)).data.values), 2039454364920533489u);
  EXPECT_EQ(fingerprint(simulate(hidden_params(4, 1.5, Sem::gene)).data.values), 11064436942895151939u);
}

}  // namespace
}  // namespace fansite
