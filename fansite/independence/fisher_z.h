// SPDX-License-Identifier: Apache-2.0
//
// Fisher's z: are two variables linearly related once others are known?
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fansite/independence/independence_test.h"
#include "fansite/independence/query_cache.h"
#include "fansite/table/covariance.h"

namespace fansite {

/// Two-sided, of a partial correlation with N − |given| − 3 degrees of freedom.
double fisher_z_p_value(double correlation, double freedom);

/// With r the partial correlation given S, W = √(N − |S| − 3) atanh r is standard normal under independence of Gaussian
/// variables, and p = 2 Φ(−|W|). Undefined (NaN) for N − |S| − 3 ≤ 0, and if S determines one of its own or one of the
/// two. The strength is |r|.
class FisherZ final : public IndependenceTest {
 public:
  /// `legacy_onesided`: p = Φ(W), as a published implementation has it by mistake; it sees negative relations only.
  explicit FisherZ(std::shared_ptr<const Covariance> covariance, bool legacy_onesided = false);

  int variables() const override { return covariance_->variables(); }
  IndependenceVerdict test(int a, int b, std::span<const int> given) const override;
  /// One factorisation for all candidates; the same bits as one by one.
  std::vector<IndependenceVerdict> test_each(int target, std::span<const int> candidates,
                                             std::span<const int> given) const override;
  /// NaN where the test is undefined for want of anything but rows.
  double partial_correlation(int a, int b, std::span<const int> given) const;

 private:
  IndependenceVerdict verdict(double r, std::size_t given) const;

  std::shared_ptr<const Covariance> covariance_;
  bool legacy_onesided_;
  QueryCache<IndependenceVerdict> known_;
};

}  // namespace fansite
