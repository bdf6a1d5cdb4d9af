// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted differentiable search continues from, as a file: the networks that it is training.
// docs/formats.md has the layout. Nothing that a file says is believed before it is checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fansite/base/detail/state_file.h"
#include "fansite/causal/dcd/differentiable.h"

namespace fansite::causal {

struct TrainingCheckpoint {
  StateIdentity identity;
  DifferentiableTraining::State state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError. Whether
/// networks are of the shape that their settings have is for DifferentiableTraining::restore() to say.
TrainingCheckpoint parse_training_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const TrainingCheckpoint& checkpoint);

/// The file of one search.
class TrainingFile {
 public:
  /// A UsageError if the place cannot be written.
  TrainingFile(std::string path, StateIdentity identity)
      : file_(FileKind::graph_checkpoint, std::move(path), std::move(identity)) {}

  /// The state that is there, if there is one. A DataError for a file that is damaged or something else, a UsageError
  /// for one of another table or with other settings.
  std::optional<DifferentiableTraining::State> load() const;
  [[noreturn]] void damaged(std::string_view what) const { file_.damaged(what); }

  const std::string& path() const { return file_.path(); }
  bool due() const { return file_.due(); }
  void write(const DifferentiableTraining::State& state);

 private:
  StateFile file_;
};

}  // namespace fansite::causal
