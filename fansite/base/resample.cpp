// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/resample.h"

namespace fansite {

Eigen::MatrixXf resampling_weights(Index units, Key key) {
  Eigen::MatrixXf weights(units, kResamples);
  for (int r = 0; r < kResamples; ++r) {
    Random random(key.split(static_cast<std::uint64_t>(r)));
    for (float& weight : weights.col(r)) weight = static_cast<float>(random.poisson(1));
  }
  return weights;
}

}  // namespace fansite
