// SPDX-License-Identifier: Apache-2.0
//
// The settings of a run as its result's JSON holds them, and back: a run can be repeated from its result. The fields
// are those of the descriptions (fansite/base/parameters.h).
#pragma once

#include "fansite/report/detail/json_text.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "fansite/run/entropy_model.h"

namespace fansite::report {

Json to_json(const Value& value);
/// Every field by its name.
void add_parameters(const Parameters& parameters, Json& settings);
/// What was said of the table's columns, under "table"; nothing where nothing was.
void add_roles(const TableRoles& roles, Json& settings);

Json settings_json(const BoundariesResult& run);
Json settings_json(const CausalGraphResult& run);
Json settings_json(const InformationResult& run);

/// The parameters that such settings came from. They throw nlohmann's exceptions for fields that are missing or of the
/// wrong type, and a UsageError for a method that there is not and values out of range.
BoundariesParams boundaries_params(const Json& settings);
CausalGraphParams causal_graph_params(const Json& settings);
EntropyParams entropy_params(const Json& settings);
TableRoles roles_in(const Json& settings);
Knowledge knowledge_in(const Json& settings, const std::vector<std::string>& names);

}  // namespace fansite::report
