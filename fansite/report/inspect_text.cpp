// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/inspect_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/text.h"

namespace fansite {
namespace {

std::string counted(long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// ---- Text of a fixed width ------------------------------------------------------------------------------------------

constexpr std::size_t kLine = 80;

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(utf8_character(text), 1));
  return count;
}

// At most `width` characters, with … in place of the middle: both ends of a long name tell it from others.
std::string shortened(std::string_view text, std::size_t width) {
  std::string clean;  // as excerpt() has it, of any length
  for (std::size_t length; !text.empty(); text.remove_prefix(std::max<std::size_t>(length, 1))) {
    length = utf8_character(text);
    clean += excerpt(text.substr(0, std::max<std::size_t>(length, 1)));
  }
  const std::size_t count = characters(clean);
  if (count <= width) return clean;
  const std::size_t before = width / 2, after = width - before - 1;
  std::string shown;
  std::string_view rest = clean;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = utf8_character(rest);
    if (i < before || i >= count - after) shown += rest.substr(0, length);
    if (i == before) shown += "…";
    rest.remove_prefix(length);
  }
  return shown;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, characters(text)), ' ');
}

// Lines of whole words under a first one, indented alike.
std::string wrapped(const std::string& sentence, const std::string& first) {
  const std::string indent(characters(first), ' ');
  std::string text, line = first;
  std::size_t words = 0;
  for (std::size_t start = 0; start < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', start), sentence.size());
    const std::string word = sentence.substr(start, end - start);
    if (words > 0 && characters(line) + 1 + characters(word) > kLine) {
      text += line + "\n";
      line = indent;
      words = 0;
    }
    line += (words++ > 0 ? " " : "") + word;
    start = end + 1;
  }
  return text + line + "\n";
}

// ---- The table ------------------------------------------------------------------------------------------------------

std::string share_text(double share) {
  if (share == 0) return "-";
  if (share == 1) return "all";
  return share < 0.001 ? "<0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

// The range of numbers, or the first labels.
std::string values_text(const ColumnSummary& column, std::size_t width) {
  if (column.kind != ColumnKind::nominal) {
    return std::isnan(column.least) ? "" : fmt::format("{:.6g} … {:.6g}", column.least, column.most);
  }
  std::string list;
  for (std::size_t i = 0; i < column.labels.size(); ++i) {
    const std::string label = shortened(column.labels[i], 16);
    const std::string more = fmt::format("{}{}", i == 0 ? "" : ", ", label);
    if (characters(list) + characters(more) + 3 > width) return list + ", …";
    list += more;
  }
  return list;
}

}  // namespace

std::string to_text(const TableSummary& summary) {
  std::string text = fmt::format("{} × {}", counted(static_cast<long>(summary.rows), "row"),
                                 counted(static_cast<long>(summary.columns.size()), "column"));
  if (summary.dropped_rows > 0) text += fmt::format(", {} left out", summary.dropped_rows);
  if (summary.incomplete_rows > 0) text += fmt::format(", {} with missing cells", summary.incomplete_rows);
  text += "\n";
  if (!summary.roles.weight.empty()) {
    text += wrapped(fmt::format("weighted by '{}': as many as {:.1f} rows of the same weight",
                                excerpt(summary.roles.weight), summary.effective_rows),
                    "");
  }
  if (!summary.roles.group.empty()) {
    text += wrapped(fmt::format("{} by '{}'", counted(summary.groups, "group"), excerpt(summary.roles.group)), "");
  }
  if (!summary.roles.drop.empty()) {
    text += wrapped(fmt::format("without {}, as asked for", quoted_list(summary.roles.drop)), "");
  }
  if (!summary.roles.only.empty()) text += wrapped("without the columns that were not asked for", "");
  std::size_t name_width = 6;
  constexpr std::size_t kWidestName = 24;
  for (const ColumnSummary& column : summary.columns) {
    name_width = std::max(name_width, std::min(kWidestName, characters(shortened(column.name, kWidestName))));
  }
  const std::size_t rest = kLine - (name_width + 2 + 11 + 8 + 2 + 8 + 2);
  text += fmt::format("\n{} {:<11}{:>8}  {:>8}  {}\n", padded("column", name_width + 1), "kind", "distinct", "missing",
                      "values");
  for (const ColumnSummary& column : summary.columns) {
    // A star: declared, by the user or by text in the file.
    text += fmt::format("{} {:<11}{:>8}  {:>8}  {}\n", padded(shortened(column.name, name_width), name_width + 1),
                        fmt::format("{}{}", name(column.kind), column.declared ? "*" : ""), column.distinct,
                        share_text(column.missing), values_text(column, rest));
    if (!column.treatment.empty() && (!column.takes_part || column.context))
      text += wrapped(column.treatment, "    → ");
  }
  const bool starred =
      std::any_of(summary.columns.begin(), summary.columns.end(), [](const auto& column) { return column.declared; });
  if (starred) text += "* declared, or text; other kinds are recognised by the values\n";
  if (!summary.findings.empty()) text += "\nFindings\n";
  for (const Finding& finding : summary.findings) {
    const std::size_t after = finding.message.find("] ");  // the operation is clear here
    text +=
        wrapped(finding.message.substr(after == std::string::npos ? 0 : after + 2), finding.fatal ? "  ! " : "  - ");
  }
  text += "\nWhat the values cannot tell\n";
  for (const std::string& sentence : summary.assumptions) text += wrapped(sentence, "  - ");
  return text;
}

}  // namespace fansite
