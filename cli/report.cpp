// SPDX-License-Identifier: Apache-2.0
//
// fansite report: results as one page to look at and send on.
#include <fmt/core.h>

#include <algorithm>

#include "cli/command.h"
#include "fansite/base/error.h"
#include "fansite/report/html.h"

namespace fansite::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string out;
  std::string title;
  CommonOptions common;
};

void run(const ReportOptions& options) {
  check(std::count(options.results.begin(), options.results.end(), "-") < 2,
        "[report] standard input can be read once only; give one of the results as a file.");
  std::vector<std::unique_ptr<FileView>> files;
  std::vector<ResultText> texts;
  for (const std::string& path : options.results) {
    files.push_back(std::make_unique<FileView>(path));
    texts.push_back({files.back()->bytes(), path == "-" ? "standard input" : path});
  }
  Output output(options.out);
  output.write(to_html(texts, options.title));
  say_written(options.common, options.out);
}

}  // namespace

void add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "one HTML page of results, to explore and send on");
  command
      ->add_option("RESULT", options->results,
                   "JSON of `mb`, `dag`, `compare` and `plan`, one of each at most; - reads standard input")
      ->required()
      ->expected(1, 4);
  command->add_option("--out", options->out, "the page; default: standard output");
  command->add_option("--title", options->title, "what the page is about");
  command->add_flag("--quiet", options->common.quiet, "say nothing but errors");
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
