// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/missingness.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fansite/base/parallel.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

using By = MissingDependence::By;

/// A question of one column: a score for each of its rows, 0 where it has none. Scores have mean 0 and variance 1 over
/// the rows that have one.
struct Scores {
  int column = 0;
  By by = By::value;
  int level = 0;
  double rows = 0;     // that have a score
  double largest = 0;  // |score|
  std::vector<float> score;
  std::vector<char> there;
};

/// Nothing if all scores are equal.
void add_scores(int column, By by, int level, const Vector& values, std::vector<char> there,
                std::vector<Scores>& questions) {
  double rows = 0, sum = 0, squares = 0;
  for (Index i = 0; i < values.size(); ++i) {
    if (there[static_cast<std::size_t>(i)] == 0) continue;
    rows += 1;
    sum += values[i];
    squares += values[i] * values[i];
  }
  const double mean = sum / rows, variance = squares / rows - mean * mean;
  if (!(rows >= 2) || !(variance > 1e-12 * (1 + mean * mean))) return;
  Scores scores{column, by, level, rows, 0, std::vector<float>(there.size(), 0), std::move(there)};
  for (Index i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (scores.there[at] == 0) continue;
    scores.score[at] = static_cast<float>((values[i] - mean) / std::sqrt(variance));
    scores.largest = std::max(scores.largest, std::abs(static_cast<double>(scores.score[at])));
  }
  questions.push_back(std::move(scores));
}

/// Normal scores of the cells that are there.
Vector scores_of_present(const Eigen::Ref<const Vector>& values, const std::vector<char>& there) {
  std::vector<Index> rows;
  for (Index i = 0; i < values.size(); ++i) {
    if (there[static_cast<std::size_t>(i)] != 0) rows.push_back(i);
  }
  const Vector scores = normal_scores(values(rows));
  Vector result = Vector::Zero(values.size());
  result(rows) = scores;
  return result;
}

std::vector<Scores> questions_of(const Dataset& data, int column) {
  std::vector<Scores> questions;
  const auto values = data.values.col(column);
  const auto rows = static_cast<std::size_t>(data.rows());
  std::vector<char> there(rows);
  Vector absent(data.rows());
  for (std::size_t i = 0; i < rows; ++i) {
    absent[static_cast<Index>(i)] = std::isnan(values[static_cast<Index>(i)]) ? 1 : 0;
    there[i] = absent[static_cast<Index>(i)] == 0;
  }
  const auto at = static_cast<std::size_t>(column);
  const bool nominal = !data.columns.empty() && data.columns[at].kind == ColumnKind::nominal;
  if (!nominal) {
    add_scores(column, By::value, 0, scores_of_present(values, there), there, questions);
  } else {
    const int levels = static_cast<int>(data.columns[at].levels.size());
    for (int level = 0; level < levels; ++level) {
      const Vector is_level = values.unaryExpr([level](double value) { return value == level ? 1.0 : 0.0; });
      add_scores(column, By::level, level, is_level, there, questions);
    }
  }
  add_scores(column, By::absence, 0, absent, std::vector<char>(rows, 1), questions);
  return questions;
}

/// The rows that lack a cell of the column.
std::vector<int> missing_rows(const Dataset& data, int column) {
  std::vector<int> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    if (std::isnan(data.values(i, column))) rows.push_back(static_cast<int>(i));
  }
  return rows;
}

/// z and p of one test, without correction; p is 1 where Bernstein's bound is not below `level`.
std::pair<double, double> test(const Scores& scores, const std::vector<int>& missing, double level) {
  double sum = 0, count = 0;
  for (const int row : missing) {
    sum += static_cast<double>(scores.score[static_cast<std::size_t>(row)]);
    count += scores.there[static_cast<std::size_t>(row)];
  }
  const double others = scores.rows - count;
  if (count < 1 || others < 1) return {0, 1};
  // The scores have variance 1: drawing `count` of `rows` without putting back gives a sum of this variance.
  const double z = sum / std::sqrt(count * others / (scores.rows - 1));
  // Drawn without putting back a sum strays less than with: Bernstein's bound holds (Hoeffding 1963). The fewer of the
  // two parts decides, as their sums are opposite.
  const double fewer = std::min(count, others), far = std::abs(sum);
  const double bound = 2 * std::exp(-far * far / (2 * (fewer + scores.largest * far / 3)));
  return {z, bound < level ? std::erfc(std::abs(z) / std::numbers::sqrt2) : 1.0};
}

}  // namespace

std::vector<MissingDependence> missing_dependences(const Dataset& data, double level) {
  std::vector<int> incomplete;
  double cells = 0;
  for (int j = 0; j < data.variables(); ++j) {
    const Index missing = data.values.col(j).array().isNaN().count();
    if (missing > 0 && missing < data.rows()) incomplete.push_back(j);
    if (missing < data.rows()) cells += static_cast<double>(missing);
  }
  // A warning is worth seconds: of very large tables each column is held against a part of the others only.
  constexpr double kMostVisits = 4e9;
  const double visits = std::max(1.0, cells) * data.variables();
  const int stride = static_cast<int>(std::ceil(visits / kMostVisits));
  std::vector<std::vector<int>> rows(incomplete.size());
  for (std::size_t i = 0; i < incomplete.size(); ++i) rows[i] = missing_rows(data, incomplete[i]);

  std::vector<MissingDependence> strongest(incomplete.size());
  std::vector<double> best(incomplete.size(), 2);
  double tests = 0;
  constexpr int kTogether = 64;  // columns whose scores are in memory at once
  for (int first = 0; first < data.variables() && !incomplete.empty(); first += kTogether) {
    const int end = std::min(first + kTogether, data.variables());
    std::vector<std::vector<Scores>> block(static_cast<std::size_t>(end - first));
    parallel_for(end - first, [&](std::ptrdiff_t i) {
      const int column = first + static_cast<int>(i);
      if (column % stride == 0) block[static_cast<std::size_t>(i)] = questions_of(data, column);
    });
    std::vector<double> counted(incomplete.size(), 0);
    parallel_for(static_cast<std::ptrdiff_t>(incomplete.size()), [&](std::ptrdiff_t k) {
      const auto at = static_cast<std::size_t>(k);
      for (const auto& questions : block) {
        for (const Scores& scores : questions) {
          if (scores.column == incomplete[at]) continue;
          counted[at] += 1;
          const auto [z, p] = test(scores, rows[at], level);
          const bool better = p < best[at] || (p == best[at] && std::abs(z) > std::abs(strongest[at].z));
          if (!better) continue;
          best[at] = p;
          strongest[at] = {incomplete[at], scores.column, scores.by, scores.level, z, p};
        }
      }
    });
    for (const double count : counted) tests += count;
  }
  std::vector<MissingDependence> found;
  for (MissingDependence& dependence : strongest) {
    dependence.p_value = std::min(1.0, dependence.p_value * tests);
    if (dependence.z != 0 && dependence.p_value < level) found.push_back(dependence);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.p_value != b.p_value ? a.p_value < b.p_value : std::abs(a.z) > std::abs(b.z);
  });
  return found;
}

std::string to_text(const Dataset& data, const MissingDependence& dependence, bool short_form) {
  const auto name = [&](int column) { return excerpt(data.names[static_cast<std::size_t>(column)]); };
  const bool more = dependence.z > 0;
  std::string where;
  switch (dependence.by) {
    case By::value:
      where = fmt::format("more often where '{}' is {}", name(dependence.other), more ? "large" : "small");
      break;
    case By::level:
      where = fmt::format("{} often where '{}' is '{}'", more ? "more" : "less", name(dependence.other),
                          excerpt(data.columns[static_cast<std::size_t>(dependence.other)]
                                      .levels[static_cast<std::size_t>(dependence.level)]));
      break;
    case By::absence:
      where = fmt::format("more often where '{}' is {}", name(dependence.other), more ? "missing" : "there");
      break;
  }
  const std::string p =
      dependence.p_value < 1e-99 ? std::string("p < 1e-99") : fmt::format("p = {:.0e}", dependence.p_value);
  return short_form ? fmt::format("those of '{}' {} ({})", name(dependence.column), where, p)
                    : fmt::format("cells of '{}' are missing {} ({})", name(dependence.column), where, p);
}

}  // namespace fansite
