// SPDX-License-Identifier: Apache-2.0
//
// Data with known truth. The same parameters give the same bits on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "fansite/table/dataset.h"

namespace fansite {

enum class GraphModel {
  er,  ///< Erdős–Rényi: every pair is an edge with the same probability
  sf  ///< scale-free: preferential attachment (Barabási–Albert), edges from the older node, so that hubs are regulators
};
constexpr auto enum_names(GraphModel) {
  return std::to_array<EnumName<GraphModel>>({{GraphModel::er, "er"}, {GraphModel::sf, "sf"}});
}

/// The structural equations. A variable without parents is its noise alone, save for pnl and gene.
enum class Sem {
  linear,  ///< x_j = Σ w_ij x_i + e
  gp,      ///< x_j = f(x_pa) + e, f from a Gaussian process over all parents (RBF kernel, bandwidth 1); N ≤ 5000
  mlp,     ///< x_j = f(x_pa) + e, f a random network with one hidden layer of 100 sigmoids
  pnl,     ///< x_j = g(f(x_pa) + e), post-nonlinear: f as in gp, g a random strictly monotone map; N ≤ 5000
  gene     ///< x_j = (basal + Σ Hill(x_i)) · exp(noise) > 0: parents activate or repress, at random
};
constexpr auto enum_names(Sem) {
  return std::to_array<EnumName<Sem>>(
      {{Sem::linear, "linear"}, {Sem::gp, "gp"}, {Sem::mlp, "mlp"}, {Sem::pnl, "pnl"}, {Sem::gene, "gene"}});
}

/// The distribution of e. For gene data it is the distribution of the log-noise, centred and scaled.
enum class Noise {
  gauss,        ///< N(0, 1)
  uniform,      ///< U(−1, 1)
  laplace,      ///< Laplace(0, 1)
  gumbel,       ///< Gumbel(0, 1)
  exponential,  ///< Exp(1)
  mixed         ///< one of the five for each variable, at random
};
constexpr auto enum_names(Noise) {
  return std::to_array<EnumName<Noise>>({{Noise::gauss, "gauss"},
                                         {Noise::uniform, "uniform"},
                                         {Noise::laplace, "laplace"},
                                         {Noise::gumbel, "gumbel"},
                                         {Noise::exponential, "exponential"},
                                         {Noise::mixed, "mixed"}});
}

/// What the columns of the table are made of the variables.
enum class Kinds {
  continuous,  ///< as the equations give them
  mixed,       ///< of the columns, at random, 30 % continuous, 45 % levels, 25 % counts
  levels,      ///< 0, 1, …: two to five of them, cut at random quantiles, each with at least 10 % of the rows
  counts       ///< 0, 1, …: 30 to 60 % zeros, one row in twenty reaches 3 to 5
};
constexpr auto enum_names(Kinds) {
  return std::to_array<EnumName<Kinds>>({{Kinds::continuous, "continuous"},
                                         {Kinds::mixed, "mixed"},
                                         {Kinds::levels, "levels"},
                                         {Kinds::counts, "counts"}});
}

/// What the equations of children are given where a column is coarse.
enum class ChildrenSee {
  variables,  ///< as they were: the same variables as the seed gives without kinds. A coarse column then screens off
              ///< less than its variable does, so columns depend on more others than the graph's boundaries say
  columns  ///< as they are in the table without measurement noise, with mean and deviation of the variable: the graph's
           ///< boundaries hold
};
constexpr auto enum_names(ChildrenSee) {
  return std::to_array<EnumName<ChildrenSee>>(
      {{ChildrenSee::variables, "variables"}, {ChildrenSee::columns, "columns"}});
}

/// Which cells are missing.
enum class MissingBy {
  random,  ///< every cell with the same probability
  column   ///< a third of the columns is complete; in the others cells are missing where one of those is large
};
constexpr auto enum_names(MissingBy) {
  return std::to_array<EnumName<MissingBy>>({{MissingBy::random, "random"}, {MissingBy::column, "column"}});
}

struct SimulateParams {
  GraphModel graph = GraphModel::er;
  int nodes = 30;
  double degree = 1.0;  ///< edges per node: about nodes·degree edges are expected (the paper's "average degree")
  int hidden = 0;  ///< common causes without a column: further roots, each with two or three of the nodes as children
  Sem sem = Sem::linear;
  Noise noise = Noise::gauss;
  Index rows = 1000;
  std::uint64_t seed = 0;
  double weight_low = 0.5;  ///< |w| of linear and mlp weights is uniform on [weight_low, weight_high], its sign a coin;
  double weight_high = 2.0;      ///< the other equations have no weights and refuse any other range than this
  double measurement_noise = 0;  ///< share of Gaussian noise in the variance of every column, below 1. Children do not
                                 ///< see it, kinds and missing cells come after it; genes may fall below 0
  Kinds kinds = Kinds::continuous;
  ChildrenSee children_see = ChildrenSee::variables;
  double missing_share = 0;  ///< of the cells of a column that has missing ones
  MissingBy missing_by = MissingBy::random;

  static const Description& description();
};

struct Simulation {
  Dag dag;         ///< of the variables in the table, without hidden causes
  Matrix weights;  ///< weights(i, j) of i → j for linear data; the sign of regulation for gene data; else 0/1
  std::vector<Noise> noise;       ///< the distribution of each variable's noise, never `mixed`
  Dataset data;                   ///< x1, x2, …; genes are g1, g2, …
  std::vector<Kinds> kinds = {};  ///< of each column, never `mixed`
  std::vector<std::pair<int, int>> hidden_cause_pairs = {};  ///< nodes that share a hidden cause, ascending
};

/// Graph, equations and rows. Progress counts variables. Parameters out of range are a UsageError.
Simulation simulate(const SimulateParams& params, Progress& progress);
Simulation simulate(const SimulateParams& params);

/// The random graph alone, nodes in random order. Erdős–Rényi: each pair with probability 2·degree/nodes.
/// Scale-free: each new node draws edges from `degree` older ones (a fraction is the chance of one more), chosen in
/// proportion to their edges so far; the first few find fewer nodes than that, so there are slightly fewer than
/// nodes·degree edges.
Dag random_dag(GraphModel model, int nodes, double degree, Key key);

}  // namespace fansite
