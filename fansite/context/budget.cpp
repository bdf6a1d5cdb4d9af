// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/budget.h"

#include <algorithm>

namespace fansite {
namespace {

// Fewer steps than this teach a network hardly anything: a quarter of a quick run's.
constexpr std::int64_t kFewestSteps = 2000;
constexpr int kFoldsEnough = 5;

}  // namespace

std::optional<flow::EnsembleParams> fitted(flow::EnsembleParams flow, double steps) {
  const std::int64_t fewest = std::min(kFewestSteps, flow.train.steps);
  const auto too_much = [&] {
    return static_cast<double>(flow.members()) * static_cast<double>(flow.train.steps) > steps;
  };
  while (too_much() && flow.repeats > 1) --flow.repeats;
  if (too_much()) flow.folds = std::min(flow.folds, kFoldsEnough);
  if (too_much()) flow.train.steps = static_cast<std::int64_t>(steps / flow.members());
  return flow.train.steps >= fewest ? std::optional(flow) : std::nullopt;
}

void add_sentence(std::string& unfinished, std::string_view more) {
  if (!unfinished.empty()) unfinished += "; ";
  unfinished += more;
}

}  // namespace fansite
