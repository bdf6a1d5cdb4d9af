// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/subset_density.h"

#include <algorithm>
#include <iterator>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"

namespace fansite::flow {
namespace {

constexpr Index kCellsAtOnce = Index{1} << 21;  // of a table that holds options: 8 MB

Index combinations(std::span<const Trial> trials) {
  Index count = 1;
  for (const Trial& trial : trials) count *= trial.options();
  return count;
}

}  // namespace

Subset joined(const Subset& a, const Subset& b) {
  Subset both;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Eigen::MatrixXf SubsetDensity::log_density(const CellColumns& rows, const Subset& subset,
                                           std::span<const Trial> trials) const {
  const Index count = combinations(trials);
  const Index at_once = std::max<Index>(1, kCellsAtOnce / std::max<Index>(1, count * rows.cols()));
  const std::vector<Subset> asked = {subset};
  Eigen::MatrixXf result(rows.rows(), count);
  for (Index first = 0; first < rows.rows(); first += at_once) {
    const Index some = std::min(at_once, rows.rows() - first);
    Table table(some * count, rows.cols());  // of a row all combinations side by side
    for (const int column : subset) {
      for (Index i = 0; i < some; ++i) {
        table.col(column).segment(i * count, count).setConstant((*rows.score)(first + i, column));
      }
    }
    Index inner = count;
    for (const Trial& trial : trials) {
      inner /= trial.options();
      for (const TrialColumn& column : trial.columns) {
        check(column.low.size() == 0, "[density] this network knows numbers, no intervals");
        for (Index v = 0; v < count; ++v) {
          const Index option = v / inner % trial.options();
          for (Index i = 0; i < some; ++i) table(i * count + v, column.variable) = column.values(first + i, option);
        }
      }
    }
    const Eigen::MatrixXf density = log_density(table, asked);
    for (Index i = 0; i < some; ++i) result.row(first + i) = density.col(0).segment(i * count, count);
  }
  return result;
}

Eigen::MatrixXf SubsetDensity::log_conditional(const CellColumns& rows,
                                               std::span<const ConditionalSubset> questions) const {
  std::vector<Subset> subsets;
  for (const ConditionalSubset& question : questions) {
    subsets.push_back(question.given);
    subsets.push_back(joined(question.given, question.target));
  }
  const Eigen::MatrixXf density = log_density(rows, subsets);
  Eigen::MatrixXf result(density.rows(), density.cols() / 2);
  const auto subtract = [&](std::ptrdiff_t q) { result.col(q) = density.col(2 * q + 1) - density.col(2 * q); };
  constexpr Index kLarge = Index{1} << 16;
  if (result.size() >= kLarge) {
    parallel_for(result.cols(), subtract);
  } else {
    for (Index q = 0; q < result.cols(); ++q) subtract(q);
  }
  return result;
}

Eigen::MatrixXf SubsetDensity::log_conditional(const CellColumns& rows, const ConditionalSubset& question,
                                               std::span<const Trial> trials) const {
  Eigen::MatrixXf result = log_density(rows, joined(question.given, question.target), trials);
  // Of the given alone: the options of their own trials.
  std::vector<Trial> own;
  std::vector<Index> options, stride;  // of all trials; the stride is 0 for those of the target
  for (const Trial& trial : trials) {
    const int variable = trial.columns.front().variable;
    const bool is_given = std::binary_search(question.given.begin(), question.given.end(), variable);
    options.push_back(trial.options());
    for (Index& s : stride) s *= is_given ? trial.options() : 1;
    stride.push_back(is_given ? 1 : 0);
    if (is_given) own.push_back(trial);
  }
  const std::vector<Subset> given = {question.given};
  const Eigen::MatrixXf without =
      own.empty() ? log_density(rows, given) : log_density(rows, question.given, std::span<const Trial>(own));
  for (Index v = 0; v < result.cols(); ++v) {
    Index place = 0, rest = v;
    for (std::size_t t = options.size(); t-- > 0; rest /= options[t]) place += stride[t] * (rest % options[t]);
    result.col(v) -= without.col(place);
  }
  return result;
}

}  // namespace fansite::flow
