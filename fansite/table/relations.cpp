// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/relations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fansite/base/special.h"
#include "fansite/table/scores.h"

namespace fansite {
namespace {

constexpr int kFunctions = 3;
constexpr std::size_t kMostColumns = 500;
constexpr Index kMostRows = 2000;
constexpr double kFewestRows = 10;  // with both cells

}  // namespace

std::vector<Relation> surest_relations(const Dataset& data, const TableFacts& facts, double independent) {
  std::vector<Index> first(static_cast<std::size_t>(std::min(data.rows(), kMostRows)));
  std::iota(first.begin(), first.end(), Index{0});
  const auto [scores, there, owner] = column_scores(data, facts, first, kMostColumns);
  std::array<Matrix, kFunctions> functions = {scores, scores.cwiseAbs(), scores.cwiseAbs2()};
  for (Matrix& function : functions) {
    for (Index j = 0; j < function.cols(); ++j) function.col(j) = standardised(function.col(j), there.col(j));
  }
  const Matrix rows = there.transpose() * there;  // with both cells
  const auto columns = static_cast<double>(owner.size());
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
