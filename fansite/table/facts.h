// SPDX-License-Identifier: Apache-2.0
//
// What is known about a table, found once and handed on.
#pragma once

#include <cstdint>
#include <vector>

#include "fansite/table/content_order.h"
#include "fansite/table/dataset.h"
#include "fansite/table/findings.h"
#include "fansite/table/wild.h"

namespace fansite {

struct TableFacts {
  std::uint64_t hash = 0;         ///< of names and numbers
  std::uint64_t values_hash = 0;  ///< of the numbers alone
  std::vector<Finding> findings;
  std::vector<ColumnKind> kinds;  ///< per column: as declared, else as recognised
  std::vector<int> copy_of;       ///< per column: the earlier one that it repeats, or −1
  std::vector<WildCell> wild;     ///< cells that must not decide alone; there is a finding about them
  std::vector<char> takes_part;  ///< per column: it varies and repeats no earlier one, so something can be learnt of it

  explicit TableFacts(const Dataset& data);
  /// Those that take part and do more than number the rows, which makes rows differ that say the same.
  std::vector<int> columns_of_content() const;
  /// Of `ordered`, which is the table of `facts` with its rows and columns in this order: nothing is looked at again
  /// but for the hash. Findings speak of the table as it came.
  TableFacts(const TableFacts& facts, const Dataset& ordered, const ContentOrder& order);
};

/// The levels of a nominal column, the one with most rows first, and the indicator columns of the others. What has
/// fewer than kFewestRows rows, or comes after the kMostLevels most frequent, is one level together, "(other)", if that
/// spares a level: nothing could be learnt of so few rows alone, and every indicator costs all others some power.
struct NominalLevels {
  static constexpr Index kFewestRows = 10;
  static constexpr std::size_t kMostLevels = 20;
  static constexpr const char* kOther = "(other)";

  int column = 0;                   ///< of the table
  std::vector<std::string> labels;  ///< of all levels
  std::vector<double> values;       ///< the numbers that stand for them; NaN for the others together
  std::vector<int> pooled;          ///< rows of each that is among the others
  std::vector<int> indicators;      ///< columns of the learnable table, one fewer

  /// Which level a number stands for; −1 for NaN.
  int level_of(double value) const;
  /// 1 where the column has this level, 0 where it has another, NaN where its cell is absent.
  Vector indicator(const Vector& column_values, std::size_t level) const;
};

/// The columns that take part, as a table of numbers of their own: a nominal column of K levels is K − 1 indicators,
/// called "column=level".
struct LearnableTable {
  Dataset data;  ///< with the kind of every column
  std::vector<NominalLevels> nominal;
  std::uint64_t values_hash = 0;

  /// A DataError if there is none.
  LearnableTable(const Dataset& table, const TableFacts& facts);
};

/// Of one nominal column.
NominalLevels nominal_levels(const Dataset& data, int column);
/// What a number of a nominal column stands for; without a label, its digits.
std::string level_label(const Dataset& data, int column, double value);
std::string indicator_name(const std::string& column, const std::string& level);

}  // namespace fansite
