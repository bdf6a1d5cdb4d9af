// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/scores.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/parallel.h"

namespace fansite {

Vector standardised(const Vector& values, const Vector& weights) {
  const double count = std::max(weights.sum(), 1.0);
  const Vector centred = (values.array() - values.dot(weights) / count) * weights.array().sqrt();
  const double deviation = std::sqrt(centred.squaredNorm() / count);
  return deviation > 1e-6 ? Vector(centred / deviation) : Vector(Vector::Zero(values.size()));
}

ColumnScores column_scores(const Dataset& data, const TableFacts& facts, const std::vector<Index>& rows,
                           std::size_t most_columns) {
  std::vector<int> part;
  for (int j = 0; j < data.variables(); ++j) {
    if (facts.takes_part[static_cast<std::size_t>(j)] != 0) part.push_back(j);
  }
  const std::size_t step = (part.size() + most_columns - 1) / most_columns;
  ColumnScores result;
  std::vector<Vector> columns;
  for (std::size_t k = 0; k < part.size(); k += step) {
    const Vector values = data.values(rows, part[k]);
    if (facts.kinds[static_cast<std::size_t>(part[k])] == ColumnKind::nominal) {
      const NominalLevels levels = nominal_levels(data, part[k]);
      for (std::size_t level = 1; level < levels.values.size(); ++level) {
        columns.push_back(levels.indicator(values, level));
      }
    } else {
      columns.push_back(values);
    }
    result.owner.resize(columns.size(), part[k]);
  }
  result.scores = Matrix::Zero(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  result.there = result.scores;
  parallel_for(result.scores.cols(), [&](std::ptrdiff_t j) {
    const Vector& values = columns[static_cast<std::size_t>(j)];
    std::vector<double> cells;
    for (const double value : values) {
      if (!std::isnan(value)) cells.push_back(value);
    }
    if (cells.size() < 2) return;
    const Vector of_cells = normal_scores(Eigen::Map<const Vector>(cells.data(), static_cast<Index>(cells.size())));
    Vector scores = Vector::Zero(values.size()), there = scores;
    Index next = 0;
    for (Index i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) continue;
      scores[i] = of_cells[next++];
      there[i] = 1;
    }
    result.scores.col(j) = standardised(scores, there);
    result.there.col(j) = there;
  });
  return result;
}

}  // namespace fansite
