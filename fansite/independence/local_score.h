// SPDX-License-Identifier: Apache-2.0
//
// How well parents explain a variable, with a price for each: what score-based methods add up over a graph.
#pragma once

#include <span>
#include <vector>

namespace fansite {

class LocalScore {
 public:
  virtual ~LocalScore() = default;

  virtual int variables() const = 0;
  /// Higher is better. Safe to call from several threads; parents in any order.
  virtual double score(int variable, std::span<const int> parents) const = 0;
  /// With each candidate as one more parent. A score that shares work between candidates overrides it.
  virtual std::vector<double> score_each(int variable, std::span<const int> parents,
                                         std::span<const int> candidates) const {
    std::vector<double> scores;
    std::vector<int> all(parents.begin(), parents.end());
    all.push_back(0);
    for (const int candidate : candidates) {
      all.back() = candidate;
      scores.push_back(score(variable, all));
    }
    return scores;
  }
};

}  // namespace fansite
