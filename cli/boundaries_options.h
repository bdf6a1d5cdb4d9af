// SPDX-License-Identifier: Apache-2.0
//
// The options of every command that finds boundaries, or says what finding them would cost.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/parameter_options.h"
#include "fansite/run/boundaries.h"

namespace fansite::cli {

/// Options of the method that finds boundaries.
struct BoundaryMethodOptions {
  /// `option`: what chooses the method; `left_out`: parameters that the command has no use for.
  void add_to(CLI::App& command, const std::string& option, const std::vector<std::string>& left_out = {});
  /// The method and its parameters, once the command line has been read; a UsageError names what means nothing.
  BoundariesParams parsed() const;
  /// For commands that may find none: a ParameterError that names the first option that was given.
  void require_none(const std::string& why) const;

 private:
  std::string method_ = BoundariesParams().method;
  CLI::Option* choice_ = nullptr;
  ParameterOptions options_;
};

/// Seed, time budget, models and checkpoints.
struct RunOptions {
  bool resume = false;
  /// `short_work`: it can be neither cut short nor resumed.
  void add_to(CLI::App& command, bool short_work = false);
  /// The checkpoint is as asked for, else beside the result, else nowhere. What an interrupted run has left beside the
  /// result is continued with --resume only, a UsageError otherwise: it may be worth hours. A method that cannot go on
  /// keeps nothing.
  template <class Row>
  RunParams parsed(const MethodList<Row>& methods, const std::string& method, const std::string& out,
                   const CommonOptions& common) const {
    const Row& row = methods.at(method);
    if (resume || options_.given("checkpoint")) methods.require(row, &Capabilities::resumable, "be resumed");
    return parsed(row.can.resumable, out, common);
  }

 private:
  RunParams parsed(bool resumable, const std::string& out, const CommonOptions& common) const;
  ParameterOptions options_;
};

struct KnowledgeOption {
  std::string path;
  void add_to(CLI::App& command);
  Knowledge load(const Dataset& data) const;
};

}  // namespace fansite::cli
