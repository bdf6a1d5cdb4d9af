// SPDX-License-Identifier: Apache-2.0
//
// A comparison of methods as JSON and back, as CSV, as lines for people, and as a file that an interrupted one goes on
// from (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fansite/report/timing.h"
#include "fansite/run/compare.h"

namespace fansite {

inline constexpr std::string_view kComparisonFormat = "fansite.comparison/1";

/// One cell a line. All but the last key, "timing", depends on tables, settings and seeds alone, as far as time does
/// not run out.
std::string to_json(const CompareResult& result, const RunTiming& timing);

/// One row for each cell.
std::string to_csv(const CompareResult& result);

/// A table for people: a line of heads, then a line for each method, cells of equal width.
std::vector<std::string> comparison_lines(const CompareResult& result);
/// Per method why it gave no answer, where it did not: "kmb: [mb] the table has missing cells, …".
std::vector<std::string> reasons(const CompareResult& result);

/// The variables of a comparison; a DataError that names what the page needs and it has not.
std::vector<std::string> compared_variables(std::string_view json, const std::string& where);

/// Cells that an interrupted comparison has left, or an earlier one of the same tables.
class SavedCells {
 public:
  SavedCells() = default;
  /// A DataError that names `where` if it is no comparison, or not one of these tables by this version of fansite.
  SavedCells(std::string_view json, const std::string& where, const ComparedTables& tables,
             const CompareParams& params);
  /// Those that failed are tried again, and those that ran out of time if they have more of it now. While this lives.
  KnownCells known() const&;
  KnownCells known() && = delete;

 private:
  struct Cell {
    std::uint64_t table = 0;
    std::string label;
    CompareCell cell;
  };
  std::vector<Cell> cells_;
  double limit_ = 0, new_limit_ = 0;
};

/// compare(), with what is done kept in a file, which holds a result that is not complete. It is gone on from if it is
/// there, else from `earlier`, a finished result, if there is one; "": neither. The caller removes the file when the
/// result is kept.
CompareResult compare_with_file(const ComparedTables& tables, const CompareParams& params, const std::string& file,
                                const std::string& earlier, Progress& progress, CompareWatcher& watcher);

}  // namespace fansite
