// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/stmb.h"

#include <gmock/gmock.h>

#include "classical_examples.h"

namespace fansite {
namespace {

using List = std::vector<int>;

// Of sparse graphs: in dense ones false spouses stay, since each is tested given the neighbours and those of one child.
TEST(Stmb, IsExactOnSparseGraphsWithATestThatIsNeverWrong) {
  expect_exact_with_oracle(
      6, 0.15, [](const IndependenceTest& test, const ClassicalTarget& search) { return stmb(test, search, 0.01, 9); });
}

TEST(Stmb, NeighboursComeFirst) {
  const auto found = found_by("stmb", collider());
  EXPECT_EQ(found[0], (List{1, 2}));
  EXPECT_EQ(sorted(found[1]), (List{0, 2, 3}));
  EXPECT_EQ(found[3], (List{1}));
  EXPECT_TRUE(found[4].empty());
}

// 6 is no child of 1 but a descendant, and only {5, 7} separates it, with 7 a spouse: it goes when 7 is known.
TEST(Stmb, ASpouseSeparatesAFalseNeighbour) {
  const SeparationOracle oracle(Dag(8, {{1, 5}, {5, 6}, {7, 5}, {7, 6}}));
  EXPECT_EQ(sorted(stmb(oracle, search_of(1, 8), 0.01, 3).members), (List{5, 7}));
}

TEST(Stmb, SaysWhatItDidNotTry) {
  BoundariesParams params("stmb");
  params.options.set("max_subset", std::int64_t{1});
  EXPECT_THAT(markov_boundaries(simulate_linear(12, 3, 3000, 2).data, params).warnings,
              testing::Contains(testing::HasSubstr("STMB did not try sets of more than 1 variables")));
}

}  // namespace
}  // namespace fansite
