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
constexpr Index kMostRows = 2000;
constexpr double kFewestRows = 10;  // with both cells

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
  std::vector<double> largest(result.size(), 0);  // √N |correlation|
  for (std::size_t a = 0; a < functions.size(); ++a) {
    for (std::size_t b = a; b < functions.size(); ++b) {  // of both ends, so one order is enough
      const Matrix scaled =
          (functions[a].transpose() * functions[b]).cwiseAbs().cwiseQuotient(rows.cwiseMax(1).cwiseSqrt());
      for (Index j = 0; j < scaled.cols(); ++j) {
        for (Index i = 0; i < scaled.rows(); ++i) {
          const auto one = static_cast<std::size_t>(owner[static_cast<std::size_t>(i)]);
          const auto other = static_cast<std::size_t>(owner[static_cast<std::size_t>(j)]);
          const double z = scaled(i, j);
          if (one == other || rows(i, j) < kFewestRows) continue;
          if (z > largest[one]) result[one].other = static_cast<int>(other), largest[one] = z;
          if (z > largest[other]) result[other].other = static_cast<int>(one), largest[other] = z;
        }
      }
    }
  }
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k].p_value = std::min(1.0, tests * 2 * normal_tail(largest[k] * std::sqrt(independent)));
  }
  return result;
}

}  // namespace fansite
