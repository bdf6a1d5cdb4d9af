// SPDX-License-Identifier: Apache-2.0
//
// fansite verify: repeat the run of a result, and say whether the bits agree.
#include "fansite/report/verify.h"

#include <fmt/core.h>

#include "cli/command.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"

namespace fansite::cli {
namespace {

struct VerifyOptions : CommonOptions {
  std::string result;
  TableOptions table;
  std::string model;
};

void run(VerifyOptions& options) {
  const Stopwatch watch;
  ProgressBar progress(options);
  const ThreadLimit limit(options.threads);
  check(options.result != "-" || options.table.path != "-", "[verify] result and table cannot both be standard input");
  const FileView file(options.result);
  const std::string where = options.result == "-" ? "standard input" : options.result;
  if (!options.table.has_roles()) options.table.options.roles = saved_roles(file.bytes(), where);
  const Dataset data = options.table.load(options, progress);
  const Verification verification = verify(file.bytes(), where, data, options.model, progress);
  progress.end();
  if (!verification.same) throw Error(fmt::format("[verify] the bits differ, {}", verification.difference));
  say(options, fmt::format("the bits agree: {} is what this table gives ({:.2f} s)", where, watch.seconds()));
}

}  // namespace

void add_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "repeat the run of a result, and say whether the bits agree");
  command->add_option("RESULT", options->result, "JSON of fansite mb, dag or entropy")->required();
  options->table.add_to(*command);
  command->add_option("--model", options->model, "the trained model that the run was given");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
