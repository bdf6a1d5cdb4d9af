// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/inspect_json.h"

#include <algorithm>

#include "fansite/report/detail/json_text.h"

namespace fansite {
namespace {

using report::Json;
using report::Lines;
using report::number;
using report::text;

const char* kind_name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::missing:
      return "missing";
    case Finding::Kind::missing_depends:
      return "missing_depends";
    case Finding::Kind::non_finite:
      return "non_finite";
    case Finding::Kind::constant:
      return "constant";
    case Finding::Kind::duplicate:
      return "duplicate";
    case Finding::Kind::near_duplicate:
      return "near_duplicate";
    case Finding::Kind::identifier:
      return "identifier";
    case Finding::Kind::few_rows:
      return "few_rows";
    case Finding::Kind::wild:
      return "wild";
    case Finding::Kind::numeric_header:
      break;
  }
  return "numeric_header";
}

Json to_json(const ColumnSummary& column) {
  Json json;
  json["name"] = column.name;
  json["kind"] = name(column.kind);
  json["declared"] = column.declared;
  json["context"] = column.context;
  json["distinct"] = column.distinct;
  if (!column.labels.empty()) json["labels"] = column.labels;
  json["missing"] = column.missing;
  json["range"] = {number(column.least), number(column.most)};
  json["takes_part"] = column.takes_part;
  json["treatment"] = column.treatment;
  return json;
}

}  // namespace

std::string to_json(const TableSummary& summary) {
  Lines lines;
  lines.field("format", text(kInspectFormat));
  lines.field("version", text(FANSITE_VERSION));
  lines.field("rows", std::to_string(summary.rows));
  lines.field("dropped_rows", std::to_string(summary.dropped_rows));
  lines.field("incomplete_rows", std::to_string(summary.incomplete_rows));
  lines.field("weight", summary.roles.weight.empty() ? "null" : text(summary.roles.weight));
  lines.field("effective_rows", text(number(summary.effective_rows)));
  lines.field("group", summary.roles.group.empty() ? "null" : text(summary.roles.group));
  lines.field("groups", std::to_string(summary.groups));
  std::vector<std::string> columns, findings, assumptions;
  for (const ColumnSummary& column : summary.columns) columns.push_back(text(to_json(column)));
  for (const Finding& finding : summary.findings) {
    Json json;
    json["kind"] = kind_name(finding.kind);
    json["columns"] = Json::array();
    for (const int column : finding.columns) {
      json["columns"].push_back(summary.columns[static_cast<std::size_t>(column)].name);
    }
    json["fatal"] = finding.fatal;
    json["message"] = finding.message;
    findings.push_back(text(json));
  }
  for (const std::string& sentence : summary.assumptions) assumptions.push_back(text(sentence));
  lines.list("columns", columns);
  lines.list("findings", findings);
  lines.list("assumptions", assumptions);
  return lines.text();
}

}  // namespace fansite
