// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/s2tmb.h"

#include <gmock/gmock.h>

#include "classical_examples.h"
#include "fansite/independence/gaussian_bic.h"

namespace fansite {
namespace {

using List = std::vector<int>;

TEST(S2tmb, FindsNeighboursThenSpouses) {
  const auto found = found_by("s2tmb", collider());
  EXPECT_EQ(found[0], (List{1, 2}));
  EXPECT_EQ(sorted(found[1]), (List{0, 2, 3}));
  EXPECT_EQ(found[3], (List{1}));
  EXPECT_TRUE(found[4].empty());
}

// Linear equations with many rows: nearly all boundaries are those of the graph.
TEST(S2tmb, FindsTheBoundariesOfLinearTables) {
  std::vector<double> f1;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Simulation made = simulate_linear(12, 1, 5000, seed);
    f1.push_back(score_boundaries(found_by("s2tmb", made.data), true_boundaries(made.dag)).mean.f1);
  }
  EXPECT_GT(mean_and_spread(f1).mean, 0.9);
}

TEST(S2tmb, SaysWhenItClimbed) {
  const Simulation made = simulate_linear(10, 1, 2000, 2);
  BoundariesParams params("s2tmb");
  params.options.set("max_nodes", std::int64_t{2});
  const BoundariesResult result = markov_boundaries(made.data, params);
  EXPECT_THAT(result.warnings, testing::Contains(testing::HasSubstr(
                                   "S2TMB did not try all graphs of more than 2 variables (but hill climbing)")));
  const BoundariesResult exact = markov_boundaries(collider(), BoundariesParams("s2tmb"));
  EXPECT_EQ(exact.details, (std::vector<std::pair<std::string, Value>>{{"limited_targets", std::int64_t{0}}}));
}

}  // namespace
}  // namespace fansite
