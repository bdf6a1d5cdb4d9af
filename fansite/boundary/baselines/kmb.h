// SPDX-License-Identifier: Apache-2.0
//
// KMB (reconstructed): the smallest set that leaves least of the target over in a space of smooth functions. The
// published method's exact objective and constants are not known; this is what its description amounts to.
#pragma once

#include "fansite/boundary/baselines/classical.h"

namespace fansite {

struct KmbParams {
  double tau = 0.01;  ///< share of the target's variance that a member must tell given the others
  double eps = 0.01;  ///< ridge of the kernel regression, as a share of the rows
  int rank = 100;     ///< of each kernel matrix
  int sample = 1000;  ///< rows used, at most, evenly spread
  int passes = 3;     ///< through what was discarded, at most
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

BoundaryMethod kmb_method();

}  // namespace fansite
