// SPDX-License-Identifier: Apache-2.0
//
// fansite-anm among the graph methods: additive noise inside the moral graph of the boundaries.
#pragma once

#include "fansite/causal/methods.h"

namespace fansite::causal {

struct FansiteAnmParams {
  bool dag = false;  ///< every edge gets the direction it has in the best graph, decided or not
  /// Rows that may depend on each other: auto (blocks, if neighbouring rows do, and copies), none, or so many in a row.
  /// They are left out together and count as one, like those of a declared group.
  std::string graph_block = "auto";
  AdditiveNoiseParams additive_noise;

  static const Description& description();
};

GraphMethod fansite_anm();

}  // namespace fansite::causal
