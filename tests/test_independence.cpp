// SPDX-License-Identifier: Apache-2.0
//
// Tests of conditional independence and scores of equations against known values, closed forms and brute force.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/entropy/estimators.h"
#include "fansite/independence/exact_dag.h"
#include "fansite/independence/fisher_z.h"
#include "fansite/independence/gaussian_bic.h"
#include "fansite/independence/tests.h"
#include "separation_oracle.h"
#include "support.h"

namespace fansite {
namespace {

std::shared_ptr<const Covariance> from_matrix(const Matrix& covariance, Index rows) {
  Covariance result;
  result.rows = rows;
  result.mean = Vector::Zero(covariance.rows());
  result.scale = covariance.diagonal().cwiseSqrt();
  const Vector inverse = result.scale.cwiseInverse();
  result.correlation = inverse.asDiagonal() * covariance * inverse.asDiagonal();
  result.correlation.diagonal().setOnes();
  return std::make_shared<const Covariance>(std::move(result));
}

std::shared_ptr<const Covariance> covariance_of(const Dataset& data) {
  return std::make_shared<const Covariance>(covariance(data.values));
}

Matrix chain() { return Matrix{{1, .8, -.4}, {.8, 1, -.56}, {-.4, -.56, 1}}; }

std::vector<int> all_but(int variables, std::vector<int> left_out) {
  std::vector<int> result;
  for (int v = 0; v < variables; ++v) {
    if (std::find(left_out.begin(), left_out.end(), v) == left_out.end()) result.push_back(v);
  }
  return result;
}

// ---- Fisher's z -----------------------------------------------------------------------------------------------------

TEST(FisherZ, HasTheValuesOfTheSpecification) {
  const FisherZ test(from_matrix(chain(), 100));
  const std::vector<int> one = {1}, zero = {0};
  EXPECT_NEAR(test.partial_correlation(0, 2, one), 0.096561, 5e-7);
  EXPECT_NEAR(test.test(0, 2, one).p_value, 0.342592, 5e-7);
  EXPECT_NEAR(test.test(0, 2, one).strength, 0.096561, 5e-7);
  EXPECT_NEAR(std::sqrt(96.0) * std::atanh(test.partial_correlation(0, 2, one)), 0.949057, 1e-6);
  const FisherZ other(from_matrix(Matrix{{1, .453, .322}, {.453, 1, .596}, {.322, .596, 1}}, 50));
  EXPECT_NEAR(other.partial_correlation(1, 2, zero), 0.533316, 5e-7);
}

TEST(FisherZ, OneSidedSeesNegativeRelationsOnly) {
  const FisherZ both(from_matrix(chain(), 100)), one(from_matrix(chain(), 100), true);
  EXPECT_NEAR(one.test(0, 2, {}).p_value, both.test(0, 2, {}).p_value / 2, 1e-15);
  EXPECT_NEAR(one.test(0, 1, {}).p_value, 1, 1e-12);
}

TEST(FisherZ, IsTheInverseOfTheSubmatrix) {
  const auto table = covariance_of(simulate_linear(9, 3, 400, 5).data);
  const FisherZ test(table);
  const std::vector<int> given = {7, 0, 4, 2};
  const std::vector<int> all = {1, 5, 7, 0, 4, 2};
  const Matrix precision = Matrix(table->correlation(all, all)).inverse();
  const double r = -precision(0, 1) / std::sqrt(precision(0, 0) * precision(1, 1));
  EXPECT_NEAR(test.partial_correlation(1, 5, given), r, 1e-12);
}

// Else answers would depend on which thread asked first.
TEST(FisherZ, OneByOneTogetherAndInAnyOrderAreTheSameBits) {
  const FisherZ test(covariance_of(simulate_linear(12, 3, 200, 1).data));
  const std::vector<int> given = {8, 3, 5}, turned = {5, 8, 3};
  const std::vector<int> others = all_but(12, {0, 8, 3, 5});
  const auto together = test.test_each(0, others, given);
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(together[i].p_value, test.test(others[i], 0, turned).p_value);
    EXPECT_EQ(together[i].strength, test.test(0, others[i], given).strength);
  }
}

TEST(FisherZ, IsUndefinedWithoutFreedomAndWhereOthersDetermine) {
  const std::vector<int> one = {1}, two = {2}, both = {1, 2};
  const FisherZ few(from_matrix(chain(), 4));
  EXPECT_FALSE(std::isnan(FisherZ(from_matrix(chain(), 5)).test(0, 2, one).p_value));
  const IndependenceVerdict undefined = few.test(0, 2, one);
  EXPECT_TRUE(std::isnan(undefined.p_value));
  EXPECT_TRUE(undefined.independent_when_adding(0.05));
  EXPECT_FALSE(undefined.independent_when_removing(0.05));
  const Matrix twins = Matrix{{1, .5, .5, .2}, {.5, 1, 1, .3}, {.5, 1, 1, .3}, {.2, .3, .3, 1}};
  const FisherZ test(from_matrix(twins, 100));
  EXPECT_TRUE(std::isnan(test.test(0, 3, both).p_value));  // singular in itself
  EXPECT_TRUE(std::isnan(test.test(0, 1, two).p_value));   // determines one of the two
  EXPECT_TRUE(std::isnan(test.test_each(0, one, two)[0].p_value));
  EXPECT_LT(test.test(1, 2, {}).p_value, 1e-100);  // the two are one: as dependent as can be
}

TEST(FisherZ, IsUniformUnderIndependence) {
  int rejected = 0;
  const std::vector<int> given = {2, 3};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Dataset data;
    Random random(Key{seed});
    data.values = Matrix::NullaryExpr(60, 4, [&] { return random.normal(); });
    rejected += FisherZ(covariance_of(data)).test(0, 1, given).p_value < 0.1 ? 1 : 0;
  }
  EXPECT_NEAR(rejected, 40, 4 * std::sqrt(36.0));
}

TEST(FisherZ, ThreadsDoNotDisturbEachOther) {
  const FisherZ test(covariance_of(simulate_linear(10, 3, 200, 1).data));
  std::vector<double> values(2000);
  parallel_for(2000, [&](std::ptrdiff_t i) {
    const std::vector<int> given = {static_cast<int>(2 + i % 8)};
    values[static_cast<std::size_t>(i)] =
        test.test(static_cast<int>(i % 2), 1 - static_cast<int>(i % 2), given).p_value;
  });
  for (std::size_t i = 8; i < values.size(); ++i) EXPECT_EQ(values[i], values[i % 8]);
}

// ---- The Gaussian BIC -----------------------------------------------------------------------------------------------

TEST(GaussianBic, HasTheValuesOfTheSpecification) {
  // y = x/2 + noise of variance 1, x of variance 1
  const GaussianBic score(from_matrix(Matrix{{1, .5}, {.5, 1.25}}, 1000));
  const std::vector<int> x = {0};
  EXPECT_NEAR(score.score(1, {}), -111.571776, 1e-6);
  EXPECT_NEAR(score.score(1, x), -3.453878, 1e-6);
}

TEST(GaussianBic, IsTheSameForGraphsThatSayTheSame) {
  const GaussianBic score(covariance_of(simulate_linear(4, 1, 300, 2).data));
  const std::vector<int> a = {0}, b = {1}, ab = {0, 1};
  EXPECT_NEAR(score.score(0, {}) + score.score(1, a), score.score(1, {}) + score.score(0, b), 1e-9);
  EXPECT_NEAR(score.score(0, {}) + score.score(1, a) + score.score(2, ab),
              score.score(1, {}) + score.score(0, b) + score.score(2, ab), 1e-9);
}

TEST(GaussianBic, IsFiniteForDeterminedAndConstantColumns) {
  const GaussianBic twins(from_matrix(Matrix{{1, 1, .5}, {1, 1, .5}, {.5, .5, 1}}, 100));
  const std::vector<int> one = {1}, both = {0, 1};
  EXPECT_TRUE(std::isfinite(twins.score(0, one)));
  EXPECT_NEAR(twins.score(2, both), twins.score(2, one) - 0.5 * std::log(100), 1e-9);
  Covariance constant = covariance(Matrix::Ones(20, 2));
  EXPECT_EQ(GaussianBic(std::make_shared<const Covariance>(constant)).score(0, {}), 0);
}

// ---- The best graph -------------------------------------------------------------------------------------------------

// Over all graphs, by taking every order of the variables and the best parents among those before.
double best_by_brute_force(const LocalScore& score, int n, int max_parents) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  double best = -1e300;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      double own = -1e300;
      for (unsigned set = 0; set < (1u << i); ++set) {
        std::vector<int> parents;
        for (std::size_t k = 0; k < i; ++k) {
          if ((set >> k & 1u) != 0) parents.push_back(order[k]);
        }
        if (static_cast<int>(parents.size()) <= max_parents) own = std::max(own, score.score(order[i], parents));
      }
      sum += own;
    }
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::vector<int> first(int n) { return all_but(n, {}); }

double score_of(const LocalScore& score, const BestDag& dag) {
  double sum = 0;
  for (std::size_t i = 0; i < dag.variables.size(); ++i) sum += score.score(dag.variables[i], dag.parents[i]);
  return sum;
}

Dag as_dag(const BestDag& best, int nodes) {
  std::vector<std::pair<int, int>> edges;
  for (std::size_t i = 0; i < best.variables.size(); ++i) {
    for (const int parent : best.parents[i]) edges.emplace_back(parent, best.variables[i]);
  }
  return Dag(nodes, edges);  // throws if there is a cycle
}

TEST(BestDag, IsTheBestOfAll) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const int max_parents : {1, 2, 5}) {
      const GaussianBic score(covariance_of(simulate_linear(6, 2, 100, seed).data));
      const BestDag best = best_dag(score, first(6), {.max_parents = max_parents, .max_exact = 12});
      EXPECT_TRUE(best.exact);
      EXPECT_NEAR(best.score, best_by_brute_force(score, 6, max_parents), 1e-6);
      EXPECT_NEAR(best.score, score_of(score, best), 1e-9);
      as_dag(best, 6);
      for (const auto& parents : best.parents) EXPECT_LE(static_cast<int>(parents.size()), max_parents);
    }
  }
}

TEST(BestDag, ClimbsNearlyAsHighAndSaysSo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const GaussianBic score(covariance_of(simulate_linear(8, 1, 300, seed).data));
    const BestDag best = best_dag(score, first(8));
    const BestDag climbed = best_dag(score, first(8), {.max_parents = 5, .max_exact = 3});
    EXPECT_FALSE(climbed.exact);
    EXPECT_LE(climbed.score, best.score + 1e-6);
    EXPECT_NEAR(climbed.score, score_of(score, climbed), 1e-9);
    as_dag(climbed, 8);
    double empty = 0;
    for (int v = 0; v < 8; ++v) empty += score.score(v, {});
    EXPECT_GT(climbed.score - empty, 0.9 * (best.score - empty));
  }
}

TEST(BestDag, KnowsVariablesByNameNotByPlace) {
  const GaussianBic score(covariance_of(simulate_linear(9, 2, 500, 3).data));
  const std::vector<int> some = {8, 2, 5, 3}, turned = {3, 8, 2, 5};
  const BestDag one = best_dag(score, some), other = best_dag(score, turned);
  EXPECT_NEAR(one.score, other.score, 1e-9);
  for (const int a : some) {
    for (const int b : some) EXPECT_EQ(one.adjacent(a, b), other.adjacent(a, b)) << a << " " << b;
  }
}

TEST(BestDag, NothingAndIndependenceHaveNoEdge) {
  class Flat final : public LocalScore {
   public:
    int variables() const override { return 5; }
    double score(int, std::span<const int>) const override { return 1; }
  };
  const BestDag best = best_dag(Flat(), first(5));
  for (const auto& parents : best.parents) EXPECT_TRUE(parents.empty());
  EXPECT_TRUE(best_dag(Flat(), {}).parents.empty());
}

// ---- By name --------------------------------------------------------------------------------------------------------

TEST(Tests, FisherZIsOfTheContextsCovariance) {
  const Dataset data = simulate_linear(5, 2, 200, 1).data;
  NoProgress progress;
  const Context context(data, {}, {}, progress);
  const FittedTest fitted = fit_test(context, {});
  EXPECT_EQ(fitted.test->test(0, 1, {}).p_value, FisherZ(context.covariance()).test(0, 1, {}).p_value);
  EXPECT_FALSE(fitted.training);
}

// y = x² + noise, z on its own: no correlation, but a relation.
TEST(Tests, FlowSeesWhatIsNotLinear) {
  Dataset data;
  Random random(Key{7});
  data.names = {"x", "y", "z"};
  data.values = Matrix::NullaryExpr(300, 3, [&] { return random.normal(); });
  data.values.col(1) = data.values.col(0).array().square() + 0.3 * data.values.col(1).array();
  NoProgress progress;
  const std::string path = testing::TempDir() + "fansite_test_independence.fans";
  Parameters few = entropy_estimators().at("flow").parameters;
  few.set("folds", std::int64_t{2});
  few.set("repeats", std::int64_t{1});
  few.set("steps", std::int64_t{1500});
  RunParams run;
  run.save_model = path;
  entropy_estimators().at("flow").fit(Context(data, {}, run, progress), few, 1);
  std::swap(run.model, run.save_model);
  const FittedTest fitted = fit_test(Context(data, {}, run, progress), {TestKind::flow, Effort::quick, false});
  std::filesystem::remove(path);
  ASSERT_TRUE(fitted.training);
  const std::vector<int> z = {2}, y = {1};
  EXPECT_LT(fitted.test->test(0, 1, {}).p_value, 1e-6);
  EXPECT_LT(fitted.test->test(1, 0, z).p_value, 1e-6);
  EXPECT_GT(fitted.test->test(0, 2, {}).p_value, 0.01);
  EXPECT_GT(fitted.test->test(2, 0, y).p_value, 0.01);
  EXPECT_EQ(fitted.test->test(1, 0, z).p_value, fitted.test->test(0, 1, z).p_value);
  EXPECT_GT(fitted.test->test(0, 1, z).strength, fitted.test->test(0, 2, y).strength);
}

TEST(SeparationOracle, KnowsColliders) {
  const SeparationOracle oracle(Dag(4, {{0, 2}, {1, 2}, {2, 3}}));
  const std::vector<int> child = {2}, grandchild = {3};
  EXPECT_TRUE(oracle.test(0, 1, {}).independent_when_adding(0.05));
  EXPECT_FALSE(oracle.test(0, 1, child).independent_when_removing(0.05));
  EXPECT_FALSE(oracle.test(0, 1, grandchild).independent_when_removing(0.05));
  EXPECT_TRUE(oracle.test(0, 3, child).independent_when_removing(0.05));
}

}  // namespace
}  // namespace fansite
