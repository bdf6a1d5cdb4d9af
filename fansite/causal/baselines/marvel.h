// SPDX-License-Identifier: Apache-2.0
//
// MARVEL among the graph methods: variables whose removal disturbs no other are taken away one by one, and what each is
// linked to is learnt inside its Markov boundary.
#pragma once

#include <vector>

#include "fansite/causal/methods.h"
#include "fansite/independence/independence_test.h"
#include "fansite/independence/tests.h"

namespace fansite::causal {

struct MarvelParams {
  TestParams test = {};      ///< of independence
  double edge_alpha = 0.01;  ///< a p-value above it separates a pair
  /// The level of the tests that find the boundaries to begin with; 0: 1/d², as its authors have it.
  double boundary_alpha = 0;
  int max_members = 5;  ///< of a boundary that a test conditions on, at most; −1: as many as there are
  bool dag = false;     ///< every edge gets a direction, decided by the data or not

  static const Description& description();
};

struct MarvelResult {
  PartialDag graph;
  std::vector<int> removed;  ///< all variables, in the order in which they were taken away
  int forced = 0;            ///< of them, those that no test found removable: the smallest boundary left was taken
  Matrix strength;           ///< symmetric: the least strength that a test of the pair has found; 1: none was made
  long tests = 0;
  bool limited = false;  ///< larger sets were left out because of max_members
  int conflicts = 0;     ///< colliders that others contradict
  int undone = 0;        ///< edges that were directed round a cycle and are left open
};

/// `boundaries` is symmetric: pairs in each other's Markov boundary. With true ones and a test that makes no mistake
/// the graph is the equivalence class of the truth.
MarvelResult marvel(const IndependenceTest& test, const ByteMatrix& boundaries, const MarvelParams& params,
                    Progress& progress);

/// Boundaries by the test itself, for tests that cannot be given all other variables at once: each set grows by the
/// strongest dependence and shrinks by what it does not need (IAMB), and a pair is in if it is in one of both.
/// Symmetric.
ByteMatrix grown_boundaries(const IndependenceTest& test, const std::vector<int>& columns, double alpha,
                            const Progress& progress);

GraphMethod marvel_method();

}  // namespace fansite::causal
