// SPDX-License-Identifier: Apache-2.0
//
// Options from the descriptions of parameters. What the user gives is kept as words until it is known which method it
// is for; an option that the method does not have is refused by name.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fansite/context/method.h"

namespace fansite::cli {

/// --max-size, of max_size.
std::string option_name(const std::string& parameter);
/// The same, or --no-freeze of a flag that is on.
std::string option_name(const Parameter& parameter);

class ParameterOptions {
 public:
  ParameterOptions() = default;
  ParameterOptions(const ParameterOptions&) = delete;  // the command line writes into it
  ParameterOptions& operator=(const ParameterOptions&) = delete;

  /// One option for each parameter of these methods. Those that only some have stand under their names in the help.
  template <class Row>
  void add(CLI::App& command, const MethodList<Row>& methods, const std::vector<std::string>& left_out = {}) {
    std::vector<const Method*> rows;
    for (const Row& row : methods) rows.push_back(&row);
    add_rows(command, rows, left_out);
  }
  /// Of one struct, for every method.
  void add(CLI::App& command, const Parameters& parameters, const std::vector<std::string>& left_out = {});

  /// Sets what was given for this method.
  void apply(const std::string& method, Parameters& parameters) const;
  template <Described P>
  void apply(P& params) const {
    Parameters parameters(params);
    apply("", parameters);
    params = parameters.as<P>();
  }
  /// The name of a parameter that was given, or "".
  std::string first_given() const;
  bool given(const std::string& parameter) const;

 private:
  void add_rows(CLI::App& command, const std::vector<const Method*>& rows, const std::vector<std::string>& left_out);
  void add_option(CLI::App& command, const Parameter& parameter, const std::string& group, bool one_default);

  struct Given {
    std::string word;  // as written
    const CLI::Option* option = nullptr;
  };
  std::map<std::string, Given> given_;                      // by parameter
  std::map<std::string, std::vector<std::string>> owners_;  // by parameter: the methods that have it
};

}  // namespace fansite::cli
