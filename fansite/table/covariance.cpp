// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/covariance.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/table/incomplete.h"

namespace fansite {
namespace {

// Tiles of 256 columns: 2 × 256 × 5000 rows × 8 bytes = 20 MB of input against 256² × 5000 multiply-adds,
// compute-bound, and at d = 1000 still ten tiles to share among threads.
constexpr Index kTile = 256;

bool is_constant(const MatrixView& values, Index column) {
  const double* x = values.col(column).data();
  return std::all_of(x, x + values.rows(), [&](double value) { return value == x[0]; });
}

// Centres the column and scales it to unit length into `out`; two passes, since one would cancel for a large mean.
void standardise_column(const MatrixView& values, Index column, Covariance& result, Matrix& out) {
  const auto n = static_cast<double>(values.rows());
  const auto x = values.col(column);
  auto z = out.col(column);
  if (is_constant(values, column)) {
    result.mean(column) = x(0);
    z.setZero();
    return;
  }
  // Sums of values beyond 2^±500 leave the range of double; a power of two brings them back without rounding.
  int exponent = 0;
  std::frexp(x.cwiseAbs().maxCoeff(), &exponent);
  if (std::abs(exponent) < 500) exponent = 0;
  z = x.unaryExpr([exponent](double value) { return std::ldexp(value, -exponent); });
  const double mean = z.mean();
  z.array() -= mean;
  z.array() -= z.mean();  // what rounding of the mean left over
  const double length = z.stableNorm();
  result.mean(column) = std::ldexp(mean, exponent);
  result.scale(column) = std::ldexp(length / std::sqrt(n - 1.0), exponent);
  if (length > 0) z /= length;
}

}  // namespace

Covariance covariance(const MatrixView& values, Progress& progress) {
  const Index n = values.rows();
  const Index d = values.cols();
  check_data(n >= 2, "[covariance] {} rows; at least 2 are needed", n);

  Covariance result;
  result.rows = n;
  result.mean = Vector::Zero(d);
  result.scale = Vector::Zero(d);
  Matrix unit(n, d);
  parallel_for(d, [&](Index column) { standardise_column(values, column, result, unit); });

  std::vector<std::pair<Index, Index>> tiles;
  for (Index j = 0; j < d; j += kTile) {
    for (Index i = 0; i <= j; i += kTile) tiles.emplace_back(i, j);
  }
  progress.begin("correlating", static_cast<long>(tiles.size()));
  result.correlation.resize(d, d);
  const SingleThreadedBlas single;
  parallel_for(static_cast<Index>(tiles.size()), [&](Index t) {
    throw_if_interrupted(progress);
    const auto [i, j] = tiles[static_cast<std::size_t>(t)];
    const Index rows = std::min(kTile, d - i);
    const Index cols = std::min(kTile, d - j);
    double* tile = result.correlation.data() + i + j * d;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, static_cast<int>(rows), static_cast<int>(cols),
                static_cast<int>(n), 1.0, unit.data() + i * n, static_cast<int>(n), unit.data() + j * n,
                static_cast<int>(n), 0.0, tile, static_cast<int>(d));
    progress.advance(1);
  });
  parallel_for((d + kTile - 1) / kTile, [&](Index block) {
    const Index begin = block * kTile;
    const Index end = std::min(d, begin + kTile);
    for (Index j = begin; j < end; ++j) {
      result.correlation(j, j) = 1.0;
      for (Index i = 0; i < j; ++i) {
        const double r = std::clamp(result.correlation(i, j), -1.0, 1.0);
        result.correlation(i, j) = r;
        result.correlation(j, i) = r;
      }
    }
  });
  return result;
}

Covariance covariance(const MatrixView& values) {
  NoProgress silent;
  return covariance(values, silent);
}

namespace {

bool is_plain(const Dataset& data, const TableFacts& facts) {
  const bool nominal =
      std::any_of(facts.kinds.begin(), facts.kinds.end(), [](ColumnKind k) { return k == ColumnKind::nominal; });
  const bool context = std::any_of(data.columns.begin(), data.columns.end(), [](const Column& c) { return c.context; });
  return !nominal && !context && data.weights.size() == 0 && data.groups.empty() && data.row_worth == 1 &&
         !data.values.hasNaN();
}

// A column's values for a linear model: two levels as 0 and 1, more as nothing.
Vector linear_values(const Dataset& data, const TableFacts& facts, int column) {
  Vector values = data.values.col(column);
  if (facts.kinds[static_cast<std::size_t>(column)] != ColumnKind::nominal) return values;
  const NominalLevels levels = nominal_levels(data, column);
  if (levels.values.size() > 2) return Vector::Zero(data.rows());
  return values.unaryExpr([&](double x) { return std::isnan(x) ? x : x == levels.values.front() ? 0.0 : 1.0; });
}

// The context's columns, nominal ones as indicators.
std::vector<Vector> context_values(const Dataset& data, const TableFacts& facts) {
  std::vector<Vector> result;
  for (int j = 0; j < data.variables(); ++j) {
    if (data.columns.empty() || !data.columns[static_cast<std::size_t>(j)].context) continue;
    if (facts.kinds[static_cast<std::size_t>(j)] != ColumnKind::nominal) {
      result.push_back(data.values.col(j));
      continue;
    }
    const NominalLevels levels = nominal_levels(data, j);
    for (std::size_t level = 1; level < levels.values.size(); ++level) {
      result.push_back(levels.indicator(data.values.col(j), level));
    }
  }
  return result;
}

// Mean 0 and standard deviation 1 of the cells that there are, so that products cannot overflow or cancel. Returns
// both.
std::pair<double, double> standardise_present(Eigen::Ref<Vector> column) {
  double largest = 0, count = 0, mean = 0, squares = 0;
  for (const double x : column) {
    if (!std::isnan(x)) largest = std::max(largest, std::abs(x));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  for (double& x : column) x = std::ldexp(x, -exponent);
  for (const double x : column) {
    if (std::isnan(x)) continue;
    mean += x;
    ++count;
  }
  mean /= std::max(count, 1.0);
  for (double& x : column) {
    x -= mean;
    if (!std::isnan(x)) squares += x * x;
  }
  const double deviation = std::sqrt(squares / std::max(count - 1, 1.0));
  const bool constant = deviation <= 1e-14 * std::abs(mean);
  for (double& x : column) x = constant ? (std::isnan(x) ? x : 0.0) : x / deviation;
  return {std::ldexp(mean, exponent), constant ? 0.0 : std::ldexp(deviation, exponent)};
}

// How many equal, independent, complete rows tell as much at least.
Index rows_worth(const Dataset& data, const std::vector<int>& columns) {
  auto rows = static_cast<double>(data.rows());
  if (data.values.hasNaN()) {
    const Matrix both = rows_with_both(data.values(Eigen::all, columns));
    rows = columns.size() > 1 ? both.minCoeff() : both.sum();
  }
  if (data.weights.size() > 0) {
    rows *= data.weights.sum() * data.weights.sum() / data.weights.squaredNorm() / static_cast<double>(data.rows());
  }
  if (!data.groups.empty()) {
    rows = std::min(rows, 1.0 + *std::max_element(data.groups.begin(), data.groups.end()));
  }
  return static_cast<Index>(rows * data.row_worth);
}

}  // namespace

Covariance covariance(const Dataset& data, const TableFacts& facts, Progress& progress) {
  if (is_plain(data, facts)) return covariance(data.values, progress);
  progress.begin("correlating", 1);
  const std::vector<Vector> context = context_values(data, facts);
  const int d = data.variables();
  Covariance result;
  result.mean = result.scale = Vector::Zero(d);
  Matrix values(data.rows(), d + static_cast<Index>(context.size()));
  std::vector<int> used;
  for (int j = 0; j < d; ++j) {
    const bool is_context = !data.columns.empty() && data.columns[static_cast<std::size_t>(j)].context;
    values.col(j) = is_context ? Vector(Vector::Zero(data.rows())) : linear_values(data, facts, j);
    std::tie(result.mean[j], result.scale[j]) = standardise_present(values.col(j));
    if (facts.takes_part[static_cast<std::size_t>(j)] == 0) result.scale[j] = 0;
    if (result.scale[j] > 0) used.push_back(j);
  }
  for (std::size_t c = 0; c < context.size(); ++c) {
    values.col(d + static_cast<Index>(c)) = context[c];
    standardise_present(values.col(d + static_cast<Index>(c)));
  }
  Matrix moments = incomplete_moments(values, data.weights).second;
  if (!context.empty()) {
    const auto k = static_cast<Index>(context.size());
    Matrix among = moments.bottomRightCorner(k, k);
    among.diagonal().array() += 1e-8;  // indicators may be collinear
    const Matrix across = moments.bottomLeftCorner(k, d);
    moments = (moments.topLeftCorner(d, d) - across.transpose() * among.ldlt().solve(across)).eval();
  }
  const Vector spread = moments.diagonal().cwiseMax(0.0).cwiseSqrt();
  result.correlation = Matrix::Identity(d, d);
  for (int j = 0; j < d; ++j) {
    // What the context determines tells nothing more.
    if (spread[j] < 1e-6) result.scale[j] = 0;
    for (int i = 0; i < j; ++i) {
      if (result.scale[i] == 0 || result.scale[j] == 0) continue;
      const double r = std::clamp(moments(i, j) / (spread[i] * spread[j]), -1.0, 1.0);
      result.correlation(i, j) = result.correlation(j, i) = r;
    }
    result.scale[j] *= spread[j];
  }
  result.rows = std::max<Index>(rows_worth(data, used) - static_cast<Index>(context.size()), 2);
  progress.advance(1);
  return result;
}

}  // namespace fansite
