// SPDX-License-Identifier: Apache-2.0
//
// DAGMA among the graph methods (Bello, Aragam and Ravikumar, NeurIPS 2022): weights that explain every variable by the
// others, pulled towards a graph without cycles by the log-determinant of sI − A along a path on which the score counts
// less and less. Relations are linear, or one small network for each variable.
//
// Which direction of a link survives is decided by the scales of the columns as much as by causes. For comparison, not
// for use.
#pragma once

#include <memory>

#include "fansite/causal/neural/learning.h"

namespace fansite::causal {

/// Where the published values differ between linear and nonlinear relations, the default stands for those of the
/// relations in force.
struct DagmaParams {
  Relations relations = Relations::nonlinear;
  double l1 = -1;            ///< λ₁, of Σ|W|; below 0: 0.03 linear, 0.02 nonlinear
  double l2 = -1;            ///< λ₂, of all parameters' squares, nonlinear alone; below 0: 0.005
  double learning_rate = 0;  ///< of Adam; 0: 3e-4 linear, 2e-4 nonlinear
  int rounds = 0;            ///< of the path; 0: 5 linear, 4 nonlinear
  int iterations = 0;        ///< of every round but the last, at most; 0: 30 000 linear, 50 000 nonlinear
  int last_iterations = 0;   ///< of the last; 0: 60 000 linear, 80 000 nonlinear
  double first_mu = 0;       ///< what the score counts in the first round; 0: 1 linear, 0.1 nonlinear
  double mu_factor = 0.1;    ///< from one round to the next
  int hidden = 10;           ///< units of each network; nonlinear alone
  double tolerance = 1e-6;   ///< a relative change of the objective over 1000 iterations that ends a round
  double threshold = 0.3;    ///< edges have at least this absolute weight
  bool standardise = false;  ///< columns to mean 0 and variance 1 first

  /// With every default replaced by what it stands for.
  DagmaParams published() const;
  static const Description& description();
};

/// How it ended.
struct DagmaReport {
  double score = 0;       ///< Q: ½ mean squared error, or d/2 ln of it (nonlinear)
  double penalty = 0;     ///< λ₁ Σ|W|
  double acyclicity = 0;  ///< h of the weights, at s = 1; infinite outside its domain
  double mu = 0;          ///< of the last round
  int rounds = 0;         ///< gone through to the end
  long iterations = 0;    ///< over all rounds, those of failed attempts included
  int restarts = 0;       ///< attempts that left the domain of h

  double objective() const { return mu * (score + penalty) + acyclicity; }
};

/// The method as learning, for values as they are to be used.
class DagmaLearning : public Learning {
 public:
  virtual Matrix weights() const = 0;  ///< (i, j): of i → j; signed if relations are linear
  virtual DagmaReport report() = 0;
};
/// Centres the columns itself if relations are linear, as published.
std::unique_ptr<DagmaLearning> dagma_learning(const Matrix& values, const DagmaParams& params, std::uint64_t seed);

GraphMethod dagma_method();

}  // namespace fansite::causal
