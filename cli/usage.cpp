// SPDX-License-Identifier: Apache-2.0
#include "cli/usage.h"

#include <fmt/core.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite::cli {
namespace {

std::string see(const CLI::App& command) { return fmt::format("See `{} --help`.", full_name(command)); }

CLI::App* find_command(CLI::App& parent, const std::string& name) {
  for (CLI::App* command : commands_of(parent)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

[[noreturn]] void throw_no_command(CLI::App& parent, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(parent)) names.push_back(command->get_name());
  const std::string near = nearest_name(name, names);
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  throw UsageError(fmt::format(
      "there is no command '{}'; {} {}", excerpt(name),
      near.empty() ? fmt::format("use one of {}.", list) : fmt::format("did you mean '{}'?", near), see(parent)));
}

[[noreturn]] void throw_no_option(const CLI::App& command, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& each : option->get_lnames()) names.push_back("--" + each);
  }
  const std::string near = nearest_name(name, names);
  throw UsageError(fmt::format("`{}` has no option '{}'{} {}", full_name(command), excerpt(name),
                               near.empty() ? "." : fmt::format("; did you mean '{}'?", near), see(command)));
}

/// -, -1 and -.5 are values.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9');
}

}  // namespace

std::vector<CLI::App*> commands_of(CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

CLI::App& command_called(CLI::App& program, const std::vector<std::string>& words) {
  CLI::App* command = &program;
  for (const std::string& word : words) {
    CLI::App* next = find_command(*command, word);
    if (next == nullptr) throw_no_command(*command, word);
    command = next;
  }
  return *command;
}

void check_words(CLI::App& program, const std::vector<std::string>& words) {
  CLI::App* command = &program;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return;
    if (is_option(word)) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = command->get_option_no_throw(word.substr(0, equals));
      if (option == nullptr) throw_no_option(*command, word.substr(0, equals));
      if (option->get_expected_min() > 0 && option->get_items_expected_min() > 0 && equals == std::string::npos) ++i;
      continue;
    }
    CLI::App* next = find_command(*command, word);
    if (next != nullptr) {
      command = next;
    } else if (!commands_of(*command).empty()) {
      throw_no_command(*command, word);
    }
  }
}

std::string usage_sentence(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::string words = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::string extra;
    for (const std::string& word : command->remaining())
      extra += fmt::format("{}'{}'", extra.empty() ? "" : ", ", excerpt(word));
    return fmt::format("`{}` does not know what to do with {}. {}", full_name(*command), extra, see(*command));
  }
  const std::size_t colon = words.find(':');
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && colon != std::string::npos) {
    const bool missing = words.find("missing") != std::string::npos;
    return fmt::format("{} {}. {}", words.substr(0, colon), missing ? "needs a value" : "can be given once only",
                       see(*command));
  }
  const std::size_t equals = words.find(" = ");
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && equals != std::string::npos) {
    const std::string option = words.substr(0, equals);  // "Could not convert: --threads"
    return fmt::format("[{}] '{}' is not a whole number. {}", option.substr(option.rfind(' ') + 1),
                       excerpt(words.substr(equals + 3)), see(*command));
  }
  return fmt::format("{}. {}", words, see(*command));
}

}  // namespace fansite::cli
