// SPDX-License-Identifier: Apache-2.0
//
// Long work in pieces, each a function of its place alone: the answers of those that are done, as a file that
// interrupted work goes on from. docs/formats.md has the layout. Nothing that a file says is believed before it is
// checked.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/detail/state_file.h"

namespace fansite {

/// All answers have equally many numbers.
struct PiecesState {
  std::uint64_t problem = 0;                   ///< what the pieces depend on beside table and settings
  int pieces = 0;                              ///< in all
  int numbers = 0;                             ///< in an answer, at least 1
  std::map<int, std::vector<double>> answers;  ///< by place

  bool operator==(const PiecesState&) const = default;
};

struct PiecesCheckpoint {
  StateIdentity identity;
  PiecesState state;
};
/// From and to bytes in memory; `name` stands for the file in messages. Any bytes give a value or a DataError.
PiecesCheckpoint parse_pieces_checkpoint(std::string_view bytes, const std::string& name, FileKind kind);
std::string to_bytes(const PiecesCheckpoint& checkpoint, FileKind kind);

/// The answers so far, known from a file or found, and kept there. Any thread may call.
class FinishedPieces {
 public:
  /// Reads what is there: a DataError for a file that is damaged or something else, a UsageError for one of another
  /// table or with other settings, and for a place that cannot be written.
  FinishedPieces(FileKind kind, std::string path, StateIdentity identity);

  /// Before all else: what is to be done. A UsageError if the file is of another problem.
  void begin(std::uint64_t problem, int pieces, int numbers);
  std::optional<std::vector<double>> find(int place) const;
  void add(int place, std::vector<double> answer);  ///< writes if it is time to
  void write();                                     ///< what is not written yet

 private:
  void write_now();

  mutable std::mutex lock_;
  FileKind kind_;
  StateFile file_;
  std::optional<PiecesState> state_;
  bool complete_ = true;  // the file has all that is known
};

}  // namespace fansite
