// SPDX-License-Identifier: Apache-2.0
//
// Linear equations with Gaussian noise in closed form, and whether anything in a table speaks against them.
#pragma once

#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/causal/graph_rows.h"

namespace fansite::causal {

/// Fewer rows show little of curves and of noise, and kernels cost little then.
inline constexpr Index kFewestLinearRows = 500;

/// x_child = Σ β_i x_i + e, fitted by least squares from the correlations. Graphs with the same independences have the
/// same sum of entropies, to rounding, since both are the one Gaussian distribution of the table that the independences
/// allow: only colliders and knowledge direct edges.
class LinearGaussian {
 public:
  /// Of standardised values.
  explicit LinearGaussian(const Matrix& values) : LinearGaussian(values, {}) {}
  LinearGaussian(const Matrix& values, const GraphRows& rows);

  /// ½ ln 2πe v + (k + 1)/N nats: v is what k parents leave of the variance, and (k + 1)/N what leaving each row out
  /// of its own fit adds in the mean, so that an edge must gain here what it must gain among kernels. Parents that
  /// others determine are passed over.
  double entropy(int child, std::span<const int> parents) const;
  /// −ln p(x_child | parents) of each row, with that mean. `values` as above.
  Vector surprisals(const Matrix& values, int child, std::span<const int> parents) const;

 private:
  struct Fit {
    std::vector<int> kept;  // of the parents
    Vector slopes;
    double variance = 0;  // of what is left
  };
  Fit fit(int child, std::span<const int> parents, bool with_slopes) const;
  double cost_of_learning(std::size_t parents) const { return static_cast<double>(parents + 1) / rows_; }

  Matrix correlation_;
  Vector means_;  // of weighted rows; empty: 0
  double rows_;   // independent ones
};

/// Of equations that fit a table linearly.
struct LinearGaussianTest {
  bool holds = false;   ///< nothing speaks against them
  double p_value = 0;   ///< of what speaks most, corrected for all that was tested
  bool tested = false;  ///< no: too few rows, or nothing varies
};

/// Do residuals follow another variable (test_linearity), or depart from a normal distribution? `parents` of each
/// variable in a graph found by linear Gaussian scores: its residuals are then the noise itself, where those on whole
/// boundaries would mix the noise of several variables and look more normal.
LinearGaussianTest test_linear_gaussian(const MatrixView& values, const std::vector<std::vector<int>>& parents,
                                        Progress& progress);

}  // namespace fansite::causal
