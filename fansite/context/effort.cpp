// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/effort.h"

namespace fansite {

EffortMeaning meaning(Effort effort, int variables) {
  // From 100 variables on half the networks are enough, but none of fewer steps: undertrained networks, not few of
  // them, make searches long (docs/evidence.md).
  const bool wide = variables >= 100;
  switch (effort) {
    case Effort::quick:
      // Half the steps of a search are the misses at its end; a quick one has two of them instead of seven. In tables
      // where everything depends on everything sets would grow to 59 members, and the cost of a step with them: growing
      // and testing pairs takes hours where a first look at the 20 that tell most takes minutes.
      return {.folds = 5,
              .repeats = 1,
              .steps = wide ? 12000 : 8000,
              .patience = 1,
              .max_size = 20,
              // What 5000 rows do not show, an information of some thousandths of a nat, is not for a first look.
              .test_rows = 5000,
              .graph_rows = 1000,
              .graph_landmarks = 30,
              // A search among m links of each variable fits some m² equations for each. In 1000 rows it tells little
              // of equations with as many candidates, and 100 variables with 20 each took longer than all else.
              .graph_members = 10};
    case Effort::normal:
      return {.folds = 10, .repeats = wide ? 2 : 4, .steps = 15000};
    case Effort::thorough:
      break;
  }
  return {.folds = 10, .repeats = wide ? 4 : 8, .steps = 20000};
}

}  // namespace fansite
