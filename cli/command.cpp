// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "cli/offers.h"
#include "fansite/base/error.h"

namespace fansite::cli {

void CommonOptions::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads to use; 0: one per core")->capture_default_str();
  CLI::Option* silent = command.add_flag("--quiet", quiet, "say nothing but errors");
  command.add_flag("--verbose", verbose, "say what is being done, in lines fit for a log")->excludes(silent);
}

void TableOptions::add_to(CLI::App& command) {
  command
      .add_option("DATA", path,
                  ".csv, .tsv or .txt with a header (also .csv.gz), .npy, .npz; - reads CSV from standard input")
      ->required()
      ->type_name(kFile);
  command.add_option("--drop", options.roles.drop, "a column that is left out, whatever it holds (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  command
      .add_option("--only", options.roles.only,
                  "a column that stays; others go, but those of --context, --weight and --group (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  CLI::Option* absent =
      command
          .add_option("--missing", missing, "missing cells: use the rows as far as they go, drop the rows, or an error")
          ->check(CLI::IsMember(all_names<Missing>()))
          ->capture_default_str();
  offer(absent, all_names<Missing>());
  command.add_flag_callback(
      "--no-header", [this] { options.header = false; }, "the first row of a CSV is data; names are x1, x2, ...");
  const std::string all = either(all_names<ColumnKind>());
  command.add_option("--kind", kinds, fmt::format("NAME=KIND: what a column is, {} (repeatable)", all))
      ->allow_extra_args(false)
      ->type_name("TEXT");
  command.add_option("--kinds", kinds_file, "a file of lines NAME=KIND, or CSV name,kind")->type_name(kFile);
  command
      .add_option("--context", options.roles.context,
                  "a column that is conditioned on everywhere, such as batch or site (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kColumn);
  command.add_option("--weight", options.roles.weight, "the column of the rows' weights")->type_name(kColumn);
  command.add_option("--group", options.roles.group, "a column; rows that share a value of it are not independent")
      ->type_name(kColumn);
}

Dataset TableOptions::load(const CommonOptions& common, const Progress& progress) {
  options.missing = parse<Missing>(missing, "missing");
  options.progress = &progress;
  if (!kinds_file.empty()) {
    check(kinds_file != "-" || path != "-", "[--kinds] table and kinds cannot both be standard input");
    add_kinds(options.roles.kinds, parse_kinds(FileView(kinds_file).bytes(), kinds_file));
  }
  for (const std::string& words : kinds) add_kinds(options.roles.kinds, {parse_kind(words)});
  Dataset data = fansite::load(path, options);
  if (data.dropped_rows > 0) {
    say(common,
        fmt::format("warning: {} with missing cells left out", counted(static_cast<long>(data.dropped_rows), "row")));
  }
  return data;
}

Output::Output(const std::string& path) {
  if (!path.empty() && path != "-") file_ = std::make_unique<OutputFile>(path);
}

void Output::write(std::string_view text) {
  if (file_) {
    file_->write(text);
    file_->commit();
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_standard_output();
}

void flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw IoError(fmt::format("[write] writing to standard output failed: {}. Free some space or write elsewhere.",
                            std::strerror(errno)));
}

void say(const CommonOptions& options, const std::string& line) {
  if (!options.quiet) fmt::print(stderr, "{}\n", line);
}

void say_unfinished(const CommonOptions& options, const std::string& unfinished, const std::string& checkpoint) {
  if (unfinished.empty()) return;
  say(options,
      fmt::format(
          "not finished: {}{}", unfinished,
          CheckpointFiles(checkpoint).any() ? "; with --resume and more time it goes on from where it is" : ""));
}

void say_written(const CommonOptions& options, const std::string& path) {
  if (!path.empty() && path != "-") say(options, fmt::format("written to {}", path));
}

std::string counted(long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace fansite::cli
