// SPDX-License-Identifier: Apache-2.0
//
// Minimising a smooth function of numbers that are not below 0: L-BFGS on the numbers that are free to move, steps
// projected onto x ≥ 0 (Bertsekas, SIAM J. Control and Optimization 1982).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fansite/base/progress.h"

namespace fansite {

struct MinimiseParams {
  int max_iterations = 15000;
  int memory = 10;              ///< pairs of steps and changes of the gradient that are remembered
  double gradient = 1e-5;       ///< ends it: no number wants to move further than this
  double decrease = 2.2204e-9;  ///< ends it: a step gains less than this share of the larger of |f| and 1
};

struct Minimum {
  std::vector<double> x;
  double value = 0;
  int iterations = 0;
  bool converged = false;  ///< else iterations or time ran out, or no step gains anything
};

/// f(x), with its gradient written to the second argument.
using SmoothFunction = std::function<double(std::span<const double>, std::span<double>)>;

/// From `start`, in which what is below 0 counts as 0. Throws Interrupted; ends where it is when time runs out.
Minimum minimise_nonnegative(const SmoothFunction& f, std::vector<double> start, const MinimiseParams& params,
                             const Progress& progress);

}  // namespace fansite
