// SPDX-License-Identifier: Apache-2.0
//
// GES among the graph methods: edges are added and then taken away again, each time the one that gains most, between
// classes of graphs that no data tell apart.
#pragma once

#include "fansite/causal/methods.h"
#include "fansite/independence/local_score.h"

namespace fansite::causal {

struct GesParams {
  double penalty = 1;    ///< what an edge must gain, in units of ln N / 2, the penalty for one parameter (BIC)
  int max_parents = 10;  ///< of a variable, at most
  bool dag = false;      ///< every edge gets a direction, decided by the data or not

  static const Description& description();
};

struct GesResult {
  PartialDag graph;
  Dag dag;                   ///< one of those that the graph stands for
  Matrix gains;              ///< (i, j): what the edge i → j of that DAG gains
  double score = 0;          ///< of all variables, the penalty included
  int added = 0, taken = 0;  ///< operators that were applied
  bool limited = false;      ///< operators were passed over because of max_parents
  int refused = 0;           ///< operators that were better and are against the knowledge
};

/// Chickering (2002). `edge_price`: what the score's own penalty lacks for one more parent. Edges are sought among the
/// links (symmetric). With the score of infinitely many rows of a linear Gaussian graph the result is its equivalence
/// class, if nothing is limited.
GesResult ges(const LocalScore& score, double edge_price, const ByteMatrix& links, const Knowledge& knowledge,
              const GesParams& params, Progress& progress);

GraphMethod ges_method();

}  // namespace fansite::causal
