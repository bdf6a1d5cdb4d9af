// SPDX-License-Identifier: Apache-2.0
//
// Private. What is odd about a table, whatever the method, and what a method makes of it.
#pragma once

#include <string>
#include <vector>

#include "fansite/context/context.h"

namespace fansite {

/// That this method takes rows as independent where they are not; "" if it does not, or they are.
std::string independence_warning(const Context& context, const Method& method);

/// One sentence each: the findings, the dependence of rows, and what the method makes of it.
std::vector<std::string> table_warnings(const Context& context, const Method& method);

/// How many of the rows are independent.
double independent_rows(const Context& context);

/// What could be seen at all in fewer than 100 independent rows; "" of more. `operation` as in "[mb] …".
std::string few_rows_warning(const Context& context, const std::string& operation);

/// For each column the most, in nats, that anything can tell of it, or it of anything: the entropy of its levels;
/// infinite for a column of numbers.
std::vector<double> most_told(const Context& context);

}  // namespace fansite
