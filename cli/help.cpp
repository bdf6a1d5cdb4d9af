// SPDX-License-Identifier: Apache-2.0
//
// fansite help: the help of the program or of a command, also as manual pages.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.h"
#include "cli/offers.h"
#include "cli/usage.h"
#include "fansite/base/version.h"

namespace fansite::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> command;
  bool man = false;
  std::string man_pages;
};

// ---- Manual pages ---------------------------------------------------------------------------------------------------

/// Text of a manual page, which troff takes no part of for its own.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool first = safe.empty() || safe.back() == '\n';
    if (first && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// fansite-mb
std::string page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_option(const CLI::Option* option) {
  std::string names;
  for (const std::string& name : names_of(option))
    names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
  if (names.empty()) names = fmt::format("\\fI{}\\fR", roff(option->get_name(true)));
  const std::string placeholder = option->get_positional() ? "" : placeholder_of(option);
  std::string text = ".TP\n" + names;
  if (!placeholder.empty()) text += fmt::format(" \\fI{}\\fR", roff(placeholder));
  text += "\n" + roff(option->get_description());
  const std::string fallback = option->get_default_str();
  if (!fallback.empty()) text += fmt::format(" (default: {})", roff(fallback));
  if (option->get_required() && option->nonpositional()) text += " (required)";
  return text + "\n";
}

std::string synopsis(CLI::App& command) {
  std::string text = fmt::format("\\fB{}\\fR", roff(full_name(command)));
  if (!commands_of(command).empty()) text += " [\\fICOMMAND\\fR]";
  text += " [\\fIOPTION\\fR]\\|.\\|.\\|.";
  for (const CLI::Option* option : positionals(command)) {
    const std::string name =
        fmt::format("\\fI{}\\fR{}", roff(option->get_name(true)), option->get_expected_max() > 1 ? "\\|.\\|.\\|." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string man_page(CLI::App& program, CLI::App& command) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = fmt::format(".TH {} 1 \"\" \"fansite {}\" \"User Commands\"\n", roff(title), FANSITE_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(command)), roff(command.get_description()));
  text += fmt::format(".SH SYNOPSIS\n{}\n", synopsis(command));
  if (!commands_of(command).empty()) {
    text += ".SH COMMANDS\n";
    for (const CLI::App* each : commands_of(command)) {
      text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(each->get_name()), roff(each->get_description()));
    }
  }
  if (!positionals(command).empty()) {
    text += ".SH ARGUMENTS\n";
    for (const CLI::Option* option : positionals(command)) text += man_option(option);
  }
  for (const std::string& group : command.get_groups()) {
    std::string options;
    for (const CLI::Option* option : named_options(command)) {
      if (option->get_group() == group) options += man_option(option);
    }
    if (options.empty()) continue;
    std::string heading = group;
    const auto first_word = static_cast<std::ptrdiff_t>(std::min(heading.find(' '), heading.size()));
    std::transform(heading.begin(), heading.begin() + first_word, heading.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    text += fmt::format(".SH \"{}\"\n{}", roff(heading), options);
  }
  if (!program.get_footer().empty()) text += fmt::format(".SH NOTES\n{}\n", roff(program.get_footer()));
  std::string others;
  if (command.get_parent() != nullptr) others += fmt::format(".BR {} (1)", roff(page_name(*command.get_parent())));
  for (const CLI::App* each : commands_of(command)) {
    others += fmt::format("{}.BR {} (1)", others.empty() ? "" : ",\n", roff(page_name(*each)));
  }
  return text + (others.empty() ? "" : ".SH \"SEE ALSO\"\n" + others + "\n");
}

void write_pages(CLI::App& program, CLI::App& command, const std::filesystem::path& folder) {
  OutputFile file((folder / (page_name(command) + ".1")).string());
  file.write(man_page(program, command));
  file.commit();
  for (CLI::App* each : commands_of(command)) write_pages(program, *each, folder);
}

void run(CLI::App& program, const HelpOptions& options) {
  CLI::App& command = command_called(program, options.command);
  if (!options.man_pages.empty()) {
    check(options.command.empty() && !options.man, "[help] --man-pages writes the pages of all commands; name none.");
    std::error_code error;
    std::filesystem::create_directories(options.man_pages, error);
    check(!error, "[help] cannot make the folder '{}': {}; choose another.", options.man_pages, error.message());
    write_pages(program, program, options.man_pages);
  } else {
    fmt::print("{}", options.man ? man_page(program, command) : help_of(command));
  }
}

}  // namespace

std::string help_of(const CLI::App& command) {
  return command.get_formatter()->make_help(&command, full_name(command), CLI::AppFormatMode::Normal);
}

void add_help(CLI::App& app) {
  const auto options = std::make_shared<HelpOptions>();
  CLI::App* command = app.add_subcommand("help", "the help of the program, or of a command; also as manual pages");
  CLI::Option* about = command->add_option("COMMAND", options->command, "a command, as in `fansite help mb`");
  command->add_flag("--man", options->man, "as a manual page, for `fansite help mb --man | man -l -`");
  command->add_option("--man-pages", options->man_pages, "write the manual pages of all commands into this folder")
      ->type_name(kFolder);
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) names.push_back(each->get_name());
  offer(about, names);
  command->callback([options, &app] { run(app, *options); });
}

}  // namespace fansite::cli
