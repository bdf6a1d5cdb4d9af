// SPDX-License-Identifier: Apache-2.0
//
// How DAT-Moral and DAT train their networks.
#pragma once

#include "fansite/base/parameters.h"
#include "fansite/causal/neural/dropout_network.h"

namespace fansite::causal {

struct RegressorParams {
  int width = 200;             ///< units of each hidden layer
  int layers = 3;              ///< linear ones of each network
  double first_dropout = 0.1;  ///< share of the first hidden layer's units that a step leaves out
  double dropout = 0.5;        ///< and of the later ones'
  double rate = 1e-4;          ///< of Adam
  int steps = 30000;           ///< of each network
  int batch = 256;             ///< rows a step; all of them if there are fewer

  NetworkShape shape(int inputs) const { return {inputs, width, layers, 2, first_dropout, dropout}; }
  static const Description& description();
};

}  // namespace fansite::causal
