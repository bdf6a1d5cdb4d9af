// SPDX-License-Identifier: Apache-2.0
//
// What a GPU does for flows: takes training steps of many networks at once, and computes densities. The same functions
// as the processor's, to rounding; same bits from run to run on one kind of GPU. A backend implements it
// (fansite/backend), and one that is not built in says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fansite/base/device.h"
#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/learner.h"
#include "fansite/entropy/flow/subset_density.h"
#include "fansite/entropy/flow/weights.h"

namespace fansite::flow {

struct FoldedNetwork;

/// A training as a device needs it to draw batches by itself: the same ones as the processor draws.
struct DeviceTraining {
  Layout layout;
  RowCells data;
  SubsetKind subsets = SubsetKind::leaf;
  int max_size = 0;      ///< of the subsets drawn
  int most_columns = 0;  ///< of a subset, where variables have several columns
  int batch = 0;         ///< rows of a step
  double noise = 0;
  double clip = 0;
  Key subset_key;  ///< its split by a step's number gives that step's subsets and noise
  const GaussianBase* base = nullptr;
};

/// The next steps of a training.
struct DeviceSteps {
  std::int64_t first = 0;
  std::vector<int> rows;                  ///< [step][batch] of the table
  std::vector<float> rate, square_scale;  ///< Adam's of each step

  std::int64_t count() const { return static_cast<std::int64_t>(rate.size()); }
};

/// What came of them. A step whose loss or gradient was not finite is not taken, and ends them.
struct DeviceProgress {
  std::vector<double> losses;  ///< of the steps that were taken
};

/// Networks in training on a device.
class TrainingGroup {
 public:
  virtual ~TrainingGroup() = default;
  virtual void restore(std::size_t network, const Learner::State& state) = 0;
  virtual Learner::State state(std::size_t network) const = 0;
  /// What begin() is to take, one entry for each network; none of its steps if it has none. The device may be at work
  /// on those before. What was brought and not begun is forgotten.
  virtual void bring(std::span<const DeviceSteps> steps) = 0;
  /// Begins with the steps that were brought, and returns while the device is at work.
  virtual void begin() = 0;
  /// Waits for what was begun.
  virtual std::vector<DeviceProgress> finish() = 0;
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  /// "NVIDIA H200".
  virtual std::string name() const = 0;
  /// Networks that can be in training side by side at full speed.
  virtual int networks_at_once() const = 0;
  /// Multiply-adds in single precision, two operations each, that its units could do in a second by its clock.
  virtual double fma_peak_gflops() const = 0;
  /// Throws a DeviceError if it cannot, as do all others.
  virtual std::unique_ptr<TrainingGroup> open(std::vector<DeviceTraining> trainings) const = 0;
  /// What is too large for it, or too little to be worth a call, the processor answers.
  virtual std::shared_ptr<const SubsetDensity> density(std::shared_ptr<const FoldedNetwork> network) const = 0;
};

/// The one that work started now goes to; null: the processor. A UsageError with Device::cuda and none.
const Accelerator* accelerator();
/// Where work goes while this lives; a UsageError at once for Device::cuda if there is none. A GPU that is only welcome
/// is looked for when there is work for it: that takes a second, and closed forms have none.
class ChosenDevice {
 public:
  explicit ChosenDevice(Device device) : choice_(device) {
    if (device == Device::cuda) accelerator();
  }

 private:
  DeviceChoice choice_;
};
/// A trained network's, on the device that work goes to if it can, else on the processor.
std::shared_ptr<const SubsetDensity> density_of(const Weights& weights, const GaussianBase& base = {});
/// What work started now runs on: a GPU's name, or "cpu".
std::string device_name();

/// What the backend that is built in has.
struct BuiltIn {
  const Accelerator* device = nullptr;  ///< null: no GPU that it can use
  std::string why_not;                  ///< half a sentence, as in "this program was built without CUDA"
  bool there = false;                   ///< there is a GPU that it cannot use, which whoever asked for any should know
};
const BuiltIn& built_in_accelerator();

}  // namespace fansite::flow
