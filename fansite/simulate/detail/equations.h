// SPDX-License-Identifier: Apache-2.0
//
// How a variable follows from its parents, one function per kind of equation. All use IEEE
// operations in a fixed order only, so that the same key gives the same bits everywhere.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/base/random.h"
#include "fansite/simulate/simulate.h"

namespace fansite::equations {

/// What an equation may use; parents are columns of N values, in ascending order of their index.
struct Inputs {
  std::vector<const double*> parents;
  Index rows;
  Key key;  ///< of this variable's function
};

/// N draws of the distribution, as it stands (not centred).
void draw_noise(Noise distribution, Index rows, Key key, double* values);

/// Each of these turns `x`, which holds the variable's noise, into the variable.
void linear(const Inputs& in, const std::vector<double>& weights, double* x);
void gp(const Inputs& in, const Progress& progress, double* x);
void mlp(const Inputs& in, double weight_low, double weight_high, double* x);
void pnl(const Inputs& in, const Progress& progress, double* x);
void gene(const Inputs& in, const std::vector<double>& signs, Noise distribution, double* x);

/// A weight with |w| uniform on [low, high] and a random sign.
double signed_weight(Random& random, double low, double high);

}  // namespace fansite::equations
