// SPDX-License-Identifier: Apache-2.0
//
// The options of every command that finds boundaries, or says what finding them would cost.
#pragma once

#include <string>

#include "cli/command.h"
#include "fansite/run/boundaries.h"

namespace fansite::cli {

struct BoundariesOptions {
  TableOptions table;
  void add_to(CLI::App& command);
  /// The settings, once the command line has been read; a UsageError names a word that means nothing.
  BoundariesParams parsed() const;
  Knowledge load_knowledge(const Dataset& data) const;

 private:
  BoundariesParams params_;
  std::string estimator_{name(BoundariesParams{}.estimator)};
  std::string effort_{name(BoundariesParams{}.effort)};
  std::string stop_{name(SearchParams{}.stop)};
  std::string rule_{name(SearchParams{}.rule)};
  std::string refine_{name(BoundariesParams{}.refine)};
  std::string knowledge_;
};

}  // namespace fansite::cli
