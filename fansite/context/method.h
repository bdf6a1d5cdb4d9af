// SPDX-License-Identifier: Apache-2.0
//
// A method is a row: name, summary, citation, what it can do, its parameters, and how it runs. Command line, Python,
// JSON, verification and documentation read the rows, and branch on what a method can do, never on its name.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/parameters.h"

namespace fansite {

struct Capabilities {
  bool needs_boundaries = false;       ///< graphs: edges are sought among the links that boundaries make
  bool satisfies_knowledge = false;    ///< answers satisfy prior knowledge
  bool resumable = false;              ///< what was interrupted can go on
  bool can_be_cut_short = false;       ///< gives the best answer so far when its time is up
  bool handles_missing_cells = false;  ///< else tables with missing cells are refused
  bool handles_context = false;        ///< else context columns are refused; so with weights and groups
  bool handles_weights = false;
  bool handles_groups = false;
  /// Rows that depend on each other count for what they are worth without being told; else a warning says that they do
  /// not.
  bool weighs_rows = false;
  /// Works on rows and columns in the table's own order, because its answer is defined by it (as published); else in an
  /// order of their contents, in which shuffling changes nothing.
  bool keeps_table_order = false;
  bool trains = false;  ///< learns from rows: effort, seed and models mean something
  std::vector<std::string> column_kinds = {"continuous"};
};

struct Method {
  std::string name;
  std::string summary;   ///< one line
  std::string citation;  ///< author, year, venue
  Capabilities can;
  Parameters parameters;  ///< with their defaults
};

/// Names that every run's settings and commands have already.
inline bool is_reserved(std::string_view parameter) {
  constexpr std::array names = {
      "method",      "boundary_method", "boundaries", "targets",    "target", "given", "knowledge", "seed",
      "time_budget", "model",           "save_model", "checkpoint", "resume", "out",   "threads",   "quiet",
      "verbose",     "missing",         "help",       "options",    "table",  "kind",  "kinds",     "context",
      "weight",      "group",           "drop",       "only",       "device"};
  return std::find(names.begin(), names.end(), parameter) != names.end();
}

/// The methods of one kind, by name.
template <class Row>
class MethodList {
 public:
  /// `kind` as in "there is no {kind} 'x'"; `option` as users call the choice.
  MethodList(std::string kind, std::string option, std::vector<Row> rows)
      : kind_(std::move(kind)), option_(std::move(option)), rows_(std::move(rows)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<Row>& rows() const { return rows_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Row& row : rows_) names.push_back(row.name);
    return names;
  }
  const Row* find(std::string_view name) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == name; });
    return found == rows_.end() ? nullptr : &*found;
  }
  /// A ParameterError that lists the names if there is none called so.
  const Row& at(std::string_view name) const {
    if (const Row* row = find(name)) return *row;
    throw_unknown(option_, name, names());
  }

  /// For programs that bring a method of their own; before any use of the list. A UsageError for a name that is taken.
  void add(Row row) {
    check(find(row.name) == nullptr, "[methods] there is a {} '{}' already", kind_, row.name);
    for (const Description::Field& field : row.parameters.fields()) {
      check(!is_reserved(field.name), "[methods] '{}' of {} is the name of an option that every run has", field.name,
            row.name);
    }
    rows_.push_back(std::move(row));
  }

  /// A ParameterError unless the method can, with those that can: "sdcd cannot satisfy prior knowledge; fansite-anm
  /// can".
  void require(const Row& row, bool Capabilities::*ability, std::string_view words) const {
    if (row.can.*ability) return;
    std::vector<std::string> able;
    for (const Row& other : rows_) {
      if (other.can.*ability) able.push_back(other.name);
    }
    throw ParameterError(option_, fmt::format("{} cannot {}; {}", row.name, words,
                                              able.empty() ? "no method of this kind can" : either(able) + " can"));
  }

 private:
  std::string kind_, option_;
  std::vector<Row> rows_;
};

}  // namespace fansite
