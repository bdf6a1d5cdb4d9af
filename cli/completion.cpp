// SPDX-License-Identifier: Apache-2.0
//
// fansite completion: scripts that teach a shell the commands, options and words of this program, from the same
// descriptions as the help.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/command.h"
#include "cli/offers.h"
#include "cli/usage.h"
#include "fansite/base/parameters.h"
#include "fansite/base/text.h"

namespace fansite::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// What a shell offers for a value.
enum class Value { nothing, words, files };

Value value_of(const CLI::Option* option) {
  if (!offered(option).empty()) return Value::words;
  const std::string placeholder = placeholder_of(option);
  return placeholder == kFile || placeholder == kFolder || placeholder == "TEXT" ? Value::files : Value::nothing;
}

/// Every command, the program first, those within others after them.
std::vector<CLI::App*> all_commands(CLI::App& program) {
  std::vector<CLI::App*> commands = {&program};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    for (CLI::App* command : commands_of(*commands[i])) commands.push_back(command);
  }
  return commands;
}

/// "mb", "bench flow"; "" of the program.
std::string path_of(const CLI::App& command) {
  const std::string name = full_name(command);
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? "" : name.substr(space + 1);
}

std::vector<std::string> command_names(CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(command)) names.push_back(each->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : named_options(command)) {
    for (const std::string& name : names_of(option)) names.push_back(name);
  }
  return names;
}

// ---- bash -----------------------------------------------------------------------------------------------------------

constexpr const char* kBashBegin = R"(# Completion of fansite for bash, made by `fansite completion bash`.
_fansite() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="" command="" words="" i
  ((COMP_CWORD > 0)) && before="${COMP_WORDS[COMP_CWORD-1]}"
  # --name=value is three words to bash.
  if [[ $word == "=" ]]; then
    word=""
  elif [[ $before == "=" ]] && ((COMP_CWORD > 1)); then
    before="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command/${COMP_WORDS[i]}" in
)";

constexpr const char* kBashEnd = R"(  esac
  if [[ $words == "<files>" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    # Of a list with commas, the last.
    local done=""
    [[ $word == *,* ]] && done="${word%,*},"
    mapfile -t COMPREPLY < <(compgen -P "$done" -W "$words" -- "${word#"$done"}")
  fi
}
complete -F _fansite fansite
)";

std::string bash_case(CLI::App& command) {
  std::string text = fmt::format("    \"{}\")\n      case \"$before\" in\n", path_of(command));
  std::map<std::string, std::vector<std::string>> names_by_words;
  for (const CLI::Option* option : named_options(command)) {
    if (placeholder_of(option).empty()) continue;
    const Value value = value_of(option);
    const std::string words = value == Value::files   ? "<files>"
                              : value == Value::words ? joined(offered(option))
                                                      : std::string();
    for (const std::string& name : names_of(option)) names_by_words[words].push_back(name);
  }
  for (const auto& [words, names] : names_by_words) {
    text += fmt::format("        {}) words=\"{}\" ;;\n", joined(names, "|"), words);
  }
  std::vector<std::string> first = command_names(command);
  bool files = false;
  for (const CLI::Option* option : positionals(command)) {
    first.insert(first.end(), offered(option).begin(), offered(option).end());
    files = files || value_of(option) == Value::files;
  }
  text += "        *)\n";
  text += fmt::format("          if [[ $word == -* ]]; then words=\"{}\"; else words=\"{}\"; fi ;;\n",
                      joined(option_names(command)), files ? "<files>" : joined(first));
  return text + "      esac ;;\n";
}

std::string bash(CLI::App& program) {
  std::string text = kBashBegin;
  const std::vector<CLI::App*> commands = all_commands(program);
  for (CLI::App* command : commands) {
    if (command == &program) continue;
    const std::string parent = path_of(*command->get_parent());
    text += fmt::format("      \"{}/{}\") command=\"{}\" ;;\n", parent, command->get_name(), path_of(*command));
  }
  text += "    esac\n  done\n  case \"$command\" in\n";
  for (CLI::App* command : commands) text += bash_case(*command);
  return text + kBashEnd;
}

// ---- zsh ------------------------------------------------------------------------------------------------------------

/// Within the brackets of an option of _arguments, within single quotes.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string zsh_value(const CLI::Option* option) {
  switch (value_of(option)) {
    case Value::words:
      return fmt::format("({})", joined(offered(option)));
    case Value::files:
      return placeholder_of(option) == kFolder ? "_files -/" : "_files";
    default:
      return " ";
  }
}

std::string zsh_function(CLI::App& command) {
  std::string name = "_" + full_name(command);
  std::replace(name.begin(), name.end(), ' ', '_');
  std::string text = name + "() {\n";
  const std::vector<std::string> inner = command_names(command);
  text += inner.empty() ? "  _arguments -s \\\n" : "  local state line\n  _arguments -s -C \\\n";
  for (const CLI::Option* option : named_options(command)) {
    const bool again = option->get_expected_max() > 1;
    const std::string placeholder = placeholder_of(option);
    const std::string value =
        placeholder.empty() ? "" : fmt::format(":{}:{}", zsh_text(placeholder), zsh_text(zsh_value(option)));
    for (const std::string& each : names_of(option)) {
      text += fmt::format("    '{}{}[{}]{}' \\\n", again ? "*" : "", each, zsh_text(option->get_description()), value);
    }
  }
  for (const CLI::Option* option : positionals(command)) {
    text += fmt::format("    '{}:{}:{}' \\\n", option->get_expected_max() > 1 ? "*" : "",
                        zsh_text(option->get_name(true)), zsh_text(zsh_value(option)));
  }
  if (inner.empty()) {
    text.erase(text.rfind(" \\\n"));
    return text + "\n}\n\n";
  }
  text +=
      "    '1:command:->command' '*::argument:->argument'\n  case $state in\n    command)\n      local -a commands=(\n";
  for (const CLI::App* each : commands_of(command)) {
    text += fmt::format("        '{}:{}'\n", each->get_name(), zsh_text(each->get_description()));
  }
  text += "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const std::string& each : inner) text += fmt::format("        {}) {}_{} ;;\n", each, name, each);
  return text + "      esac ;;\n  esac\n}\n\n";
}

std::string zsh(CLI::App& program) {
  std::string text = "#compdef fansite\n# Completion of fansite for zsh, made by `fansite completion zsh`.\n\n";
  for (CLI::App* command : all_commands(program)) text += zsh_function(*command);
  // Sourced by hand it registers itself; found by name in $fpath it is called.
  return text + "if [[ $funcstack[1] == _fansite ]]; then _fansite \"$@\"; else compdef _fansite fansite; fi\n";
}

// ---- fish -----------------------------------------------------------------------------------------------------------

std::string fish_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

/// When a command's options are to be offered: it was named, and none of those within it.
std::string fish_condition(CLI::App& command) {
  const std::vector<std::string> inner = command_names(command);
  if (command.get_parent() == nullptr) return "not __fish_seen_subcommand_from " + joined(inner);
  std::string text;
  for (const CLI::App* each = &command; each->get_parent() != nullptr; each = each->get_parent()) {
    text = "__fish_seen_subcommand_from " + each->get_name() + (text.empty() ? "" : "; and " + text);
  }
  return inner.empty() ? text : text + "; and not __fish_seen_subcommand_from " + joined(inner);
}

std::string fish(CLI::App& program) {
  std::string text = "# Completion of fansite for fish, made by `fansite completion fish`.\ncomplete -c fansite -f\n";
  for (CLI::App* command : all_commands(program)) {
    const std::string begin = fmt::format("complete -c fansite -n '{}'", fish_condition(*command));
    for (const CLI::App* each : commands_of(*command)) {
      text += fmt::format("{} -a {} -d '{}'\n", begin, each->get_name(), fish_text(each->get_description()));
    }
    for (const CLI::Option* option : positionals(*command)) {
      const Value value = value_of(option);
      if (value == Value::files) text += begin + " -F\n";
      if (value == Value::words) text += fmt::format("{} -a '{}'\n", begin, joined(offered(option)));
    }
    for (const CLI::Option* option : named_options(*command)) {
      text += begin;
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      const Value value = value_of(option);
      if (value == Value::files) text += " -r -F";
      if (value == Value::words) text += fmt::format(" -x -a '{}'", joined(offered(option)));
      if (value == Value::nothing && !placeholder_of(option).empty()) text += " -x";
      text += fmt::format(" -d '{}'\n", fish_text(option->get_description()));
    }
  }
  return text;
}

const std::vector<std::pair<std::string, std::string (*)(CLI::App&)>> kShells = {
    {"bash", bash}, {"zsh", zsh}, {"fish", fish}};

}  // namespace

void add_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "completion", "a script that completes commands, options and their words in a shell: bash, zsh or fish");
  std::vector<std::string> shells;
  for (const auto& [name, script] : kShells) shells.push_back(name);
  offer(command->add_option("SHELL", *shell, either(shells) + "; docs/commands.md says where the script goes")
            ->required(),
        shells);
  command->callback([shell, shells, &app] {
    for (const auto& [name, script] : kShells) {
      if (name != *shell) continue;
      fmt::print("{}", script(app));
      return;
    }
    throw UsageError(fmt::format("[completion] '{}' is unknown; use {}.", excerpt(*shell), either(shells)));
  });
}

}  // namespace fansite::cli
