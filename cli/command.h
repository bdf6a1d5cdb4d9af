// SPDX-License-Identifier: Apache-2.0
//
// A subcommand adds itself to the program; its options live as long as the program does. One file per subcommand.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/context/checkpoint_files.h"
#include "fansite/report/json.h"
#include "fansite/table/dataset.h"

namespace fansite::cli {

void add_simulate(CLI::App& app);
void add_mb(CLI::App& app);
void add_inspect(CLI::App& app);
void add_plan(CLI::App& app);
void add_dag(CLI::App& app);
void add_entropy(CLI::App& app);
void add_compare(CLI::App& app);
void add_eval(CLI::App& app);
void add_methods(CLI::App& app);
void add_verify(CLI::App& app);
void add_report(CLI::App& app);
void add_bench(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);  ///< the last, which knows the others
void add_bench_flow(CLI::App& bench);

/// What `--help` prints.
std::string help_of(const CLI::App& command);

/// Options that every long command has.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
  bool verbose = false;
  void add_to(CLI::App& command);
};

/// Options that every command that reads a table has.
struct TableOptions {
  std::string path;
  LoadOptions options;
  std::string missing = std::string(name(Missing::use));
  std::vector<std::string> kinds;  // NAME=KIND
  std::string kinds_file;
  void add_to(CLI::App& command);
  /// Whether any option says something of the columns.
  bool has_roles() const { return !options.roles.empty() || !kinds.empty() || !kinds_file.empty(); }
  /// Says how many rows with missing cells were left out. `progress` can stop the wait for a pipe.
  Dataset load(const CommonOptions& common, const Progress& progress);
};

/// Runs `work`; if it is interrupted, or the system refuses something, the words say where to go on.
template <class Work>
auto resumable(const std::string& checkpoint, const Work& work) {
  try {
    return work();
  } catch (const Interrupted&) {
    if (!CheckpointFiles(checkpoint).any()) throw;
    throw Interrupted(fmt::format("interrupted; {} has what was done, add --resume to go on from there", checkpoint));
  } catch (const IoError& error) {
    if (!CheckpointFiles(checkpoint).any()) throw;
    throw IoError(fmt::format("{} {} has what was done; add --resume to go on from there.", error.what(), checkpoint));
  }
}

/// Where a result goes: a file that appears whole, or standard output. Made before the work, so that a place that
/// cannot be written is known at once.
class Output {
 public:
  explicit Output(const std::string& path);  ///< "" and "-" are standard output
  void write(std::string_view text);

 private:
  std::unique_ptr<OutputFile> file_;
};

/// Hands over what was printed; an IoError if the system refuses it (a full disk).
void flush_standard_output();

/// Words for people, on standard error; silent with --quiet.
void say(const CommonOptions& options, const std::string& line);

/// Says what a time budget has cut short, and how to go on.
void say_unfinished(const CommonOptions& options, const std::string& unfinished, const std::string& checkpoint);

/// Says where a result went, unless that is standard output.
void say_written(const CommonOptions& options, const std::string& path);

/// "1 row", "2 rows".
std::string counted(long count, std::string_view noun);

}  // namespace fansite::cli
