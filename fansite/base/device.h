// SPDX-License-Identifier: Apache-2.0
//
// Where work runs: on the processor, or on a GPU beside it. What a GPU can do is said where the work is described
// (entropy/flow/accelerator.h); here is only what was asked for and what went wrong.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "fansite/base/parameters.h"

namespace fansite {

enum class Device {
  automatic,  ///< a GPU if there is one that can do the work, else the processor
  cpu,
  cuda  ///< a GPU; an error where there is none
};
constexpr auto enum_names(Device) {
  return std::to_array<EnumName<Device>>({{Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}});
}

/// Where work goes while this lives; without one, to the processor. It holds for the whole program, as the number of
/// threads does: of several that live the one made last counts. Inside another one it changes nothing but the choice;
/// otherwise it forgets what was used and failed before.
class DeviceChoice {
 public:
  explicit DeviceChoice(Device device);
  ~DeviceChoice();
  DeviceChoice(const DeviceChoice&) = delete;
  DeviceChoice& operator=(const DeviceChoice&) = delete;

 private:
  const Device device_;
};
Device device_choice();

/// A GPU could not do what it was asked to: out of memory, lost, or without what the work needs.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// After a GPU has failed: with Device::cuda throws a UsageError that says why; else all later work of this choice goes
/// to the processor, and the first failure is remembered for the result.
void give_up_device(const DeviceError& error);
/// Why a GPU was given up, as in "the GPU's memory does not suffice"; "" if none was.
std::string device_failure();
/// The same as a warning, unless it is among them.
void add_device_warning(std::vector<std::string>& warnings);

/// That work was done on this device.
void note_device(const std::string& name);
/// On which device work was done since the last choice; "cpu": on none but the processor.
std::string device_used();

}  // namespace fansite
