// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/kmb.h"

#include <gmock/gmock.h>

#include <Eigen/LU>
#include <cmath>

#include "classical_examples.h"
#include "fansite/boundary/baselines/kernel_score.h"

namespace fansite {
namespace {

using List = std::vector<int>;

Matrix kernel(const Matrix& x, double sigma_squared) {
  Matrix k(x.rows(), x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.rows(); ++j) {
      k(i, j) = std::exp(-(x.row(i) - x.row(j)).squaredNorm() / (2 * sigma_squared));
    }
  }
  return k;
}

Matrix centred(const Matrix& k) {
  const Matrix q =
      Matrix::Identity(k.rows(), k.rows()) - Matrix::Constant(k.rows(), k.rows(), 1.0 / static_cast<double>(k.rows()));
  return q * k * q;
}

// The definition, with an inverse.
double trace_by_definition(const Matrix& target, const Matrix& set, double eps) {
  const auto rows = static_cast<double>(target.rows());
  const Matrix ridge = set + rows * eps * Matrix::Identity(set.rows(), set.rows());
  return eps * (target * ridge.inverse()).trace();
}

Matrix normals(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  return Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

TEST(KernelScore, HasTheValuesOfTheSpecification) {
  const Matrix x = Vector{{0, 1, 2, 3}}, y = Vector{{0, 1, 0, 1}};
  const Matrix of_x = gaussian_factor(x, 1, 4).columns, of_y = gaussian_factor(y, 1, 4).columns;
  EXPECT_NEAR(conditional_trace(of_y, of_x, 0.1), 0.139712, 1e-6);
  EXPECT_NEAR(conditional_trace(of_y, of_x, 0.001), 0.005317, 1e-6);
  EXPECT_NEAR(trace_by_definition(centred(kernel(y, 1)), centred(kernel(x, 1)), 0.1), 0.139712, 1e-6);
}

TEST(KernelScore, LowRankIsNearTheDefinition) {
  const Matrix x = normals(120, 2, 1), y = normals(120, 1, 2);
  const Matrix target = y.rowwise() - y.colwise().mean();
  const double exact = trace_by_definition(target * target.transpose(), centred(kernel(x, 2)), 0.01);
  EXPECT_NEAR(conditional_trace(target, gaussian_factor(x, 2, 120).columns, 0.01), exact, 1e-6);
  const KernelFactor few = gaussian_factor(x, 2, 25);
  EXPECT_LE(few.columns.cols(), 25);
  EXPECT_GT(few.left_out, 0);
  EXPECT_NEAR(conditional_trace(target, few.columns, 0.01), exact, 0.01);
}

TEST(KernelScore, LiesBetweenNothingAndAllAndForgetsTheOrderOfRows) {
  const Matrix x = normals(80, 1, 3);
  const Matrix y = (x.array().square() + 0.1 * normals(80, 1, 4).array()).matrix();
  const Matrix target = y.rowwise() - y.colwise().mean();
  const double all = conditional_trace(target, Matrix(80, 0), 0.01);
  EXPECT_NEAR(all, target.squaredNorm() / 80, 1e-12);
  const double left = conditional_trace(target, gaussian_factor(x, 1, 80).columns, 0.01);
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 0.3 * all);  // y is nearly a function of x, and no line
  const List order = Random(Key{1}).permutation(80);
  EXPECT_NEAR(conditional_trace(target(order, Eigen::all), gaussian_factor(x(order, Eigen::all), 1, 80).columns, 0.01),
              left, 1e-9);
}

TEST(KernelScore, MedianOfDistances) {
  EXPECT_EQ(median_squared_distance(Matrix(Vector{{0, 1, 3}})), 4);  // 1, 4, 9
  EXPECT_EQ(median_squared_distance(Matrix::Ones(1, 2)), 1);
}

// y = x² + noise, z = y + a little noise, v on its own. (Nothing tells the mean of x: its sign is anybody's guess.)
TEST(Kmb, FindsWhatIsNotLinear) {
  Dataset data;
  data.names = {"x", "y", "z", "v"};
  data.values = normals(1000, 4, 6);
  data.values.col(1) = data.values.col(0).array().square() + 0.6 * data.values.col(1).array();
  data.values.col(2) = data.values.col(1).array() + 0.5 * data.values.col(2).array();
  const auto found = found_by("kmb", data);
  EXPECT_EQ(sorted(found[1]), (List{0, 2}));
  EXPECT_EQ(found[2], (List{1}));
  EXPECT_TRUE(found[3].empty());
}

TEST(Kmb, SaysHowManyRowsItUsed) {
  BoundariesParams params("kmb");
  params.options.set("sample", std::int64_t{100});
  params.options.set("rank", std::int64_t{20});
  const BoundariesResult result = markov_boundaries(collider(400), params);
  EXPECT_THAT(result.warnings, testing::Contains(testing::HasSubstr("kmb used 100 of 400 rows")));
  EXPECT_EQ(result.details.at(0), (std::pair<std::string, Value>{"rows_used", std::int64_t{100}}));
  EXPECT_THAT(result.how, testing::HasSubstr("KMB (reconstructed)"));
}

}  // namespace
}  // namespace fansite
