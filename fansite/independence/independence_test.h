// SPDX-License-Identifier: Apache-2.0
//
// A test of conditional independence, as the constraint-based methods ask it: are two variables independent given
// others?
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace fansite {

struct IndependenceVerdict {
  double p_value = 1;   ///< NaN: the test is undefined (no degrees of freedom, collinear columns)
  double strength = 0;  ///< of the dependence, to rank candidates by: |partial correlation|, say

  /// An undefined test speaks for nothing: while adding it counts as independent, while removing as dependent.
  bool independent_when_adding(double alpha) const { return std::isnan(p_value) || p_value > alpha; }
  bool independent_when_removing(double alpha) const { return p_value > alpha; }
};

class IndependenceTest {
 public:
  virtual ~IndependenceTest() = default;

  virtual int variables() const = 0;
  /// Of a and b given others, in any order; `given` holds neither. Safe to call from several threads.
  virtual IndependenceVerdict test(int a, int b, std::span<const int> given) const = 0;
  /// Of `target` with each candidate, given the same others. A test that shares work between candidates overrides it.
  virtual std::vector<IndependenceVerdict> test_each(int target, std::span<const int> candidates,
                                                     std::span<const int> given) const {
    std::vector<IndependenceVerdict> verdicts;
    verdicts.reserve(candidates.size());
    for (const int candidate : candidates) verdicts.push_back(test(target, candidate, given));
    return verdicts;
  }
};

}  // namespace fansite
