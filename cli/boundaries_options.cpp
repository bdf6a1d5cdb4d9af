// SPDX-License-Identifier: Apache-2.0
#include "cli/boundaries_options.h"

#include <filesystem>

#include "cli/offers.h"

namespace fansite::cli {

void BoundaryMethodOptions::add_to(CLI::App& command, const std::string& option,
                                   const std::vector<std::string>& left_out) {
  const MethodList<BoundaryMethod>& methods = boundary_methods();
  choice_ =
      command
          .add_option(option, method_, "how boundaries are found: " + either(methods.names()) + " (fansite methods)")
          ->capture_default_str();
  offer(choice_, methods.names());
  options_.add(command, methods, left_out);
}

BoundariesParams BoundaryMethodOptions::parsed() const {
  const MethodList<BoundaryMethod>& methods = boundary_methods();
  if (methods.find(method_) == nullptr) throw_unknown(choice_->get_lnames().front(), method_, methods.names());
  BoundariesParams params(method_);
  options_.apply(method_, params.options);
  params.options.validate();
  return params;
}

void BoundaryMethodOptions::require_none(const std::string& why) const {
  const std::string first = choice_->count() > 0 ? choice_->get_lnames().front() : options_.first_given();
  if (!first.empty()) throw ParameterError(first, why + ", so none are found; leave it out");
}

void RunOptions::add_to(CLI::App& command, bool short_work) {
  options_.add(command, RunParams(), short_work ? std::vector<std::string>{"time_budget"} : std::vector<std::string>());
  if (!short_work) {
    command.add_flag("--resume", resume,
                     "go on from what an interrupted run has left in its checkpoint, by default OUT.checkpoint");
  }
}

RunParams RunOptions::parsed(bool resumable, const std::string& out, const CommonOptions& common) const {
  RunParams run;
  options_.apply(run);
  if (!resumable) return run;
  const bool device = std::filesystem::exists(out) && !std::filesystem::is_regular_file(out);  // /dev/null, a pipe
  const bool to_file = !out.empty() && out != "-" && !device;
  check(!resume || to_file || !run.checkpoint.empty(),
        "[--resume] there is nothing to go on from without --out or --checkpoint");
  const bool named = !run.checkpoint.empty();
  if (!named && !to_file) return run;
  if (!named) run.checkpoint = out + ".checkpoint";
  const bool left = CheckpointFiles(run.checkpoint).any();
  check(resume || named || !left,
        "[--out] {} is left from an interrupted run; add --resume to go on from there, or delete it", run.checkpoint);
  if (resume && !left) {
    say(common, fmt::format("nothing to resume: there is no {}{}; starting from the beginning", run.checkpoint,
                            to_file && std::filesystem::exists(out) ? ", and " + out + " is there already" : ""));
  }
  return run;
}

void KnowledgeOption::add_to(CLI::App& command) {
  command
      .add_option("--knowledge", path,
                  "a file of edges that must or cannot be, tiers, roots, sinks, members (docs/knowledge.md)")
      ->type_name(kFile);
}

Knowledge KnowledgeOption::load(const Dataset& data) const {
  return path.empty() ? Knowledge() : load_knowledge(path, data.names);
}

}  // namespace fansite::cli
