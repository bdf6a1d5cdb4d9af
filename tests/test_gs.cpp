// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/gs.h"

#include "classical_examples.h"

namespace fansite {
namespace {

TEST(GrowShrink, IsExactWithATestThatIsNeverWrong) {
  expect_exact_with_oracle(
      [](const IndependenceTest& test, const ClassicalTarget& search) { return grow_shrink(test, search, 0.01); });
}

TEST(GrowShrink, AdmitsInTheOrderOfColumns) {
  const auto found = found_by("gs", collider());
  EXPECT_EQ(found[0], (std::vector<int>{1, 2}));  // z once y is in
  EXPECT_EQ(found[1], (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(found[4], (std::vector<int>{}));
}

TEST(GrowShrink, AFurtherPassFindsWhatTheFirstMadeDependent) {
  const SeparationOracle oracle(Dag(3, {{1, 2}, {0, 2}}));  // 0 is dependent of 1 only once 2 is in
  EXPECT_EQ(grow_shrink(oracle, search_of(1, 3), 0.01).members, (std::vector<int>{2, 0}));
}

}  // namespace
}  // namespace fansite
