// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/eemb.h"

#include <gmock/gmock.h>

#include "classical_examples.h"
#include "fansite/boundary/baselines/subsets.h"

namespace fansite {
namespace {

using List = std::vector<int>;

TEST(Subsets, ComeBySizeThenInOrder) {
  std::vector<List> seen;
  const auto note = [&](const List& set) {
    seen.push_back(set);
    return false;
  };
  EXPECT_FALSE(any_subset({3, 1, 2}, 0, 2, -1, note));
  EXPECT_EQ(seen, (std::vector<List>{{}, {1}, {2}, {3}, {1, 2}, {1, 3}, {2, 3}}));
  seen.clear();
  any_subset({3, 1, 2}, 1, 3, 2, note);
  EXPECT_EQ(seen, (std::vector<List>{{2}, {1, 2}, {2, 3}, {1, 2, 3}}));
  seen.clear();
  any_subset({}, 1, 3, -1, note);
  EXPECT_TRUE(seen.empty());
  EXPECT_TRUE(any_subset({5}, 0, 3, -1, [](const List& set) { return !set.empty(); }));
}

TEST(Eemb, IsExactWithATestThatIsNeverWrong) {
  expect_exact_with_oracle(
      [](const IndependenceTest& test, const ClassicalTarget& search) { return eemb(test, search, 0.01, 9); });
}

TEST(Eemb, NeighboursComeFirst) {
  const auto found = found_by("eemb", collider());
  EXPECT_EQ(found[0], (List{1, 2}));
  EXPECT_EQ(sorted(found[1]), (List{0, 2, 3}));
  EXPECT_EQ(found[2], (List{1, 0}));
  EXPECT_EQ(found[3], (List{1}));
  EXPECT_TRUE(found[4].empty());
}

TEST(Eemb, SaysWhatItDidNotTry) {
  const Simulation dense = simulate_linear(12, 3, 3000, 2);
  BoundariesParams params("eemb");
  params.options.set("max_subset", std::int64_t{1});
  const BoundariesResult result = markov_boundaries(dense.data, params);
  EXPECT_THAT(result.warnings, testing::Contains(testing::HasSubstr("EEMB did not try sets of more than 1 variables")));
  params.options.set("max_subset", std::int64_t{12});
  EXPECT_THAT(markov_boundaries(collider(), params).warnings,
              testing::Not(testing::Contains(testing::HasSubstr("did not try"))));
}

TEST(Eemb, ReproducesThePublishedF1) {
  FANSITE_AUTHORS_TABLES(tables, "gp_d30");
  std::vector<double> f1;
  for (const AuthorsTable& table : tables) f1.push_back(percent(table, found_by("eemb", table.data)).f1);
  expect_published(f1, {59.06, 9.65});
}

}  // namespace
}  // namespace fansite
