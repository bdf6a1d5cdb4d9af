// SPDX-License-Identifier: Apache-2.0
//
// What the graph search costs, beside its targets: one fit of two parents, and whole graphs of additive noise inside
// the true moral graph. Core seconds are those of all threads together, so other work on the machine counts little.
//   bench_graph_speed [--parts fit,gp30,linear30,gp100] [--threads 2] [--seeds 2] [--equations auto]
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "bench/machine.h"
#include "bench/tables.h"
#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/causal/additive_noise.h"
#include "fansite/causal/equations.h"
#include "fansite/causal/orientation.h"
#include "fansite/graph/metrics.h"

using namespace fansite;
using namespace fansite::causal;

namespace {

struct Cost {
  double seconds = 0, core_seconds = 0;
};

template <class Work>
Cost cost_of(const Work& work) {
  const Stopwatch watch;
  const std::clock_t begun = std::clock();
  work();
  return {watch.seconds(), static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC};
}

// ---- One fit --------------------------------------------------------------------------------------------------------

// The same equation in double precision and by its definition: all rows' kernels at the landmarks, a factorisation for
// every width and ridge.
Vector plain_left_out(const Matrix& x, const Vector& y, const std::vector<int>& landmarks,
                      const RegressionParams& params) {
  const Index n = x.rows();
  const auto kernel = [&](const Matrix& at, double width) {
    const Matrix marks = x(landmarks, Eigen::all);
    Matrix result(at.rows(), marks.rows());
    for (Index j = 0; j < marks.rows(); ++j) {
      result.col(j) = ((at.rowwise() - marks.row(j)).rowwise().squaredNorm().array() * (-0.5 / (width * width))).exp();
    }
    return result;
  };
  Matrix linear(n, x.cols() + 1);
  linear << Vector::Ones(n), x;
  Vector best;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Matrix& features, const Matrix& penalty) {
    const Eigen::LDLT<Matrix> system(features.transpose() * features + penalty);
    const Vector left = y - features * system.solve(features.transpose() * y);
    const Vector leverage = features.cwiseProduct(system.solve(features.transpose()).transpose()).rowwise().sum();
    const Vector left_out = left.array() / (1 - leverage.array());
    if (left_out.squaredNorm() >= least) return;
    least = left_out.squaredNorm();
    best = left_out;
  };
  offer(linear, Matrix::Zero(linear.cols(), linear.cols()));
  for (const double width : params.widths) {
    const Matrix kernels = kernel(x, width), between = kernel(x(landmarks, Eigen::all), width);
    Matrix features(n, linear.cols() + kernels.cols());
    features << linear, kernels;
    for (const double ridge : params.ridges) {
      Matrix penalty = Matrix::Zero(features.cols(), features.cols());
      penalty.bottomRightCorner(between.rows(), between.cols()) = ridge * between;
      offer(features, penalty);
    }
  }
  return best;
}

void one_fit() {
  const Tables tables = tables_named("d100-1");
  const Table table = simulate_table(tables, 1);
  const Key key{1};
  const RegressionParams params;
  const Regression regression(standardised(table.data.values), params, key);
  const Equations equations(regression);
  std::vector<int> order = Random(key).permutation(static_cast<int>(regression.rows()));
  order.resize(static_cast<std::size_t>(params.landmarks + 2 * params.landmarks_per_parent));
  std::vector<std::pair<int, std::vector<int>>> queries;
  for (int j = 0; j < table.truth.nodes(); ++j) {
    std::vector<int> parents = table.truth.parents(j);
    if (parents.size() < 2) continue;
    parents.resize(2);
    std::sort(parents.begin(), parents.end());
    queries.emplace_back(j, parents);
  }
  const SingleThreadedBlas one_thread;
  const ThreadLimit limit(1);
  std::vector<double> scores;
  const Cost cost = cost_of([&] {
    for (const auto& [child, parents] : queries) {
      const std::vector<int> alone = {child};
      scores.push_back(equations.surprisals(alone, parents, NoiseDistribution::any).front().mean());
    }
  });
  const std::size_t compared = std::min<std::size_t>(queries.size(), 5);
  double farthest = 0;
  for (std::size_t q = 0; q < compared; ++q) {
    const auto& [child, parents] = queries[q];
    const Matrix x = regression.values()(Eigen::all, parents);
    const Vector left = plain_left_out(x, regression.values().col(child), order, params);
    farthest = std::max(farthest, std::abs(scores[q] - surprisals(left, NoiseDistribution::any).mean()));
  }
  fmt::print(
      "a fit, N=5000, two parents: {:.1f} core-ms (target 30) over {}; {:.1e} nat from plain double over {} "
      "(target 1e-3)\n",
      1000 * cost.core_seconds / static_cast<double>(queries.size()), queries.size(), farthest, compared);
}

// ---- Whole graphs ---------------------------------------------------------------------------------------------------

// Pairs that two graphs say different things of: linked or not, and which way if that is known.
int different_pairs(const PartialDag& one, const PartialDag& other) {
  int count = 0;
  for (Index j = 0; j < one.directed.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      count += one.directed(i, j) != other.directed(i, j) || one.directed(j, i) != other.directed(j, i) ||
               one.undirected(i, j) != other.undirected(i, j);
    }
  }
  return count;
}

void whole_graphs(const std::string& label, const std::vector<Table>& tables, double target, EquationForm equations) {
  for (const Table& table : tables) {
    AdditiveNoiseParams params;
    params.equations = equations;
    GraphConstraints constraints;
    constraints.allowed = table.truth.moral_graph();
    NoProgress silent;
    AdditiveNoiseResult result{.dag = Dag(1, {})};
    const Cost cost =
        cost_of([&] { result = find_additive_noise_graph(table.data.values, constraints, params, silent); });
    const GraphScore score = score_graph(result.dag.adjacency(), table.truth.adjacency());
    const Index d = table.truth.nodes();
    const PartialDag known = oriented(table.truth, ByteMatrix::Zero(d, d));  // by independences alone
    fmt::print(
        "{} ({}): {:.2f} s (target {}), {:.2f} core-s; {} {} fits, SHD {}, {} undecided, {} pairs unlike the truth's "
        "class\n",
        label, table.run, cost.seconds, target, cost.core_seconds, result.fits, result.linear ? "linear" : "kernel",
        score.shd, result.partial.undirected.cast<int>().sum() / 2, different_pairs(result.partial, known));
    std::fflush(stdout);
  }
}

std::vector<Table> some(const std::string& name, int seeds, Index rows = 0) {
  std::vector<Table> result;
  Tables tables = tables_named(name);
  if (rows > 0) tables.simulate.rows = rows;
  for_each_table(tables, seeds, 1, [&](const Table& table) { result.push_back(table); });
  return result;
}

int program(int argc, char** argv) {
  std::vector<std::string> parts = {"fit", "gp30", "linear30", "gp100"};
  int threads = 2, seeds = 2;
  std::string form = "auto";
  CLI::App app("What the graph search costs");
  app.add_option("--parts", parts)->delimiter(',')->capture_default_str();
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--seeds", seeds, "tables of each kind")->capture_default_str();
  app.add_option("--equations", form, "auto, kernels or linear")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto equations = parse<EquationForm>(form);
  const auto wanted = [&](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  const ThreadLimit limit(threads);
  fmt::print("Graph search with {} threads; {}\n", threads, machine());
  if (wanted("fit")) one_fit();
  if (wanted("gp30")) whole_graphs("d=30, N=1000, curved", some("gp_d30", seeds), 2, equations);
  if (wanted("linear30")) whole_graphs("d=30, N=5000, linear Gaussian", some("linear", seeds, 5000), 2, equations);
  if (wanted("gp100")) whole_graphs("d=100, N=5000, curved", some("d100-1", 1), threads >= 16 ? 8 : 40, equations);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return program(argc, argv); });
}
