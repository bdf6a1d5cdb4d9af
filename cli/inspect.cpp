// SPDX-License-Identifier: Apache-2.0
//
// fansite inspect: what a table is, column by column, and what will be done about it.
#include "cli/command.h"
#include "cli/progress_bar.h"
#include "fansite/report/inspect_json.h"
#include "fansite/report/inspect_text.h"

namespace fansite::cli {
namespace {

struct InspectOptions : CommonOptions {
  TableOptions table;
  std::string out;
  bool json = false;
};

void run(InspectOptions& options) {
  ProgressBar progress(options);
  Output output(options.out);
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const TableSummary summary = summarise(data, TableFacts(data));
  progress.end();
  output.write(options.json || !options.out.empty() ? to_json(summary) : to_text(summary));
  say_written(options, options.out);
}

}  // namespace

void add_inspect(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "kinds of columns, missing cells, oddities, before any long work");
  options->table.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_option("--out", options->out, "JSON file; default: lines on standard output");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
