// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/accelerator.h"

#include "fansite/base/error.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/detail/folded_network.h"

namespace fansite::flow {

const Accelerator* accelerator() {
  const Device choice = device_choice();
  if (choice == Device::cpu) return nullptr;
  const std::string failed = device_failure();  // of another run at the same time, if there must be a GPU
  check(failed.empty() || choice == Device::automatic, "[device] {}; use --device cpu or auto", failed);
  if (!failed.empty()) return nullptr;
  const BuiltIn& found = built_in_accelerator();
  check(found.device != nullptr || choice == Device::automatic, "[device] {}; use --device cpu or auto", found.why_not);
  if (found.device == nullptr && found.there) give_up_device(DeviceError(found.why_not));
  return found.device;
}

std::shared_ptr<const SubsetDensity> density_of(const Weights& weights, const GaussianBase& base) {
  const auto network = std::make_shared<const FoldedNetwork>(weights, base);
  if (const Accelerator* device = accelerator()) {
    try {
      return device->density(network);
    } catch (const DeviceError& error) {
      give_up_device(error);
    }
  }
  return std::make_shared<const Density>(network);
}

std::string device_name() {
  const Accelerator* found = accelerator();
  return found == nullptr ? "cpu" : found->name();
}

}  // namespace fansite::flow
