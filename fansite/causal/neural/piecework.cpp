// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/piecework.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"

namespace fansite::causal {
namespace {

constexpr int kRehearsedSteps = 10;
// Of a time budget: what the steps are planned to take, and when the pieces that still run are given up.
constexpr double kPlannedShare = 0.85, kAnswerShare = 0.97;

// Steps count for nothing.
class Rehearsal final : public Progress {
 public:
  explicit Rehearsal(const Progress& progress) : progress_(progress) {}
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return progress_.interrupted(); }

 private:
  const Progress& progress_;
};

// As many pieces as there are threads, each of which slows the others down.
double seconds_per_step(const Piecework& work, const Progress& progress) {
  Rehearsal rehearsal(progress);
  const int pieces = std::min(work.pieces, thread_count()), steps = std::min(work.steps, kRehearsedSteps);
  const auto run = [&] {
    const Stopwatch watch;
    parallel_for(pieces, [&](std::ptrdiff_t i) { work.work(static_cast<int>(i), steps, rehearsal); });
    return watch.seconds();
  };
  run();  // memory and threads are there afterwards
  return run() / std::max(steps, 1);
}

double rounds(const Piecework& work) {
  return std::ceil(static_cast<double>(work.pieces) / std::min(work.pieces, thread_count()));
}

int affordable_steps(const Context& context, const Piecework& work) {
  if (!context.budget().limited() || work.pieces == 0) return work.steps;
  const double each = rounds(work) * seconds_per_step(work, context.progress());
  const double steps = kPlannedShare * std::max(context.budget().left(), 0.0) / each;
  return static_cast<int>(std::clamp(steps, 1.0, static_cast<double>(work.steps)));
}

}  // namespace

double rehearsed_seconds(const Piecework& work, const Progress& progress) {
  const SingleThreadedBlas alone;
  return work.pieces == 0 ? 0 : rounds(work) * work.steps * seconds_per_step(work, progress);
}

PieceAnswers do_pieces(const Context& context, const Piecework& work, FinishedPieces* kept) {
  const SingleThreadedBlas alone;
  const Budget& budget = context.budget();
  Deadline deadline(context.progress(), budget.watch(), kAnswerShare * budget.end(), Budget::never());
  if (kept != nullptr) kept->begin(work.problem, work.pieces, work.numbers);
  PieceAnswers result;
  result.answers.resize(static_cast<std::size_t>(work.pieces));
  result.steps = affordable_steps(context, work);
  deadline.begin(work.stage, static_cast<long>(work.pieces) * result.steps);
  try {
    parallel_for(work.pieces, [&](std::ptrdiff_t i) {
      throw_if_interrupted(deadline);
      const int place = static_cast<int>(i);
      std::vector<double>& answer = result.answers[static_cast<std::size_t>(i)];
      if (kept != nullptr) {
        if (auto known = kept->find(place)) {
          answer = *std::move(known);
          deadline.already_done(result.steps);
          return;
        }
      }
      if (!deadline.out_of_time()) answer = work.work(place, result.steps, deadline);
      if (kept != nullptr && !answer.empty() && result.steps == work.steps) kept->add(place, answer);
    });
  } catch (const Interrupted&) {
    if (kept != nullptr) kept->write();
    throw;
  }
  if (kept != nullptr) kept->write();
  result.missing = static_cast<int>(
      std::count_if(result.answers.begin(), result.answers.end(), [](const auto& answer) { return answer.empty(); }));
  return result;
}

std::string cut_short_in_words(const Piecework& work, const PieceAnswers& answers) {
  std::string words;
  if (answers.steps < work.steps) {
    words = fmt::format("time ran out: networks were trained for {} of {} steps", answers.steps, work.steps);
  }
  if (answers.missing > 0) {
    words +=
        fmt::format("{}{} of {} not at all", words.empty() ? "time ran out: networks were trained, but " : ", and ",
                    answers.missing, work.pieces);
  }
  return words;
}

}  // namespace fansite::causal
