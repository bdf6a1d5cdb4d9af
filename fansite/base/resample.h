// SPDX-License-Identifier: Apache-2.0
//
// Resamples of rows (bootstrap), for the stability of what is found.
#pragma once

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"

namespace fansite {

constexpr int kResamples = 100;

/// Units × kResamples: how often each is drawn, independent Poisson numbers of mean 1.
Eigen::MatrixXf resampling_weights(Index units, Key key = {});

}  // namespace fansite
