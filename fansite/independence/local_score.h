// SPDX-License-Identifier: Apache-2.0
//
// How well parents explain a variable, with a price for each: what score-based methods add up over a graph.
#pragma once

#include <span>

namespace fansite {

class LocalScore {
 public:
  virtual ~LocalScore() = default;

  virtual int variables() const = 0;
  /// Higher is better. Safe to call from several threads; parents in any order.
  virtual double score(int variable, std::span<const int> parents) const = 0;
};

}  // namespace fansite
