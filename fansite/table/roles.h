// SPDX-License-Identifier: Apache-2.0
//
// What users say of a table's columns: which are left out, kinds that are not to be recognised, columns that are
// conditioned on everywhere, weights and groups of rows.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/table/column.h"

namespace fansite {

struct Dataset;

using DeclaredKind = std::pair<std::string, ColumnKind>;  ///< of the column called so

struct TableRoles {
  std::vector<DeclaredKind> kinds = {};   ///< each column once
  std::vector<std::string> context = {};  ///< columns that are conditioned on everywhere
  std::string weight = {};                ///< the column of the rows' weights; "": all the same
  std::string group = {};                 ///< rows of one value of this column are not independent; "": all are
  std::vector<std::string> drop = {};     ///< columns that are left out, whatever they hold
  std::vector<std::string> only = {};  ///< the others are left out, but for context, weight and group; none: no column

  /// Whether the column called so is left out by `drop` or `only`.
  bool leave_out(std::string_view name) const;
  bool empty() const { return *this == TableRoles{}; }
  bool operator==(const TableRoles&) const = default;
};

/// Per column: `drop` or `only` leaves it out. A UsageError if there is no such column as `drop`, `only` or `kinds`
/// name, or none stays.
std::vector<char> left_out(const std::vector<std::string>& names, const TableRoles& roles);

/// The table without the columns that are left out; nothing else of `roles` is heeded. Chosen already, it stays as it
/// is.
Dataset chosen_columns(Dataset data, const TableRoles& roles);

/// The chosen columns with their roles; kinds of others do not count. Weight and group leave the table's columns;
/// weights are scaled to mean 1; a nominal column of numbers holds the numbers of its levels afterwards. A UsageError
/// for unknown columns and roles that exclude each other, a DataError for weights that are not positive and groups that
/// are missing.
Dataset with_roles(Dataset data, const TableRoles& roles);

/// NAME=KIND; a ParameterError for other text.
DeclaredKind parse_kind(std::string_view text);

/// Lines NAME=KIND, or name,kind (also with ; or tabs between, and a header); # begins a comment. Names may stand in
/// quotes. `where` names the text in messages; a DataError for lines that are neither, or say two things of a column.
std::vector<DeclaredKind> parse_kinds(std::string_view text, const std::string& where);

/// Adds `more` to what is declared already; a UsageError if both say different things of a column.
void add_kinds(std::vector<DeclaredKind>& kinds, const std::vector<DeclaredKind>& more);

}  // namespace fansite
