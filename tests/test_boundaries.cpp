// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/boundaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/boundary/detail/prepare.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/graph/dag.h"
#include "fansite/graph/metrics.h"
#include "fansite/simulate/simulate.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  for (const int z : result.found.boundaries[b].member_indices())
    names.insert(result.names[static_cast<std::size_t>(z)]);
  return names;
}

using Names = std::set<std::string>;

const flow::EnsembleParams& networks_of(const BoundariesResult& result) {
  return result.estimator_parameters.as<flow::EnsembleParams>();
}

BoundariesParams gaussian() {
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  return params;
}

TEST(Boundaries, FromATable) {
  const BoundariesResult result = markov_boundaries(chain(), gaussian());
  EXPECT_EQ(result.estimator, "gaussian");
  EXPECT_FALSE(result.linearity.has_value());
  EXPECT_FALSE(result.training.has_value());
  EXPECT_EQ(result.rows, 500);
  EXPECT_EQ(members(result, 0), Names{"b"});
  EXPECT_EQ(members(result, 1), (Names{"a", "c"}));
  EXPECT_EQ(members(result, 3), Names{});
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Boundaries, TargetsByName) {
  BoundariesParams params = gaussian();
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
  const BoundariesResult result = markov_boundaries(data, gaussian());
  EXPECT_EQ(result.copy_of[4], 1);
  EXPECT_EQ(members(result, 0), Names{"b"});  // not b2 as well
  EXPECT_EQ(members(result, 4), (Names{"a", "c"}));
  EXPECT_EQ(result.found.boundaries[4].target, 4);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'b2' is a copy of 'b'")));
  BoundariesParams only_the_copy = gaussian();
  only_the_copy.targets = {"b2"};
  EXPECT_EQ(members(markov_boundaries(data, only_the_copy), 0), (Names{"a", "c"}));
}

TEST(Boundaries, AConstantColumnHasNone) {
  Dataset data = chain();
  data.values.col(3).setConstant(2);
  const BoundariesResult result = markov_boundaries(data, gaussian());
  EXPECT_EQ(members(result, 3), Names{});
  EXPECT_EQ(result.found.boundaries[3].entropy, -INFINITY);
  EXPECT_EQ(members(result, 1), (Names{"a", "c"}));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'d' is constant")));
}

TEST(Boundaries, ADeterminedColumnIsNamed) {
  Dataset data = chain();
  data.values.col(3) = data.values.col(0) - 2 * data.values.col(2);
  const BoundariesResult result = markov_boundaries(data, gaussian());
  EXPECT_EQ(result.found.boundaries[3].conditional_entropy, -INFINITY);
  EXPECT_THAT(members(result, 3), testing::IsSupersetOf({"a", "c"}));  // b may see d in place of a, and tell it
  EXPECT_THAT(result.warnings, Contains(HasSubstr("determined exactly by others")));
  for (const Boundary& boundary : result.found.boundaries) {
    for (const Member& member : boundary.members) EXPECT_TRUE(std::isfinite(member.gain));
  }
}

// Parts of a whole, rounded: nothing is exact, and any of them follows from the others.
TEST(Boundaries, AnAlmostDeterminedColumnIsNamed) {
  Dataset data = chain();
  const Vector noise = data.values.col(3);
  data.values.col(3) = data.values.col(0) + data.values.col(2) + 1e-4 * noise;
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings,
              Contains(AllOf(HasSubstr("determined almost exactly by others"), HasSubstr("'d' by"))));
  data.values.col(3) = data.values.col(0) + data.values.col(2) + 0.1 * noise;
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings, IsEmpty());
  data.values.col(3) = data.values.col(0) + 1e-4 * noise;  // said already
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings, testing::ElementsAre(HasSubstr("almost a linear copy")));
}

// Two values tell ln 2 at most; a line between two clusters finds more.
TEST(Boundaries, AGainThatCannotBeIsNamed) {
  Dataset data = chain();
  for (Index i = 0; i < 500; ++i) {
    data.values(i, 3) = data.values(i, 3) > 0 ? 1 : 0;
    data.values(i, 0) = 5 * data.values(i, 3) + 0.1 * data.values(i, 0);
  }
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings,
              Contains(AllOf(HasSubstr("the values of 'd' tell 0.69 nats at most"), HasSubstr("and 1 more such gain"),
                             HasSubstr("--estimator flow can take them as levels"))));
  Random random(Key{2});
  for (Index i = 0; i < 500; ++i) data.values(i, 0) = data.values(i, 3) + random.normal();
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings, Not(Contains(HasSubstr("nats at most"))));
}

TEST(Boundaries, NoAnswerFromInfiniteCells) {
  Dataset data = chain();
  data.values(17, 2) = INFINITY;
  EXPECT_THROW(markov_boundaries(data, gaussian()), DataError);
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
      BoundariesParams params = gaussian();
      params.fansite().search.stop = stop;
      std::vector<std::vector<int>> predicted, expected;
      for (const Boundary& boundary : markov_boundaries(data, params).found.boundaries) {
        predicted.push_back(boundary.member_indices());
        expected.push_back(truth.markov_boundary(boundary.target));
      }
      EXPECT_GE(score_boundaries(predicted, expected).mean.f1, 0.995) << seed << " " << name(stop);
    }
  }
}

// ---- Dependent rows -------------------------------------------------------------------------------------------------

// Independent series in which each row is half the one before: 400 rows are worth 240.
TEST(DependentRows, CountForLessWhereTheyAreAlike) {
  Random random(Key{5});
  Dataset data{default_names(6), Matrix(400, 6)};
  for (int j = 0; j < 6; ++j) {
    double x = 0;
    for (Index i = 0; i < 400; ++i) data.values(i, j) = x = 0.5 * x + random.normal();
  }
  BoundariesParams params = gaussian();
  const BoundariesResult found = markov_boundaries(data, params);
  EXPECT_THAT(found.warnings, Contains(HasSubstr("each row counts as 0.")));
  EXPECT_THAT(found.found.moral_edges, IsEmpty());
  params.fansite().block = "none";
  const BoundariesResult as_if = markov_boundaries(data, params);
  EXPECT_THAT(as_if.warnings, testing::Not(Contains(HasSubstr("each row counts as"))));
  const auto nearest = [](const BoundariesResult& result) {
    double least = 1;
    for (const Boundary& boundary : result.found.boundaries) {
      for (const NearMiss& miss : boundary.near_misses) least = std::min(least, miss.p_value);
    }
    return least;
  };
  EXPECT_GT(nearest(found), nearest(as_if));
}

// As published, a method counts every row.
TEST(DependentRows, AMethodThatTakesThemAsIndependentIsSaidTo) {
  Random random(Key{6});
  Dataset data{default_names(4), Matrix(300, 4)};
  for (int j = 0; j < 4; ++j) {
    double x = 0;
    for (Index i = 0; i < 300; ++i) data.values(i, j) = x += random.normal();
  }
  const auto said = [&](const BoundariesParams& params) { return markov_boundaries(data, params).warnings; };
  EXPECT_THAT(said(BoundariesParams("iamb")),
              Contains(AllOf(HasSubstr("iamb takes rows as independent all the same"), HasSubstr("--group NAME"))));
  EXPECT_THAT(said(gaussian()), Not(Contains(HasSubstr("all the same"))));
}

// What relates the columns may be the batch.
TEST(DependentRows, MembersAreFragileWhereMeansChangeAlongTheRows) {
  Dataset data = chain();
  Random random(Key{8});
  for (Index j = 0; j < 4; ++j) {
    for (Index batch = 0; batch < 4; ++batch) data.values.col(j).segment(batch * 125, 125).array() += random.normal();
  }
  const BoundariesResult found = markov_boundaries(data, gaussian());
  EXPECT_THAT(found.warnings, Contains(HasSubstr("change along the rows")));
  ASSERT_FALSE(found.found.moral_edges.empty());
  for (const Boundary& boundary : found.found.boundaries) {
    for (const Member& member : boundary.members) EXPECT_TRUE(member.fragile);
  }
}

TEST(CoarseColumns, AreSaidToHideRelations) {
  Dataset data = chain();
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings, Not(Contains(HasSubstr("five values or fewer"))));
  data.values.leftCols(2) = (data.values.leftCols(2).array() > 0).cast<double>();
  EXPECT_THAT(markov_boundaries(data, gaussian()).warnings, Contains(HasSubstr("2 of 4 columns have five values")));
}

// ---- Automatic choice -----------------------------------------------------------------------------------------------

/// Two networks of so many steps: enough to see that flows were used, or to see plain relations, and done in no time.
BoundariesParams small(const std::string& estimator, std::int64_t steps = 300) {
  BoundariesParams params;
  params.fansite().estimator = estimator;
  params.fansite().repeats = 1;
  params.fansite().folds = 2;
  params.fansite().steps = steps;
  return params;
}

Simulation simulated(Sem sem, Noise noise, int nodes, Index rows, std::uint64_t seed) {
  SimulateParams params;
  params.sem = sem;
  params.noise = noise;
  params.nodes = nodes;
  params.degree = 1.5;
  params.rows = rows;
  params.seed = seed;
  return simulate(params);
}

TEST(Automatic, LinearTablesAreLeftToTheClosedFormWhateverTheirNoise) {
  for (const Noise noise : {Noise::gauss, Noise::laplace}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Dataset data = simulated(Sem::linear, noise, 10, 1000, seed).data;
      const BoundariesResult result = markov_boundaries(data, small("auto"));
      EXPECT_EQ(result.estimator, "gaussian") << name(noise) << " " << seed;
      ASSERT_TRUE(result.linearity.has_value());
      EXPECT_TRUE(result.linearity->linear_equations);
      EXPECT_EQ(result.linearity->normal, noise == Noise::gauss);
      EXPECT_FALSE(result.training.has_value());
      EXPECT_EQ(result.found.moral_edges, markov_boundaries(data, gaussian()).found.moral_edges);
      EXPECT_THAT(result.warnings, IsEmpty());
    }
  }
}

// What a variable's noise does to others depends on all their boundaries, asked for or not.
TEST(Automatic, ASingleTargetOfALinearTableIsLeftToTheClosedFormToo) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Dataset data = simulated(Sem::linear, Noise::laplace, 10, 1000, seed).data;
    BoundariesParams params = small("auto", 10);
    params.targets = {"x1"};
    const BoundariesResult result = markov_boundaries(data, params);
    EXPECT_EQ(result.estimator, "gaussian") << seed;
    EXPECT_EQ(result.found.boundaries.size(), 1u);
  }
}

TEST(Automatic, NonlinearTablesAreLeftToFlows) {
  const Dataset data = simulated(Sem::gp, Noise::gauss, 6, 500, 4).data;
  const BoundariesResult result = markov_boundaries(data, small("auto"));
  EXPECT_EQ(result.estimator, "flow");
  EXPECT_EQ(result.params.fansite().estimator, "auto");
  ASSERT_TRUE(result.linearity.has_value());
  EXPECT_FALSE(result.linearity->linear_equations);
  EXPECT_LT(result.linearity->pair_p_value, 0.01);
  EXPECT_GE(result.linearity->pair.first, 0);
  ASSERT_TRUE(result.training.has_value());
  EXPECT_EQ(result.training->networks, 2);
  EXPECT_EQ(result.training->steps, 600);
  EXPECT_GT(result.evaluations, 0);
  EXPECT_EQ(networks_of(result).folds, 2);
  for (const Boundary& boundary : result.found.boundaries) {
    EXPECT_FALSE(boundary.path.empty());
    for (const Member& member : boundary.members) {
      EXPECT_TRUE(member.by_graph || member.stability >= 0) << member.variable;
    }
  }
}

/// x, y = x² + e, and columns of noise.
Dataset parabola(Index rows, int columns, std::uint64_t seed, double noise = 0.3) {
  Random random(Key{seed});
  Dataset data{default_names(columns), Matrix(rows, columns)};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) data.values(i, j) = random.normal();
    const double x = data.values(i, 0) = random.uniform(-2, 2);
    data.values(i, 1) = x * x + noise * random.normal();
  }
  return data;
}

TEST(Automatic, FewRowsAndManyColumnsAreNotForFlowsAndTheWarningSaysWhy) {
  const BoundariesResult few = markov_boundaries(parabola(99, 3, 1, 0.1), small("auto"));
  EXPECT_EQ(few.estimator, "gaussian");
  EXPECT_FALSE(few.linearity->linear_equations);
  EXPECT_THAT(few.warnings, Contains(AllOf(HasSubstr("'x1'"), HasSubstr("'x2'"), HasSubstr("99 rows are few"),
                                           HasSubstr("--estimator flow"))));
  EXPECT_EQ(markov_boundaries(parabola(100, 3, 1, 0.1), small("auto", 10)).estimator, "flow");
  const BoundariesResult wide = markov_boundaries(parabola(200, 301, 1, 0.1), small("auto"));
  EXPECT_EQ(wide.estimator, "gaussian");
  EXPECT_THAT(wide.warnings,
              Contains(AllOf(HasSubstr("'x1'"), HasSubstr("'x2'"), HasSubstr("301 variables are many"))));
}

// ---- Flows ----------------------------------------------------------------------------------------------------------

TEST(FlowBoundaries, SeeWhatNoLineShows) {
  const Dataset data = parabola(600, 3, 2);
  EXPECT_THAT(markov_boundaries(data, gaussian()).found.moral_edges, IsEmpty());
  const BoundariesResult result = markov_boundaries(data, small("flow", 1500));
  EXPECT_EQ(members(result, 0), Names{"x2"});
  EXPECT_EQ(members(result, 1), Names{"x1"});
  EXPECT_EQ(members(result, 2), Names{});
  EXPECT_FALSE(result.linearity->linear_equations);
  const Member& member = result.found.boundaries[1].members.at(0);
  EXPECT_GT(member.gain, 0.4);
  EXPECT_LT(member.p_value, 1e-6);
  EXPECT_EQ(member.votes, 1);
  EXPECT_EQ(member.stability, 1);
  EXPECT_GE(result.found.tested_pairs, 1);
}

TEST(FlowBoundaries, OfPureNoiseAreEmpty) {
  Random random(Key{5});
  int edges = 0;
  for (int table = 0; table < 3; ++table) {
    Dataset data{default_names(5), Matrix(300, 5)};
    for (Index i = 0; i < data.values.size(); ++i) data.values.data()[i] = random.normal();
    const BoundariesResult result = markov_boundaries(data, small("flow", 500));
    edges += static_cast<int>(result.found.moral_edges.size());
    EXPECT_EQ(result.found.boundaries.size(), 5u);
  }
  EXPECT_EQ(edges, 0);
}

TEST(FlowBoundaries, OfConstantAndCopiedColumns) {
  Dataset data = parabola(400, 3, 2);
  data.names = {"x", "y", "z", "flat", "y again"};
  data.values.conservativeResize(Eigen::NoChange, 5);
  data.values.col(3).setConstant(7);
  data.values.col(4) = data.values.col(1);
  const BoundariesResult result = markov_boundaries(data, small("flow", 1500));
  EXPECT_EQ(members(result, 0), Names{"y"});  // not the copy as well
  EXPECT_EQ(members(result, 1), Names{"x"});
  EXPECT_EQ(members(result, 3), Names{});
  EXPECT_EQ(result.found.boundaries[3].entropy, -INFINITY);
  EXPECT_EQ(members(result, 4), Names{"x"});
  EXPECT_EQ(result.found.boundaries[4].target, 4);
  EXPECT_EQ(result.found.boundaries[4].conditional_entropy, result.found.boundaries[1].conditional_entropy);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'flat' is constant")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("'y again' is a copy of 'y'")));
  for (const Boundary& boundary : result.found.boundaries) {
    for (const PathStep& step : boundary.path) EXPECT_LT(step.variable, 3);
  }
}

TEST(FlowBoundaries, WithNothingToLearnAreEmpty) {
  Dataset data = parabola(200, 3, 2);
  data.values.col(1).setConstant(7);
  data.values.col(2) = data.values.col(0);
  const BoundariesResult result = markov_boundaries(data, small("flow"));
  EXPECT_THAT(result.found.moral_edges, IsEmpty());
  EXPECT_EQ(result.found.boundaries.size(), 3u);
  EXPECT_FALSE(result.training.has_value());
}

/// Every number that was found.
bool same(const Boundaries& a, const Boundaries& b) {
  const auto same_number = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  if (a.moral_edges != b.moral_edges || a.threshold != b.threshold || a.steps != b.steps) return false;
  if (a.tested_pairs != b.tested_pairs || a.boundaries.size() != b.boundaries.size()) return false;
  for (std::size_t i = 0; i < a.boundaries.size(); ++i) {
    const Boundary &x = a.boundaries[i], &y = b.boundaries[i];
    if (x.member_indices() != y.member_indices() || x.entropy != y.entropy ||
        x.conditional_entropy != y.conditional_entropy) {
      return false;
    }
    for (std::size_t m = 0; m < x.members.size(); ++m) {
      const auto numbers = [](const Member& member) {
        return std::tie(member.gain, member.standard_error, member.unique, member.p_value, member.q_value, member.votes,
                        member.stability, member.by_symmetry);
      };
      if (numbers(x.members[m]) != numbers(y.members[m])) return false;
    }
    if (x.near_misses.size() != y.near_misses.size() || x.path.size() != y.path.size()) return false;
    for (std::size_t m = 0; m < x.near_misses.size(); ++m) {
      const NearMiss &u = x.near_misses[m], &v = y.near_misses[m];
      if (u.candidate.variable != v.candidate.variable || u.candidate.gain != v.candidate.gain ||
          u.reason != v.reason || !same_number(u.p_value, v.p_value) || !same_number(u.q_value, v.q_value)) {
        return false;
      }
    }
    for (std::size_t k = 0; k < x.path.size(); ++k) {
      if (x.path[k].variable != y.path[k].variable || x.path[k].conditional_entropy != y.path[k].conditional_entropy) {
        return false;
      }
    }
  }
  return true;
}

TEST(FlowBoundaries, SameBitsForOneAndTwoThreadsAndAnotherSeedGivesOthers) {
  const Dataset data = simulated(Sem::gp, Noise::gauss, 5, 300, 4).data;
  BoundariesParams params = small("flow");
  const auto with_threads = [&](int threads) {
    const ThreadLimit limit(threads);
    return markov_boundaries(data, params).found;
  };
  const Boundaries one = with_threads(1);
  EXPECT_TRUE(same(with_threads(2), one));
  params.run.seed = 1;
  EXPECT_FALSE(same(with_threads(1), one));
}

class SavedModels : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file); }
  const std::string file =
      (std::filesystem::temp_directory_path() / ("fansite_mb_" + std::to_string(::getpid()) + ".model")).string();
};

TEST_F(SavedModels, GiveTheSameBoundariesBitForBit) {
  const Dataset data = simulated(Sem::gp, Noise::gauss, 5, 300, 4).data;
  BoundariesParams params = small("flow");
  params.run.save_model = file;
  const BoundariesResult trained = markov_boundaries(data, params);
  BoundariesParams loading;  // whose settings are the model's
  loading.fansite().estimator = "flow";
  loading.run.model = file;
  const BoundariesResult loaded = markov_boundaries(data, loading);
  EXPECT_TRUE(same(loaded.found, trained.found));
  EXPECT_EQ(networks_of(loaded), networks_of(trained));
  ASSERT_TRUE(loaded.training.has_value());
  EXPECT_EQ(loaded.training->networks, 2);
  EXPECT_EQ(loaded.training->steps, 600);
}

TEST_F(SavedModels, WithoutFoldsCannotJudgeTheirOwnTable) {
  const Dataset data = parabola(400, 3, 2);
  BoundariesParams params = small("flow", 2000);
  params.fansite().folds = 1;
  params.fansite().search.stop = StopRule::paper;
  params.fansite().search.eps_grow = 0.05;
  params.run.save_model = file;
  const BoundariesResult trained = markov_boundaries(data, params);
  EXPECT_EQ(members(trained, 0), Names{"x2"});
  params.run = {};
  params.run.model = file;
  EXPECT_EQ(members(markov_boundaries(data, params), 0), Names{"x2"});
  params.fansite().search = {};
  EXPECT_THAT(message_of<UsageError>([&] { markov_boundaries(data, params); }),
              AllOf(HasSubstr("has seen every row"), HasSubstr("two folds or more"), HasSubstr("--stop paper")));
  // Rows of another table are new to it.
  EXPECT_EQ(members(markov_boundaries(parabola(400, 3, 3), params), 0), Names{"x2"});
}

// Hours of training must not end in a refusal that was certain from the start.
TEST(FlowBoundaries, OneFoldIsRefusedBeforeTheTraining) {
  BoundariesParams params = small("flow", 100'000'000);
  params.fansite().folds = 1;
  /// Ends the training that should not be.
  class Patience final : public Progress {
   public:
    void begin(std::string_view stage, long) override { training_ = training_ || stage == "training"; }
    void advance(long) override {}
    bool interrupted() const override { return training_; }

   private:
    bool training_ = false;
  } progress;
  EXPECT_THAT(message_of<Error>([&] { markov_boundaries(parabola(200, 3, 2), params, progress); }),
              HasSubstr("two folds or more"));
}

TEST_F(SavedModels, OfAnotherTableAreRefused) {
  BoundariesParams params = small("flow", 10);
  params.run.save_model = file;
  markov_boundaries(parabola(200, 3, 2), params);
  params.run = {};
  params.run.model = file;
  EXPECT_THAT(message_of<UsageError>([&] { markov_boundaries(chain(), params); }), HasSubstr("another table"));
  EXPECT_THAT(message_of<UsageError>([&] { markov_boundaries(parabola(200, 4, 2), params); }), HasSubstr("'x4'"));
}

TEST(FlowBoundaries, StartFromAGaussianWhereRelationsAreLinear) {
  const BoundariesResult result = markov_boundaries(chain(), small("flow", 300));
  EXPECT_TRUE(result.linearity->linear_equations);
  EXPECT_EQ(result.found.moral_edges, markov_boundaries(chain(), gaussian()).found.moral_edges);
}

TEST(FlowBoundaries, StopWhenAsked) {
  Impatient progress;
  EXPECT_THROW(markov_boundaries(parabola(200, 3, 2), small("flow"), progress), Interrupted);
}

// ---- Effort ---------------------------------------------------------------------------------------------------------

/// The networks that a search of so many variables would train, if relations are not linear.
flow::EnsembleParams networks_for(const FansiteParams& params, int variables) {
  const Dataset data{default_names(variables), Matrix::Random(20, variables)};
  NoProgress progress;
  const Context context(data, {}, {}, progress);
  const SearchedTargets targets(data, {}, context.facts().copy_of);
  const Preparation prepared{.gaussian = GaussianEstimator(context.covariance()),
                             .estimator = &entropy_estimators().at("flow")};
  return network_parameters({context, targets}, params, prepared).as<flow::EnsembleParams>();
}

TEST(Effort, OrdersTheWork) {
  const auto work = [](Effort effort, int variables) {
    FansiteParams params;
    params.effort = effort;
    const flow::EnsembleParams flow = networks_for(params, variables);
    EXPECT_GE(flow.folds, 2);  // the calibrated rule needs them
    return static_cast<double>(flow.networks()) * static_cast<double>(flow.train.steps);
  };
  for (const int variables : {10, 99, 100, 300}) {
    EXPECT_LE(4 * work(Effort::quick, variables), work(Effort::normal, variables));
    EXPECT_LE(2 * work(Effort::normal, variables), work(Effort::thorough, variables));
  }
  EXPECT_LT(work(Effort::normal, 100), work(Effort::normal, 99));  // larger batches, fewer of them
}

TEST(Effort, GivesWayToWhatIsAskedFor) {
  BoundariesParams params = small("flow", 77);
  params.fansite().effort = Effort::thorough;
  params.run.seed = 9;
  const BoundariesResult found = markov_boundaries(parabola(100, 3, 2), params);
  for (const flow::EnsembleParams& flow : {networks_for(params.fansite(), 20), networks_of(found)}) {
    EXPECT_EQ(flow.repeats, 1);
    EXPECT_EQ(flow.folds, 2);
    EXPECT_EQ(flow.train.steps, 77);
  }
  EXPECT_EQ(networks_of(found).seed, 9u);
  params.fansite().folds = 0;
  EXPECT_EQ(networks_for(params.fansite(), 20).folds, networks_for({}, 20).folds);
}

TEST(Effort, NegativeNumbersAreNoDefaults) {
  const auto message = [](auto change) {
    BoundariesParams params = small("flow", 10);
    change(params);
    return message_of<UsageError>([&] { markov_boundaries(parabola(200, 3, 2), params); });
  };
  EXPECT_THAT(message([](BoundariesParams& p) { p.fansite().repeats = -1; }),
              HasSubstr("[repeats] -1 is out of range"));
  EXPECT_THAT(message([](BoundariesParams& p) { p.fansite().folds = -2; }), HasSubstr("[folds] -2 is out of range"));
  EXPECT_THAT(message([](BoundariesParams& p) { p.fansite().steps = -3; }), HasSubstr("[steps] -3 is out of range"));
}

TEST(Effort, HasANameAndBack) {
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    EXPECT_EQ(parse<Effort>(name(effort)), effort);
  }
  EXPECT_THAT(message_of<UsageError>([] { parse<Effort>("heroic"); }), HasSubstr("quick, normal or thorough"));
}

// Flows are densities, and of two values there is none.
// y is a coarse version of x, z a parabola of it.
Dataset coarse_and_curved(Index rows, std::uint64_t seed) {
  Dataset data;
  data.names = {"x", "z", "y"};
  data.values.resize(rows, 3);
  Random random(Key{seed});
  for (auto row : data.values.rowwise()) {
    row[0] = random.normal();
    row[1] = row[0] * row[0] + 0.3 * random.normal();
    row[2] = row[0] + 0.5 * random.normal() > 0 ? 1 : 0;
  }
  return data;
}

TEST(MarkovBoundaries, FlowsSeeATargetOfTwoValues) {
  BoundariesParams params = small("auto", 1500);
  params.targets = {"y"};
  const BoundariesResult found = markov_boundaries(coarse_and_curved(500, 4), params);
  EXPECT_EQ(found.estimator, "flow");
  ASSERT_EQ(found.found.boundaries.size(), 1u);
  EXPECT_EQ(found.found.boundaries[0].member_indices(), std::vector<int>{0});
  EXPECT_NEAR(found.found.boundaries[0].entropy, std::log(2.0), 0.02);  // of its levels
  EXPECT_LT(found.found.boundaries[0].members[0].gain, std::log(2.0));
}

TEST(MarkovBoundaries, ACoarseColumnDoesNotSpoilTheOthers) {
  const BoundariesResult found = markov_boundaries(coarse_and_curved(500, 5), small("flow", 1500));
  EXPECT_THAT(members(found, 0), testing::UnorderedElementsAre("z", "y"));
  EXPECT_EQ(members(found, 1), Names{"x"});
  EXPECT_EQ(members(found, 2), Names{"x"});
}

}  // namespace
}  // namespace fansite
