// SPDX-License-Identifier: Apache-2.0
//
// The Bayesian information criterion of linear Gaussian equations, in closed form from the covariance.
#pragma once

#include <memory>
#include <span>

#include "fansite/independence/local_score.h"
#include "fansite/independence/query_cache.h"
#include "fansite/table/covariance.h"

namespace fansite {

/// −(N/2) ln σ²_{i|Pa} − (ln N / 2) |Pa|, constants dropped. Graphs that say the same have the same sum. A variance
/// below 1e-12 of the variable's own counts as that, so scores are finite.
class GaussianBic final : public LocalScore {
 public:
  explicit GaussianBic(std::shared_ptr<const Covariance> covariance);

  int variables() const override { return covariance_->variables(); }
  double score(int variable, std::span<const int> parents) const override;
  /// One factorisation for all candidates; the last bits may be others than one by one.
  std::vector<double> score_each(int variable, std::span<const int> parents,
                                 std::span<const int> candidates) const override;

 private:
  double compute(int variable, std::span<const int> parents) const;
  double of_share(int variable, double share, std::size_t parents) const;

  std::shared_ptr<const Covariance> covariance_;
  QueryCache<double> known_;
};

}  // namespace fansite
