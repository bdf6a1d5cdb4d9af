// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/hidden_causes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/base/text.h"
#include "fansite/table/scores.h"

namespace fansite::causal {
namespace {

constexpr double kLevel = 0.001;  // a graph that is a little wrong leaves a little over
// As in the test of additivity: what a regression smooths away is shared by the children of one parent.
constexpr double kHarmless = 0.1;
constexpr std::size_t kMostVariables = 1000;  // pairs of more take longer than the graph of a linear table
constexpr double kFewestRows = 20;            // with both

struct LeftOver {
  std::vector<int> variable;
  Matrix scores, weights;  // normal scores of what is left, and what its row weighs: 0 where the variable is missing
};

// A copy of a column is told elsewhere.
bool repeats(const Matrix& values, int column, const std::vector<int>& earlier) {
  return std::any_of(earlier.begin(), earlier.end(), [&](int other) {
    return values(0, column) == values(0, other) && values.col(column) == values.col(other);
  });
}

LeftOver left_over(const Equations& equations, const std::vector<std::vector<int>>& parents, const Progress& progress) {
  LeftOver result;
  const Matrix& values = equations.regression().values();
  for (int j = 0; j < static_cast<int>(parents.size()); ++j) {
    if (!equations.discrete(j) && !repeats(values, j, result.variable)) result.variable.push_back(j);
  }
  const auto count = static_cast<Index>(result.variable.size());
  result.scores = result.weights = Matrix::Zero(equations.rows(), count);
  const Vector& of_rows = equations.counts().weights;
  const SingleThreadedBlas one_thread_each;
  parallel_for(count, [&](Index k) {
    throw_if_interrupted(progress);
    const int child = result.variable[static_cast<std::size_t>(k)];
    const std::vector<int>& rows = equations.present(child);
    const Residuals left =
        equations.regression().residuals(std::span(&child, 1), parents[static_cast<std::size_t>(child)], rows);
    const Vector scores =
        normal_scores(left.left_out.col(0).array() * (1 - left.leverage.col(0).array()).max(0).sqrt());
    for (Index i = 0; i < scores.size(); ++i) {
      const Index row = rows.empty() ? i : rows[static_cast<std::size_t>(i)];
      result.scores(row, k) = scores[i];
      result.weights(row, k) = of_rows.size() > 0 ? of_rows[row] : 1.0;
    }
  });
  return result;
}

}  // namespace

std::vector<HiddenCause> find_hidden_causes(const Equations& equations, const std::vector<std::vector<int>>& parents,
                                            const Progress& progress) {
  if (parents.size() > kMostVariables || equations.rows() == 0) return {};
  const LeftOver left = left_over(equations, parents, progress);
  const Index d = left.scores.cols();
  Matrix lines(left.scores.rows(), d), bulges = lines;
  for (Index k = 0; k < d; ++k) {
    lines.col(k) = fansite::standardised(left.scores.col(k), left.weights.col(k));
    bulges.col(k) = fansite::standardised(left.scores.col(k).cwiseAbs2(), left.weights.col(k));
  }
  const Matrix roots = left.weights.cwiseSqrt();
  const Matrix rows = roots.transpose() * roots;
  const Matrix straight = lines.transpose() * lines, bent = lines.transpose() * bulges;
  const double worth = equations.independent(equations.rows()) / static_cast<double>(equations.rows());
  const double tests = 3.0 * static_cast<double>(d * (d - 1) / 2);
  std::vector<HiddenCause> result;
  for (Index k = 0; k < d; ++k) {
    for (Index m = k + 1; m < d; ++m) {
      const double n = rows(k, m);
      if (n < kFewestRows) continue;
      HiddenCause pair{left.variable[static_cast<std::size_t>(k)], left.variable[static_cast<std::size_t>(m)], 0, 1};
      for (const double product : {straight(k, m), bent(k, m), bent(m, k)}) {
        if (std::abs(product) > std::abs(pair.correlation) * n) pair.correlation = product / n;
      }
      const double root = std::sqrt(worth * n);
      const double z = std::abs(pair.correlation) * root, mean = kHarmless * root;
      pair.p_value = std::min(1.0, tests * (normal_tail(z - mean) + normal_tail(z + mean)));
      if (pair.p_value <= kLevel) result.push_back(pair);
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const HiddenCause& x, const HiddenCause& y) { return x.p_value < y.p_value; });
  return result;
}

bool touches(const std::vector<HiddenCause>& hidden, int variable) {
  return std::any_of(hidden.begin(), hidden.end(),
                     [&](const HiddenCause& pair) { return pair.a == variable || pair.b == variable; });
}

std::string in_words(const std::vector<HiddenCause>& hidden, const std::vector<std::string>& names) {
  if (hidden.empty()) return "";
  const HiddenCause& first = hidden.front();
  const std::size_t pairs = names.size() * (names.size() - 1) / 2;
  std::string others;
  if (hidden.size() > 1) {
    others = fmt::format(", and so is that of {} more of {} pairs", hidden.size() - 1, pairs);
  }
  return fmt::format(
      "what the graph leaves over of '{}' and '{}' is related (correlation {:.2f}, p = {:.1g}){}: a common cause that "
      "is "
      "not in the table, or measurement noise, may be behind it, and links and directions at these variables are "
      "fragile",
      excerpt(names[static_cast<std::size_t>(first.a)]), excerpt(names[static_cast<std::size_t>(first.b)]),
      first.correlation, first.p_value, others);
}

}  // namespace fansite::causal
