// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/comparison.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/sets.h"

namespace fansite {

Comparison compare(const SearchEstimator& estimator, const Boundaries& found, const Boundaries& others) {
  check(found.boundaries.size() == others.boundaries.size(), "[compare] {} boundaries and {}", found.boundaries.size(),
        others.boundaries.size());
  constexpr double kClearly = 4, kShare = 0.1, kLeast = 0.02;  // standard errors, of what is told, nats
  const auto most = static_cast<std::size_t>(estimator.largest_set());
  std::vector<InformationQuery> queries;
  for (std::size_t t = 0; t < found.boundaries.size(); ++t) {
    const Boundary& boundary = found.boundaries[t];
    InformationQuery query{boundary.target, {}, boundary.member_indices()};
    for (const int z : others.boundaries[t].member_indices()) {
      const bool room = query.given.size() + query.about.size() < most;
      if (room && !contains(query.given, z) && estimator.informative(z)) query.about.push_back(z);
    }
    if (!query.about.empty()) queries.push_back(std::move(query));
  }
  Comparison result;
  for (const Boundary& boundary : found.boundaries) {
    const double told = boundary.entropy - boundary.conditional_entropy;
    if (std::isfinite(told)) result.explained += told;
  }
  const std::vector<EntropyEstimate> missed = estimator.mutual_information(queries);
  double variance = 0;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto [value, error, rows] = missed[q];
    if (!std::isfinite(value)) continue;
    result.missed += value;
    variance += error * error;
    const auto own = std::find_if(found.boundaries.begin(), found.boundaries.end(),
                                  [&](const Boundary& boundary) { return boundary.target == queries[q].target; });
    const double told = own->entropy - own->conditional_entropy;
    if (value > kClearly * error && value > std::max(kLeast, kShare * told)) result.targets.push_back(own->target);
  }
  result.standard_error = std::sqrt(variance);
  return result;
}

}  // namespace fansite
