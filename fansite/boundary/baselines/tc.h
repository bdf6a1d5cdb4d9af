// SPDX-License-Identifier: Apache-2.0
//
// Total conditioning: two variables are in each other's boundary if they are correlated given all others.
#pragma once

#include "fansite/boundary/baselines/classical.h"
#include "fansite/table/covariance.h"

namespace fansite {

struct TcParams {
  double alpha = 0.001;
  double ridge = 1e-3;  ///< added to the diagonal of the correlations where they have no inverse
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

struct TotalConditioning {
  Matrix correlation;   ///< of each pair given all others
  Matrix p_value;       ///< of Fisher's z with these degrees of freedom
  double freedom = 0;   ///< N − d − 1, or 1 if that is less
  bool shrunk = false;  ///< there is no inverse (N ≤ d + 1, or collinear columns): it is that with a ridge
};

/// Of these variables.
TotalConditioning total_conditioning(const Covariance& covariance, const std::vector<int>& variables, double ridge);

BoundaryMethod tc_method();

}  // namespace fansite
