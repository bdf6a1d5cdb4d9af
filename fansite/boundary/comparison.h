// SPDX-License-Identifier: Apache-2.0
//
// Do boundaries tell less of their targets than others that were found in another way?
#pragma once

#include <vector>

#include "fansite/boundary/search.h"

namespace fansite {

struct Comparison {
  double missed = 0;          ///< Σ over targets of I(T; what the others have more | boundary), nats
  double standard_error = 0;  ///< of that, over rows
  double explained = 0;       ///< Σ I(T; boundary)
  std::vector<int> targets;  ///< those that clearly miss something: four standard errors, and a tenth of what they have

  /// Beyond doubt, and a tenth of what the boundaries tell: these were not learnt.
  bool fails() const { return missed > 3 * standard_error && missed > 0.1 * explained; }
};

/// What `others` hold beyond `found`, judged by the estimator, best on rows that it was not fitted to. Of the same
/// targets in the same order. Where both together are more than the estimator knows, as many as it does.
Comparison compare(const SearchEstimator& estimator, const Boundaries& found, const Boundaries& others);

}  // namespace fansite
