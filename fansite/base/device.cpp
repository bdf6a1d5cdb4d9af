// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/device.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "fansite/base/error.h"

namespace fansite {
namespace {

std::atomic<Device> choice = Device::cpu;
std::mutex lock_of_words;  // of what follows
std::vector<const DeviceChoice*> living;
std::string failure, used;

}  // namespace

DeviceChoice::DeviceChoice(Device device) : device_(device) {
  const std::lock_guard lock(lock_of_words);
  if (living.empty()) {
    failure.clear();
    used.clear();
  }
  living.push_back(this);
  choice = device;
}

DeviceChoice::~DeviceChoice() {
  const std::lock_guard lock(lock_of_words);
  std::erase(living, this);  // several threads' end in any order
  choice = living.empty() ? Device::cpu : living.back()->device_;
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

void add_device_warning(std::vector<std::string>& warnings) {
  const std::string why = device_failure();
  if (why.empty()) return;
  std::string warning = fmt::format("[device] {}; the processor did the rest", why);
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(std::move(warning));
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
