// SPDX-License-Identifier: Apache-2.0
//
// fansite-anm among the graph methods: additive noise inside the moral graph of the boundaries.
#pragma once

#include "fansite/causal/methods.h"

namespace fansite::causal {

struct FansiteAnmParams {
  bool dag = false;  ///< every edge gets the direction it has in the best graph, decided or not
  AdditiveNoiseParams additive_noise;

  static const Description& description();
};

GraphMethod fansite_anm();

}  // namespace fansite::causal
