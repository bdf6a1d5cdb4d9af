// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/graph_table.h"

#include <fmt/core.h>

#include "fansite/base/error.h"
#include "fansite/base/hash.h"
#include "fansite/table/levels.h"

namespace fansite::causal {

void GraphTable::check() const {
  fansite::check(kinds.empty() || static_cast<Index>(kinds.size()) == values.cols(),
                 "[dag] kinds of {} columns for a table of {}", kinds.size(), values.cols());
  const bool of_all = (rows.weights.size() == 0 || rows.weights.size() == values.rows()) &&
                      (rows.groups.empty() || static_cast<Index>(rows.groups.size()) == values.rows());
  fansite::check(of_all, "[dag] {} weights and {} groups for {} rows", rows.weights.size(), rows.groups.size(),
                 values.rows());
  for (const Matrix& draw : draws) {
    fansite::check(draw.rows() == values.rows() && draw.cols() == values.cols() && draw.allFinite(),
                   "[dag] a table with its missing cells drawn must have {} rows, {} columns and every cell",
                   values.rows(), values.cols());
  }
}

std::string GraphTable::identity(int count) const {
  std::string words = rows.identity();
  for (Index j = 0; j < values.cols(); ++j) {
    if (const auto levels = levels_of(values.col(j), kind(j))) {
      words += fmt::format(", column {} {}", j, levels->ordered ? "ordered" : "nominal");
    }
  }
  if (!has_missing()) return words;
  if (draws.empty()) return fmt::format("{}, {} draws", words, count);
  for (const Matrix& draw : draws) words += fmt::format(", draw {:016x}", hash_of(MatrixView(draw)));
  return words;
}

}  // namespace fansite::causal
