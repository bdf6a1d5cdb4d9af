// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/device_training.h"

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"

namespace fansite::flow {

DeviceTrainer::DeviceTrainer(std::vector<Training*> trainings, const Accelerator& device)
    : trainings_(std::move(trainings)) {
  std::vector<DeviceTraining> described;
  for (const Training* training : trainings_) described.push_back(training->for_device());
  group_ = device.open(std::move(described));
  for (std::size_t i = 0; i < trainings_.size(); ++i) group_->restore(i, trainings_[i]->state().learner);
  note_device(device.name());  // not before: it may refuse
}

std::int64_t DeviceTrainer::advance(std::int64_t steps) {
  if (!can_begin(steps)) bring(steps, {});
  const std::vector<DeviceSteps> next = std::move(brought_);
  brought_.clear();
  group_->begin();
  // While the device is at work: the steps after these, unless training may stop at their end.
  if (std::none_of(trainings_.begin(), trainings_.end(), [](const Training* t) { return t->holds_out(); })) {
    bring(steps, next);
  }
  const std::vector<DeviceProgress> progress = group_->finish();
  // Side by side, since what is held out is judged here, while the device waits.
  parallel_for(static_cast<std::ptrdiff_t>(trainings_.size()), [&](std::ptrdiff_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (next[at].count() == 0) return;
    if (trainings_[at]->holds_out()) {
      const Learner::State learner = group_->state(at);
      trainings_[at]->took(progress[at], &learner);
    } else {
      trainings_[at]->took(progress[at], nullptr);
    }
  });
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < trainings_.size(); ++i) {
    const auto count = static_cast<std::int64_t>(progress[i].losses.size());
    taken += count;
    if (count < next[i].count()) {
      take_here(i);
      brought_.clear();
      ++taken;
    }
  }
  return taken;
}

bool DeviceTrainer::can_begin(std::int64_t steps) const {
  if (brought_.empty()) return false;
  for (std::size_t i = 0; i < brought_.size(); ++i) {
    const bool goes_on = brought_[i].count() > 0 && brought_[i].count() <= steps;
    if (!trainings_[i]->finished() && (!goes_on || brought_[i].first != trainings_[i]->steps())) return false;
  }
  return true;
}

void DeviceTrainer::bring(std::int64_t steps, const std::vector<DeviceSteps>& after) {
  brought_.resize(trainings_.size());
  parallel_for(static_cast<std::ptrdiff_t>(trainings_.size()), [&](std::ptrdiff_t i) {
    const auto at = static_cast<std::size_t>(i);
    brought_[at] = trainings_[at]->next_steps(steps, after.empty() ? 0 : after[at].count());
  });
  group_->bring(brought_);
}

void DeviceTrainer::take_here(std::size_t i) {
  trainings_[i]->set_learner(group_->state(i));
  trainings_[i]->advance(1);
  group_->restore(i, trainings_[i]->state().learner);
}

void DeviceTrainer::settle() {
  parallel_for(static_cast<std::ptrdiff_t>(trainings_.size()), [&](std::ptrdiff_t i) {
    const auto at = static_cast<std::size_t>(i);
    trainings_[at]->set_learner(group_->state(at));
  });
}

bool DeviceTrainer::finished() const {
  return std::all_of(trainings_.begin(), trainings_.end(), [](const Training* t) { return t->finished(); });
}

void advance_together(std::span<Training* const> trainings, std::int64_t steps, const Accelerator& device) {
  DeviceTrainer trainer({trainings.begin(), trainings.end()}, device);
  trainer.advance(steps);
  trainer.settle();
}

void train_together(const std::vector<Training*>& trainings, const Accelerator& device, Progress& progress,
                    const std::function<void()>& settled) {
  constexpr double kPiece = 0.1, kSettle = 3;  // seconds
  constexpr std::int64_t kMost = 1 << 16;      // steps of a piece
  DeviceTrainer trainer(trainings, device);
  Stopwatch since_settled;
  std::int64_t steps = 20;
  const auto settle = [&] {
    trainer.settle();
    if (settled) settled();
    since_settled.lap();
  };
  while (!trainer.finished()) {
    if (progress.interrupted()) {
      settle();
      throw Interrupted("interrupted");
    }
    const Stopwatch watch;
    progress.advance(static_cast<long>(trainer.advance(steps)));
    if (watch.seconds() < kPiece && steps < kMost) steps *= 2;
    if (since_settled.seconds() > kSettle) settle();
  }
  settle();
}

}  // namespace fansite::flow
