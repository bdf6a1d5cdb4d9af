// SPDX-License-Identifier: Apache-2.0
#include "fansite/simulate/simulate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/simulate/detail/coarse.h"
#include "fansite/simulate/detail/equations.h"
#include "fansite/simulate/detail/hidden_causes.h"

namespace fansite {
namespace {

constexpr Index kMaxGpRows = 5000;

// Streams under the seed; per variable they split again, so nothing depends on the order of work.
enum Stream : std::uint64_t {
  kGraph,
  kWeights,
  kNoiseDistributions,
  kNoise,
  kFunctions,
  kKinds,
  kCoarse,
  kMissing,
  kHidden,
  kMeasurement
};

std::size_t at(int node) { return static_cast<std::size_t>(node); }

// ---- Checks ---------------------------------------------------------------------------------------------------------

void check_graph_params(int nodes, double degree) {
  check(nodes >= 1, "[simulate] {} nodes asked for; at least 1 is needed", nodes);
  check(degree >= 0, "[simulate] degree {} is not possible; it counts edges per node, from 0 on", degree);
  const double largest = 0.5 * (nodes - 1);
  check(degree <= largest, "[simulate] degree {} is too large for {} nodes; the largest possible is {}", degree, nodes,
        largest);
}

void check_params(const SimulateParams& params) {
  check_graph_params(params.nodes, params.degree);
  const std::int64_t pairs = std::int64_t{params.nodes} * (params.nodes - 1) / 2;
  check(params.hidden <= pairs,
        "[simulate] hidden {} is too large for {} nodes; each hidden cause needs a pair of nodes of its own, so the "
        "largest possible is {}",
        params.hidden, params.nodes, pairs);
  check(params.weight_low <= params.weight_high,
        "[simulate] weights from {} to {} are not possible; the range is of their size, so it needs 0 ≤ low ≤ high",
        params.weight_low, params.weight_high);
  const SimulateParams defaults;
  const bool weighted = params.sem == Sem::linear || params.sem == Sem::mlp;
  check(weighted || (params.weight_low == defaults.weight_low && params.weight_high == defaults.weight_high),
        "[simulate] {} equations have no weights; a weight range is for linear and mlp", name(params.sem));
  const bool from_process = params.sem == Sem::gp || params.sem == Sem::pnl;
  check(!from_process || params.rows <= kMaxGpRows,
        "[simulate] {} rows are too many for {} equations, whose functions are drawn exactly at every row; the limit "
        "is {}",
        params.rows, name(params.sem), kMaxGpRows);
  check(params.children_see == ChildrenSee::variables || params.sem != Sem::gene,
        "[simulate] gene equations need positive parents, which coarse columns are not; use children_see variables");
  check(params.missing_by == MissingBy::random || params.nodes >= 2,
        "[simulate] cells of one variable cannot be missing by another column; use more nodes, or missing_by random");
}

}  // namespace

const Description& SimulateParams::description() {
  using P = SimulateParams;
  static const Description list =
      Describe<P>()
          .field("graph", &P::graph, "er (Erdos-Renyi) or sf (scale-free)")
          .field("nodes", &P::nodes, "number of variables", at_least(1))
          .field("degree", &P::degree, "edges per variable", at_least(0))
          .field("hidden", &P::hidden, "number of hidden common causes, each of two or three variables", at_least(0))
          .field("sem", &P::sem, "equations: linear, gp, mlp, pnl (post-nonlinear), gene")
          .field("noise", &P::noise, "gauss, uniform, laplace, gumbel, exponential, or mixed")
          .field("rows", &P::rows, "number of rows", at_least(1))
          .field("seed", &P::seed, "same seed, same data, on every machine")
          .field("weight_low", &P::weight_low, "smallest size of a linear weight", at_least(0))
          .field("weight_high", &P::weight_high, "largest size of a linear weight", at_least(0))
          .field("measurement_noise", &P::measurement_noise,
                 "share of Gaussian noise in the variance of each column, which children do not see",
                 {.least = 0, .most = 1, .most_itself = false})
          .field("kinds", &P::kinds, "what the columns are made of the variables: continuous, levels, counts, or mixed")
          .field("children_see", &P::children_see,
                 "parents of the equations: variables before they are made coarse, or columns, whose graph then holds")
          .field("missing_share", &P::missing_share, "share of missing cells", from_to(0, 0.5))
          .field("missing_by", &P::missing_by, "cells are missing at random, or where another column is large")
          .rule(check_params)
          .done();
  return list;
}

namespace {

// ---- Graphs ---------------------------------------------------------------------------------------------------------

using Edges = std::vector<std::pair<int, int>>;

Edges erdos_renyi(int nodes, double degree, Random& random) {
  Edges edges;
  // As the paper's generator (gcastle) has it: 2·edges/nodes². Dividing by nodes − 1 would give exactly nodes·degree
  // edges, and 1 % more of them at d = 100, which costs 0.2 points of F1 in dense graphs.
  const double probability = std::min(1.0, 2.0 * degree / nodes);
  for (int from = 0; from < nodes; ++from) {
    for (int to = from + 1; to < nodes; ++to) {
      if (random.uniform() < probability) edges.emplace_back(from, to);
    }
  }
  return edges;
}

Edges scale_free(int nodes, double degree, Random& random) {
  Edges edges;
  const double whole = std::floor(degree);
  std::vector<int> endpoints;  // a node as often as it has edges, so that a uniform draw is preferential
  for (int node = 0; node < nodes; ++node) {
    const int wanted = static_cast<int>(whole) + int{degree > whole && random.uniform() < degree - whole};
    std::vector<int> chosen;
    if (wanted >= node) {
      for (int older = 0; older < node; ++older) chosen.push_back(older);
    }
    while (static_cast<int>(chosen.size()) < std::min(wanted, node)) {
      const int older = endpoints[random.below(static_cast<std::uint32_t>(endpoints.size()))];
      if (std::find(chosen.begin(), chosen.end(), older) == chosen.end()) chosen.push_back(older);
    }
    for (const int older : chosen) edges.emplace_back(older, node);
    endpoints.insert(endpoints.end(), chosen.begin(), chosen.end());
    // A node that came without edges counts as if it had one, else none could ever reach it.
    endpoints.insert(endpoints.end(), std::max<std::size_t>(chosen.size(), 1), node);
  }
  return edges;
}

// ---- Equations ------------------------------------------------------------------------------------------------------

// Variables by the length of the longest path to them: those of one generation do not depend on each other.
std::vector<std::vector<int>> generations(const Dag& dag) {
  std::vector<std::vector<int>> result;
  std::vector<std::size_t> depth(at(dag.nodes()), 0);
  for (const int node : dag.topological_order()) {
    for (const int parent : dag.parents(node)) depth[at(node)] = std::max(depth[at(node)], depth[at(parent)] + 1);
    if (result.size() <= depth[at(node)]) result.emplace_back();
    result[depth[at(node)]].push_back(node);
  }
  return result;
}

Matrix draw_weights(const SimulateParams& params, const Dag& dag, Key key) {
  Matrix weights = Matrix::Zero(dag.nodes(), dag.nodes());
  for (int node = 0; node < dag.nodes(); ++node) {
    Random random(key.split(static_cast<std::uint64_t>(node)));
    for (const int parent : dag.parents(node)) {
      double& weight = weights(parent, node);
      if (params.sem == Sem::linear) {
        weight = equations::signed_weight(random, params.weight_low, params.weight_high);
      } else if (params.sem == Sem::gene) {
        weight = random.coin() ? 1.0 : -1.0;
      } else {
        weight = 1.0;
      }
    }
  }
  return weights;
}

std::vector<Noise> draw_noise_distributions(const SimulateParams& params, Key key) {
  std::vector<Noise> distributions(at(params.nodes + params.hidden), params.noise);
  if (params.noise != Noise::mixed) return distributions;
  constexpr std::array<Noise, 5> kDistributions = {Noise::gauss, Noise::uniform, Noise::laplace, Noise::gumbel,
                                                   Noise::exponential};
  Random random(key);
  for (Noise& distribution : distributions) distribution = kDistributions[random.below(kDistributions.size())];
  return distributions;
}

// Turns the noise in column `node` of the table into the variable.
void apply_equation(const SimulateParams& params, Simulation& simulation, Key key, int node, const Progress& progress) {
  Matrix& table = simulation.data.values;
  equations::Inputs in{{}, table.rows(), key.split(static_cast<std::uint64_t>(node))};
  std::vector<double> weights;
  for (const int parent : simulation.dag.parents(node)) {
    in.parents.push_back(table.col(parent).data());
    weights.push_back(simulation.weights(parent, node));
  }
  double* x = table.col(node).data();
  switch (params.sem) {
    case Sem::linear:
      return equations::linear(in, weights, x);
    case Sem::gp:
      return equations::gp(in, progress, x);
    case Sem::mlp:
      return equations::mlp(in, params.weight_low, params.weight_high, x);
    case Sem::pnl:
      return equations::pnl(in, progress, x);
    case Sem::gene:
      return equations::gene(in, weights, simulation.noise[at(node)], x);
  }
}

// Turns a variable into its column, and into what its children see of it.
void make_column(const SimulateParams& params, Kinds kind, Key key, int node, Matrix& table, Matrix& columns) {
  const auto stream = static_cast<std::uint64_t>(node);
  columns.col(node) = table.col(node);
  coarse::add_noise(params.measurement_noise, key.split(kMeasurement).split(stream), columns.col(node));
  coarse::apply(kind, key.split(kCoarse).split(stream), columns.col(node));
  if (params.children_see == ChildrenSee::columns && kind != Kinds::continuous) {
    Vector exact = table.col(node);
    coarse::apply(kind, key.split(kCoarse).split(stream), exact);
    coarse::replace(exact, table.col(node));
  }
}

}  // namespace

Dag random_dag(GraphModel model, int nodes, double degree, Key key) {
  check_graph_params(nodes, degree);
  Random random(key.split(0));
  const std::vector<int> order = Random(key.split(1)).permutation(nodes);
  Edges edges = model == GraphModel::er ? erdos_renyi(nodes, degree, random) : scale_free(nodes, degree, random);
  for (auto& [from, to] : edges) {
    from = order[at(from)];
    to = order[at(to)];
  }
  return Dag(nodes, edges);
}

Simulation simulate(const SimulateParams& params, Progress& progress) {
  validate(params);
  const Key key{params.seed};
  Dag observed = random_dag(params.graph, params.nodes, params.degree, key.split(kGraph));
  const auto causes = hidden_causes::draw(observed, params.hidden, key.split(kHidden));
  Dag dag = hidden_causes::add(observed, causes);
  Matrix weights = draw_weights(params, dag, key.split(kWeights));
  Simulation simulation{
      std::move(dag), std::move(weights), draw_noise_distributions(params, key.split(kNoiseDistributions)), {}};
  simulation.data.names = default_names(params.nodes);
  if (params.sem == Sem::gene) {
    for (std::string& name : simulation.data.names) name.front() = 'g';
  }

  const int variables = simulation.dag.nodes();
  progress.begin("simulating", variables);
  Matrix& table = simulation.data.values;
  table.resize(params.rows, variables);
  parallel_for(variables, [&](std::ptrdiff_t node) {
    throw_if_interrupted(progress);
    equations::draw_noise(simulation.noise[static_cast<std::size_t>(node)], params.rows,
                          key.split(kNoise).split(static_cast<std::uint64_t>(node)), table.col(node).data());
  });
  simulation.kinds = coarse::draw_kinds(params.kinds, params.nodes, key.split(kKinds));
  Matrix columns(params.rows, params.nodes);
  for (const std::vector<int>& generation : generations(simulation.dag)) {
    const auto apply = [&](std::ptrdiff_t i) {
      throw_if_interrupted(progress);
      const int node = generation[static_cast<std::size_t>(i)];
      apply_equation(params, simulation, key.split(kFunctions), node, progress);
      if (node < params.nodes) make_column(params, simulation.kinds[at(node)], key, node, table, columns);
      progress.advance(1);
    };
    const auto size = static_cast<std::ptrdiff_t>(generation.size());
    // A Gaussian process uses all threads by itself, and side by side they would need too much memory.
    if (params.sem == Sem::gp || params.sem == Sem::pnl) {
      for (std::ptrdiff_t i = 0; i < size; ++i) apply(i);
    } else {
      parallel_for(size, apply);
    }
  }
  // Hidden causes end here: what is told is of the variables in the table.
  table.swap(columns);
  simulation.dag = std::move(observed);
  simulation.weights.conservativeResize(params.nodes, params.nodes);
  simulation.noise.resize(at(params.nodes));
  simulation.hidden_cause_pairs = hidden_causes::pairs(causes);
  coarse::remove_cells(params.missing_share, params.missing_by, key.split(kMissing), table);
  return simulation;
}

Simulation simulate(const SimulateParams& params) {
  NoProgress progress;
  return simulate(params, progress);
}

}  // namespace fansite
