// SPDX-License-Identifier: Apache-2.0
//
// A discrete variable given others: an ordered or multinomial regression on the functions that numbers are regressed
// on, scored on rows that had no part in it.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/causal/detail/kernel_features.h"

namespace fansite::causal {

/// −ln p(group | parents) of each row, in nats; groups are 0..count−1, in order or not. Without parents it is −ln of
/// the group's share, so the mean is the entropy of the groups, and what parents take from it an information. Width and
/// ridge are chosen by the least mean. `counts`: how much the rows tell.
Vector level_surprisals(const std::vector<int>& groups, int count, bool ordered, const KernelFeatures& parents,
                        const RegressionParams& params, const GraphRows& counts = {});

}  // namespace fansite::causal
