// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/covariance.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"

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

}  // namespace fansite
