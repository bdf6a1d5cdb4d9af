// SPDX-License-Identifier: Apache-2.0
//
// Total conditioning: two variables are in each other's boundary if they are correlated given all others.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

struct TcParams {
  double alpha = 0.001;
  double ridge = 1e-3;  ///< added to the diagonal of the correlations where they have no inverse
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

BoundaryMethod tc_method();

}  // namespace fansite
