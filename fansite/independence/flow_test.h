// SPDX-License-Identifier: Apache-2.0
//
// Are two variables related in any way once others are known? Asked of networks, on rows that they have not seen.
#pragma once

#include <memory>
#include <span>

#include "fansite/entropy/entropy.h"
#include "fansite/independence/independence_test.h"
#include "fansite/independence/query_cache.h"

namespace fansite {

/// The doubly centred scores of entropy/flow/dependence.h, of each variable about the other given the same set: their
/// mean is zero under independence, and p is that of a one-sided test of it. Undefined (NaN) where the set is larger
/// than the networks know. The strength is the mean score in units of its spread over rows.
class FlowTest final : public IndependenceTest {
 public:
  explicit FlowTest(std::shared_ptr<const SearchEstimator> networks);

  int variables() const override { return networks_->variables(); }
  IndependenceVerdict test(int a, int b, std::span<const int> given) const override;

 private:
  IndependenceVerdict compute(int a, int b, std::span<const int> given) const;

  std::shared_ptr<const SearchEstimator> networks_;
  QueryCache<IndependenceVerdict> known_;
};

}  // namespace fansite
