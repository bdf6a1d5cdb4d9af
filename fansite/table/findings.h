// SPDX-License-Identifier: Apache-2.0
//
// What is odd about a table: missing and infinite cells, constant and empty columns, copies, row numbers, too few rows.
#pragma once

#include <string>
#include <vector>

#include "fansite/table/dataset.h"

namespace fansite {

/// Something about a table that its user should know.
struct Finding {
  enum class Kind {
    missing,          ///< cells; what cannot use them refuses the table
    missing_depends,  ///< where cells are missing depends on other columns
    non_finite,
    constant,  ///< or without any cell: nothing can be learnt of it
    duplicate,
    near_duplicate,
    identifier,  ///< counts the rows
    few_rows,
    numeric_header,
    wild  ///< cells that would decide alone; found by TableFacts, which knows the kinds of columns
  };
  Kind kind;
  std::vector<int> columns;  ///< duplicates: the first is the original
  std::string message;       ///< one sentence that names the columns and says what follows
  bool fatal = false;        ///< no answer is possible
};

/// Findings from the values and names alone, errors first. Missing cells are none in themselves: a column is constant,
/// or a copy, by the cells that it has, and copies lack the same ones.
std::vector<Finding> inspect(const Dataset& data);

/// Columns whose |correlation| is at least `threshold`, apart from the exact copies among the findings `known` already.
std::vector<Finding> near_duplicates(const Dataset& data, const Matrix& correlation, const std::vector<Finding>& known,
                                     double threshold = 0.99999);

/// Per column the earlier one that it repeats, or −1.
std::vector<int> copies(const std::vector<Finding>& findings, int columns);

/// Throws a DataError with the first fatal finding's sentence, if there is one.
void throw_if_fatal(const std::vector<Finding>& findings);

}  // namespace fansite
