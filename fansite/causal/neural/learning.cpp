// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/learning.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/causal/neural/detail/learning_file.h"
#include "fansite/causal/to_dag.h"

namespace fansite::causal {
namespace {

constexpr double kAnswerShare = 0.95;  // of a time budget: when learning ends, so that the answer is in time

void check_state(bool good) { check(good, "[learning] the state to continue from is of another shape"); }

}  // namespace

// ---- The table ------------------------------------------------------------------------------------------------------

Matrix scaled(const MatrixView& values, Columns columns) {
  Matrix result = values;
  if (columns == Columns::as_they_are) return result;
  for (Index j = 0; j < result.cols(); ++j) {
    result.col(j).array() -= result.col(j).mean();
    if (columns == Columns::centred) continue;
    const double deviation = result.col(j).norm() / std::sqrt(std::max(1.0, static_cast<double>(result.rows() - 1)));
    if (deviation > 0) result.col(j) /= deviation;
  }
  return result;
}

LearningTable learning_table(const Context& context, Columns columns, std::string_view method) {
  const Matrix& values = context.tame().values;
  LearningTable table;
  table.table_columns = values.cols();
  for (Index j = 0; j < values.cols(); ++j) {
    if (!context.facts().takes_part[static_cast<std::size_t>(j)]) continue;
    table.columns.push_back(j);
    check_data(std::isfinite(values.col(j).squaredNorm()),
               "[{}] the column '{}' has values as large as {:.1e}, whose squares overflow; rescale it", method,
               excerpt(context.data().names[static_cast<std::size_t>(j)]), values.col(j).cwiseAbs().maxCoeff());
  }
  table.values = scaled(values(Eigen::all, table.columns), columns);
  return table;
}

// ---- From the first step to the last --------------------------------------------------------------------------------

bool learn(Learning& learning, const Context& context, const std::string& settings, std::string_view stage,
           Progress& progress) {
  std::optional<LearningFile> file;
  if (context.keeps_state()) {
    file.emplace(context.checkpoint(&CheckpointFiles::graph),
                 identity_of(context.tame().values, fmt::format("{}, seed {}", settings, context.run().seed),
                             context.facts().values_hash));
    if (const auto state = file->load()) {
      try {
        learning.restore(*state);
      } catch (const UsageError&) {
        file->damaged("what was learnt is of another shape");
      }
    }
  }
  progress.begin(stage, learning.schedule());
  const auto steps_so_far = [&] { return learning.finished() ? learning.schedule() : learning.steps(); };
  long reported = steps_so_far();
  progress.already_done(reported);
  const auto report = [&] {
    const long steps = steps_so_far();
    if (steps > reported) progress.advance(steps - reported);
    reported = std::max(reported, steps);
  };
  while (!learning.finished()) {
    try {
      throw_if_interrupted(progress);
      if (progress.out_of_time()) {
        if (file) file->write(learning.state());
        return false;
      }
      learning.advance(progress);
    } catch (const Interrupted&) {
      if (file) file->write(learning.state());
      throw;
    }
    report();
    if (file && file->due()) file->write(learning.state());
  }
  return true;
}

Deadline answer_deadline(const Context& context) {
  const Budget& budget = context.budget();
  return {context.progress(), budget.watch(), kAnswerShare * budget.end(), Budget::never()};
}

// ---- The graph ------------------------------------------------------------------------------------------------------

GraphAnswer weighted_answer(const LearningTable& table, const Matrix& weights, double threshold,
                            std::string_view method) {
  check_data(weights.allFinite(), "[{}] weights are no longer numbers; standardise the columns", method);
  const Matrix sizes = weights.cwiseAbs();
  const ByteMatrix dag = to_dag(sizes, threshold);
  GraphAnswer answer;
  answer.graph = {ByteMatrix::Zero(table.table_columns, table.table_columns),
                  ByteMatrix::Zero(table.table_columns, table.table_columns)};
  answer.weights = Matrix::Zero(table.table_columns, table.table_columns);
  answer.graph.directed(table.columns, table.columns) = dag;
  answer.weights(table.columns, table.columns) = weights;
  const auto above = (sizes.array() >= threshold).count(), edges = (dag.array() != 0).count();
  if (above > edges) {
    answer.warnings.push_back(fmt::format(
        "[dag] {} of {} weights at or above {} would close a cycle and are no edges; the heaviest came first",
        above - edges, above, threshold));
  }
  return answer;
}

GraphAnswer answer_without_pairs(const LearningTable& table) {
  GraphAnswer answer = weighted_answer(table, Matrix::Zero(table.variables(), table.variables()), 1, "dag");
  answer.how = "fewer than two columns take part: there was nothing to learn";
  return answer;
}

Capabilities learning_capabilities() {
  return {.resumable = true, .can_be_cut_short = true, .keeps_table_order = true};
}

// ---- States ---------------------------------------------------------------------------------------------------------

double StateReader::number() {
  check_state(next_number_ < state_.numbers.size());
  return state_.numbers[next_number_++];
}

std::int64_t StateReader::count(std::int64_t most) {
  const double value = number();
  check_state(value >= 0 && value <= static_cast<double>(most) && value == std::floor(value));
  return static_cast<std::int64_t>(value);
}

const std::vector<double>& StateReader::vector(std::size_t size) {
  check_state(next_vector_ < state_.vectors.size() && state_.vectors[next_vector_].size() == size);
  return state_.vectors[next_vector_++];
}

void StateReader::end() const {
  check_state(next_number_ == state_.numbers.size() && next_vector_ == state_.vectors.size());
}

}  // namespace fansite::causal
