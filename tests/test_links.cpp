// SPDX-License-Identifier: Apache-2.0
//
// The links that boundaries make.
#include "fansite/boundary/links.h"

#include <gtest/gtest.h>

#include "fansite/base/random.h"
#include "fansite/entropy/gaussian.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

TEST(Links, OfNoTargetsAreNone) {
  EXPECT_EQ(links({}, {}, 3), ByteMatrix::Zero(3, 3));
  EXPECT_EQ(links({}, {}, 0).size(), 0);
  EXPECT_EQ(links({0, 2}, {{}, {}}, 3), ByteMatrix::Zero(3, 3));
}

TEST(Links, AreThereIfOneOfTheTwoSaysSo) {
  ByteMatrix expected = ByteMatrix::Zero(4, 4);
  expected(0, 1) = expected(1, 0) = 1;  // both say so
  expected(2, 1) = expected(1, 2) = 1;  // 2 alone
  expected(2, 3) = expected(3, 2) = 1;  // 3 is no target
  EXPECT_EQ(links({2, 0, 1}, {{3, 1}, {1}, {0}}, 4), expected);
}

TEST(Links, HoldEveryMemberAndNothingElse) {
  EXPECT_TRUE(rc::check("any targets with any members", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const int d = 1 + static_cast<int>(random.below(9));
    std::vector<int> targets = random.permutation(d);
    targets.resize(random.below(static_cast<std::uint32_t>(d) + 1));
    std::vector<std::vector<int>> members(targets.size());
    ByteMatrix said = ByteMatrix::Zero(d, d);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      for (int z = 0; z < d; ++z) {
        if (z == targets[t] || random.coin()) continue;
        members[t].push_back(z);
        said(targets[t], z) = 1;
      }
    }
    const ByteMatrix found = links(targets, members, d);
    RC_ASSERT(found == found.transpose());
    RC_ASSERT(found == said.cwiseMax(said.transpose()));
    RC_ASSERT((found.diagonal().array() == 0).all());
  }));
}

TEST(Links, OfASearchAreItsMoralEdges) {
  const Simulation simulation = simulate_linear(12, 1.5, 500, 4);
  const GaussianEstimator estimator(covariance(simulation.data.values));
  for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
    SearchParams params;
    params.rule = rule;
    const Boundaries found = find_boundaries(estimator, params);
    ASSERT_FALSE(found.moral_edges.empty());
    ByteMatrix expected = ByteMatrix::Zero(12, 12);
    for (const auto& [i, j] : found.moral_edges) expected(i, j) = expected(j, i) = 1;
    EXPECT_EQ(links(found, 12), expected);
  }
}

}  // namespace
}  // namespace fansite
