// SPDX-License-Identifier: Apache-2.0
//
// How near an answer is to a known truth. Nothing but evaluation may use these.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

/// Scores of one boundary, all in [0, 1].
struct BoundaryScore {
  double ndcg = 0;               ///< ranking: DCG over the first min(|true|, |predicted|) places over the ideal DCG
  double average_precision = 0;  ///< ranking: mean precision at each hit, over |true|
  double f1 = 0;
  double precision = 0;
  double recall = 0;
};

/// `predicted` in order of strength; `truth` in any order, not empty. F1, precision and recall are of the whole sets.
BoundaryScore score_boundary(const std::vector<int>& predicted, const std::vector<int>& truth);

/// Means over the targets whose true boundary is not empty; `targets` says how many those are.
struct BoundariesScore {
  BoundaryScore mean;
  int targets = 0;
  double false_discovery_rate = 0;  ///< false members over all members, over all targets; 0 if there are none
};
BoundariesScore score_boundaries(const std::vector<std::vector<int>>& predicted,
                                 const std::vector<std::vector<int>>& truth);

/// Scores of a 0/1 directed graph.
struct GraphScore {
  int true_positives = 0, false_positives = 0;  ///< entries
  int extra = 0, missing = 0;                   ///< pairs linked in the estimate alone, in the truth alone
  int reversed = 0;                             ///< edges whose opposite is the true one
  int shd = 0;                                  ///< extra + missing + reversed; a reversed edge costs 1
  int undecided = 0;                            ///< links of both directions in the estimate: their direction is open
  double skeleton_f1 = 0;                       ///< of links, whatever their direction; 1 if neither graph has one
  double direction_accuracy = 0;  ///< of the true links found with one direction, the share of right ones; NaN: none
  double auc_roc = 0;             ///< over all d·d entries, the diagonal among them; NaN if the truth has no edge
  double auc_pr = 0;              ///< average precision over the same entries; NaN if the truth has no edge
};
GraphScore score_graph(const ByteMatrix& estimate, const ByteMatrix& truth);

/// Areas under the curves of real-valued scores over all d·d entries, equal scores as one threshold: ROC by trapezoids,
/// PR as average precision Σ (R_k − R_{k−1}) P_k. For 0/1 scores they equal score_graph's. NaN if the truth has no
/// edge.
struct CurveAreas {
  double auc_roc = 0, auc_pr = 0;
};
CurveAreas curve_areas(const Matrix& scores, const ByteMatrix& truth);

struct MeanAndSpread {
  double mean = 0, standard_deviation = 0;  ///< dividing by n − 1; 0 for n = 1
};
MeanAndSpread mean_and_spread(const std::vector<double>& values);

}  // namespace fansite
