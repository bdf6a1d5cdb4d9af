// SPDX-License-Identifier: Apache-2.0
//
// The rows of NAF, BNAF and ACE, with their parameters.
#pragma once

#include "fansite/entropy/estimators.h"
#include "fansite/entropy/neural/ace.h"
#include "fansite/entropy/neural/bnaf.h"
#include "fansite/entropy/neural/ensemble.h"
#include "fansite/entropy/neural/naf.h"

namespace fansite::neural {

struct NafParams {
  NetworksParams networks;
  int blocks = 6;   ///< hidden units of each rank
  int outputs = 0;  ///< L, of each variable; 0: 20, or 16 from 100 variables on
  int sigmoids = 4;
  NetworkTrainParams train = {.steps = 8000, .learning_rate = 5e-3};

  static const Description& description();
};
flow::Shape shape_of(const NafParams& params, int variables);
/// As published: 5000 times through the rows at a constant rate, nothing held out.
NafParams published_naf(int variables, Index rows);

struct BnafParams {
  NetworksParams networks;
  int width = 10, layers = 1, flows = 1;
  NetworkTrainParams train = {.steps = 4000,
                              .batch = 200,
                              .learning_rate = 1e-2,
                              .decay = Decay::plateau,
                              .clip = 0.1,
                              .evaluate_every = 100,
                              .amsgrad = true,
                              .polyak = 0.998};

  static const Description& description();
};
BnafShape shape_of(const BnafParams& params, int variables);

struct AceParams {
  NetworksParams networks;
  int hidden = 0, blocks = 0;  ///< 0: 512 and 4 as published from 100 variables on, 128 and 2 below
  int components = 10, context = 64;
  int energy_hidden = 0, energy_blocks = 0;  ///< 0: 128 and 4 as published from 100 variables on, 64 and 2 below
  int samples = 20;
  int energy_terms = 1;
  int warm_up = 500;
  double dropout = 0;
  NetworkTrainParams train = {.steps = 3000, .learning_rate = 1e-3, .decay = Decay::linear, .noise = 0.005};

  static const Description& description();
};
AceShape shape_of(const AceParams& params, int variables);

EstimatorMethod naf_estimator();
EstimatorMethod bnaf_estimator();
EstimatorMethod ace_estimator();

}  // namespace fansite::neural
