// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/summary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/row_dependence.h"

namespace fansite {
namespace {

/// What will be done about a column.
std::string treatment(const ColumnSummary& column, const Dataset& data, int index, int original) {
  if (column.missing == 1) return "left out: it has no cells";
  if (column.distinct == 1) return "left out: it is constant";
  if (original >= 0) {
    return fmt::format("left out: a copy of '{}', whose boundary it shares",
                       excerpt(data.names[static_cast<std::size_t>(original)]));
  }
  std::string words = column.context ? "conditioned on everywhere" : "";
  const auto add = [&](const std::string& more) { words += fmt::format("{}{}", words.empty() ? "" : "; ", more); };
  switch (column.kind) {
    case ColumnKind::continuous:
      break;
    case ColumnKind::ordered:
      add("its values count by their order");
      break;
    case ColumnKind::atoms:
      add("values that repeat count as such, others as numbers");
      break;
    case ColumnKind::nominal: {
      add("its levels have no order");
      const std::size_t rare = nominal_levels(data, index).pooled.size();
      if (rare > 0) add(fmt::format("{} rare ones are one together", rare));
      break;
    }
  }
  return words;
}

ColumnSummary summarise_column(const Dataset& data, const TableFacts& facts, int j) {
  const auto at = static_cast<std::size_t>(j);
  ColumnSummary column;
  column.name = data.names[at];
  column.kind = facts.kinds[at];
  if (!data.columns.empty()) {
    column.declared = data.columns[at].kind.has_value();
    column.context = data.columns[at].context;
    column.labels = data.columns[at].levels;
  }
  std::vector<double> cells;
  for (const double value : data.values.col(j)) {
    if (!std::isnan(value)) cells.push_back(value + 0.0);  // −0 and 0 are equal
  }
  column.missing = data.rows() == 0 ? 0 : 1 - static_cast<double>(cells.size()) / static_cast<double>(data.rows());
  std::sort(cells.begin(), cells.end());
  const bool range = !cells.empty() && column.kind != ColumnKind::nominal;
  column.least = range ? cells.front() : std::numeric_limits<double>::quiet_NaN();
  column.most = range ? cells.back() : std::numeric_limits<double>::quiet_NaN();
  column.distinct = static_cast<std::size_t>(std::unique(cells.begin(), cells.end()) - cells.begin());
  column.takes_part = facts.takes_part[at] != 0;
  column.treatment = treatment(column, data, j, facts.copy_of[at]);
  return column;
}

/// Few whole numbers in a column may be codes: nothing in them tells whether 3 is more than 2.
bool may_be_codes(const ColumnSummary& column, const Eigen::Ref<const Vector>& values) {
  constexpr std::size_t kMostCodes = 20;
  if (column.declared || column.kind != ColumnKind::ordered || column.distinct < 3 || column.distinct > kMostCodes) {
    return false;
  }
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isnan(value) || value == std::floor(value); });
}

/// What is seen of their dependence, or what has to be supposed.
std::vector<std::string> about_rows(const Dataset& data, const TableFacts& facts) {
  if (!data.groups.empty()) return {};
  RowDependence rows;
  if (std::count(facts.takes_part.begin(), facts.takes_part.end(), 1) >= 2) {
    rows = row_dependence(data, facts);
  }
  std::vector<std::string> sentences;
  for (const std::string& sentence : rows.sentences(data.names)) {
    std::string words = sentence.substr(sentence.find(']') + 2);
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    sentences.push_back(std::move(words));
  }
  if (!rows.dependent()) {
    sentences.emplace_back(
        "Rows are taken to be independent: if several are of one patient, litter or day, --group NAME.");
  }
  return sentences;
}

std::vector<std::string> assumptions(const Dataset& data, const TableFacts& facts, const TableSummary& summary) {
  std::vector<std::string> sentences;
  std::vector<std::string> codes;
  bool context = false;
  for (int j = 0; j < data.variables(); ++j) {
    const ColumnSummary& column = summary.columns[static_cast<std::size_t>(j)];
    context = context || column.context;
    if (may_be_codes(column, data.values.col(j))) codes.push_back(column.name);
  }
  if (!codes.empty()) {
    sentences.push_back(
        fmt::format("{} hold{} few whole numbers, taken to be in order: if they are codes, --kind "
                    "NAME=nominal.",
                    quoted_list(codes), codes.size() == 1 ? "s" : ""));
  }
  const std::vector<std::string> of_rows = about_rows(data, facts);
  sentences.insert(sentences.end(), of_rows.begin(), of_rows.end());
  if (data.weights.size() == 0) {
    sentences.emplace_back("All rows count alike: if they stand for different numbers of others, --weight NAME.");
  }
  if (!context) {
    sentences.emplace_back(
        "No column is context: for a batch, site or time that may act on all others, --context NAME.");
  }
  return sentences;
}

}  // namespace

TableSummary summarise(const Dataset& data, const TableFacts& facts) {
  TableSummary summary;
  summary.rows = data.rows();
  summary.dropped_rows = data.dropped_rows;
  const std::vector<char> incomplete = incomplete_rows(data.values);
  summary.incomplete_rows = std::count(incomplete.begin(), incomplete.end(), 1);
  summary.columns.resize(data.names.size());
  parallel_for(data.variables(), [&](std::ptrdiff_t j) {
    summary.columns[static_cast<std::size_t>(j)] = summarise_column(data, facts, static_cast<int>(j));
  });
  summary.roles = data.roles;
  if (!data.groups.empty()) summary.groups = 1 + *std::max_element(data.groups.begin(), data.groups.end());
  const double sum = data.weights.sum();
  summary.effective_rows =
      data.weights.size() == 0 ? static_cast<double>(data.rows()) : sum * sum / data.weights.squaredNorm();
  summary.findings = facts.findings;
  summary.assumptions = assumptions(data, facts, summary);
  return summary;
}

}  // namespace fansite
