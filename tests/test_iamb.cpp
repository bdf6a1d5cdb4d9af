// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/iamb.h"

#include "classical_examples.h"
#include "fansite/independence/fisher_z.h"

namespace fansite {
namespace {

TEST(Iamb, IsExactWithATestThatIsNeverWrong) {
  expect_exact_with_oracle(
      [](const IndependenceTest& test, const ClassicalTarget& search) { return iamb(test, search, 0.01); });
}

TEST(Iamb, FindsSpousesAndLeavesOutTheRest) {
  const auto found = found_by("iamb", collider());
  EXPECT_EQ(sorted(found[0]), (std::vector<int>{1, 2}));
  EXPECT_EQ(sorted(found[1]), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(found[3], (std::vector<int>{1}));
  EXPECT_EQ(found[4], (std::vector<int>{}));
}

// The strongest first; and of those dependent, not of all.
TEST(Iamb, AdmitsInOrderOfStrength) {
  const Dataset data = collider();
  const FisherZ test(std::make_shared<const Covariance>(covariance(data.values)));
  const std::vector<int> members = iamb(test, search_of(1, 5), 0.01).members;
  ASSERT_EQ(members.size(), 3u);
  double strongest = 0;
  for (int z : {0, 2, 3, 4}) strongest = std::max(strongest, test.test(1, z, {}).strength);
  EXPECT_EQ(test.test(1, members[0], {}).strength, strongest);
}

TEST(Iamb, KnownMembersAreNeverTakenOut) {
  const SeparationOracle oracle(Dag(4, {{0, 1}, {2, 3}}));
  ClassicalTarget search = search_of(0, 4);
  search.known = {3};
  EXPECT_EQ(iamb(oracle, search, 0.01).members, (std::vector<int>{3, 1}));
}

TEST(Iamb, OneSidedSeesNegativeRelationsOnly) {
  const auto found = found_by("iamb", collider(), {{"legacy_onesided", true}});
  EXPECT_TRUE(found[3].empty());  // w rises with y
  EXPECT_EQ(message_of<ParameterError>([] {
              found_by("iamb", collider(), {{"legacy_onesided", true}, {"test", std::string("flow")}});
            }),
            "[legacy_onesided] it is of the test fisher-z; leave it out");
}

TEST(Iamb, OneSidedReproducesThePublishedFigures) {
  FANSITE_AUTHORS_TABLES(tables, "gp_d30");
  std::vector<double> ndcg, precision, f1;
  for (const AuthorsTable& table : tables) {
    const auto found = found_by("iamb", table.data, {{"legacy_onesided", true}, {"order", std::string("pyset")}});
    const Percent score = percent(table, found);
    ndcg.push_back(score.ndcg);
    precision.push_back(score.average_precision);
    f1.push_back(score.f1);
  }
  expect_published(ndcg, {29.25, 10.20});
  expect_published(precision, {22.81, 9.33});
  expect_published(f1, {30.49, 9.82});
}

TEST(Iamb, OneSidedReproducesThePublishedF1OfLinearTables) {
  FANSITE_AUTHORS_TABLES(tables, "linear_d100");
  std::vector<double> f1;
  for (const AuthorsTable& table : tables) {
    const auto found =
        found_by("iamb", table.data, {{"legacy_onesided", true}, {"alpha", 1e-8}, {"order", std::string("pyset")}});
    f1.push_back(percent(table, found).f1);
  }
  expect_published(f1, {42.87, 5.64});
}

}  // namespace
}  // namespace fansite
