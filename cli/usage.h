// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the words of a command line, said of the word that is wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fansite::cli {

/// The program or the command that these words lead to ("bench flow"); a UsageError that suggests the nearest name if
/// there is none.
CLI::App& command_called(CLI::App& program, const std::vector<std::string>& words);

/// A UsageError for the first word that names no command or option, before anything is made of the others: of an
/// unknown option it cannot be known whether the next word is its value.
void check_words(CLI::App& program, const std::vector<std::string>& words);

/// What CLI11 found wrong, as one sentence.
std::string usage_sentence(const CLI::App& program, const CLI::ParseError& error);

/// The commands of the program, or of one of its commands, in the order of the help.
std::vector<CLI::App*> commands_of(CLI::App& command);

/// "fansite mb".
std::string full_name(const CLI::App& command);

}  // namespace fansite::cli
