// SPDX-License-Identifier: Apache-2.0
//
// What is known about a table, found once and handed on.
#pragma once

#include <cstdint>
#include <vector>

#include "fansite/table/dataset.h"
#include "fansite/table/findings.h"

namespace fansite {

struct TableFacts {
  std::uint64_t hash = 0;         ///< of names and numbers
  std::uint64_t values_hash = 0;  ///< of the numbers alone
  std::vector<Finding> findings;
  std::vector<ColumnKind> kinds;  ///< per column: as declared, else as recognised
  std::vector<int> copy_of;       ///< per column: the earlier one that it repeats, or −1
  std::vector<char> takes_part;  ///< per column: it varies and repeats no earlier one, so something can be learnt of it

  explicit TableFacts(const Dataset& data);
};

/// The columns that take part, as a table of their own.
struct LearnableTable {
  Dataset data;
  std::uint64_t values_hash = 0;

  /// A DataError if there is none.
  LearnableTable(const Dataset& table, const TableFacts& facts);
};

}  // namespace fansite
