// SPDX-License-Identifier: Apache-2.0
//
// A table with named columns: loading, and the transforms that leave Markov boundaries unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/hash.h"
#include "fansite/base/matrix.h"
#include "fansite/base/random.h"
#include "fansite/table/column.h"
#include "fansite/table/roles.h"

namespace fansite {

class Progress;

struct Dataset {
  std::vector<std::string> names;  ///< one per column, distinct
  Matrix values;           ///< N rows × d columns; a missing cell is NaN, a nominal one the number of its level
  Index dropped_rows = 0;  ///< rows left out because of missing cells
  std::vector<Column> columns = {};  ///< one per column, or none: all kinds are recognised from the values
  Vector weights = {};               ///< one per row, positive, mean 1; empty: all the same
  std::vector<int> groups = {};      ///< one per row: rows of the same group are not independent; empty: all are
  double row_worth = 1;              ///< independent rows that one is worth in tests; less where neighbours are alike
  TableRoles roles = {};             ///< what was declared of it, which is in columns, weights and groups already

  Index rows() const { return values.rows(); }
  int variables() const { return static_cast<int>(values.cols()); }
  /// The column called `name`; throws a UsageError that suggests the nearest name.
  int index_of(std::string_view name) const;
};

/// The place of a column; a UsageError that suggests the nearest name if there is none called so.
int column_called(std::string_view name, const std::vector<std::string>& names);

/// A number that another table, or one with other names, almost surely does not have. Kinds, levels, context, weights
/// and groups count where there are any.
std::uint64_t hash_of(const Dataset& data);
/// The same from the hash of its numbers.
std::uint64_t hash_of(const Dataset& data, std::uint64_t values_hash);

/// x1, x2, …, for tables that come without names.
std::vector<std::string> default_names(int variables);

/// What becomes of missing cells.
enum class Missing {
  use,   ///< they stay, as NaN
  drop,  ///< rows that have one are left out
  error  ///< they are refused
};
constexpr auto enum_names(Missing) {
  return std::to_array<EnumName<Missing>>({{Missing::use, "use"}, {Missing::drop, "drop"}, {Missing::error, "error"}});
}

struct LoadOptions {
  bool header = true;                  ///< CSV and TSV: the first row holds the names
  bool text = true;                    ///< CSV and TSV: a column of text is nominal; else it is refused
  Missing missing = Missing::use;      ///< cells of weights and groups count too
  TableRoles roles = {};               ///< of the columns
  const Progress* progress = nullptr;  ///< can stop the wait for standard input or a pipe
};

/// Reads .csv, .tsv, .txt (also packed: .csv.gz …), .npy or .npz by the file's ending; "-" is CSV on standard input. An
/// .npz gives its array `data`, else `X`, else its only 2-D array. Columns that the roles leave out are not looked at.
/// Throws a DataError that names the place, and what with_roles throws. Does not judge the values.
Dataset load(const std::string& path, const LoadOptions& options = {});

/// The table without its rows that have a missing cell; dropped_rows counts them. A DataError if none is left.
Dataset drop_missing(Dataset data);

/// A DataError that counts the missing cells, if there are any.
void require_complete(const Dataset& data);

/// The rows given, in that order, with all that belongs to them.
Dataset take_rows(const Dataset& data, const std::vector<int>& rows);

/// The columns given, in that order, with all that belongs to them; what belongs to rows stays.
Dataset take_columns(const Dataset& data, const std::vector<int>& columns);

/// Per row: it has a missing cell.
std::vector<char> incomplete_rows(const MatrixView& values);

/// Writes .csv, .tsv or .npy (which keeps no names) by the file's ending, through a temporary file and a rename.
void save(const Dataset& data, const std::string& path);

/// Each column to mean 0 and variance 1 (dividing by N); constant columns become 0. The values must be finite.
Dataset standardise(const Dataset& data);

/// Φ⁻¹((rank − ½)/N), ties sharing the mean of their ranks.
Vector normal_scores(const Eigen::Ref<const Vector>& values);

/// Each column to its normal scores. Markov boundaries do not change under monotone maps of single columns.
Dataset rank_gaussianise(const Dataset& data);

/// Rows in random order, the first `share` of them and the rest; 0 < share < 1 and both parts get at least one row.
std::pair<Dataset, Dataset> split(const Dataset& data, double share, Key key);

}  // namespace fansite
