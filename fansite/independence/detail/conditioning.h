// SPDX-License-Identifier: Apache-2.0
//
// What is left of correlations once some variables are known. Plain loops: the bits of an answer do not depend on what
// else is asked. Internal.
#pragma once

#include <span>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite::detail {

/// The Cholesky factor of the correlations of a set S, taken in the order given.
class Conditioning {
 public:
  /// Share of a variance under which it counts as determined by others, as the Gaussian estimator has it.
  static constexpr double kDetermined = 1e-12;

  /// A variable of S that those before it determine makes S singular(), and nothing else may be asked; or it is left
  /// out, which changes no conditional variance.
  Conditioning(const Matrix& correlation, std::span<const int> given, bool leave_out_redundant = false);

  bool singular() const { return singular_; }
  /// L⁻¹ C[S, v]: with w likewise, the covariance of v and w given S is C[v, w] − u_v · u_w.
  std::vector<double> loadings(int variable) const;
  static double left(double correlation, const std::vector<double>& u, const std::vector<double>& v);

 private:
  const Matrix& correlation_;
  std::vector<int> given_;
  std::vector<std::vector<double>> factor_;  // row i has i + 1 entries
  bool singular_ = false;
};

}  // namespace fansite::detail
