// SPDX-License-Identifier: Apache-2.0
//
// Results as one self-contained HTML page, to be opened in any browser (docs/report.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fansite {

/// A result as it was written, and where it came from, for messages.
struct ResultText {
  std::string_view json;
  std::string where;
};

/// The page of boundaries, a graph, a comparison of methods and a plan: any of them, one of each at most, in any order.
/// A DataError if a text is no result of fansite or two are of different tables; a UsageError if two are of one kind.
/// The page loads nothing from anywhere and shows names of any characters as text. Figures in it have six digits. An
/// empty title is made up.
std::string to_html(const std::vector<ResultText>& results, std::string_view title = {});

}  // namespace fansite
