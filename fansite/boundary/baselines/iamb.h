// SPDX-License-Identifier: Apache-2.0
//
// IAMB: grow by the strongest dependence given the set so far, then take out what the rest makes superfluous.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

struct IambParams {
  double alpha = 0.01;
  TestParams test;
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

/// Of one target. Exact for a test that is never wrong on data that are faithful to a graph.
ClassicalSet iamb(const IndependenceTest& test, const ClassicalTarget& search, double alpha);

BoundaryMethod iamb_method();

}  // namespace fansite
