// SPDX-License-Identifier: Apache-2.0
//
// A graph in which some directions are undecided.
#pragma once

#include "fansite/base/matrix.h"

namespace fansite {

/// A graph some of whose edges have no direction. Entries (i, j): in `directed` i → j; `undirected` is symmetric.
struct PartialDag {
  ByteMatrix directed, undirected;
};

}  // namespace fansite
