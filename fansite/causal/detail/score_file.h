// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted search by additive noise continues from, as a file: the scores that it has computed.
// docs/formats.md has the layout. Nothing that a file says is believed before it is checked.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/detail/state_file.h"
#include "fansite/base/matrix.h"

namespace fansite::causal {

/// Children that were scored together. Who else is computed given the same parents can touch the last bit of a score,
/// so a score is only ever taken for that of the same group.
struct ScoreGroup {
  std::vector<int> parents;   ///< ascending
  std::vector<int> children;  ///< in the order computed

  auto operator<=>(const ScoreGroup&) const = default;
};
/// What a search by additive noise has computed.
struct KnownScores {
  std::map<ScoreGroup, std::vector<double>> means;  ///< of each child, over all rows
  std::map<ScoreGroup, std::vector<float>> rows;    ///< of a child on its own, in each row used
};

struct ScoreCheckpoint {
  StateIdentity identity;
  KnownScores state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError.
ScoreCheckpoint parse_score_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const ScoreCheckpoint& checkpoint);

/// The scores of one search, known from its file or computed, and kept there. Any thread may call.
class ScoreKeeper {
 public:
  ScoreKeeper(const std::string& path, StateIdentity identity);

  std::optional<std::vector<double>> means(const ScoreGroup& group) const;
  /// Unless they are of another number of rows, which none of this search are.
  std::optional<std::vector<float>> rows(const ScoreGroup& group, Index count) const;
  /// Write the file when it is due.
  void add_means(const ScoreGroup& group, std::vector<double> scores);
  void add_rows(const ScoreGroup& group, std::vector<float> scores);
  /// Writes what is not written yet.
  void write();

 private:
  void added();
  void write_file();

  mutable std::mutex lock_;  // guards all below
  StateFile file_;
  KnownScores known_;
  bool complete_ = true;  // the file
};

}  // namespace fansite::causal
