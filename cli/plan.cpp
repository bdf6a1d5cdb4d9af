// SPDX-License-Identifier: Apache-2.0
//
// fansite plan: what fansite mb would take with the same options.
#include <fmt/core.h>

#include "cli/boundaries_options.h"
#include "cli/command.h"
#include "cli/offers.h"
#include "cli/progress_bar.h"
#include "fansite/base/duration.h"
#include "fansite/report/json.h"

namespace fansite::cli {
namespace {

struct PlanOptions : CommonOptions {
  TableOptions table;
  std::vector<std::string> targets;
  BoundaryMethodOptions method;
  KnowledgeOption knowledge;
  RunOptions run;
  std::string out;
  bool json = false;
};

std::string in_words(const Plan& plan) {
  std::string text = fmt::format("{} rows × {} variables, {} estimator, {}\n", plan.rows, plan.variables,
                                 plan.estimator, counted(plan.threads, "thread"));
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
  BoundariesParams params = options.method.parsed();
  params.targets = options.targets;
  params.run = options.run.parsed(boundary_methods(), params.method, "", options);

  ProgressBar progress(options);
  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const Knowledge knowledge = options.knowledge.load(data);
  const double reading = watch.seconds();
  Plan plan = fansite::plan(data, knowledge, params, progress);
  progress.end();
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
  options->table.add_to(*command);
  command->add_option("--target", options->targets, "a variable to find the boundary of (repeatable); default: all")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  options->method.add_to(*command, "--method");
  options->knowledge.add_to(*command);
  options->run.add_to(*command, true);
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_option("--out", options->out, "JSON file; default: lines on standard output");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
