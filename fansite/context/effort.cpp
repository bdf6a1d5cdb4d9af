// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/effort.h"

namespace fansite {

EffortMeaning meaning(Effort effort, int variables) {
  // From 100 variables on half the networks are enough, but none of fewer steps: undertrained networks, not few of
  // them, make searches long (docs/evidence.md).
  const bool wide = variables >= 100;
  switch (effort) {
    case Effort::quick:
      // Half the steps of a search are the misses at its end; a quick one has two of them instead of seven.
      return {.folds = 5,
              .repeats = 1,
              .steps = wide ? 12000 : 8000,
              .patience = 1,
              .graph_rows = 1000,
              .graph_landmarks = 30};
    case Effort::normal:
      return {.folds = 10, .repeats = wide ? 2 : 4, .steps = 15000};
    case Effort::thorough:
      break;
  }
  return {.folds = 10, .repeats = wide ? 4 : 8, .steps = 20000};
}

}  // namespace fansite
