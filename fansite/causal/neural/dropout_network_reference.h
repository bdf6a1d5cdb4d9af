// SPDX-License-Identifier: Apache-2.0
//
// The networks of DAT as they are written down, in plain loops and double precision: what the fast ones are held to.
#pragma once

#include <span>

#include "fansite/causal/neural/dropout_network.h"

namespace fansite::causal::reference {

/// Outputs × rows, of inputs × rows.
Matrix forward(const NetworkShape& shape, std::span<const double> parameters, const Matrix& inputs, Random& masks);

}  // namespace fansite::causal::reference
