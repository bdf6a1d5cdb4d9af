// SPDX-License-Identifier: Apache-2.0
//
// What a table is, column by column, and what will be done about it: for people, before any long work.
#pragma once

#include <string>
#include <vector>

#include "fansite/table/facts.h"

namespace fansite {

struct ColumnSummary {
  std::string name;
  ColumnKind kind = ColumnKind::continuous;
  bool declared = false;            ///< by the user or by the file, which holds text; else recognised
  bool context = false;             ///< conditioned on everywhere
  std::size_t distinct = 0;         ///< values that differ
  std::vector<std::string> labels;  ///< of a nominal column
  double missing = 0;               ///< share of the rows
  double least = 0, most = 0;       ///< NaN for a nominal column, and one without cells
  bool takes_part = true;           ///< something can be learnt of it
  std::string treatment;            ///< what will be done about it, in a few words
};

struct TableSummary {
  Index rows = 0;
  Index dropped_rows = 0;     ///< left out because of missing cells
  Index incomplete_rows = 0;  ///< with a missing cell
  std::vector<ColumnSummary> columns;
  TableRoles roles;                      ///< as declared
  int groups = 0;                        ///< of rows; 0: every row for itself
  double effective_rows = 0;             ///< that weights leave, (Σw)²/Σw²
  std::vector<Finding> findings;         ///< oddities
  std::vector<std::string> assumptions;  ///< what the values cannot tell, one sentence each with the option that can
};

TableSummary summarise(const Dataset& data, const TableFacts& facts);

}  // namespace fansite
