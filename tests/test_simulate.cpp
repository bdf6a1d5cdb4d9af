// SPDX-License-Identifier: Apache-2.0
#include "fansite/simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/simulate/detail/gaussian_process.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

SimulateParams params(Sem sem, int nodes, double degree, Index rows, std::uint64_t seed = 42) {
  SimulateParams result;
  result.sem = sem;
  result.nodes = nodes;
  result.degree = degree;
  result.rows = rows;
  result.seed = seed;
  return result;
}

// FNV-1a over the bytes of a table.
std::uint64_t fingerprint(const Matrix& table) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < table.size(); ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, table.data() + i, sizeof bits);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

double correlation(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  return x.dot(y) / std::sqrt(x.squaredNorm() * y.squaredNorm());
}

// ---- Names and checks -----------------------------------------------------------------------------------------------

TEST(SimulateNames, RoundTripAndListOnError) {
  for (const auto graph : {GraphModel::er, GraphModel::sf}) EXPECT_EQ(parse<GraphModel>(name(graph)), graph);
  for (const auto sem : {Sem::linear, Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) EXPECT_EQ(parse<Sem>(name(sem)), sem);
  for (const auto noise :
       {Noise::gauss, Noise::uniform, Noise::laplace, Noise::gumbel, Noise::exponential, Noise::mixed}) {
    EXPECT_EQ(parse<Noise>(name(noise)), noise);
  }
  EXPECT_THAT(message_of<UsageError>([] { parse<Sem>("GP"); }), HasSubstr("linear, gp, mlp, pnl or gene"));
  EXPECT_THAT(message_of<UsageError>([] { parse<GraphModel>(""); }), HasSubstr("er or sf"));
  EXPECT_THROW(parse<Noise>("normal"), UsageError);
}

TEST(SimulateChecks, ParametersOutOfRange) {
  const auto refuse = [](const std::function<void(SimulateParams&)>& change) {
    SimulateParams wrong;
    change(wrong);
    return message_of<UsageError>([&] { simulate(wrong); });
  };
  EXPECT_EQ(refuse([](auto& p) { p.nodes = 0; }), "[nodes] 0 is out of range; use a whole number, 1 or more");
  EXPECT_THAT(refuse([](auto& p) { p.rows = 0; }), HasSubstr("[rows] 0 is out of range"));
  EXPECT_THAT(refuse([](auto& p) { p.degree = -0.5; }), HasSubstr("[degree] -0.5 is out of range"));
  EXPECT_THAT(refuse([](auto& p) { p.degree = std::nan(""); }), HasSubstr("[degree] nan is out of range"));
  EXPECT_THAT(refuse([](auto& p) { p.degree = 14.6; }), HasSubstr("the largest possible is 14.5"));
  EXPECT_THAT(refuse([](auto& p) { p.weight_low = -1; }), HasSubstr("[weight_low] -1 is out of range"));
  EXPECT_THAT(refuse([](auto& p) { p.weight_high = 0.1; }), HasSubstr("0 ≤ low ≤ high"));
  EXPECT_THAT(refuse([](auto& p) { p.weight_high = INFINITY; }), HasSubstr("[weight_high] inf is out of range"));
  EXPECT_THAT(refuse([](auto& p) { p.sem = Sem::gp, p.rows = 5001; }), HasSubstr("the limit is 5000"));
  EXPECT_THAT(refuse([](auto& p) { p.sem = Sem::pnl, p.rows = 5001; }), HasSubstr("the limit is 5000"));
  EXPECT_THAT(refuse([](auto& p) { p.sem = Sem::gene, p.weight_low = 1; }),
              HasSubstr("gene equations have no weights"));
}

TEST(SimulateChecks, TheSmallestTables) {
  for (const Sem sem : {Sem::linear, Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) {
    const Simulation one = simulate(params(sem, 1, 0, 1));
    EXPECT_EQ(one.data.values.size(), 1);
    EXPECT_TRUE(std::isfinite(one.data.values(0, 0)));
    EXPECT_EQ(simulate(params(sem, 3, 1, 1)).dag.edges(), 3);
  }
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

TEST(RandomDag, ErdosRenyiHasTheExpectedEdges) {
  constexpr int kGraphs = 200, kNodes = 40;
  constexpr double kDegree = 2.5, kPairs = kNodes * (kNodes - 1) / 2.0, kChance = 2 * kDegree / kNodes;
  double edges = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    edges += random_dag(GraphModel::er, kNodes, kDegree, Key{seed}).edges();
  }
  const double deviation = std::sqrt(kPairs * kChance * (1 - kChance) / kGraphs);
  EXPECT_NEAR(edges / kGraphs, kPairs * kChance, 4 * deviation);
}

TEST(RandomDag, ErdosRenyiFavoursNoPair) {
  Matrix counts = Matrix::Zero(6, 6);
  constexpr int kGraphs = 6000;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    counts += random_dag(GraphModel::er, 6, 1.5, Key{seed}).adjacency().cast<double>();
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      if (i == j) continue;
      EXPECT_NEAR(counts(i, j), kGraphs * 0.25, 4 * std::sqrt(kGraphs * 0.25 * 0.75)) << i << " → " << j;
    }
  }
}

TEST(RandomDag, NoDegreeNoEdges) { EXPECT_EQ(random_dag(GraphModel::er, 7, 0.0, Key{1}).edges(), 0); }

TEST(RandomDag, ScaleFreeHasHubsThatRegulate) {
  const Dag dag = random_dag(GraphModel::sf, 2000, 2, Key{3});
  EXPECT_EQ(dag.edges(), 2 * 2000 - 3);
  std::size_t hub = 0, most_parents = 0;
  for (int node = 0; node < dag.nodes(); ++node) {
    hub = std::max(hub, dag.children(node).size());
    most_parents = std::max(most_parents, dag.parents(node).size());
  }
  EXPECT_GT(hub, 60u);  // √n·degree and more; an Erdős–Rényi graph has about 10
  EXPECT_EQ(most_parents, 2u);
}

TEST(RandomDag, ScaleFreeTakesFractions) {
  EXPECT_EQ(random_dag(GraphModel::sf, 50, 0, Key{1}).edges(), 0);
  EXPECT_NEAR(random_dag(GraphModel::sf, 4000, 0.4, Key{1}).edges(), 1600, 4 * 31);
  EXPECT_NEAR(random_dag(GraphModel::sf, 4000, 1.5, Key{1}).edges(), 6000, 4 * 32);
}

TEST(RandomDag, AnyParametersGiveADag) {
  EXPECT_TRUE(rc::check("nodes, degree and model within range", [] {
    const int nodes = *rc::gen::inRange(1, 40);
    const double degree = 0.5 * (nodes - 1) * *rc::gen::inRange(0, 101) / 100;
    const auto model = *rc::gen::element(GraphModel::er, GraphModel::sf);
    const Key key{*rc::gen::arbitrary<std::uint64_t>()};
    const Dag dag = random_dag(model, nodes, degree, key);
    RC_ASSERT(dag.nodes() == nodes);
    RC_ASSERT(dag.adjacency() == random_dag(model, nodes, degree, key).adjacency());
  }));
}

// ---- Linear data ----------------------------------------------------------------------------------------------------

TEST(Linear, WeightsLieInTheirRangeWithBothSigns) {
  SimulateParams chosen = params(Sem::linear, 200, 5, 1);
  chosen.weight_low = 0.25;
  chosen.weight_high = 0.75;
  const Simulation simulation = simulate(chosen);
  int positive = 0;
  double sum = 0;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 200; ++j) {
      const double weight = simulation.weights(i, j);
      ASSERT_EQ(weight != 0, simulation.dag.has_edge(i, j));
      if (weight == 0) continue;
      ASSERT_GE(std::abs(weight), 0.25);
      ASSERT_LE(std::abs(weight), 0.75);
      positive += weight > 0;
      sum += std::abs(weight);
    }
  }
  const double edges = simulation.dag.edges();
  EXPECT_NEAR(positive, edges / 2, 2 * std::sqrt(edges));
  EXPECT_NEAR(sum / edges, 0.5, 4 * 0.144 / std::sqrt(edges));
}

TEST(Linear, CovarianceIsThatOfTheEquations) {
  constexpr Index kRows = 100000;
  const Simulation simulation = simulate(params(Sem::linear, 6, 1.2, kRows));
  ASSERT_GT(simulation.dag.edges(), 4);
  const Matrix centred = simulation.data.values.rowwise() - simulation.data.values.colwise().mean();
  const Matrix sample = centred.transpose() * centred / static_cast<double>(kRows);
  const Matrix inverse = (Matrix::Identity(6, 6) - simulation.weights).inverse();
  const Matrix exact = inverse.transpose() * inverse;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const double deviation = std::sqrt((exact(i, i) * exact(j, j) + exact(i, j) * exact(i, j)) / kRows);
      EXPECT_NEAR(sample(i, j), exact(i, j), 4.5 * deviation) << i << ", " << j;
    }
  }
}

// x_j − Σ w_ij x_i is the noise again, so its distribution can be seen.
TEST(Linear, NoiseHasTheDistributionThatIsReported) {
  SimulateParams chosen = params(Sem::linear, 40, 1, 20000);
  chosen.noise = Noise::mixed;
  const Simulation simulation = simulate(chosen);
  const Matrix noise = simulation.data.values * (Matrix::Identity(40, 40) - simulation.weights);
  std::set<Noise> distributions;
  for (int j = 0; j < 40; ++j) {
    const Vector column = noise.col(j);
    const double mean = column.mean(), variance = (column.array() - mean).square().mean();
    const Noise distribution = simulation.noise[static_cast<std::size_t>(j)];
    distributions.insert(distribution);
    const double expected_mean =
        distribution == Noise::gumbel ? 0.5772 : (distribution == Noise::exponential ? 1.0 : 0.0);
    const double expected_variance =
        distribution == Noise::uniform
            ? 1.0 / 3
            : (distribution == Noise::laplace ? 2.0 : (distribution == Noise::gumbel ? 1.6449 : 1.0));
    EXPECT_NEAR(mean, expected_mean, 0.05) << name(distribution);
    EXPECT_NEAR(variance, expected_variance, 0.12) << name(distribution);
    if (distribution == Noise::uniform) {
      EXPECT_LE(column.cwiseAbs().maxCoeff(), 1.0 + 1e-9);
    }
    if (distribution == Noise::exponential) {
      EXPECT_GE(column.minCoeff(), -1e-9);
    }
  }
  EXPECT_EQ(distributions.size(), 5u);
  EXPECT_EQ(distributions.count(Noise::mixed), 0u);
}

TEST(Linear, PartialCorrelationsVanishWhereTheGraphSeparates) {
  constexpr Index kRows = 20000;
  const Simulation simulation = simulate(params(Sem::linear, 7, 1.1, kRows, 5));
  const Matrix centred = simulation.data.values.rowwise() - simulation.data.values.colwise().mean();
  const Matrix covariance = centred.transpose() * centred;
  int separated = 0, connected = 0, connected_and_seen = 0;
  for (int x = 0; x < 7; ++x) {
    for (int y = x + 1; y < 7; ++y) {
      for (int set = 0; set < 1 << 7; ++set) {
        if ((set >> x & 1) != 0 || (set >> y & 1) != 0) continue;
        std::vector<int> given, all = {x, y};
        for (int node = 0; node < 7; ++node) {
          if ((set >> node & 1) != 0) given.push_back(node);
        }
        all.insert(all.end(), given.begin(), given.end());
        const Matrix precision = Matrix(covariance(all, all)).inverse();
        const double partial = -precision(0, 1) / std::sqrt(precision(0, 0) * precision(1, 1));
        const double z = std::abs(std::atanh(partial)) * std::sqrt(kRows - 3.0 - static_cast<double>(given.size()));
        if (simulation.dag.d_separated(x, y, given)) {
          EXPECT_LT(z, 4.5) << x << ", " << y << " given set " << set;
          ++separated;
        } else {
          connected_and_seen += z > 4.5;
          ++connected;
        }
      }
    }
  }
  EXPECT_GT(separated, 50);
  EXPECT_GT(connected_and_seen, 0.97 * connected);
}

// ---- Gaussian processes ---------------------------------------------------------------------------------------------

TEST(GaussianProcess, CovarianceIsTheKernel) {
  const std::vector<double> x = {-1.5, 0.0, 0.1, 0.9, 3.0, 0.0}, y = {0.0, 0.5, 0.4, -1.0, 0.3, 0.5};
  constexpr Index kPoints = 6;
  constexpr int kDraws = 40000;
  NoProgress progress;
  Matrix sum = Matrix::Zero(kPoints, kPoints);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Vector f =
        draw_gaussian_process({x.data(), y.data()}, kPoints, Key{7}.split(static_cast<std::uint64_t>(draw)), progress);
    EXPECT_NEAR(f(1), f(5), 1e-12);  // the same point twice
    sum += f * f.transpose();
  }
  for (std::size_t i = 0; i < kPoints; ++i) {
    for (std::size_t j = 0; j < kPoints; ++j) {
      const double distance = (x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]);
      const double kernel = std::exp(-0.5 * distance);
      const double sample = sum(static_cast<Index>(i), static_cast<Index>(j)) / kDraws;
      EXPECT_NEAR(sample, kernel, 4.5 * std::sqrt((1 + kernel * kernel) / kDraws)) << i << ", " << j;
    }
  }
}

// The definition in plain loops; the fast one must have its very bits.
Vector draw_by_definition(const std::vector<const double*>& inputs, Index points, Key key) {
  Random random(key);
  Vector draw = Vector::Zero(points), variance = Vector::Ones(points);
  std::vector<bool> taken(static_cast<std::size_t>(points), false);
  std::vector<Vector> factor;
  while (static_cast<Index>(factor.size()) < points) {
    Index pivot = -1;
    for (Index i = 0; i < points; ++i) {
      if (!taken[static_cast<std::size_t>(i)] && (pivot < 0 || variance(i) > variance(pivot))) pivot = i;
    }
    if (variance(pivot) < 1e-12) break;
    const double root = std::sqrt(variance(pivot)), z = random.normal();
    Vector column = Vector::Zero(points);
    for (Index i = 0; i < points; ++i) {
      if (taken[static_cast<std::size_t>(i)]) continue;
      double distance = 0;
      for (const double* input : inputs) distance += (input[i] - input[pivot]) * (input[i] - input[pivot]);
      double value = portable::exp(distance < 1400 ? -0.5 * distance : -700.0);
      for (const Vector& earlier : factor) value -= earlier(i) * earlier(pivot);
      column(i) = value / root;
      variance(i) -= column(i) * column(i);
      draw(i) += column(i) * z;
    }
    taken[static_cast<std::size_t>(pivot)] = true;
    factor.push_back(column);
  }
  return draw;
}

TEST(GaussianProcess, HasTheBitsOfTheDefinition) {
  NoProgress progress;
  for (const auto& [dimensions, points, spread] :
       {std::tuple{1, 700, 2.0}, {2, 600, 1.5}, {5, 513, 3.0}, {3, 1, 1.0}, {1, 300, 100.0}, {2, 256, 0.0}}) {
    Random random(Key{static_cast<std::uint64_t>(dimensions)});
    std::vector<std::vector<double>> x(static_cast<std::size_t>(dimensions));
    std::vector<const double*> inputs;
    for (auto& column : x) {
      for (int i = 0; i < points; ++i) column.push_back(spread * random.normal());
      inputs.push_back(column.data());
    }
    const Vector fast = draw_gaussian_process(inputs, points, Key{9}, progress);
    EXPECT_EQ(fingerprint(fast), fingerprint(draw_by_definition(inputs, points, Key{9})))
        << dimensions << " inputs, " << points << " points";
  }
}

TEST(GaussianProcess, DataAreFunctionsOfTheParentsPlusNoise) {
  const Simulation simulation = simulate(params(Sem::gp, 12, 1, 1500));
  for (int node = 0; node < 12; ++node) {
    if (simulation.dag.parents(node).size() != 1) continue;
    // Neighbours in the parent have the same f, so half the variance of their difference is the noise's.
    const Vector parent = simulation.data.values.col(simulation.dag.parents(node).front());
    std::vector<Index> order(1500);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return parent(a) < parent(b); });
    double sum = 0;
    for (std::size_t i = 100; i + 101 < order.size(); i += 2) {
      const double difference = simulation.data.values(order[i], node) - simulation.data.values(order[i + 1], node);
      sum += 0.5 * difference * difference / 650;
    }
    EXPECT_NEAR(sum, 1.0, 4 * std::sqrt(2.0 / 650)) << node;
  }
}

// ---- The other equations --------------------------------------------------------------------------------------------

TEST(Mlp, WithoutWeightsOnlyTheNoiseIsLeft) {
  SimulateParams chosen = params(Sem::mlp, 20, 2, 300);
  const Matrix full = simulate(chosen).data.values;
  chosen.weight_low = chosen.weight_high = 0;
  const Matrix noise = simulate(chosen).data.values;
  chosen.sem = Sem::linear;
  EXPECT_EQ(noise, simulate(chosen).data.values);
  EXPECT_LE((full - noise).cwiseAbs().maxCoeff(), 200.0);  // 100 sigmoids, each weighted by at most 2
  EXPECT_GT((full - noise).cwiseAbs().maxCoeff(), 1.0);
}

TEST(Pnl, MapsAreStrictlyMonotone) {
  // Without edges pnl data are g(e) and gp data are e, drawn from the same stream.
  const Matrix inner = simulate(params(Sem::gp, 60, 0, 2000)).data.values;
  const Matrix outer = simulate(params(Sem::pnl, 60, 0, 2000)).data.values;
  int rising = 0;
  for (int node = 0; node < 60; ++node) {
    std::vector<std::pair<double, double>> points;
    for (Index i = 0; i < inner.rows(); ++i) points.emplace_back(inner(i, node), outer(i, node));
    std::sort(points.begin(), points.end());
    const bool up = points.back().second > points.front().second;
    rising += up;
    for (std::size_t i = 1; i < points.size(); ++i) {
      ASSERT_EQ(points[i].second > points[i - 1].second, up) << "variable " << node;
    }
  }
  EXPECT_GT(rising, 15);
  EXPECT_LT(rising, 45);
  EXPECT_TRUE(outer.allFinite());
}

TEST(Gene, ExpressionIsPositiveAndFollowsTheSigns) {
  for (const Noise noise : {Noise::gauss, Noise::exponential, Noise::mixed}) {
    SimulateParams chosen = params(Sem::gene, 60, 1, 3000);
    chosen.graph = GraphModel::sf;
    chosen.noise = noise;
    const Simulation simulation = simulate(chosen);
    EXPECT_EQ(simulation.data.names.front(), "g1");
    EXPECT_EQ(simulation.data.names.back(), "g60");
    EXPECT_GT(simulation.data.values.minCoeff(), 0.0);
    EXPECT_TRUE(simulation.data.values.allFinite());
    for (int node = 0; node < 60; ++node) {
      for (const int parent : simulation.dag.parents(node)) {  // one at most, since degree is 1
        const Vector logs = simulation.data.values.col(node).array().log();
        const Vector parent_logs = simulation.data.values.col(parent).array().log();
        EXPECT_GT(correlation(logs, parent_logs) * simulation.weights(parent, node), 0.1) << parent << " → " << node;
      }
    }
  }
}

TEST(Gene, NoiseShapesTheLogNoise) {
  SimulateParams chosen = params(Sem::gene, 5, 0, 20000);
  chosen.noise = Noise::uniform;
  const Matrix logs = simulate(chosen).data.values.array().log();
  EXPECT_NEAR(logs.maxCoeff(), 0.7 * std::sqrt(3.0), 1e-3);  // uniform with deviation 0.7
  EXPECT_NEAR(logs.col(0).squaredNorm() / 20000, 0.49, 0.02);
}

// ---- Reproducibility ------------------------------------------------------------------------------------------------

TEST(Simulate, DoesNotDependOnThreads) {
  for (const Sem sem : {Sem::linear, Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) {
    const SimulateParams chosen = params(sem, 15, 2, 700);
    const std::uint64_t all_threads = fingerprint(simulate(chosen).data.values);
    const ThreadLimit limit(1);
    EXPECT_EQ(fingerprint(simulate(chosen).data.values), all_threads) << name(sem);
  }
}

TEST(Simulate, FewerRowsAreThePrefixOfMore) {
  const Matrix few = simulate(params(Sem::linear, 10, 2, 50)).data.values;
  const Matrix more = simulate(params(Sem::linear, 10, 2, 80)).data.values;
  EXPECT_EQ(few, Matrix(more.topRows(50)));
}

TEST(Simulate, SeedsDiffer) {
  EXPECT_NE(fingerprint(simulate(params(Sem::linear, 5, 1, 10, 1)).data.values),
            fingerprint(simulate(params(Sem::linear, 5, 1, 10, 2)).data.values));
}

struct Frozen {
  Sem sem;
  GraphModel graph;
  Noise noise;
  int edges;
  double first, last;         // corners of the table
  std::uint64_t fingerprint;  // of all its bits
};

void PrintTo(const Frozen& frozen, std::ostream* out) { *out << name(frozen.sem) << " " << name(frozen.graph); }

class FrozenData : public testing::TestWithParam<Frozen> {};

// A change here changes what every seed means: users' published simulations would no longer be reproducible.
TEST_P(FrozenData, HaveTheBitsTheyAlwaysHad) {
  const Frozen& known = GetParam();
  SimulateParams chosen = params(known.sem, 20, 1.5, 400, 2024);
  chosen.graph = known.graph;
  chosen.noise = known.noise;
  const Simulation simulation = simulate(chosen);
  EXPECT_EQ(simulation.dag.edges(), known.edges);
  EXPECT_EQ(simulation.data.values(0, 0), known.first);
  EXPECT_EQ(simulation.data.values(399, 19), known.last);
  EXPECT_EQ(fingerprint(simulation.data.values), known.fingerprint);
  if (HasFailure()) {
    std::printf("  %d, %a, %a, 0x%016llx\n", simulation.dag.edges(), simulation.data.values(0, 0),
                simulation.data.values(399, 19), static_cast<unsigned long long>(fingerprint(simulation.data.values)));
  }
}

INSTANTIATE_TEST_SUITE_P(Sems, FrozenData,
                         testing::Values(Frozen{Sem::linear, GraphModel::er, Noise::gauss, 36, 0x1.b351c798f1c8dp+1,
                                                0x1.13df9f2231502p-2, 0x2983566cf9b60382},
                                         Frozen{Sem::linear, GraphModel::sf, Noise::mixed, 30, -0x1.c52b4d113a0fap+1,
                                                0x1.270ac82ad6e9ap+0, 0x61b5dceb73bb63b2},
                                         Frozen{Sem::gp, GraphModel::er, Noise::gauss, 36, 0x1.2e916b3cf7263p+0,
                                                0x1.d1374a026e482p-1, 0xf4b5d526429191ab},
                                         Frozen{Sem::mlp, GraphModel::er, Noise::laplace, 36, 0x1.d66db5e16e424p+2,
                                                -0x1.6f0209b719b9ep-1, 0x50b1ec99bb5b7c63},
                                         Frozen{Sem::pnl, GraphModel::er, Noise::uniform, 36, -0x1.2ffadf0eaae32p+0,
                                                0x1.c9ae836cd25a2p-1, 0x82a66b7cbf2c6d2b},
                                         Frozen{Sem::gene, GraphModel::sf, Noise::gumbel, 30, 0x1.c1d79efcfe63ap+0,
                                                0x1.0d5c9d2b1cbd5p+2, 0x8bc8d6c192f0b0d8}),
                         [](const auto& info) {
                           return std::string(name(info.param.sem)) + "_" + std::string(name(info.param.graph));
                         });

// ---- Long work ------------------------------------------------------------------------------------------------------

class Counter final : public Progress {
 public:
  explicit Counter(long patience) : patience_(patience) {}
  void begin(std::string_view stage, long total) override {
    stage_ = stage;
    total_ = total;
  }
  void advance(long steps) override { done_ += steps; }
  bool interrupted() const override { return ++asked_ > patience_; }

  std::string stage_;
  long total_ = 0, patience_;
  std::atomic<long> done_ = 0;
  mutable std::atomic<long> asked_ = 0;
};

TEST(Progress, CountsVariables) {
  Counter counter(1000000);
  simulate(params(Sem::gp, 12, 1, 200), counter);
  EXPECT_EQ(counter.stage_, "simulating");
  EXPECT_EQ(counter.total_, 12);
  EXPECT_EQ(counter.done_, 12);
}

TEST(Progress, StopsEveryKindOfEquation) {
  for (const Sem sem : {Sem::linear, Sem::gp, Sem::mlp, Sem::pnl, Sem::gene}) {
    Counter counter(25);  // past the 20 noises, within the equations
    EXPECT_THROW(simulate(params(sem, 20, 2, 500), counter), Interrupted) << name(sem);
    EXPECT_LT(counter.done_, 20);
  }
}

TEST(Progress, IsAskedWithinALongDraw) {
  std::vector<double> x(2000), y = x, z = x;
  Random random(Key{1});
  for (auto* column : {&x, &y, &z}) {
    for (double& value : *column) value = 5 * random.normal();
  }
  Counter counter(1000000);
  draw_gaussian_process({x.data(), y.data(), z.data()}, 2000, Key{1}, counter);
  EXPECT_GT(counter.asked_, 2000);  // at every column and more
}

}  // namespace
}  // namespace fansite
