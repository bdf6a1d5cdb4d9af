// SPDX-License-Identifier: Apache-2.0
//
// A variable as a function of others plus noise: kernel ridge regression with residuals that each row's own value had
// no part in, so that fitting noise does not look like knowing.
#pragma once

#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/base/random.h"
#include "fansite/causal/graph_rows.h"

namespace fansite::causal {

/// f is linear plus a function from the space of an RBF kernel. The kernel is approximated by its values at landmarks,
/// rows drawn at random (Nyström); 100 for one parent and 150 for two leave 0.001 nat of the exact solution's score.
struct RegressionParams {
  int landmarks = 50;                             ///< and as many again …
  int landmarks_per_parent = 50;                  ///< … for each parent, up to …
  int max_landmarks = 300;                        ///< … so many
  std::vector<double> widths = {0.5, 1, 2};       ///< of the kernel, in standard deviations of the columns, and …
  std::vector<double> ridges = {0.1, 0.3, 1, 3};  ///< … noise over signal variance: the least leave-one-out squares win

  static const Description& description();
};

/// Columns of mean 0 and variance 1, in single precision, so that the units of a column leave no trace; constant
/// columns are 0.
Matrix standardised(const MatrixView& values);

/// What regression on the same parents leaves of several targets.
struct Residuals {
  Matrix left_out;  ///< rows × targets: x_t − f(parents), f fitted without the row, and without its group
  Matrix leverage;  ///< rows × targets, in [0, 1): left_out has the noise's variance times 1/(1 − leverage)
};

class KernelFeatures;

class Regression {
 public:
  /// Of standardised values. `as_parents`: the columns by which a variable enters as a parent, where they are not its
  /// own one; empty: all are. `counts`: how much the rows tell.
  Regression(Matrix values, RegressionParams params, Key key, std::vector<Matrix> as_parents = {},
             GraphRows counts = {});

  Index rows() const { return values_.rows(); }
  const Matrix& values() const { return values_; }
  const RegressionParams& params() const { return params_; }
  const GraphRows& counts() const { return counts_; }
  /// Of each target on the same parents; they share nearly all the work. Without parents f is a constant. In these
  /// rows, ascending; empty: in all.
  Residuals residuals(std::span<const int> targets, std::span<const int> parents,
                      const std::vector<int>& rows = {}) const;
  /// What residuals are made of, for equations of other kinds; rows have no weights there.
  KernelFeatures features(std::span<const int> parents, const std::vector<int>& rows = {}) const;

 private:
  Matrix columns_of(std::span<const int> parents) const;
  KernelFeatures features(std::span<const int> parents, const std::vector<int>& rows, const Vector& root_weights) const;

  Matrix values_;
  RegressionParams params_;
  std::vector<Matrix> as_parents_;
  GraphRows counts_;
  std::vector<int> order_;  // of the rows: the first ones are landmarks
};

}  // namespace fansite::causal
