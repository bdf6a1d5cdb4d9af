// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/flow_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace fansite {
namespace {

// Rows that were not asked have the score 0.
double strength_of(const PairEvidence& evidence) {
  const Eigen::ArrayXd scores = evidence.scores.cast<double>();
  const double squares = scores.square().sum(), asked = static_cast<double>((scores != 0).count());
  return squares > 0 ? scores.sum() / std::sqrt(squares * asked) : 0.0;
}

}  // namespace

FlowTest::FlowTest(std::shared_ptr<const SearchEstimator> networks) : networks_(std::move(networks)) {}

IndependenceVerdict FlowTest::compute(int a, int b, std::span<const int> given) const {
  if (!networks_->informative(a) || !networks_->informative(b)) return {1, 0};
  std::vector<int> set(given.begin(), given.end());
  std::erase_if(set, [&](int variable) { return !networks_->informative(variable); });
  if (static_cast<int>(set.size()) + 1 > networks_->largest_set()) return {std::numeric_limits<double>::quiet_NaN(), 0};
  std::sort(set.begin(), set.end());
  const PairEvidence evidence = networks_->pair_evidence({std::min(a, b), std::max(a, b), set, set, true});
  return {evidence.p_value, strength_of(evidence)};
}

IndependenceVerdict FlowTest::test(int a, int b, std::span<const int> given) const {
  return known_.get(known_.key(a, b, given), [&] { return compute(a, b, given); });
}

}  // namespace fansite
