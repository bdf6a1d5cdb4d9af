// SPDX-License-Identifier: Apache-2.0
//
// An order of rows and columns that depends on their contents alone. Networks, folds and ties are drawn along it, so
// that a table with its columns or rows shuffled, or its columns renamed, has the same answer, bit for bit.
#pragma once

#include <vector>

#include "fansite/table/dataset.h"

namespace fansite {

struct ContentOrder {
  std::vector<int> rows, columns;  ///< at each place, which of the table's comes there
};

/// A row's key is the sum of its cells' hashes, a column's the sum of its cells' hashes mixed with their rows' keys,
/// and once more round with the keys known so far (colour refinement of the table as a bipartite graph): sums do not
/// depend on an order. Whatever has the same key in the end has the same contents, or it is by symmetry that nothing
/// tells them apart; these stay in the table's order. Cost: three passes over the cells.
ContentOrder content_order(const Dataset& data);

/// The table in that order, groups numbered by their first rows there.
Dataset in_order(const Dataset& data, const ContentOrder& order);
/// Places by what stands there: the inverse of a permutation.
std::vector<int> inverse(const std::vector<int>& permutation);

}  // namespace fansite
