// SPDX-License-Identifier: Apache-2.0
//
// fansite compare: several methods on one table, or on simulated ones, over orders of the columns.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/command.h"
#include "cli/live_table.h"
#include "cli/offers.h"
#include "cli/parameter_options.h"
#include "fansite/base/duration.h"
#include "fansite/base/run_lock.h"
#include "fansite/base/text.h"
#include "fansite/report/compare_report.h"

namespace fansite::cli {
namespace {

struct CompareOptions : CommonOptions {
  TableOptions table;
  std::string truth, simulate, seeds = "1-5", out, csv;
  bool resume = false;
  ParameterOptions parameters;
  CLI::Option* seeds_option = nullptr;
};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> pieces;
  for (;;) {
    const std::size_t end = text.find(at);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// "nodes=30,sem=gp,rows=1000", with the names of the options of `fansite simulate`.
SimulateParams parse_setting(const std::string& text) {
  Parameters parameters{SimulateParams()};
  for (const std::string& word : split(text, ',')) {
    const std::size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    std::replace(key.begin(), key.end(), '-', '_');
    if (key == "seed") throw ParameterError("simulate", "give seeds with --seeds, as in --seeds 1-5");
    const auto& fields = parameters.fields();
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Parameter& f) { return f.name == key; });
    if (field == fields.end()) {
      std::vector<std::string> names;
      for (const Parameter& each : fields) {
        if (each.name != "seed") names.push_back(each.name);
      }
      throw_unknown("simulate", key, names);
    }
    check(equals != std::string::npos, "[--simulate] '{}' has no value; write {}=VALUE", excerpt(word), key);
    try {
      parameters.set(key, parse_value(*field, word.substr(equals + 1)));
    } catch (const ParameterError& error) {
      throw ParameterError("simulate", fmt::format("{}: {}", error.parameter, error.sentence));
    }
  }
  parameters.validate();
  return parameters.as<SimulateParams>();
}

std::uint64_t parse_seed(std::string_view word) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
    throw ParameterError("seeds",
                         fmt::format("'{}' is no seed; use whole numbers such as 1-5 or 1,4,7", excerpt(word)));
  }
  return seed;
}

// "1-5", "1,4,7", "1-3,8".
std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  constexpr std::uint64_t kMost = 10000;
  std::vector<std::uint64_t> seeds;
  for (const std::string& word : split(text, ',')) {
    const std::size_t dash = word.find('-');
    const std::uint64_t first = parse_seed(std::string_view(word).substr(0, dash));
    const std::uint64_t last = dash == std::string::npos ? first : parse_seed(std::string_view(word).substr(dash + 1));
    if (last < first) throw ParameterError("seeds", fmt::format("{} ends before it begins", word));
    if (last - first >= kMost) throw ParameterError("seeds", fmt::format("{} are more than {}", word, kMost));
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      const bool twice = std::find(seeds.begin(), seeds.end(), seed) != seeds.end();
      if (twice) throw ParameterError("seeds", fmt::format("{} is named twice", seed));
      seeds.push_back(seed);
    }
  }
  return seeds;
}

void check_request(const CompareOptions& options) {
  const bool simulated = !options.simulate.empty();
  check(simulated != !options.table.path.empty(), "[compare] {}",
        simulated ? "--simulate makes its own tables; leave DATA out" : "give a table, or a setting with --simulate");
  check(!simulated || options.truth.empty(), "[--truth] --simulate knows the truth of its tables; leave it out");
  check(!simulated || !options.table.has_roles(), "[compare] --simulate makes its own tables; say nothing of columns");
  check(simulated || options.seeds_option->count() == 0, "[--seeds] they are for --simulate; the table is given");
  const auto place = [](const std::string& path) { return path.empty() ? std::string("-") : path; };
  check(options.csv.empty() || place(options.csv) != place(options.out),
        "[compare] two results cannot both go to {}; give each a file of its own",
        place(options.csv) == "-" ? "standard output" : options.csv);
}

bool is_file(const std::string& out) {
  const bool device = std::filesystem::exists(out) && !std::filesystem::is_regular_file(out);  // /dev/null, a pipe
  return !out.empty() && out != "-" && !device;
}

// Where what is done is kept; "": nowhere. What an interrupted comparison has left is continued with --resume only.
std::string checkpoint_for(const CompareOptions& options) {
  check(!options.resume || is_file(options.out), "[--resume] there is nothing to go on from without --out");
  if (!is_file(options.out)) return "";
  std::string path = options.out + ".checkpoint";
  const bool left = std::filesystem::exists(path);
  check(options.resume || !left,
        "[--out] {} is left from an interrupted comparison; add --resume to go on from there, or delete it", path);
  if (options.resume && !left && !std::filesystem::exists(options.out)) {
    say(options,
        fmt::format("nothing to resume: there is neither {} nor {}; starting from the beginning", path, options.out));
  }
  return path;
}

void show(const CompareOptions& options, const CompareResult& result, double seconds) {
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);
  say(options, fmt::format("{} on {}{} rows × {} variables, {}, in {}{}:",
                           counted(static_cast<long>(result.methods.size()), "method"),
                           result.expected_tables > 1 ? fmt::format("{} tables of ", result.expected_tables) : "",
                           result.rows, result.names.size(), counted(result.params.orders, "order"),
                           duration_text(seconds), result.has_truth() ? "; scores in percent against the truth" : ""));
  for (const std::string& line : comparison_lines(result)) say(options, "  " + line);
  for (const std::string& reason : reasons(result)) say(options, reason);
}

void run(CompareOptions& options) {
  const Stopwatch watch;
  CompareParams params;
  options.parameters.apply(params);
  check_request(options);
  compared_methods(params.methods);  // a wrong name is known before any work
  ComparedTables tables;
  if (!options.simulate.empty()) {
    tables.setting = parse_setting(options.simulate);
    tables.seeds = parse_seeds(options.seeds);
  }

  LiveTable live(options);  // first, so that Ctrl-C never leaves a temporary file
  const RunLock lock(options.out);
  const std::string checkpoint = checkpoint_for(options);
  Output output(options.out);
  std::unique_ptr<Output> csv = options.csv.empty() ? nullptr : std::make_unique<Output>(options.csv);
  const ThreadLimit limit(options.threads);
  Dataset data;
  if (options.simulate.empty()) {
    data = options.table.load(options, live);
    tables.data = &data;
  }
  if (!options.truth.empty()) {
    tables.truth =
        truth_in_columns(load_dag(options.truth), data.names, options.truth, options.truth.ends_with(".npz"));
  }
  const std::string earlier = options.resume ? options.out : std::string();
  const CompareResult result =
      resumable(checkpoint, [&] { return compare_with_file(tables, params, checkpoint, earlier, live, live); });
  live.clear();
  const auto remove_checkpoint = [&] {
    if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
  };
  try {
    require_any_answer(result);
  } catch (const DataError&) {
    remove_checkpoint();
    throw;
  }
  resumable(checkpoint, [&] {
    if (csv) csv->write(to_csv(result));
    output.write(to_json(result, timing_of(watch)));
  });
  remove_checkpoint();  // not before: a full disk must not cost the work
  show(options, result, watch.seconds());
  say_written(options, options.out);
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "run several methods and compare what they find");
  options->table.add_to(*command);
  command->get_option("DATA")->required(false);
  command->add_option("--truth", options->truth,
                      "score against this graph: dag.csv (A[i][j] = 1 means i -> j), or an .npz with the array `dag`");
  options->parameters.add(*command, CompareParams());
  offer(command->get_option("--methods"), words_for_methods());
  command->add_option(
      "--simulate", options->simulate,
      "tables with known truth instead of DATA: options of `simulate`, as in nodes=30,sem=gp,rows=1000");
  options->seeds_option = command->add_option("--seeds", options->seeds, "a simulated table for each: 1-5, or 1,4,7")
                              ->capture_default_str();
  command->add_flag("--resume", options->resume,
                    "go on with the cells that OUT.checkpoint, left by an interrupted run, or OUT has not");
  command->add_option("--out", options->out, "JSON file; default: standard output");
  command->add_option("--csv", options->csv, "also a row for each method, table and order, as CSV");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
