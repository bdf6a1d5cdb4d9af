// SPDX-License-Identifier: Apache-2.0
#include "cli/parameter_options.h"

#include <fmt/core.h>

#include <algorithm>

namespace fansite::cli {
namespace {

// What the help shows for a value.
std::string placeholder(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::integer:
    case Parameter::Type::natural:
      return "INT";
    case Parameter::Type::number:
      return "FLOAT";
    case Parameter::Type::duration:
      return "TIME";
    case Parameter::Type::numbers:
      return "FLOAT,...";
    default:
      return "TEXT";
  }
}

}  // namespace

std::string option_name(const std::string& parameter) {
  std::string words = "--" + parameter;
  std::replace(words.begin(), words.end(), '_', '-');
  return words;
}

void ParameterOptions::add_option(CLI::App& command, const Parameter& parameter, const std::string& group) {
  std::string names = option_name(parameter.name);
  if (!parameter.also.empty()) names += ",--" + parameter.also;
  std::string& word = given_[parameter.name];
  CLI::Option* option = nullptr;
  if (parameter.type == Parameter::Type::flag) {
    const bool on = std::get<bool>(parameter.fallback);
    if (on) names = "--no-" + option_name(parameter.name).substr(2);
    option = command.add_flag_callback(
        names, [&word, on] { word = on ? "false" : "true"; }, (on ? "not: " : "") + parameter.help);
  } else {
    option = command.add_option(names, word, parameter.help)->type_name(placeholder(parameter));
    const std::string shown = to_text(parameter.fallback);
    const bool nothing = shown.empty() || (parameter.type == Parameter::Type::duration && shown == "0");
    if (!nothing) option->default_str(shown);
    if (parameter.type != Parameter::Type::text) {  // --fdr "$LEVEL" without a level is a mistake, not the default
      option->check([allowed = parameter.allowed()](const std::string& given) {
        return given.empty() ? fmt::format("it is empty; use {}", allowed) : std::string();
      });
    }
  }
  if (!group.empty()) option->group(group);
}

void ParameterOptions::add(CLI::App& command, const Parameters& parameters) {
  for (const Description::Field& field : parameters.fields()) add_option(command, field, "");
}

void ParameterOptions::add_rows(CLI::App& command, const std::vector<const Method*>& rows,
                                const std::vector<std::string>& left_out) {
  for (const Method* row : rows) {
    for (const Description::Field& field : row->parameters.fields()) owners_[field.name].push_back(row->name);
  }
  for (const Method* row : rows) {
    for (const Description::Field& field : row->parameters.fields()) {
      if (given_.contains(field.name) || std::find(left_out.begin(), left_out.end(), field.name) != left_out.end()) {
        continue;
      }
      const std::vector<std::string>& owners = owners_.at(field.name);
      std::string names;
      for (const std::string& owner : owners) names += (names.empty() ? "" : ", ") + owner;
      add_option(command, field, owners.size() == rows.size() ? "" : "Options of " + names);
    }
  }
}

void ParameterOptions::apply(const std::string& method, Parameters& parameters) const {
  for (const auto& [name, word] : given_) {
    if (word.empty()) continue;
    if (!parameters.has(name)) {
      throw ParameterError(name, fmt::format("{} has no such option; {} has it", method, either(owners_.at(name))));
    }
    const auto& fields = parameters.fields();
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
    parameters.set(name, parse_value(*field, word));
  }
}

}  // namespace fansite::cli
