// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted method that learns weights continues from, as a file. docs/formats.md has the layout. Nothing
// that a file says is believed before it is checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fansite/base/detail/state_file.h"
#include "fansite/causal/neural/learning.h"

namespace fansite::causal {

struct LearningCheckpoint {
  StateIdentity identity;
  LearningState state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError. Whether
/// the state is of the shape that the method has is for Learning::restore() to say.
LearningCheckpoint parse_learning_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const LearningCheckpoint& checkpoint);

/// The file of one run.
class LearningFile {
 public:
  /// A UsageError if the place cannot be written.
  LearningFile(std::string path, StateIdentity identity)
      : file_(FileKind::graph_checkpoint, std::move(path), std::move(identity)) {}

  /// The state that is there, if there is one. A DataError for a file that is damaged or something else, a UsageError
  /// for one of another table or with other settings.
  std::optional<LearningState> load() const;
  [[noreturn]] void damaged(std::string_view what) const { file_.damaged(what); }

  bool due() const { return file_.due(); }
  void write(const LearningState& state);

 private:
  StateFile file_;
};

}  // namespace fansite::causal
