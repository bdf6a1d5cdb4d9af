// SPDX-License-Identifier: Apache-2.0
//
// DAT (differentiable adjacency test): which links of a moral graph are edges, tested pair by pair with two networks
// each (dat_pair.h), and which way they point (dat_orientation.h).
#pragma once

#include <vector>

#include "fansite/causal/baselines/dat_orientation.h"
#include "fansite/causal/baselines/dat_pair.h"
#include "fansite/causal/methods.h"

namespace fansite::causal {

struct DatParams {
  RegressorParams networks{.rate = 3e-4, .steps = 10000};
  int scoring = 5000;                ///< batches after training, whose mean says what a variable explains
  double skeleton_threshold = 1e-4;  ///< linked pairs have a larger sum of squares
  double collider_threshold = 0.2;   ///< common neighbours with a smaller sum of ψ² are colliders
  int max_networks = 10000;          ///< more are refused before any work

  static const Description& description();
};

/// Both orders of every link, by i and then j. Members are padded with −1 to the largest boundary's, as published;
/// there is at least one.
std::vector<OrderedPair> pairs_of(const ByteMatrix& links);

GraphMethod dat_method();

}  // namespace fansite::causal
