// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "fansite/base/version.h"
#include "fansite/report/json.h"

namespace fansite {

std::string to_json(const Plan& plan) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["format"] = kPlanFormat;
  out["version"] = FANSITE_VERSION;
  out["variables"] = plan.variables;
  out["rows"] = plan.rows;
  out["method"] = plan.method;
  out["estimator"] = plan.estimator;
  out["threads"] = plan.threads;
  out["total_seconds"] = plan.total_seconds();
  out["within"] = Plan::kWithin;
  out["peak_memory_mb"] = plan.peak_memory_mb;
  out["networks"] = plan.networks;
  out["training_steps"] = plan.training_steps;
  out["boundary_size"] = plan.boundary_size;
  out["tested_pairs"] = plan.tested_pairs;
  out["evaluations"] = plan.evaluations;
  out["phases"] = Json::array();
  for (const PlannedPhase& phase : plan.phases) {
    out["phases"].push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"what", phase.what}});
  }
  out["warnings"] = plan.warnings;
  out["plan_seconds"] = plan.seconds;
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fansite
