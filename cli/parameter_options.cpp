// SPDX-License-Identifier: Apache-2.0
#include "cli/parameter_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/offers.h"

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

// There must be one.
const Parameter& field_named(const std::string& name, const Parameters& parameters) {
  const auto& fields = parameters.fields();
  return *std::find_if(fields.begin(), fields.end(), [&](const Parameter& field) { return field.name == name; });
}

// "iamb 0.01, tc 0.001" if methods that share an option have different defaults, else "".
std::string different_defaults(const std::vector<const Method*>& rows, const Parameter& parameter) {
  std::string each;
  bool different = false;
  for (const Method* row : rows) {
    if (!row->parameters.has(parameter.name)) continue;
    const Parameter& own = field_named(parameter.name, row->parameters);
    different = different || own.fallback != parameter.fallback;
    each += fmt::format("{}{} {}", each.empty() ? "" : ", ", row->name, to_text(own.fallback));
  }
  return different ? each : "";
}

}  // namespace

std::string option_name(const std::string& parameter) {
  std::string words = "--" + parameter;
  std::replace(words.begin(), words.end(), '_', '-');
  return words;
}

std::string option_name(const Parameter& parameter) {
  const std::string name = option_name(parameter.name);
  const bool on = parameter.type == Parameter::Type::flag && std::get<bool>(parameter.fallback);
  return on ? "--no-" + name.substr(2) : name;
}

void ParameterOptions::add_option(CLI::App& command, const Parameter& parameter, const std::string& group,
                                  bool one_default) {
  std::string names = option_name(parameter);
  if (!parameter.also.empty()) names += ",--" + parameter.also;
  Given& given = given_[parameter.name];
  CLI::Option* option = nullptr;
  if (parameter.type == Parameter::Type::flag) {
    const bool on = std::get<bool>(parameter.fallback);
    option = command.add_flag_callback(
        names, [&given, on] { given.word = on ? "false" : "true"; }, (on ? "not: " : "") + parameter.help);
  } else {
    option = command.add_option(names, given.word, parameter.help)->type_name(placeholder(parameter));
    const std::string shown = to_text(parameter.fallback);
    const bool nothing = shown.empty() || (parameter.type == Parameter::Type::duration && shown == "0");
    if (!nothing && one_default) option->default_str(shown);
    if (!parameter.choices.empty()) offer(option, parameter.choices);
  }
  if (!group.empty()) option->group(group);
  given.option = option;
}

void ParameterOptions::add(CLI::App& command, const Parameters& parameters, const std::vector<std::string>& left_out) {
  for (const Description::Field& field : parameters.fields()) {
    if (std::find(left_out.begin(), left_out.end(), field.name) == left_out.end()) add_option(command, field, "", true);
  }
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
      const std::string defaults = different_defaults(rows, field);
      Parameter shown = field;
      if (!defaults.empty()) shown.help += fmt::format(" (by default {})", defaults);
      add_option(command, shown, owners.size() == rows.size() ? "" : "Options of " + names, defaults.empty());
    }
  }
}

bool ParameterOptions::given(const std::string& parameter) const {
  const auto found = given_.find(parameter);
  return found != given_.end() && found->second.option->count() > 0;
}

std::string ParameterOptions::first_given() const {
  for (const auto& [name, unused] : given_) {
    if (given(name)) return name;
  }
  return "";
}

void ParameterOptions::apply(const std::string& method, Parameters& parameters) const {
  for (const auto& [name, entry] : given_) {
    if (!given(name)) continue;
    if (!parameters.has(name)) {
      throw ParameterError(name, fmt::format("{} has no such option; {} has it", method, either(owners_.at(name))));
    }
    parameters.set(name, parse_value(field_named(name, parameters), entry.word));
  }
}

}  // namespace fansite::cli
