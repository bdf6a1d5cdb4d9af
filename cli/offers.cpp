// SPDX-License-Identifier: Apache-2.0
#include "cli/offers.h"

#include <map>

namespace fansite::cli {
namespace {

std::map<const CLI::Option*, std::vector<std::string>>& all_offers() {
  static std::map<const CLI::Option*, std::vector<std::string>> offers;
  return offers;
}

template <class Wanted>
std::vector<const CLI::Option*> options_that(const CLI::App& command, const Wanted& wanted) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options()) {
    if (wanted(option)) options.push_back(option);
  }
  return options;
}

}  // namespace

void offer(CLI::Option* option, std::vector<std::string> words) { all_offers()[option] = std::move(words); }

const std::vector<std::string>& offered(const CLI::Option* option) {
  static const std::vector<std::string> anything;
  const auto found = all_offers().find(option);
  return found == all_offers().end() ? anything : found->second;
}

std::string placeholder_of(const CLI::Option* option) {
  if (option->get_items_expected_min() == 0) return "";
  const std::string type = option->get_type_name();
  return type.substr(0, type.find(':'));  // without what a validator adds
}

std::vector<const CLI::Option*> named_options(const CLI::App& command) {
  return options_that(command, [](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return options_that(command, [](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> names_of(const CLI::Option* option) {
  std::vector<std::string> names;
  for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace fansite::cli
