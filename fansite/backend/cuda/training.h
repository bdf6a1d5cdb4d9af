// SPDX-License-Identifier: Apache-2.0
//
// Networks in training on a GPU: what entropy/flow/accelerator.h asks for, on the kernel of training_kernel.h.
#pragma once

#include <memory>
#include <vector>

#include "fansite/entropy/flow/accelerator.h"

namespace fansite::cuda {

/// All of one shape, and with the same kind of batches. A DeviceError for what the kernel is not made for, and if
/// memory does not suffice.
std::unique_ptr<flow::TrainingGroup> open_training(std::vector<flow::DeviceTraining> trainings);

}  // namespace fansite::cuda
