// SPDX-License-Identifier: Apache-2.0
//
// The fansite program.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "cli/command.h"
#include "cli/parameter_options.h"
#include "cli/usage.h"
#include "fansite/base/error.h"
#include "fansite/base/version.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kBadData = 3;
constexpr int kInterrupted = 130;

constexpr const char* kOutOfMemory =
    "out of memory: the system gave no more; use fewer rows or columns, or a machine with more memory";

int fail(int code, const char* message) {
  fmt::print(stderr, "fansite: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("Markov boundaries and causal graphs from tables, whatever their columns are.", "fansite");
  app.set_version_flag("--version", "fansite " FANSITE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 the system refused, 2 wrong usage, 3 bad data, 130 interrupted.");
  app.get_formatter()->column_width(34);
  fansite::cli::add_simulate(app);
  fansite::cli::add_inspect(app);
  fansite::cli::add_mb(app);
  fansite::cli::add_plan(app);
  fansite::cli::add_dag(app);
  fansite::cli::add_entropy(app);
  fansite::cli::add_compare(app);
  fansite::cli::add_eval(app);
  fansite::cli::add_methods(app);
  fansite::cli::add_verify(app);
  fansite::cli::add_report(app);
  fansite::cli::add_bench(app);
  fansite::cli::add_completion(app);
  fansite::cli::add_help(app);
  if (argc < 2) {
    fmt::print("{}", fansite::cli::help_of(app));
    return 0;
  }
  fansite::cli::check_words(app, {argv + 1, argv + argc});
  try {
    app.parse(argc, argv);  // runs the chosen subcommand's callback
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return fail(kUsage, fansite::cli::usage_sentence(app, error).c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    fansite::cli::flush_standard_output();
    return code;
  } catch (const fansite::ParameterError& error) {
    const std::string option = fansite::cli::option_name(error.parameter);
    return fail(kUsage, fmt::format("[{}] {}", option, error.sentence).c_str());
  } catch (const fansite::UsageError& error) {
    return fail(kUsage, error.what());
  } catch (const fansite::DataError& error) {
    return fail(kBadData, error.what());
  } catch (const fansite::Interrupted& interruption) {
    const std::string_view words = interruption.what();
    return fail(kInterrupted, words == "interrupted" ? "interrupted; nothing was written" : interruption.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed, kOutOfMemory);
  } catch (const std::length_error&) {  // more than any memory: what standard containers say to absurd sizes
    return fail(kFailed, kOutOfMemory);
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  }
}
