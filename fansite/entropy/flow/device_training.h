// SPDX-License-Identifier: Apache-2.0
//
// Several trainings whose steps a device takes, side by side. A step that goes wrong there is taken here, where it is
// known what to do about it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fansite/base/progress.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/trainer.h"

namespace fansite::flow {

class DeviceTrainer {
 public:
  /// All of one shape. The trainings must outlive this.
  DeviceTrainer(std::vector<Training*> trainings, const Accelerator& device);

  /// Takes up to `steps` more of each. How many in all.
  std::int64_t advance(std::int64_t steps);
  /// Brings every network back: each training is then as if it had taken its steps itself.
  void settle();
  bool finished() const;

 private:
  /// Whether what was brought are the next steps of all, so many at most.
  bool can_begin(std::int64_t steps) const;
  /// The next steps, or those after others that the device is at work on.
  void bring(std::int64_t steps, const std::vector<DeviceSteps>& after);
  void take_here(std::size_t training);

  std::vector<Training*> trainings_;
  std::vector<DeviceSteps> brought_;  // while the device took those before; empty: none are
  std::unique_ptr<TrainingGroup> group_;
};

/// Takes up to `steps` more steps of each on a device.
void advance_together(std::span<Training* const> trainings, std::int64_t steps, const Accelerator& device);

/// From where they are to the last step, in pieces of a fraction of a second. Every few seconds the networks are
/// brought back and `settled` is called, as at the end and when interrupted. Throws a DeviceError if the device fails:
/// the trainings then have no use.
void train_together(const std::vector<Training*>& trainings, const Accelerator& device, Progress& progress,
                    const std::function<void()>& settled = {});

}  // namespace fansite::flow
