// SPDX-License-Identifier: Apache-2.0
//
// The links that boundaries make: pairs in each other's boundary as either of them says.
#pragma once

#include <vector>

#include "fansite/boundary/search.h"

namespace fansite {

/// Symmetric. `members[i]` is the boundary of `targets[i]`.
ByteMatrix links(const std::vector<int>& targets, const std::vector<std::vector<int>>& members, int variables);
ByteMatrix links(const Boundaries& found, int variables);

}  // namespace fansite
