// SPDX-License-Identifier: Apache-2.0
//
// What a comparison shows: how near each method comes to the truth, and how far methods agree with each other and with
// themselves. What methods claim are pairs: (variable, member) of boundaries, linked pairs of graphs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/compare.h"

namespace fansite {

/// nDCG, AveP, F1, precision, recall, FDR of boundaries; SHD, AUC-ROC, AUC-PR, skeleton F1, directions of graphs: the
/// figures of `fansite eval`, by its names.
const std::vector<std::string>& score_names(CompareKind kind);
/// Of one answer (CompareCell::found); NaN where there is nothing to score.
std::vector<double> scores_of(CompareKind kind, const std::vector<std::vector<int>>& found, const Dag& truth);

/// How many pairs it claims.
int pairs_of(CompareKind kind, const CompareCell& cell);

/// What one method did, over its cells.
struct MethodSummary {
  int done = 0, timeouts = 0, refused = 0, failed = 0;
  std::string reason;                 ///< the first for which it gave no answer; "": none
  std::vector<MeanAndSpread> scores;  ///< as score_names; empty: there is no truth, or nothing is done
  double pairs = 0;                   ///< claimed, mean
  double seconds = 0;                 ///< mean of those done; NaN if none is
  double peak_memory_mb = 0;          ///< the most of any
  /// Mean overlap of its answers to one table in different orders; nothing: there are no two such answers.
  std::optional<double> over_orders;
};
std::vector<MethodSummary> summaries(const CompareResult& result);

/// Mean overlap |A ∩ B| / |A ∪ B| of what two methods claim of the same table in the same order; 1 if neither claims
/// anything, NaN if no cell of theirs can be compared, as on the diagonal if a method has no answer.
Matrix overlaps(const CompareResult& result);
/// Graphs: of the links that both have, the share with the same direction, or none, in both; NaN if there are none.
Matrix same_directions(const CompareResult& result);

/// What a method alone claims. It claims of a table what it finds in more than half of the orders.
struct AloneClaims {
  int pairs = 0;                              ///< over all tables
  std::optional<int> true_pairs;              ///< of them; nothing: there is no truth
  std::vector<std::pair<int, int>> of_table;  ///< the pairs themselves, if there is one table only
};
std::vector<AloneClaims> alone_claims(const CompareResult& result);

}  // namespace fansite
