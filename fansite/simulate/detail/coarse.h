// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a simulated table that was exact, continuous and complete: measurement noise, columns with few
// values, and missing cells.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "fansite/simulate/simulate.h"

namespace fansite::coarse {

/// The kind of each variable, never `mixed`, whose shares hold as nearly as whole columns can.
std::vector<Kinds> draw_kinds(Kinds kinds, int nodes, Key key);

/// Adds Gaussian noise that is this share of the column's variance afterwards.
void add_noise(double share, Key key, Eigen::Ref<Vector> column);

/// Turns a column of numbers into one of its kind, in place. All are increasing maps of the column.
void apply(Kinds kind, Key key, Eigen::Ref<Vector> column);

/// Turns a variable into its column, with the mean and the deviation that the variable has: equations were made for
/// such.
void replace(const Eigen::Ref<const Vector>& column, Eigen::Ref<Vector> variable);

/// Makes cells NaN.
void remove_cells(double share, MissingBy by, Key key, Matrix& table);

}  // namespace fansite::coarse
