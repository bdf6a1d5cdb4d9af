// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted search for boundaries on held-out rows continues from, as a file: the order in which each target
// took variables in, and the pairs that were tested. docs/formats.md has the layout. Nothing that a file says is
// believed before it is checked.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/detail/state_file.h"
#include "fansite/base/sets.h"
#include "fansite/entropy/entropy.h"

namespace fansite {

/// What a search has found out.
struct SearchState {
  Sets paths;                           ///< per target, in order of admission
  std::map<Pair, PairEvidence> tested;  ///< by fact_of
};

struct SearchCheckpoint {
  StateIdentity identity;
  SearchState state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError.
SearchCheckpoint parse_search_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const SearchCheckpoint& checkpoint);

/// The state of one search, known from its file or found, and kept there. Any thread may call.
class SearchKeeper {
 public:
  /// As StateFile.
  SearchKeeper(std::string path, StateIdentity identity);

  /// Before all else: how many targets are searched.
  void begin(std::size_t targets);
  /// A DataError: what the file holds cannot be.
  [[noreturn]] void damaged() const { file_.damaged("it holds what this search cannot have found"); }

  /// What the target in this slot took in after `size` others; −1: that is not known.
  int next(std::size_t slot, std::size_t size) const;
  void took(std::size_t slot, int variable);
  std::optional<PairEvidence> tested(Pair fact) const;
  void add(Pair fact, PairEvidence evidence);

  /// From now on nothing is kept and no test is known: growing was cut short, so tests are not of the final sets.
  void stop_keeping();

  void write_if_due();
  /// Writes what is not written yet.
  void write();

 private:
  void write_now();

  mutable std::mutex lock_;  // guards all below
  StateFile file_;
  SearchState known_;
  bool complete_ = true;  // the file
  bool keeping_ = true;
};

}  // namespace fansite
