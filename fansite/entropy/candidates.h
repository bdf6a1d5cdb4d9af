// SPDX-License-Identifier: Apache-2.0
//
// Which variables may join whose set.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

class Candidates {
 public:
  /// One flag per variable: may it join a set at all?
  Candidates(std::vector<char> flags) : flags_(std::move(flags)) {}  // NOLINT(google-explicit-constructor)
  /// And a matrix of pairs, symmetric: may the two join each other's set?
  Candidates(std::vector<char> flags, ByteMatrix pairs)
      : flags_(std::move(flags)), pairs_(std::make_shared<const ByteMatrix>(std::move(pairs))) {}

  int variables() const { return static_cast<int>(flags_.size()); }
  bool may_join_any(int variable) const { return flags_[static_cast<std::size_t>(variable)] != 0; }
  bool may_join(int variable, int target) const {
    return variable != target && may_join_any(variable) && (!pairs_ || (*pairs_)(variable, target) != 0);
  }
  /// How many may join the set of a target.
  int count(int target) const {
    int result = 0;
    for (int z = 0; z < variables(); ++z) result += int{may_join(z, target)};
    return result;
  }
  /// Whether some pair that could otherwise be is left out.
  bool by_pairs() const { return pairs_ != nullptr; }

 private:
  std::vector<char> flags_;
  std::shared_ptr<const ByteMatrix> pairs_;  // shared: every frontier has its own copy of the rest
};

}  // namespace fansite
