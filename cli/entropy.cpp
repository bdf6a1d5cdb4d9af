// SPDX-License-Identifier: Apache-2.0
//
// fansite entropy: how uncertain a variable is, given others, and what each of them tells.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/boundaries_options.h"
#include "cli/command.h"
#include "cli/offers.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"
#include "fansite/base/run_lock.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/report/json.h"
#include "fansite/run/entropy_model.h"

namespace fansite::cli {
namespace {

struct EntropyOptions : CommonOptions {
  TableOptions table;
  std::string target;
  std::vector<std::string> given;  // names, or several with commas between
  std::string estimator = EntropyParams().estimator;
  std::string effort;
  CLI::Option* effort_option = nullptr;  // not given: the estimator's own parameters
  std::string block = EntropyParams().block;
  ParameterOptions parameters;
  RunOptions run;
  std::string out;
};

// "a,b" is the column of that name, if there is one, else a and b.
std::vector<std::string> split_names(const std::vector<std::string>& words, const Dataset& data) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (std::find(data.names.begin(), data.names.end(), word) != data.names.end()) {
      names.push_back(word);
      continue;
    }
    for (std::size_t start = 0; start <= word.size();) {
      const std::size_t end = std::min(word.find(',', start), word.size());
      names.push_back(word.substr(start, end - start));
      start = end + 1;
    }
  }
  return names;
}

std::string estimate_text(const EntropyEstimate& estimate) {
  if (std::isinf(estimate.value))
    return estimate.value < 0 ? "minus infinity, nothing is left open" : "all that there is";
  return fmt::format("{:.4f} ± {:.4f} nats", estimate.value, estimate.standard_error);
}

void show(const CommonOptions& options, const InformationResult& result) {
  const bool scores = !result.original_scale && std::isfinite(result.entropy.value);
  say(options, fmt::format("  entropy of {}: {}{}", excerpt(result.target), estimate_text(result.entropy),
                           scores ? ", of its normal scores" : ""));
  if (result.added.empty()) return;
  say(options, fmt::format("  given the {}: {}", result.added.size() == 1 ? "other" : "others",
                           estimate_text(result.conditional_entropy)));
  say(options,
      fmt::format("  so together they tell {}; each of them, beyond the others:", estimate_text(result.information)));
  std::size_t width = 0;
  for (const auto& added : result.added) width = std::max(width, excerpt(added.variable).size());
  for (const auto& added : result.added) {
    say(options, fmt::format("    {:<{}}  {}", excerpt(added.variable), width, estimate_text(added.information)));
  }
}

// What is given stands, whatever the effort.
void set_parameters(const EntropyOptions& options, EntropyParams& params) {
  options.parameters.apply(params.estimator, params.options);
  params.options.validate();
}

void run(EntropyOptions& options) {
  const Stopwatch watch;
  EntropyParams params(options.estimator);
  set_parameters(options, params);
  params.block = options.block;
  params.run = options.run.parsed(entropy_estimators(), params.estimator, "", options);
  const bool by_effort = options.effort_option->count() > 0;
  const Effort effort = by_effort ? parse<Effort>(options.effort, "effort") : Effort::normal;
  if (by_effort && !params.run.model.empty()) {
    throw ParameterError("effort", "a model is given, so nothing is trained; leave it out");
  }

  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  const RunLock lock(options.out);
  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const std::vector<std::string> given = split_names(options.given, data);
  entropy_query(data, options.target, given);  // a wrong name is known before the training
  if (by_effort) {
    params.options = options_for(params.estimator, effort, data);
    set_parameters(options, params);
  }
  const EntropyModel model(data, params, progress, true);
  const InformationResult result = model.information(options.target, given);
  progress.end();
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);

  const RunTiming timing = timing_of(watch);
  output.write(to_json(result, timing));
  model.remove_state();  // not before: a full disk must not cost the work
  std::string how = "closed form";
  if (result.training) {
    how = fmt::format("{} of {} steps in all", counted(result.training->networks, "network"), result.training->steps);
  }
  say(options, fmt::format("{} rows, {}, {:.2f} s:", data.rows(), how, timing.total_seconds));
  show(options, result);
  say_written(options, options.out);
}

}  // namespace

void add_entropy(CLI::App& app) {
  const auto options = std::make_shared<EntropyOptions>();
  CLI::App* command =
      app.add_subcommand("entropy", "the entropy of a variable given others, and what each of them tells");
  options->table.add_to(*command);
  command->add_option("--target", options->target, "the variable")->required()->type_name(kColumn);
  command->add_option("--given", options->given, "variables that are known: A,B,... (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  offer(command
            ->add_option("--estimator", options->estimator,
                         "of the entropies: " + either(entropy_estimators().names()) + " (fansite methods)")
            ->capture_default_str(),
        entropy_estimators().names());
  options->effort_option = command->add_option(
      "--effort", options->effort,
      fmt::format("train the networks that `mb` trains with this effort: {}; default: fewer, as the options below say",
                  either(all_names<Effort>())));
  offer(options->effort_option, all_names<Effort>());
  command
      ->add_option("--block", options->block,
                   "rows in a row that may depend on each other: auto (as the table shows), none, or how many")
      ->capture_default_str();
  options->parameters.add(*command, entropy_estimators());
  options->run.add_to(*command, true);
  command->add_option("--out", options->out, "JSON file; default: standard output");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
