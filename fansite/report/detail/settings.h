// SPDX-License-Identifier: Apache-2.0
//
// The settings of a run as its result's JSON holds them, and back: a run can be repeated from its result.
#pragma once

#include "fansite/report/detail/json_text.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "fansite/run/information.h"

namespace fansite::report {

/// Those that were in force: zeros that stand for defaults are filled in.
Json settings_of(const BoundariesResult& run);
Json settings_of(const CausalGraphResult& run);
Json settings_of(const InformationResult& run);

/// The parameters that such settings came from. They throw nlohmann's exceptions for fields that are missing or of the
/// wrong type, and a UsageError for words that mean nothing.
BoundariesParams boundaries_params(const Json& settings);
CausalGraphParams causal_graph_params(const Json& settings);
InformationParams information_params(const Json& settings);
Knowledge knowledge_in(const Json& settings, const std::vector<std::string>& variables);

}  // namespace fansite::report
