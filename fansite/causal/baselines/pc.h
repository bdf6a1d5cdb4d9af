// SPDX-License-Identifier: Apache-2.0
//
// PC among the graph methods: links are what no set of neighbours separates, directions what colliders make certain.
#pragma once

#include "fansite/causal/methods.h"
#include "fansite/independence/tests.h"

namespace fansite::causal {

struct PcParams {
  TestParams test = {};      ///< of independence
  double edge_alpha = 0.01;  ///< a p-value above it separates a pair
  int max_given = -1;        ///< variables that a test conditions on, at most; −1: as many as there are
  bool dag = false;          ///< every edge gets a direction, decided by the data or not

  static const Description& description();
};

struct PcResult {
  PartialDag graph;
  Matrix strength;  ///< symmetric: the least strength that a test of the pair has found
  long tests = 0;
  int largest_given = 0;  ///< variables that a test conditioned on, at most
  bool limited = false;   ///< larger sets were left out because of max_given
  int conflicts = 0;      ///< colliders that others or the knowledge contradict
  int undone = 0;         ///< edges that were directed round a cycle and are left open
  int broken = 0;         ///< links left out because the knowledge would direct them round a cycle
};

/// PC-stable (Colombo and Maathuis, 2014): the neighbours of a level are those at its beginning. Of several sets that
/// separate a pair the one with the largest p-value counts, so that colliders do not depend on the columns' order
/// either. Edges are sought among the links (symmetric).
PcResult pc(const IndependenceTest& test, const ByteMatrix& links, const Knowledge& knowledge, const PcParams& params,
            Progress& progress);

GraphMethod pc_method();

}  // namespace fansite::causal
