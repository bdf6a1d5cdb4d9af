// SPDX-License-Identifier: Apache-2.0
//
// fansite mb: the Markov boundary of every variable of a table.
#include <fmt/core.h>

#include <algorithm>

#include "cli/boundaries_options.h"
#include "cli/command.h"
#include "cli/offers.h"
#include "cli/progress_bar.h"
#include "fansite/base/run_lock.h"
#include "fansite/base/text.h"
#include "fansite/report/json.h"

namespace fansite::cli {
namespace {

struct MbOptions : CommonOptions {
  TableOptions table;
  std::vector<std::string> targets;
  BoundaryMethodOptions method;
  KnowledgeOption knowledge;
  RunOptions run;
  std::string out;
};

constexpr std::size_t kShownTargets = 12;
constexpr std::size_t kShownMembers = 6;

// The first boundaries as lines for people; the JSON has them all.
void show(const CommonOptions& options, const BoundariesResult& result) {
  const auto& boundaries = result.found.boundaries;
  std::size_t width = 0;
  const std::size_t shown = std::min(kShownTargets, boundaries.size());
  const auto name_of = [&](int variable) { return excerpt(result.names[static_cast<std::size_t>(variable)]); };
  for (std::size_t b = 0; b < shown; ++b) width = std::max(width, name_of(boundaries[b].target).size());
  for (std::size_t b = 0; b < shown; ++b) {
    const auto& members = boundaries[b].members;
    std::string line = fmt::format("  {:<{}} ", name_of(boundaries[b].target), width);
    for (std::size_t m = 0; m < std::min(kShownMembers, members.size()); ++m) {
      line += fmt::format(" {} {:.3f}", name_of(members[m].variable), members[m].gain);
    }
    if (members.empty()) line += " (empty)";
    if (members.size() > kShownMembers) line += fmt::format(" and {} more", members.size() - kShownMembers);
    say(options, line);
  }
  if (boundaries.size() > shown) say(options, fmt::format("  … and {} more", boundaries.size() - shown));
}

void run(MbOptions& options) {
  const Stopwatch watch;
  BoundariesParams params = options.method.parsed();
  params.targets = options.targets;
  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  const RunLock lock(options.out);
  params.run = options.run.parsed(boundary_methods(), params.method, options.out, options);

  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const Knowledge knowledge = options.knowledge.load(data);
  const Context context(data, knowledge, params.run, progress);
  const BoundariesResult result = resumable(params.run.checkpoint, [&] { return markov_boundaries(context, params); });
  progress.end();
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);

  const RunTiming timing = timing_of(watch);
  resumable(params.run.checkpoint, [&] { output.write(to_json(result, timing)); });
  if (result.unfinished.empty()) context.remove_checkpoints();  // not before: a full disk must not cost the work

  std::size_t members = 0;
  for (const Boundary& boundary : result.found.boundaries) members += boundary.members.size();
  const auto targets = static_cast<double>(result.found.boundaries.size());
  say(options,
      fmt::format("{} of {} rows × {} variables in {:.2f} s; mean size {:.2f}; members and their gains in nats:",
                  result.found.boundaries.size() == 1 ? std::string("1 boundary")
                                                      : fmt::format("{} boundaries", result.found.boundaries.size()),
                  data.rows(), data.variables(), timing.total_seconds, static_cast<double>(members) / targets));
  show(options, result);
  say(options, fmt::format("{}; {:.0f} MB", result.how.empty() ? params.method : result.how, timing.peak_memory_mb));
  say_unfinished(options, result.unfinished, params.run.checkpoint);
  say_written(options, options.out);
}

}  // namespace

void add_mb(CLI::App& app) {
  const auto options = std::make_shared<MbOptions>();
  CLI::App* command = app.add_subcommand("mb", "find the Markov boundary of every variable");
  options->table.add_to(*command);
  command->add_option("--target", options->targets, "a variable to find the boundary of (repeatable); default: all")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  options->method.add_to(*command, "--method");
  options->knowledge.add_to(*command);
  options->run.add_to(*command);
  command->add_option("--out", options->out, "JSON file; default: standard output")->type_name(kFile);
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
