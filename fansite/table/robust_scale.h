// SPDX-License-Identifier: Apache-2.0
//
// How far values spread, whatever a few of them are.
#pragma once

#include <vector>

namespace fansite {

/// The value that this share of the others lies below. Reorders the values, which are some.
double quantile(std::vector<double>& values, double share);

/// The standard deviation of a normal distribution whose middle half is as wide as theirs; where that is of one value,
/// the middle nine tenths, and 0 where these are too. Halves of values do not overflow. Reorders the values.
double robust_scale(std::vector<double>& values);

}  // namespace fansite
