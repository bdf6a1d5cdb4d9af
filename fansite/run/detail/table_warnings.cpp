// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/detail/table_warnings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/special.h"

namespace fansite {
namespace {

double entropy_of_levels(const Eigen::Ref<const Vector>& values) {
  std::vector<double> cells;
  for (const double value : values) {
    if (!std::isnan(value)) cells.push_back(value);
  }
  std::sort(cells.begin(), cells.end());
  const auto all = static_cast<double>(cells.size());
  double entropy = 0;
  for (auto from = cells.begin(); from != cells.end();) {
    const auto to = std::upper_bound(from, cells.end(), *from);
    const double share = static_cast<double>(to - from) / all;
    entropy -= share * std::log(share);
    from = to;
  }
  return entropy;
}

}  // namespace

std::string independence_warning(const Context& context, const Method& method) {
  const RowDependence& rows = context.row_dependence();
  const bool copied = rows.copies > 0 || rows.near_copies > 0;
  if (method.can.weighs_rows || !(copied || rows.worth() < 1)) return "";
  return fmt::format(
      "[rows] {} takes rows as independent all the same: its p-values are too small, and much of what it finds may not "
      "be there{}",
      method.name, method.can.handles_groups ? ": --group NAME, if rows belong together" : "");
}

std::vector<std::string> table_warnings(const Context& context, const Method& method) {
  std::vector<std::string> sentences = context.warnings();
  if (std::string warning = independence_warning(context, method); !warning.empty()) {
    sentences.push_back(std::move(warning));
  }
  return sentences;
}

double independent_rows(const Context& context) {
  const std::vector<int>& groups = context.data().groups;
  if (!groups.empty()) return *std::max_element(groups.begin(), groups.end()) + 1;
  return std::min(context.row_dependence().effective_rows(), static_cast<double>(context.data().rows()));
}

// A partial correlation r has the statistic √N r, about normal, and passes the first step of Benjamini–Hochberg at
// level/pairs.
std::string few_rows_warning(const Context& context, const std::string& operation) {
  constexpr double kFew = 100, kLevel = 0.05, kPower = 0.8;
  const double rows = independent_rows(context), columns = context.learnable_columns();
  if (rows >= kFew || columns < 2) return "";
  const double pairs = columns * (columns - 1) / 2;
  const double seen = normal_quantile(1 - kLevel / (2 * pairs)) + normal_quantile(kPower);
  const double correlation = std::tanh(seen / std::sqrt(std::max(rows - 3, 1.0)));  // Fisher's z
  return fmt::format(
      "[{}] {:.0f} independent rows show strong relations only: a partial correlation of {:.2f} ({:.2g} nats) "
      "is found with a chance of 80 %, weaker ones less often, so a missing {} says little",
      operation, rows, correlation, -0.5 * std::log1p(-correlation * correlation),
      operation == "dag" ? "edge" : "member");
}

std::vector<double> most_told(const Context& context) {
  std::vector<double> most;
  for (int column = 0; column < context.data().variables(); ++column) {
    const ColumnKind kind = context.facts().kinds[static_cast<std::size_t>(column)];
    const bool levels = kind == ColumnKind::ordered || kind == ColumnKind::nominal;
    most.push_back(levels ? entropy_of_levels(context.data().values.col(column))
                          : std::numeric_limits<double>::infinity());
  }
  return most;
}

}  // namespace fansite
