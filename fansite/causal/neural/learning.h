// SPDX-License-Identifier: Apache-2.0
//
// Graph methods that learn a weight for every pair of variables: the table as they see it, learning that can be
// interrupted, continued and cut short, and the graph that weights make.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/causal/methods.h"

namespace fansite::causal {

/// What a variable is of its parents.
enum class Relations { linear, nonlinear };
constexpr auto enum_names(Relations) {
  return std::to_array<EnumName<Relations>>({{Relations::linear, "linear"}, {Relations::nonlinear, "nonlinear"}});
}

/// The columns that take part.
struct LearningTable {
  Matrix values;
  std::vector<Index> columns;  ///< of the table, for each of them
  Index table_columns = 0;

  Index rows() const { return values.rows(); }
  Index variables() const { return values.cols(); }
};
enum class Columns { as_they_are, centred, standardised };  ///< standardised: variance 1 (dividing by N − 1)
/// A DataError for numbers so large that their squares overflow. `method` as in "[method] …".
LearningTable learning_table(const Context& context, Columns columns, std::string_view method);
/// The same of values alone.
Matrix scaled(const MatrixView& values, Columns columns);

/// What learning continues from: numbers, counts among them, and vectors, which the method alone understands.
struct LearningState {
  std::vector<double> numbers;
  std::vector<std::vector<double>> vectors;

  bool operator==(const LearningState&) const = default;
};

/// Learning as a value that can be advanced, saved and continued: the same bits whether or not it was interrupted, and
/// for any number of threads.
class Learning {
 public:
  virtual ~Learning() = default;
  /// Some milliseconds of work, more if it takes one step. Throws Interrupted if a step is long and the progress says
  /// so; what state() gives then is from before it.
  virtual void advance(Progress& progress) = 0;
  virtual bool finished() const = 0;
  virtual long steps() const = 0;     ///< of the schedule, so far …
  virtual long schedule() const = 0;  ///< … and in all, at most
  virtual LearningState state() const = 0;
  /// A UsageError unless the state is of the same shape.
  virtual void restore(const LearningState& state) = 0;
};

/// Learns to the end, or until time is up: false. The state is kept in the run's checkpoint, and what is there already
/// is continued from; `settings`: all that enters it, in words.
bool learn(Learning& learning, const Context& context, const std::string& settings, std::string_view stage,
           Progress& progress);

/// The graph of weights between the columns that take part; edges have an absolute weight of at least the threshold.
GraphAnswer weighted_answer(const LearningTable& table, const Matrix& weights, double threshold,
                            std::string_view method);

/// The graph where fewer than two columns take part: nothing has to be learnt, and a score of nothing is no number.
GraphAnswer answer_without_pairs(const LearningTable& table);

/// A run's clock: the method comes to an answer when its time is nearly up.
Deadline answer_deadline(const Context& context);

/// Columns of numbers, in the table's own order as published; can be resumed and cut short.
Capabilities learning_capabilities();

/// Reads the parts of a state in order; a UsageError where there are fewer, others or more.
class StateReader {
 public:
  explicit StateReader(const LearningState& state) : state_(state) {}
  double number();
  std::int64_t count(std::int64_t most);  ///< whole, from 0 on
  const std::vector<double>& vector(std::size_t size);
  void end() const;

 private:
  const LearningState& state_;
  std::size_t next_number_ = 0, next_vector_ = 0;
};

}  // namespace fansite::causal
