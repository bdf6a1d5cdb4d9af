// SPDX-License-Identifier: Apache-2.0
//
// The density of many subsets over many rows on a GPU, on the kernel of density_kernel.h.
#pragma once

#include <memory>

#include "fansite/entropy/flow/accelerator.h"

namespace fansite::cuda {

/// A DeviceError for a network that the kernel is not made for. If the GPU fails later, give_up_device is told, and the
/// processor answers.
std::shared_ptr<const flow::SubsetDensity> make_density(std::shared_ptr<const flow::FoldedNetwork> network);

}  // namespace fansite::cuda
