// SPDX-License-Identifier: Apache-2.0
//
// The table and the settings of the comparisons that are fuzzed: those of the seeds are gone on from.
#pragma once

#include "fansite/run/compare.h"

inline fansite::Dataset comparison_table() {
  fansite::Dataset data;
  data.names = {"a", "<script>alert(1)</script>", "c"};
  data.values.resize(12, 3);
  for (fansite::Index i = 0; i < 12; ++i) {
    const auto x = static_cast<double>(i);
    data.values.row(i) << x, 3 * x + static_cast<double>(i % 5), static_cast<double>((7 * i) % 11);
  }
  return data;
}

inline fansite::CompareParams comparison_params() {
  fansite::CompareParams params;
  params.methods = {"tc", "gs"};
  params.orders = 2;
  return params;
}
