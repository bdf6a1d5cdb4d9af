// SPDX-License-Identifier: Apache-2.0
//
// What an option's value can be: what a shell offers, beside the words of the help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fansite::cli {

// As the help shows what stands for a value; shells complete them.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "DIR";
inline constexpr const char* kColumn = "COLUMN";

/// The value is one of these words, or begins with one (a list with commas between).
void offer(CLI::Option* option, std::vector<std::string> words);
/// Those words; none: it can be anything.
const std::vector<std::string>& offered(const CLI::Option* option);

/// What stands for the value in the help: FILE, INT …; "" of a flag.
std::string placeholder_of(const CLI::Option* option);

/// The options of a command that have a name, in the order of the help.
std::vector<const CLI::Option*> named_options(const CLI::App& command);
/// What is given without a name.
std::vector<const CLI::Option*> positionals(const CLI::App& command);

/// "--max-size" and its other names, short ones first.
std::vector<std::string> names_of(const CLI::Option* option);

}  // namespace fansite::cli
