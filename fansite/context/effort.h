// SPDX-License-Identifier: Apache-2.0
//
// What `effort` means, in one place: how much work estimators that train are worth. Closed forms need none. (A plan
// also supposes fewer members of a quick search.)
#pragma once

#include <cstdint>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"

namespace fansite {

enum class Effort {
  quick,    ///< a tenth of the time, for a first look
  normal,   ///< what the figures in docs/evidence.md are for
  thorough  ///< twice the networks, trained for longer
};
constexpr auto enum_names(Effort) {
  return std::to_array<EnumName<Effort>>(
      {{Effort::quick, "quick"}, {Effort::normal, "normal"}, {Effort::thorough, "thorough"}});
}

struct EffortMeaning {
  int folds = 0, repeats = 0;  ///< networks: repeats × folds
  std::int64_t steps = 0;      ///< of training, each
  int patience = -1;           ///< of a search on held-out rows; −1: the search's own
  int max_size = 0;            ///< of the sets that it grows; 0: the search's own
  Index test_rows = 0;         ///< that a pair is tested on; 0: all
  Index graph_rows = 0;        ///< of the graph that has the last word; 0: as many as the method's own parameters say
  int graph_landmarks = 0;     ///< of its regressions, and for each parent; 0: likewise
  double graph_members = 0;    ///< boundaries of more members than this, on average, are not put to it; 0: any are
};
/// For a table of so many variables.
EffortMeaning meaning(Effort effort, int variables);

}  // namespace fansite
