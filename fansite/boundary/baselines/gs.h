// SPDX-License-Identifier: Apache-2.0
//
// Grow-Shrink: admit whatever is dependent given the set so far, in the order of the columns, then take out what the
// rest makes superfluous.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

struct GsParams {
  double alpha = 0.01;
  TestParams test;
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

/// Of one target: passes through the candidates until one admits nothing, then through the members until one takes
/// nothing out. Exact for a test that is never wrong on data that are faithful to a graph.
ClassicalSet grow_shrink(const IndependenceTest& test, const ClassicalTarget& search, double alpha);

BoundaryMethod gs_method();

}  // namespace fansite
