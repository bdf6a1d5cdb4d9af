// SPDX-License-Identifier: Apache-2.0
//
// How the training of an estimator went: a plain value for results.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace fansite {

/// A point of the networks' loss curves: mean and standard deviation over those that have come so far.
struct LossPoint {
  std::int64_t step = 0;
  double training = 0, training_sd = 0;
  double held_out = 0, held_out_sd = 0;  ///< NaN without rows held out
};

struct TrainingReport {
  int networks = 0;
  std::int64_t steps = 0;         ///< over all networks
  std::int64_t undone_steps = 0;  ///< of these taken back, because the loss was not finite
  std::vector<LossPoint> curve;
  /// What a line counts beside the networks, from 0 to 1: the weight that makes held-out rows most likely (stacking), a
  /// mean over targets and sizes of sets. NaN: there is no line among them.
  double linear_share = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fansite
