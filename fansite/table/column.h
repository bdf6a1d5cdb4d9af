// SPDX-License-Identifier: Apache-2.0
//
// What the values of a column are. A cell is a number, an interval or absent; which of the first two follows from the
// kind of its column.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"

namespace fansite {

enum class ColumnKind {
  continuous,  ///< numbers that hardly ever repeat: every cell is a number
  ordered,     ///< few distinct values, or rounded ones (ratings, counts, 0/1): every cell is an interval
  atoms,       ///< continuous but for values that repeat (zeros of counts, detection limits): those are intervals
  nominal      ///< levels without order: text, or declared
};
constexpr auto enum_names(ColumnKind) {
  return std::to_array<EnumName<ColumnKind>>({{ColumnKind::continuous, "continuous"},
                                              {ColumnKind::ordered, "ordered"},
                                              {ColumnKind::atoms, "atoms"},
                                              {ColumnKind::nominal, "nominal"}});
}

/// What is known of a column beside its name and values.
struct Column {
  std::optional<ColumnKind> kind = {};   ///< declared, or from the file (text is nominal); nothing: recognised
  std::vector<std::string> levels = {};  ///< nominal: the label of each value 0, 1, …; empty: the values themselves
  bool context = false;                  ///< conditioned on everywhere: never a target, never a candidate

  bool operator==(const Column&) const = default;
};

/// The kind of a column of numbers by its values alone; missing cells (NaN) say nothing. The rule, in this order:
///   ordered      at most 10 distinct values, or at least 95 % of the rows hold a value that others hold too
///   continuous   at most 5 % of the rows do, and no value is held by more than 1 % of the rows (2 at least)
///   atoms        else
ColumnKind recognised_kind(const Eigen::Ref<const Vector>& values);

/// Of the cells that are not missing.
std::size_t distinct_values(const Eigen::Ref<const Vector>& values);

}  // namespace fansite
