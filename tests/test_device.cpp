// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/accelerator.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What results are told.
std::vector<std::string> warnings() {
  std::vector<std::string> result;
  add_device_warning(result);
  add_device_warning(result);  // once
  return result;
}

TEST(Device, WorkGoesToTheProcessorUnlessAskedOtherwise) {
  EXPECT_EQ(device_choice(), Device::cpu);
  EXPECT_EQ(flow::accelerator(), nullptr);
  {
    const DeviceChoice choice(Device::automatic);
    EXPECT_EQ(device_choice(), Device::automatic);
    const DeviceChoice inner(Device::cpu);
    EXPECT_EQ(flow::accelerator(), nullptr);
    EXPECT_EQ(flow::device_name(), "cpu");
  }
  EXPECT_EQ(device_choice(), Device::cpu);
}

TEST(Device, ThatHasFailedIsNotUsedAgainByThisRun) {
  {
    const DeviceChoice choice(Device::automatic);
    EXPECT_THAT(warnings(), IsEmpty());
    give_up_device(DeviceError("the GPU's memory does not suffice (training)"));
    give_up_device(DeviceError("another"));
    EXPECT_EQ(flow::accelerator(), nullptr);
    EXPECT_THAT(warnings(),
                ElementsAre("[device] the GPU's memory does not suffice (training); the processor did the rest"));
    const DeviceChoice within(Device::automatic);  // a part of the run
    EXPECT_EQ(flow::accelerator(), nullptr);
  }
  const DeviceChoice next(Device::automatic);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST(Device, OfARunThatGoesOnDoesNotEndWithAnother) {
  auto first = std::make_unique<DeviceChoice>(Device::automatic);
  const auto second = std::make_unique<DeviceChoice>(Device::cuda);
  first.reset();
  EXPECT_EQ(device_choice(), Device::cuda);
}

TEST(Device, ThatFailedInAnotherRunIsAnErrorWhereThereMustBeOne) {
  const DeviceChoice any(Device::automatic);
  give_up_device(DeviceError("the GPU is lost"));
  const DeviceChoice must(Device::cuda);
  EXPECT_EQ(message_of<UsageError>([] { flow::accelerator(); }), "[device] the GPU is lost; use --device cpu or auto");
}

TEST(Device, ThatWasAskedForAndFailsIsAnError) {
  const DeviceChoice choice(Device::cuda);
  EXPECT_EQ(message_of<UsageError>([] { give_up_device(DeviceError("the GPU is lost")); }),
            "[device] the GPU is lost; use --device cpu or auto");
}

TEST(Device, ThatIsNotThereIsRefusedAtOnce) {
  const flow::BuiltIn& built_in = flow::built_in_accelerator();
  if (built_in.device != nullptr) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(message_of<UsageError>([] { flow::ChosenDevice device(Device::cuda); }),
            "[device] " + built_in.why_not + "; use --device cpu or auto");
  const flow::ChosenDevice any(Device::automatic);
  EXPECT_EQ(flow::accelerator(), nullptr);
}

TEST(Device, UsedIsRememberedUntilTheNextRun) {
  {
    const DeviceChoice choice(Device::automatic);
    note_device("NVIDIA H200");
    const DeviceChoice within(Device::automatic);
    EXPECT_EQ(device_used(), "NVIDIA H200");
  }
  EXPECT_EQ(device_used(), "NVIDIA H200");
  const DeviceChoice next(Device::cpu);
  EXPECT_EQ(device_used(), "cpu");
}

}  // namespace
}  // namespace fansite
