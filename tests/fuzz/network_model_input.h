// SPDX-License-Identifier: Apache-2.0
//
// The table that fuzzed models of NAF, BNAF and ACE are loaded for.
#pragma once

#include "fansite/base/random.h"
#include "fansite/context/context.h"
#include "fansite/entropy/estimators.h"
#include "fansite/table/dataset.h"

/// Three columns of 24 rows.
inline const fansite::Dataset& network_model_table() {
  static const fansite::Dataset table = [] {
    fansite::Dataset data{{"a", "b", "c"}, fansite::Matrix(24, 3)};
    fansite::Random random(fansite::Key{1});
    for (double& x : data.values.reshaped()) x = random.normal();
    return data;
  }();
  return table;
}

inline const fansite::Context& network_model_context() {
  static fansite::NoProgress silent;
  static const fansite::Context context(network_model_table(), {}, {}, silent);
  return context;
}
