// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy.h"

namespace fansite {

EntropyEstimate EntropyEstimator::conditional_entropy(const EntropyQuery& query) const {
  return conditional_entropy(std::span(&query, 1)).front();
}

}  // namespace fansite
