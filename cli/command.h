// SPDX-License-Identifier: Apache-2.0
//
// A subcommand adds itself to the program; its options live as long as the program does. One file per subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/data.h"
#include "fansite/io/file.h"
#include "fansite/parallel.h"
#include "fansite/report/json.h"
#include "fansite/stopwatch.h"

namespace fansite::cli {

void add_simulate(CLI::App& app);
void add_mb(CLI::App& app);
void add_plan(CLI::App& app);
void add_dag(CLI::App& app);
void add_entropy(CLI::App& app);
void add_eval(CLI::App& app);
void add_bench(CLI::App& app);
void add_bench_flow(CLI::App& bench);

/// Options that every long command has.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
  void add_to(CLI::App& command);
};

/// Options that every command that reads a table has.
struct TableOptions {
  std::string path;
  LoadOptions options;
  std::string missing = "error";
  void add_to(CLI::App& command);
  /// Says how many rows with missing cells were left out. `progress` can stop the wait for a pipe.
  Dataset load(const CommonOptions& common, const Progress& progress);
};

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

/// For seeds that CLI11 would else wrap around or cut: a complaint, or "".
std::string refuse_bad_seed(const std::string& text);

/// Words for people, on standard error; silent with --quiet.
void say(const CommonOptions& options, const std::string& line);

/// What the run has cost since `watch` was made: time, memory, threads.
RunTiming timing_of(const Stopwatch& watch);

/// Says where a result went, unless that is standard output.
void say_written(const CommonOptions& options, const std::string& path);

/// "1 row", "2 rows".
std::string counted(long count, std::string_view noun);

}  // namespace fansite::cli
