// SPDX-License-Identifier: Apache-2.0
//
// fansite-dcd and sdcd among the graph methods.
#pragma once

#include "fansite/causal/dcd/differentiable.h"
#include "fansite/causal/methods.h"

namespace fansite::causal {

/// Both stages.
struct SdcdParams {
  DifferentiableParams networks;
  static const Description& description();
};

/// The second stage alone.
struct FansiteDcdParams {
  DifferentiableParams networks;
  static const Description& description();
};

GraphMethod fansite_dcd_method();
GraphMethod sdcd_method();

}  // namespace fansite::causal
