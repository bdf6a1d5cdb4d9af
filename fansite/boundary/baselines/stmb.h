// SPDX-License-Identifier: Apache-2.0
//
// STMB: neighbours that no small set separates from the target; then spouses, and neighbours that they separate go.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

struct StmbParams {
  double alpha = 0.005;
  TestParams test;
  int max_subset = 3;  ///< variables in a set that may separate two
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

/// Of one target: neighbours, the strongest first, then spouses.
ClassicalSet stmb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset);

BoundaryMethod stmb_method();

}  // namespace fansite
