// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/dependent_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "fansite/base/error.h"
#include "fansite/base/parameters.h"

namespace fansite {
namespace {

// Nothing: as the table shows.
std::optional<Index> block_length(const std::string& text, const std::string& option) {
  if (text == "auto") return std::nullopt;
  if (text == "none") return 1;
  Index length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size() || length < 1) {
    throw ParameterError(option, fmt::format("'{}' is no length; use auto, none, or a number of rows", text));
  }
  return length;
}

}  // namespace

void check_block(const std::string& asked, const std::string& option) { block_length(asked, option); }

std::optional<Context> with_dependence(const Context& context, const std::string& asked, const std::string& option) {
  const std::optional<Index> said = block_length(asked, option);
  if (!context.data().groups.empty()) {
    check(!said || *said == 1, "[{}] rows are in groups already (--group): leave one of them out", option);
    return std::nullopt;
  }
  const bool none = said && *said == 1;
  if (none) return std::nullopt;
  const RowDependence& rows = context.row_dependence();
  std::vector<int> groups = groups_of(rows, said ? *said : rows.block);
  const double worth = said ? 1.0 : rows.dependent() ? rows.worth_of_block() : rows.worth();
  if (groups.empty() && worth == 1) return std::nullopt;
  if (!groups.empty() && *std::max_element(groups.begin(), groups.end()) == 0) {
    throw ParameterError(
        option, fmt::format("all {} rows are one block, which leaves nothing to compare it with; use {} at most",
                            groups.size(), groups.size() / 2));
  }
  return context.with_dependent_rows(std::move(groups), worth);
}

std::string dependence_sentence(const Context& context, const Context& dependent, const std::string& asked,
                                const std::string& operation, const std::string& where) {
  const double worth = dependent.data().row_worth;
  if (asked != "auto" || context.row_dependence().dependent()) {
    const std::vector<int>& groups = dependent.data().groups;
    return fmt::format("[{}] rows are left out in {} blocks, which count as {} each in {}; --block none does not",
                       operation, *std::max_element(groups.begin(), groups.end()) + 1,
                       worth < 1 ? fmt::format("{:.1f} rows", worth) : "one row", where);
  }
  if (worth == 1) return "";
  return fmt::format(
      "[{}] each row counts as {:.2f} independent ones in {}; --block none counts it as one, --block LENGTH takes so "
      "many in a row together",
      operation, worth, where);
}

}  // namespace fansite
