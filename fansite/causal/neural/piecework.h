// SPDX-License-Identifier: Apache-2.0
//
// Many small trainings that share nothing, such as one for each variable or pair: run on all threads, kept in a file as
// they end, and shortened where a time budget asks for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fansite/base/detail/finished_pieces.h"
#include "fansite/context/context.h"

namespace fansite::causal {

struct Piecework {
  std::string stage;  ///< for people
  int pieces = 0;
  int steps = 0;    ///< of each piece
  int numbers = 1;  ///< of each answer
  std::uint64_t problem = 0;
  /// The answer of one piece after so many steps, a function of these two alone; empty if time ran out first. It
  /// reports its steps, and ends when interrupted or out of time.
  std::function<std::vector<double>(int place, int steps, Progress&)> work;
};

struct PieceAnswers {
  std::vector<std::vector<double>> answers;  ///< empty: time ran out
  int steps = 0;                             ///< that each piece took: fewer than asked if time is short
  int missing = 0;                           ///< pieces without an answer
};

/// With a time budget the steps are as many as time allows, going by a rehearsal. Answers of fewer steps than asked are
/// not kept. `kept` may be null.
PieceAnswers do_pieces(const Context& context, const Piecework& work, FinishedPieces* kept);

/// Seconds that all pieces would take now, going by a rehearsal of some.
double rehearsed_seconds(const Piecework& work, const Progress& progress);

/// "time ran out: networks were trained for 12 of 30000 steps, and 3 of 30 not at all"; "": nothing was cut.
std::string cut_short_in_words(const Piecework& work, const PieceAnswers& answers);

}  // namespace fansite::causal
