// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted search for a graph continues from, as a file: the scores that a search by additive noise has
// computed, or the networks that a differentiable one is training. docs/formats.md has the layout. Nothing that a file
// says is believed before it is checked.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fansite/base/detail/state_file.h"
#include "fansite/base/matrix.h"
#include "fansite/causal/dcd/differentiable.h"

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

struct GraphCheckpoint {
  StateIdentity of;
  std::variant<KnownScores, DifferentiableTraining::State> state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError. Whether
/// networks are of the shape that their settings have is for DifferentiableTraining::restore() to say.
GraphCheckpoint parse_graph_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const GraphCheckpoint& checkpoint);

/// The file of one search.
class GraphCheckpointFile {
 public:
  /// A UsageError if the place cannot be written.
  GraphCheckpointFile(std::string path, StateIdentity of)
      : file_(FileKind::graph_checkpoint, std::move(path), std::move(of)) {}

  /// The state that is there, if there is one. A DataError for a file that is damaged or something else, a UsageError
  /// for one of another table or with other settings.
  template <class State>
  std::optional<State> load() const;
  [[noreturn]] void damaged(std::string_view what) const { file_.damaged(what); }

  const std::string& path() const { return file_.path(); }
  bool due() const { return file_.due(); }
  template <class State>
  void write(const State& state);

 private:
  StateFile file_;
};

/// The scores of one search, known from its file or computed, and kept there. Any thread may call.
class ScoreKeeper {
 public:
  ScoreKeeper(const std::string& path, StateIdentity of);

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

  mutable std::mutex lock_;  // guards all below
  GraphCheckpointFile file_;
  KnownScores known_;
  bool complete_ = true;  // the file
};

}  // namespace fansite::causal
