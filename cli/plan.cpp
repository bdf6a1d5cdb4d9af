// SPDX-License-Identifier: Apache-2.0
//
// fansite plan: what fansite mb would take with the same options.
#include "fansite/run/plan.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/boundaries_options.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/progress_bar.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/version.h"

namespace fansite::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions : CommonOptions {
  BoundariesOptions boundaries;
  std::string out;
  bool json = false;
};

std::string to_json(const Plan& plan) {
  Json out;
  out["format"] = "fansite.plan/1";
  out["version"] = FANSITE_VERSION;
  out["variables"] = plan.variables;
  out["rows"] = plan.rows;
  out["estimator"] = name(plan.estimator);
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

std::string in_words(const Plan& plan) {
  std::string text = fmt::format("{} rows × {} variables, {} estimator, {}\n", plan.rows, plan.variables,
                                 name(plan.estimator), counted(plan.threads, "thread"));
  for (const PlannedPhase& phase : plan.phases) {
    text += fmt::format("  {:<10} {:>11}  {}\n", phase.name, duration_text(phase.seconds), phase.what);
  }
  const double total = plan.total_seconds();
  text += fmt::format("  {:<10} {:>11}  between {} and {} if nothing else runs here\n", "total", duration_text(total),
                      duration_text(total / Plan::kWithin), duration_text(total * Plan::kWithin));
  return text + fmt::format("  {:<10} {:>8.0f} MB\n", "memory", plan.peak_memory_mb);
}

void run(PlanOptions& options) {
  Stopwatch watch;
  const BoundariesParams params = options.boundaries.parsed();

  ProgressBar progress(options);
  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.boundaries.table.load(options, progress);
  const Knowledge knowledge = options.boundaries.load_knowledge(data);
  const double reading = watch.seconds();
  Plan plan = fansite::plan(data, knowledge, params, progress);
  plan.phases.insert(plan.phases.begin(), {"reading", reading, "measured"});
  for (const std::string& warning : plan.warnings) say(options, "warning: " + warning);
  output.write(options.json || !options.out.empty() ? to_json(plan) : in_words(plan));
  say(options, fmt::format("planned in {:.1f} s", watch.seconds()));
  say_written(options, options.out);
}

}  // namespace

void add_plan(CLI::App& app) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "time and memory that mb would take with the same options");
  options->boundaries.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_option("--out", options->out, "JSON file; default: lines on standard output");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
