// SPDX-License-Identifier: Apache-2.0
//
// The doubly centred score against closed forms, plain loops and tables whose answer is known.
#include "fansite/entropy/flow/dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "properties.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

std::vector<int> every_row(const EnsembleDensity& density) {
  std::vector<int> rows(static_cast<std::size_t>(density.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Dataset table_of(Matrix values) {
  Dataset data;
  data.names = default_names(static_cast<int>(values.cols()));
  data.values = std::move(values);
  return data;
}

EnsembleParams settings(int repeats, std::int64_t steps, std::uint64_t seed = 1) {
  EnsembleParams params;
  params.linear = false;  // networks alone
  params.folds = 2;
  params.repeats = repeats;
  params.train.steps = params.train.evaluate_every = steps;
  params.train.held_out = 0;
  params.seed = seed;
  return params;
}

Ensemble trained_on(const Dataset& data, const EnsembleParams& params) {
  NoProgress silent;
  return train_ensemble(data, params, silent);
}

// The flow of every network made the identity, and its values left as they are: what remains is the linear Gaussian
// model of the network's rows, whose answers have closed forms. (An untrained flow will not do: the sigmoids it starts
// with move quantiles by a tenth of a standard deviation.)
Ensemble linear(const Dataset& data, int repeats) {
  EnsembleParams params = settings(repeats, 1);
  params.transform = TransformKind::none;
  Ensemble ensemble = trained_on(data, params);
  for (Network& network : ensemble.networks) {
    Parameters identity = zero_parameters(network.trained.weights.shape());
    identity.c.head(identity.shape.sigmoids).setConstant(std::log(std::expm1(1 - 1e-6)));  // slopes of 1
    network.trained.weights = pack(identity);
  }
  return ensemble;
}

// The same model of the whole table for every network.
void set_base(Ensemble& ensemble, const Vector& mean, const Matrix& covariance) {
  for (Network& network : ensemble.networks) {
    const std::vector<int>& order = network.order;
    network.trained.base = GaussianBase(mean(order), covariance(order, order));
  }
}

// x1 and x2 depend on each other, on x0 and a little on x3.
Dataset linear_table(Index rows, double strength, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix values(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    const double a = random.normal(), d = random.normal();
    const double b = strength * a + std::sqrt(1 - strength * strength) * random.normal();
    values.row(i) << a, b, 0.5 * a + 0.4 * b + 0.3 * d + random.normal(), d;
  }
  return table_of(values);
}

// A normal distribution.
struct Distribution {
  double mean = 0, sd = 1;

  double scaled(double x) const { return (x - mean) / sd; }
  /// Whether nearly all of it lies within the column's values, where quantiles are looked for.
  bool within(const Eigen::VectorXf& column) const {
    return mean - 3 * sd > static_cast<double>(column.minCoeff()) &&
           mean + 3 * sd < static_cast<double>(column.maxCoeff());
  }
};

// Of `variable` in a row given others, by a network's linear model.
Distribution distribution_of(const Network& network, const EnsembleDensity::Part& part, const Table& values, Index row,
                             int variable, const std::vector<int>& given) {
  const GaussianBase& base = network.trained.base;
  std::vector<int> places;
  Vector difference(static_cast<Index>(given.size()));
  for (std::size_t k = 0; k < given.size(); ++k) {
    places.push_back(part.place[static_cast<std::size_t>(given[k])]);
    difference[static_cast<Index>(k)] = static_cast<double>(values(row, given[k])) - base.mean()[places.back()];
  }
  const Index place = part.place[static_cast<std::size_t>(variable)];
  const Vector covariance = base.covariance()(places, place);
  Distribution distribution{base.mean()[place], std::sqrt(base.covariance()(place, place))};
  if (given.empty()) return distribution;
  const Vector weights = Matrix(base.covariance()(places, places)).ldlt().solve(covariance);
  distribution.mean += weights.dot(difference);
  distribution.sd = std::sqrt(base.covariance()(place, place) - weights.dot(covariance));
  return distribution;
}

double z_score(const DependenceScores& scores) {
  const Eigen::ArrayXd rows = scores.rows.cast<double>();
  return rows.sum() / std::sqrt(rows.square().sum());
}

double correlation(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  return x.dot(y) / x.norm() / y.norm();
}

void expect_ascending(const Eigen::MatrixXf& quantiles) {
  for (Index k = 1; k < quantiles.cols(); ++k) {
    EXPECT_TRUE((quantiles.col(k).array() >= quantiles.col(k - 1).array()).all()) << "quantile " << k;
  }
}

// ---- Quantiles ------------------------------------------------------------------------------------------------------

TEST(ConditionalQuantiles, AreThoseOfTheGaussianThatJudgesTheRow) {
  for (const double strength : {0.3, 0.6, 0.9}) {
    const Dataset data = linear_table(500, strength, 7);
    const Ensemble ensemble = linear(data, 1);  // each row has one judge
    const EnsembleDensity density(ensemble, data.values);
    for (const std::vector<int>& given : {std::vector<int>{}, {0}, {3, 0}}) {
      constexpr int kCount = 8;
      const Eigen::MatrixXf quantiles = conditional_quantiles(density, 1, given, every_row(density), kCount);
      ASSERT_EQ(quantiles.rows(), 500);
      ASSERT_EQ(quantiles.cols(), kCount);
      expect_ascending(quantiles);
      int checked = 0;
      double worst = 0;
      for (std::size_t m = 0; m < ensemble.networks.size(); ++m) {
        const EnsembleDensity::Part& part = density.parts()[m];
        for (const int row : part.unseen) {
          const Distribution distribution =
              distribution_of(ensemble.networks[m], part, density.values(), row, 1, given);
          if (!distribution.within(density.values().col(1))) continue;
          ++checked;
          for (int k = 0; k < kCount; ++k) {
            const double exact = normal_quantile((k + 0.5) / kCount);
            worst = std::max(worst, std::abs(distribution.scaled(static_cast<double>(quantiles(row, k))) - exact));
          }
        }
      }
      // The second grid has steps of up to half a standard deviation, and leaves out up to 0.4 % on either side: at
      // the outermost quantile, 1/16, that is 0.004·(1 − 1/16)/φ(1.53) = 0.03.
      EXPECT_LT(worst, 0.035) << "strength " << strength << ", " << given.size() << " given";
      EXPECT_GT(checked, 300) << "strength " << strength << ", " << given.size() << " given";
    }
  }
}

// Two judges with means 3 apart: half the mixture's mass is on either side, and its distribution function is known.
TEST(ConditionalQuantiles, OfAMixtureAreThoseOfAllItsJudges) {
  const Dataset data = linear_table(400, 0.5, 8);
  Ensemble ensemble = linear(data, 2);
  for (Network& network : ensemble.networks) {
    Vector mean = Vector::Zero(4);
    mean[1] = network.repeat == 0 ? -1.5 : 1.5;
    Matrix covariance = Matrix::Identity(4, 4);
    covariance(0, 1) = covariance(1, 0) = 0.5;
    covariance(1, 1) = 0.25 + 0.09;  // 0.3² given x0
    const auto& order = network.order;
    network.trained.base = GaussianBase(mean(order), covariance(order, order));
  }
  const EnsembleDensity density(ensemble, data.values);
  constexpr int kCount = 10;
  const Eigen::MatrixXf quantiles = conditional_quantiles(density, 1, std::vector<int>{0}, every_row(density), kCount);
  expect_ascending(quantiles);
  int checked = 0;
  for (Index row = 0; row < 400; ++row) {
    const double centre = 0.5 * static_cast<double>(density.values()(row, 0));
    const Distribution low{centre - 1.5, 0.3}, high{centre + 1.5, 0.3};
    if (!low.within(density.values().col(1)) || !high.within(density.values().col(1))) continue;
    ++checked;
    for (int k = 0; k < kCount; ++k) {
      const double x = static_cast<double>(quantiles(row, k));
      const double share = 1 - 0.5 * (normal_tail(low.scaled(x)) + normal_tail(high.scaled(x)));
      // The grid's steps are a standard deviation of either mode here.
      EXPECT_NEAR(share, (k + 0.5) / kCount, 0.015) << "row " << row << ", quantile " << k;
    }
  }
  EXPECT_GT(checked, 100);
}

// Models with variances from `least` to 10, and means so far off that rows can be hundreds of nats unlikely.
void expect_ascending_within_the_column(double least) {
  const Dataset data = linear_table(60, 0.9, 9);
  Ensemble ensemble = linear(data, 1);
  EXPECT_TRUE(rc::check("any covariance and count", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Matrix factor(4, 4);
    for (double& x : factor.reshaped()) x = random.normal();
    Vector mean(4);
    for (double& x : mean) x = 2 * random.normal();
    const double scale = std::pow(10.0, random.uniform(std::log10(least), 1));
    set_base(ensemble, mean, scale * factor * factor.transpose() + 1e-4 * scale * Matrix::Identity(4, 4));
    const EnsembleDensity density(ensemble, data.values);
    const int count = *rc::gen::inRange(1, 12);
    const Eigen::MatrixXf quantiles =
        conditional_quantiles(density, 2, std::vector<int>{1, 3}, every_row(density), count);
    const auto column = density.values().col(2);
    const float margin = 0.051f * (column.maxCoeff() - column.minCoeff());
    RC_ASSERT(quantiles.allFinite());
    RC_ASSERT(quantiles.minCoeff() >= column.minCoeff() - margin);
    RC_ASSERT(quantiles.maxCoeff() <= column.maxCoeff() + margin);
    for (Index k = 1; k < count; ++k) RC_ASSERT((quantiles.col(k).array() >= quantiles.col(k - 1).array()).all());
  }));
}

TEST(ConditionalQuantiles, AscendWithinTheColumnForAnyModel) { expect_ascending_within_the_column(0.5); }
TEST(ConditionalQuantiles, AscendWithinTheColumnForOutliers) { expect_ascending_within_the_column(1e-3); }

TEST(ConditionalQuantiles, FollowASkewedAndABimodalDistribution) {
  constexpr Index kRows = 800;
  Random random(Key{10});
  Matrix values(kRows, 3);
  for (Index i = 0; i < kRows; ++i) {
    const double x = random.normal();
    values.row(i) << x, x + random.exponential(), (random.coin() ? 1 : -1) * 2 + 0.5 * x + 0.3 * random.normal();
  }
  const Dataset data = table_of(values);
  EnsembleParams params = settings(1, 1500);
  params.transform = TransformKind::standardise;
  const Ensemble ensemble = trained_on(data, params);
  const EnsembleDensity density(ensemble, data.values);
  for (const int variable : {1, 2}) {
    constexpr int kCount = 10;
    const Eigen::MatrixXf quantiles =
        conditional_quantiles(density, variable, std::vector<int>{0}, every_row(density), kCount);
    expect_ascending(quantiles);
    // A share (k + ½)/count of the rows lies below their own k-th quantile, up to four standard deviations of a share
    // and 0.03 for what the networks have not learnt.
    for (int k = 0; k < kCount; ++k) {
      const double share = (density.values().col(variable).array() < quantiles.col(k).array()).cast<double>().mean();
      const double goal = (k + 0.5) / kCount;
      EXPECT_NEAR(share, goal, 4 * std::sqrt(goal * (1 - goal) / kRows) + 0.03) << variable << ", quantile " << k;
    }
  }
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// With u the standardised residuals given S and ρ the partial correlation, the only part of log p(t|S, z) that is a
// function of neither alone is ρ/(1−ρ²)·u_t·u_z. Nodes whose mean is not quite zero move both factors by that mean.
TEST(DependenceScores, HaveAClosedFormForGaussians) {
  for (const double strength : {0.3, 0.8}) {
    const Dataset data = linear_table(500, strength, 11);
    const Ensemble ensemble = linear(data, 1);
    const EnsembleDensity density(ensemble, data.values);
    for (const std::vector<int>& given : {std::vector<int>{}, {0}, {3, 0}}) {
      const DependenceScores scores = dependence_scores(density, 1, 2, given);
      ASSERT_EQ(scores.rows.size(), 500);
      const Eigen::MatrixXf t_nodes = conditional_quantiles(density, 1, given, every_row(density), kNodes);
      const Eigen::MatrixXf z_nodes = conditional_quantiles(density, 2, given, every_row(density), kNodes);
      double worst_with_nodes = 0, worst = 0;
      for (std::size_t m = 0; m < ensemble.networks.size(); ++m) {
        const EnsembleDensity::Part& part = density.parts()[m];
        for (const int row : part.unseen) {
          const auto distribution = [&](int variable, const std::vector<int>& others) {
            return distribution_of(ensemble.networks[m], part, density.values(), row, variable, others);
          };
          std::vector<int> with_z = given;
          with_z.push_back(2);
          const Distribution t = distribution(1, given), z = distribution(2, given),
                             t_given_z = distribution(1, with_z);
          // All dependences are positive here, and σ²(t|S, z) = σ²(t|S)·(1 − ρ²).
          const double left = std::pow(t_given_z.sd / t.sd, 2), rho = std::sqrt(1 - left), slope = rho / left;
          const double u_t = t.scaled(static_cast<double>(density.values()(row, 1)));
          const double u_z = z.scaled(static_cast<double>(density.values()(row, 2)));
          const double t_mean = t.scaled(static_cast<double>(t_nodes.row(row).mean()));
          const double z_mean = z.scaled(static_cast<double>(z_nodes.row(row).mean()));
          const double score = static_cast<double>(scores.rows[row]);
          worst_with_nodes = std::max(worst_with_nodes, std::abs(score - slope * (u_t - t_mean) * (u_z - z_mean)));
          if (!t.within(density.values().col(1)) || !z.within(density.values().col(2))) continue;
          worst = std::max(worst, std::abs(score / slope - u_t * u_z) / (1 + std::abs(u_t) + std::abs(u_z)));
        }
      }
      // Densities are good to 1e-5 or so, at −20 nats as well, and a score is made of four means of them.
      EXPECT_LT(worst_with_nodes, 3e-4) << "strength " << strength << ", " << given.size() << " given";
      // The mean of the nodes is within 0.01 standard deviations of the distribution's, and moves the score by so much
      // of |u_t| + |u_z|.
      EXPECT_LT(worst, 0.01) << "strength " << strength << ", " << given.size() << " given";
    }
  }
}

TEST(DependenceScores, EqualAPlainLoopOverNetworksAndNodes) {
  Random random(Key{12});
  Matrix values(300, 4);  // 150 rows a fold: more than one block of them
  for (Index i = 0; i < 300; ++i) {
    const double a = random.normal(), b = std::sin(2 * a) + 0.5 * random.normal();
    values.row(i) << a, b, a * b + 0.5 * random.normal(), random.exponential();
  }
  const Dataset data = table_of(values);
  const Ensemble ensemble = trained_on(data, settings(2, 300));
  const EnsembleDensity density(ensemble, data.values);
  const int t = 2, z = 1;
  const std::vector<int> given = {3, 0};
  const DependenceScores scores = dependence_scores(density, t, z, given);
  const Eigen::MatrixXf t_nodes = conditional_quantiles(density, t, given, every_row(density), kNodes);
  const Eigen::MatrixXf z_nodes = conditional_quantiles(density, z, given, every_row(density), kNodes);
  // The means over nodes, f a function of the place of a node; kNodes is the row's own value.
  const auto centred = [](const auto& f) {
    double score = f(kNodes, kNodes);
    for (int q = 0; q < kNodes; ++q) {
      score -= (f(q, kNodes) + f(kNodes, q)) / kNodes;
      for (int r = 0; r < kNodes; ++r) score += f(q, r) / (kNodes * kNodes);
    }
    return score;
  };
  std::vector<double> networks(ensemble.networks.size(), 0);
  std::vector<double> largest(ensemble.networks.size(), 0);
  for (Index row = 0; row < 300; ++row) {
    Matrix mixture = Matrix::Zero(kNodes + 1, kNodes + 1);
    for (std::size_t m = 0; m < ensemble.networks.size(); ++m) {
      const EnsembleDensity::Part& part = density.parts()[m];
      if (ensemble.has_seen(ensemble.networks[m], row)) continue;
      Table variants = part.table.score.row(row).replicate((kNodes + 1) * (kNodes + 1), 1);
      for (int q = 0; q <= kNodes; ++q) {
        for (int r = 0; r <= kNodes; ++r) {
          if (q < kNodes) variants(q * (kNodes + 1) + r, part.place[t]) = t_nodes(row, q);
          if (r < kNodes) variants(q * (kNodes + 1) + r, part.place[z]) = z_nodes(row, r);
        }
      }
      const std::vector<Subset> subsets = {part.places(std::vector<int>{0, 3, t, z}),
                                           part.places(std::vector<int>{0, 3, z})};
      const Eigen::MatrixXf log_density = part.density->log_density(variants, subsets);
      const auto f = [&](int q, int r) {
        const Index i = q * (kNodes + 1) + r;
        return static_cast<double>(log_density(i, 0)) - static_cast<double>(log_density(i, 1));
      };
      const double score = centred(f);
      networks[m] += score;
      largest[m] = std::max(largest[m], std::abs(score));
      for (int q = 0; q <= kNodes; ++q) {
        for (int r = 0; r <= kNodes; ++r) mixture(q, r) += std::exp(f(q, r));
      }
    }
    const double expected = centred([&](int q, int r) { return std::log(mixture(q, r)); });
    ASSERT_NEAR(static_cast<double>(scores.rows[row]), expected, 1e-4 * (1 + std::abs(expected))) << "row " << row;
  }
  ASSERT_EQ(scores.networks.size(), 4);
  for (std::size_t m = 0; m < networks.size(); ++m) {
    EXPECT_NEAR(scores.networks[static_cast<Index>(m)], networks[m], 1e-5 * 150 * (1 + largest[m])) << "network " << m;
  }
}

TEST(DependenceScores, OfNetworksAddUpToThoseOfRowsWithOneJudgeEach) {
  const Dataset data = linear_table(300, 0.6, 13);
  const Ensemble ensemble = trained_on(data, settings(1, 200));
  const EnsembleDensity density(ensemble, data.values);
  const DependenceScores scores = dependence_scores(density, 1, 2, std::vector<int>{0});
  ASSERT_EQ(scores.networks.size(), 2);
  EXPECT_GT(std::abs(scores.rows.sum()), 1.0f);
  for (Index m = 0; m < 2; ++m) {
    double sum = 0;
    for (const int row : density.parts()[static_cast<std::size_t>(m)].unseen) {
      sum += static_cast<double>(scores.rows[row]);
    }
    EXPECT_NEAR(scores.networks[m], sum, 1e-4 * std::abs(sum));
  }
}

TEST(DependenceScores, OfSomeRowsAreThoseTheyHaveAmongAll) {
  Random random(Key{13});
  Matrix values(200, 3);
  for (Index i = 0; i < 200; ++i) {
    const double a = random.normal();
    values.row(i) << a, a + random.normal(), random.below(3);
  }
  const Dataset data = table_of(values);
  const EnsembleDensity density(trained_on(data, settings(3, 100)), data.values);
  const std::vector<int> some = {0, 7, 8, 90, 199}, given = {2};
  const DependenceScores all = dependence_scores(density, 0, 1, given);
  const DependenceScores few = dependence_scores(density, 0, 1, given, some);
  for (int row = 0; row < 200; ++row) {
    const bool asked = std::find(some.begin(), some.end(), row) != some.end();
    EXPECT_EQ(std::isnan(few.rows[row]), !asked);
    EXPECT_TRUE(!asked || few.rows[row] == all.rows[row]) << row;
  }
}

TEST(DependenceScores, HaveMeanZeroForIndependentColumns) {
  // Neither column is normal, and the networks overfit 75 rows each: wrong about either alone, that is.
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(Key{seed});
    Matrix values(150, 2);
    for (Index i = 0; i < 150; ++i) values.row(i) << random.exponential(), std::pow(random.normal(), 3);
    const Dataset data = table_of(values);
    EnsembleParams params = settings(1, 400, seed);
    params.transform = TransformKind::standardise;
    const Ensemble ensemble = trained_on(data, params);
    const DependenceScores scores = dependence_scores(EnsembleDensity(ensemble, data.values), 0, 1, {});
    EXPECT_LT(std::abs(z_score(scores)), 4) << "seed " << seed;
    EXPECT_TRUE((scores.rows != 0).any());
  }
}

TEST(DependenceScores, SeeAQuadraticThatHasNoCorrelation) {
  constexpr Index kRows = 400;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Random random(Key{seed});
    Matrix values(kRows, 2);
    for (Index i = 0; i < kRows; ++i) {
      // Each t with its opposite, so that the correlation is small in the sample too.
      const double t = i % 2 == 0 ? random.normal() : -values(i - 1, 0);
      values.row(i) << t, t * t + 0.2 * random.normal();
    }
    const Dataset data = table_of(values);
    EXPECT_LT(std::abs(correlation(values.col(0), values.col(1))), 0.02);
    const Ensemble ensemble = trained_on(data, settings(1, 1500, seed));
    const EnsembleDensity density(ensemble, data.values);
    for (const int target : {0, 1}) {
      const DependenceScores scores = dependence_scores(density, target, 1 - target, {});
      EXPECT_GT(z_score(scores), 8) << "seed " << seed << ", target " << target;
      EXPECT_TRUE((scores.networks > 0).all());
    }
  }
}

// Both depend on s, in ways that no line describes, and on nothing else.
TEST(DependenceScores, VanishOnceTheCommonCauseIsGiven) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Random random(Key{seed});
    Matrix values(400, 3);
    for (Index i = 0; i < 400; ++i) {
      const double s = random.normal();
      values.row(i) << s, s * s + 0.5 * random.normal(), std::abs(s) + 0.5 * random.normal();
    }
    const Dataset data = table_of(values);
    const Ensemble ensemble = trained_on(data, settings(1, 1500, seed));
    const EnsembleDensity density(ensemble, data.values);
    EXPECT_GT(z_score(dependence_scores(density, 1, 2, {})), 6) << "seed " << seed;
    EXPECT_LT(std::abs(z_score(dependence_scores(density, 1, 2, std::vector<int>{0}))), 4) << "seed " << seed;
  }
}

TEST(DependenceScores, SameBitsForAnyNumberOfThreads) {
  const Dataset data = linear_table(300, 0.6, 14);
  const Ensemble ensemble = trained_on(data, settings(2, 100));
  const EnsembleDensity density(ensemble, data.values);
  const std::vector<int> given = {0, 3};
  DependenceScores one, two;
  {
    const ThreadLimit limit(1);
    one = dependence_scores(density, 1, 2, given);
  }
  {
    const ThreadLimit limit(2);
    two = dependence_scores(density, 1, 2, given);
  }
  EXPECT_TRUE((one.rows == two.rows).all());
  EXPECT_TRUE((one.networks == two.networks).all());
}

}  // namespace
}  // namespace fansite::flow
