// SPDX-License-Identifier: Apache-2.0
//
// Linear Gaussian equations in closed form against least squares, and when they are taken for enough.
#include "fansite/causal/linear_gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "fansite/causal/additive_noise.h"
#include "graph_examples.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::Each;
using testing::HasSubstr;

double plain_entropy(const Matrix& values, int child, const std::vector<int>& parents) {
  Matrix x(values.rows(), static_cast<Index>(parents.size()) + 1);
  x << Vector::Ones(values.rows()), values(Eigen::all, parents);
  const Vector y = values.col(child), left = y - x * x.colPivHouseholderQr().solve(y);
  const auto n = static_cast<double>(y.size());
  return 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * left.squaredNorm() / n) +
         static_cast<double>(x.cols()) / n;
}

TEST(LinearGaussian, IsLeastSquares) {
  const Matrix values = standardised(linear_chain(200, 5, 1));
  const LinearGaussian lines(values);
  for (const std::vector<int>& parents : {std::vector<int>{}, {1}, {0, 2}, {0, 1, 2, 4}}) {
    const double entropy = lines.entropy(3, parents);
    EXPECT_NEAR(entropy, plain_entropy(values, 3, parents), 1e-9);
    EXPECT_NEAR(lines.surprisals(values, 3, parents).mean(), entropy, 1e-9);
  }
}

TEST(LinearGaussian, GraphsWithTheSameIndependencesScoreTheSame) {
  const Matrix values = standardised(linear_chain(300, 3, 2));
  const LinearGaussian lines(values);
  const auto e = [&](int child, std::vector<int> parents) { return lines.entropy(child, parents); };
  const double chain = e(0, {}) + e(1, {0}) + e(2, {1});
  EXPECT_NEAR(e(2, {}) + e(1, {2}) + e(0, {1}), chain, 1e-12);
  EXPECT_NEAR(e(1, {}) + e(0, {1}) + e(2, {1}), chain, 1e-12);
  EXPECT_GT(e(0, {}) + e(2, {}) + e(1, {0, 2}), chain + 0.1);  // a collider
  // And so does every row.
  const Vector one = lines.surprisals(values, 0, {}) + lines.surprisals(values, 1, std::vector{0});
  const Vector other = lines.surprisals(values, 1, {}) + lines.surprisals(values, 0, std::vector{1});
  EXPECT_LT((one - other).cwiseAbs().maxCoeff(), 1e-6);  // means of columns in single precision are not quite 0
}

TEST(LinearGaussian, ParentsThatOthersDetermineAndConstantsDoNoHarm) {
  Matrix values = linear_chain(100, 5, 3);
  values.col(1) = 2 * values.col(0);
  values.col(4).setConstant(7);
  values = standardised(values);
  const LinearGaussian lines(values);
  EXPECT_NEAR(lines.entropy(2, std::vector{0, 1, 4}), lines.entropy(2, std::vector{0}) + 0.02,
              1e-9);  // two more parents
  EXPECT_TRUE(std::isfinite(lines.entropy(1, std::vector{0})));
  EXPECT_LT(lines.entropy(1, std::vector{0}), -10);
  EXPECT_TRUE(lines.surprisals(values, 4, std::vector{0, 1}).allFinite());
}

// ---- Is it enough? --------------------------------------------------------------------------------------------------

LinearGaussianTest test_chain(const Matrix& values) {
  NoProgress silent;
  std::vector<std::vector<int>> parents = {{}};
  for (int j = 1; j < values.cols(); ++j) parents.push_back({j - 1});
  return test_linear_gaussian(values, parents, silent);
}

TEST(LinearGaussianTest, HoldsWhereItIsTrue) {
  int holds = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) holds += test_chain(linear_chain(600, 5, seed)).holds;
  EXPECT_GE(holds, 45);  // 49 expected: two tests at a level of 0.01
}

TEST(LinearGaussianTest, SeesBendsAndNoiseThatIsNotNormal) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix bent = table(600, 3, seed, [](Random&, auto&& x) {
      x[1] = 0.8 * x[0] + 0.3 * x[0] * x[0] + 0.7 * x[1];
      x[2] += x[1];
    });
    const Matrix uniform = table(600, 3, seed, [](Random& random, auto&& x) {
      x[1] = 0.8 * x[0] + random.uniform(-1, 1);
      x[2] += x[1];
    });
    EXPECT_FALSE(test_chain(bent).holds) << seed;
    EXPECT_FALSE(test_chain(uniform).holds) << seed;
    EXPECT_TRUE(test_chain(uniform).tested);
  }
}

TEST(LinearGaussianTest, IsNotAskedOfFewRowsOrLevels) {
  EXPECT_FALSE(test_chain(linear_chain(kFewestLinearRows - 1, 3, 1)).tested);
  Matrix values = linear_chain(600, 3, 1);
  values.col(2) = values.col(2).array().round().max(-1).min(1);
  EXPECT_FALSE(test_chain(values).holds);
  EXPECT_FALSE(test_chain(Matrix::Zero(600, 3)).holds);
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

AdditiveNoiseResult find(const Matrix& values, EquationForm equations, const GraphConstraints& constraints) {
  AdditiveNoiseParams params;
  params.equations = equations;
  NoProgress silent;
  return find_additive_noise_graph(values, constraints, params, silent);
}

TEST(LinearEquations, LeaveChainsUndirectedAndDirectColliders) {
  const AdditiveNoiseResult chain = find(linear_chain(1000, 6, 1), EquationForm::automatic, chain_links(6));
  EXPECT_TRUE(chain.linear);
  EXPECT_EQ(chain.partial.undirected.cast<int>().sum(), 10);
  for (const GraphEdge& edge : chain.edges) {
    EXPECT_EQ(edge.by, DirectionBy::nothing);
    EXPECT_EQ(edge.direction.value, 0);
    EXPECT_EQ(edge.direction.stability, 0.5);
    EXPECT_GT(edge.existence.value, 10 * edge.existence.standard_error);
  }
  const Matrix values = table(1000, 4, 2, [](Random&, auto&& x) {
    x[2] = x[0] + x[1] + 0.7 * x[2];
    x[3] = 0.9 * x[2] + 0.7 * x[3];
  });
  const AdditiveNoiseResult collider = find(values, EquationForm::automatic, anything(4));
  EXPECT_TRUE(collider.linear);
  EXPECT_EQ(collider.partial.directed, Dag(4, {{0, 2}, {1, 2}, {2, 3}}).adjacency());
}

TEST(LinearEquations, AreNotTakenWhereDirectionsCanBeKnown) {
  const Matrix curved = curved_table(600, 1);
  EXPECT_FALSE(find(curved, EquationForm::automatic, anything(4)).linear);
  EXPECT_TRUE(find(curved, EquationForm::linear, anything(4)).linear);  // unless one insists
  const Matrix uniform = table(600, 2, 1, [](Random& random, auto&& x) {
    x[1] = random.uniform(-1, 1);
    x[0] = x[1] + random.uniform(-1, 1);
  });
  const AdditiveNoiseResult result = find(uniform, EquationForm::automatic, anything(2));
  EXPECT_FALSE(result.linear);
  ASSERT_EQ(result.edges.size(), 1u);
  EXPECT_EQ(result.edges[0].by, DirectionBy::score);
  EXPECT_EQ(result.edges[0].from, 1);
}

TEST(LinearEquations, CanBeDeclined) {
  const Matrix values = linear_chain(500, 3, 1);
  const AdditiveNoiseResult lines = find(values, EquationForm::automatic, chain_links(3));
  const AdditiveNoiseResult kernels = find(values, EquationForm::kernels, chain_links(3));
  EXPECT_TRUE(lines.linear);
  EXPECT_FALSE(kernels.linear);
  EXPECT_EQ(lines.dag.edges(), kernels.dag.edges());
  EXPECT_NEAR(lines.score, kernels.score, 0.05);  // what a density costs that must be learnt
}

TEST(LinearEquations, AreForNumbers) {
  Matrix values = linear_chain(500, 3, 1);
  values(7, 1) = std::nan("");
  EXPECT_THAT(message_of<UsageError>([&] { find(values, EquationForm::linear, anything(3)); }), HasSubstr("kernels"));
}

}  // namespace
}  // namespace fansite::causal
