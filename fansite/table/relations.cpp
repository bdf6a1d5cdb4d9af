// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/relations.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fansite/base/special.h"

namespace fansite {
namespace {

constexpr int kFunctions = 3;
constexpr Index kMostColumns = 500;
constexpr Index kMostRows = 5000;

// Mean 0 and variance 1 over the rows that are there, 0 in the others.
Vector standardised(const Vector& values, const std::vector<Index>& there, Index rows) {
  Vector result = Vector::Zero(rows);
  const Vector centred = values.array() - values.mean();
  const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(std::max<Index>(centred.size(), 1)));
  if (deviation > 1e-6) result(there) = centred / deviation;
  return result;
}

// Of each column: z, |z| and z², side by side.
std::array<Matrix, kFunctions> functions_of_scores(const Matrix& values) {
  std::array<Matrix, kFunctions> result;
  for (Matrix& each : result) each = Matrix::Zero(values.rows(), values.cols());
  for (Index j = 0; j < values.cols(); ++j) {
    std::vector<Index> there;
    for (Index i = 0; i < values.rows(); ++i) {
      if (!std::isnan(values(i, j))) there.push_back(i);
    }
    if (there.size() < 3) continue;
    const Vector z = normal_scores(values(there, j));
    result[0].col(j) = standardised(z, there, values.rows());
    result[1].col(j) = standardised(z.cwiseAbs(), there, values.rows());
    result[2].col(j) = standardised(z.cwiseAbs2(), there, values.rows());
  }
  return result;
}

}  // namespace

std::vector<Relation> surest_relations(const TableFacts& facts, const LearnableTable& learnable, double independent) {
  const Matrix& all = learnable.data.values;
  const Matrix values = all.topLeftCorner(std::min(all.rows(), kMostRows), std::min(all.cols(), kMostColumns));
  const std::vector<int> owner = owners(facts, learnable);
  const std::array<Matrix, kFunctions> functions = functions_of_scores(values);
  const Matrix there = values.unaryExpr([](double x) { return std::isnan(x) ? 0.0 : 1.0; });
  const Matrix rows = there.transpose() * there;  // with both cells
  const auto columns = static_cast<double>(values.cols());
  const double tests = kFunctions * kFunctions * columns * (columns - 1) / 2;
  std::vector<Relation> result(facts.kinds.size());
  for (const Matrix& a : functions) {
    for (const Matrix& b : functions) {
      const Matrix sums = a.transpose() * b;
      for (Index i = 0; i < sums.rows(); ++i) {
        for (Index j = 0; j < sums.cols(); ++j) {
          const int one = owner[static_cast<std::size_t>(i)], other = owner[static_cast<std::size_t>(j)];
          if (one == other || rows(i, j) < 10) continue;
          const double z = std::abs(sums(i, j)) / std::sqrt(rows(i, j)) * std::sqrt(independent);
          const double p = std::min(1.0, tests * 2 * normal_tail(z));
          for (const auto& [column, partner] : {std::pair(one, other), std::pair(other, one)}) {
            Relation& best = result[static_cast<std::size_t>(column)];
            if (best.other < 0 || p < best.p_value) best = {partner, p};
          }
        }
      }
    }
  }
  return result;
}

}  // namespace fansite
