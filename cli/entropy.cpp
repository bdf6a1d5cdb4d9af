// SPDX-License-Identifier: Apache-2.0
//
// fansite entropy: how uncertain a variable is, given others, and what each of them tells.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/command.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/report/json.h"
#include "fansite/run/information.h"

namespace fansite::cli {
namespace {

struct EntropyOptions : CommonOptions {
  TableOptions table;
  InformationParams params;
  std::vector<std::string> given;  // names, or several with commas between
  std::string estimator{name(InformationParams{}.estimator)};
  std::string transform{name(flow::EnsembleParams{}.transform)};
  std::string base{name(flow::TrainParams{}.base)};
  std::string schedule{name(flow::TrainParams{}.schedule)};
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

void run(EntropyOptions& options) {
  const Stopwatch watch;
  InformationParams& params = options.params;
  params.estimator = parse_estimator(options.estimator);
  params.flow.transform = parse_transform(options.transform);
  params.flow.train.base = flow::parse_base(options.base);
  params.flow.train.schedule = flow::parse_schedule(options.schedule);

  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  params.given = split_names(options.given, data);
  const InformationResult result = information(data, params, progress);
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);

  const RunTiming timing = timing_of(watch);
  output.write(to_json(result, timing));
  std::string how = "closed form";
  if (params.estimator == EstimatorKind::flow) {
    how = fmt::format("{} of {} steps in all", counted(result.members, "network"), result.steps);
  }
  say(options, fmt::format("{} rows, {}, {:.2f} s:", data.rows(), how, timing.total_seconds));
  show(options, result);
  say_written(options, options.out);
}

}  // namespace

void add_entropy(CLI::App& app) {
  const auto options = std::make_shared<EntropyOptions>();
  InformationParams& params = options->params;
  flow::TrainParams& train = params.flow.train;
  CLI::App* command =
      app.add_subcommand("entropy", "the entropy of a variable given others, and what each of them tells");
  options->table.add_to(*command);
  command->add_option("--target", params.target, "the variable")->required();
  command->add_option("--given", options->given, "variables that are known: A,B,... (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--estimator", options->estimator, "flow (any continuous data) or gaussian (linear relations)")
      ->capture_default_str();
  command->add_option("--model", params.files.model, "flow: use this trained model instead of training one");
  command->add_option("--save-model", params.files.save_model, "flow: keep the trained model in this file");
  command->add_option("--checkpoint", params.files.checkpoint,
                      "flow: keep the training's state in this file, and continue from it if it is there");
  command->add_option("--folds", params.flow.folds, "flow: each network leaves one of so many parts of the rows out")
      ->capture_default_str();
  command
      ->add_option("--repeats", params.flow.repeats,
                   "flow: networks for each part of the rows, each with a column order of its own")
      ->capture_default_str();
  command
      ->add_option("--transform", options->transform, "flow: of each column: rank (normal scores), standardise or none")
      ->capture_default_str();
  command
      ->add_option("--base", options->base, "flow: gaussian (the flow learns what is left over) or none (as the paper)")
      ->capture_default_str();
  command->add_option("--blocks", params.flow.blocks, "flow: hidden nodes of each rank; 0: 6, more for few variables")
      ->capture_default_str();
  command->add_option("--steps", train.steps, "flow: training steps of each network, at most")->capture_default_str();
  command->add_option("--batch", train.batch, "flow: rows a step; 0: 64, or 256 from 100 variables on")
      ->capture_default_str();
  command->add_option("--learning-rate", train.learning_rate, "flow: of the first step")->capture_default_str();
  command->add_option("--schedule", options->schedule, "flow: of the learning rate: cosine or constant")
      ->capture_default_str();
  command->add_option("--held-out", train.held_out, "flow: share of a network's rows that choose its best step")
      ->capture_default_str();
  command
      ->add_option("--patience", train.patience,
                   "flow: stop after so many evaluations without improvement; 0: take all steps")
      ->capture_default_str();
  command->add_option("--seed", params.flow.seed, "of every random choice; kept in the result")
      ->check(refuse_bad_seed, "")
      ->capture_default_str();
  command->add_option("--out", options->out, "JSON file; default: standard output");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
