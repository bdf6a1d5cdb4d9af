// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/device.h"

#include <atomic>
#include <mutex>

#include "fansite/base/error.h"

namespace fansite {
namespace {

std::atomic<Device> choice = Device::cpu;
std::mutex lock_of_words;  // of what follows
int choices = 0;           // that live
std::string failure, used;

}  // namespace

DeviceChoice::DeviceChoice(Device device) {
  const std::lock_guard lock(lock_of_words);
  before_ = choice.exchange(device);
  if (choices++ > 0) return;
  failure.clear();
  used.clear();
}

DeviceChoice::~DeviceChoice() {
  const std::lock_guard lock(lock_of_words);
  choice = --choices == 0 ? Device::cpu : before_;  // whichever of several threads' ends last
}

Device device_choice() { return choice; }

void give_up_device(const DeviceError& error) {
  check(choice != Device::cuda, "[device] {}; use --device cpu or auto", error.what());
  const std::lock_guard lock(lock_of_words);
  if (failure.empty()) failure = error.what();
}

std::string device_failure() {
  const std::lock_guard lock(lock_of_words);
  return failure;
}

std::string device_warning() {
  const std::string why = device_failure();
  return why.empty() ? "" : fmt::format("[device] {}; the processor did the rest", why);
}

void note_device(const std::string& name) {
  const std::lock_guard lock(lock_of_words);
  used = name;
}

std::string device_used() {
  const std::lock_guard lock(lock_of_words);
  return used.empty() ? "cpu" : used;
}

}  // namespace fansite
