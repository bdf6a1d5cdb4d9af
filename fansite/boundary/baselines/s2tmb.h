// SPDX-License-Identifier: Apache-2.0
//
// S2TMB: the best graphs over the target and a few others, again and again; its neighbours and their other parents
// stay.
#pragma once

#include "fansite/boundary/baselines/classical.h"
#include "fansite/independence/exact_dag.h"

namespace fansite {

struct S2tmbParams {
  BestDagParams graph;  ///< of each small graph: parents, and how many variables are searched exactly
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

/// Of one target: neighbours, then spouses. Limited if a graph was too large for the exact search or
/// had as many parents of a variable as are allowed.
ClassicalSet s2tmb(const LocalScore& score, const ClassicalTarget& search, const BestDagParams& params,
                   const Progress& progress);

BoundaryMethod s2tmb_method();

}  // namespace fansite
