// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fansite/error.h"
#include "fansite/graph.h"
#include "fansite/metrics.h"
#include "fansite/simulate.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// a → b → c and d apart, 500 rows.
Dataset chain() {
  Random random(Key{1});
  Dataset data{{"a", "b", "c", "d"}, Matrix(500, 4)};
  for (Index i = 0; i < 500; ++i) {
    const double a = random.normal(), b = a + random.normal();
    data.values.row(i) << a, b, b + random.normal(), random.normal();
  }
  return data;
}

std::set<std::string> members(const BoundariesResult& result, std::size_t b) {
  std::set<std::string> names;
  for (const int z : result.found.boundaries[b].variables())
    names.insert(result.variables[static_cast<std::size_t>(z)]);
  return names;
}

using Names = std::set<std::string>;

TEST(Boundaries, FromATable) {
  const BoundariesResult result = markov_boundaries(chain());
  EXPECT_EQ(result.rows, 500);
  EXPECT_EQ(members(result, 0), Names{"b"});
  EXPECT_EQ(members(result, 1), (Names{"a", "c"}));
  EXPECT_EQ(members(result, 3), Names{});
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Boundaries, TargetsByName) {
  BoundariesParams params;
  params.targets = {"c", "a"};
  const BoundariesResult result = markov_boundaries(chain(), params);
  ASSERT_EQ(result.found.boundaries.size(), 2u);
  EXPECT_EQ(result.found.boundaries[0].target, 2);
  EXPECT_EQ(members(result, 1), Names{"b"});
  params.targets = {"bb"};
  try {
    markov_boundaries(chain(), params);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'bb'"));
  }
}

TEST(Boundaries, ACopySharesTheBoundaryOfItsOriginal) {
  Dataset data = chain();
  data.names.push_back("b2");
  data.values.conservativeResize(Eigen::NoChange, 5);
  data.values.col(4) = data.values.col(1);
  const BoundariesResult result = markov_boundaries(data);
  EXPECT_EQ(result.copy_of[4], 1);
  EXPECT_EQ(members(result, 0), Names{"b"});  // not b2 as well
  EXPECT_EQ(members(result, 4), (Names{"a", "c"}));
  EXPECT_EQ(result.found.boundaries[4].target, 4);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'b2' is a copy of 'b'")));
  BoundariesParams only_the_copy;
  only_the_copy.targets = {"b2"};
  EXPECT_EQ(members(markov_boundaries(data, only_the_copy), 0), (Names{"a", "c"}));
}

TEST(Boundaries, AConstantColumnHasNone) {
  Dataset data = chain();
  data.values.col(3).setConstant(2);
  const BoundariesResult result = markov_boundaries(data);
  EXPECT_EQ(members(result, 3), Names{});
  EXPECT_EQ(result.found.boundaries[3].entropy, -INFINITY);
  EXPECT_EQ(members(result, 1), (Names{"a", "c"}));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'d' is constant")));
}

TEST(Boundaries, ADeterminedColumnIsNamed) {
  Dataset data = chain();
  data.values.col(3) = data.values.col(0) - 2 * data.values.col(2);
  const BoundariesResult result = markov_boundaries(data);
  EXPECT_EQ(result.found.boundaries[3].conditional_entropy, -INFINITY);
  EXPECT_THAT(members(result, 3), testing::IsSupersetOf({"a", "c"}));  // b may see d in place of a, and tell it
  EXPECT_THAT(result.warnings, Contains(HasSubstr("determined exactly by others")));
  for (const Boundary& boundary : result.found.boundaries) {
    for (const Member& member : boundary.members) EXPECT_TRUE(std::isfinite(member.gain));
  }
}

TEST(Boundaries, NoAnswerFromMissingOrInfiniteCells) {
  Dataset data = chain();
  data.values(17, 2) = std::nan("");
  EXPECT_THROW(markov_boundaries(data), DataError);
  data.values(17, 2) = INFINITY;
  EXPECT_THROW(markov_boundaries(data), DataError);
}

// The authors' own linear sets; published F1 99.88.
TEST(Boundaries, RecoverTheAuthorsLinearSets) {
  for (const std::string seed : {"42", "123"}) {
    const std::string path = FANSITE_SHARED_DIR "/data/linear_d100_seed" + seed + ".npz";
    if (FILE* file = std::fopen(path.c_str(), "rb")) {
      std::fclose(file);
    } else {
      GTEST_SKIP() << path << " is not there";
    }
    const Dataset data = load(path);
    const Dag truth = load_dag(path).dag;
    for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
      BoundariesParams params;
      params.search.stop = stop;
      std::vector<std::vector<int>> predicted, expected;
      for (const Boundary& boundary : markov_boundaries(data, params).found.boundaries) {
        predicted.push_back(boundary.variables());
        expected.push_back(truth.markov_boundary(boundary.target));
      }
      EXPECT_GE(score_boundaries(predicted, expected).mean.f1, 0.995) << seed << " " << name(stop);
    }
  }
}

}  // namespace
}  // namespace fansite
