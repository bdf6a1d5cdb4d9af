// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/methods_json.h"

#include "fansite/boundary/methods.h"
#include "fansite/causal/methods.h"
#include "fansite/entropy/estimators.h"
#include "fansite/report/detail/settings.h"
#include "fansite/simulate/simulate.h"

namespace fansite {
namespace {

using report::Json;

const char* type_name(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::flag:
      return "bool";
    case Parameter::Type::integer:
    case Parameter::Type::natural:
      return "int";
    case Parameter::Type::number:
      return "float";
    case Parameter::Type::duration:
      return "seconds";
    case Parameter::Type::numbers:
      return "list of float";
    case Parameter::Type::names:
      return "list of str";
    case Parameter::Type::choice:
    case Parameter::Type::text:
      break;
  }
  return "str";
}

Json parameters_json(const Parameters& parameters) {
  Json list = Json::array();
  for (const Description::Field& field : parameters.fields()) {
    Json entry;
    entry["name"] = field.name;
    entry["help"] = field.help;
    entry["type"] = type_name(field.type);
    entry["default"] = report::to_json(field.fallback);
    if (!field.choices.empty()) entry["choices"] = field.choices;
    if (!field.range.text().empty()) entry["range"] = field.range.text();
    entry["changes_answers"] = field.changes_answers;
    list.push_back(entry);
  }
  return list;
}

template <class Row>
Json list_json(const MethodList<Row>& methods) {
  Json list = Json::array();
  for (const Row& row : methods) {
    Json entry;
    entry["name"] = row.name;
    entry["summary"] = row.summary;
    entry["citation"] = row.citation;
    entry["capabilities"] = {{"needs_boundaries", row.can.needs_boundaries},
                             {"satisfies_knowledge", row.can.satisfies_knowledge},
                             {"resumable", row.can.resumable},
                             {"can_be_cut_short", row.can.can_be_cut_short},
                             {"handles_missing_cells", row.can.handles_missing_cells},
                             {"handles_context", row.can.handles_context},
                             {"handles_weights", row.can.handles_weights},
                             {"handles_groups", row.can.handles_groups},
                             {"keeps_table_order", row.can.keeps_table_order},
                             {"trains", row.can.trains},
                             {"column_kinds", row.can.column_kinds}};
    entry["parameters"] = parameters_json(row.parameters);
    list.push_back(entry);
  }
  return list;
}

}  // namespace

std::string methods_json() {
  Json root;
  root["boundary_methods"] = list_json(boundary_methods());
  root["graph_methods"] = list_json(graph_methods());
  root["entropy_estimators"] = list_json(entropy_estimators());
  root["run"] = parameters_json(RunParams());
  root["simulate"] = parameters_json(SimulateParams());
  return root.dump(1) + "\n";
}

}  // namespace fansite
