// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/kernel_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "fansite/base/detail/vectorise.h"
#include "fansite/base/special.h"

extern "C" {
void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* pivots, int* rank, const double* tolerance,
             double* work, int* info);
}

namespace fansite::causal {
namespace {

// A landmark of whose kernel the others leave less, out of 1, is passed over: with noise of a tenth of the signal's
// variance or more, thousands of rows could not tell.
constexpr double kNegligible = 1e-7;

// e^x for x ≤ 0 within 2e-7; what is below e^−87 is that.
inline float exp_of_negative(float x) {
  constexpr float kRounder = 0x1.8p23f;  // adding it rounds to an integer, which is then in the low bits
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 0x1.715476p+0f + kRounder;
  const float n = shifted - kRounder;
  const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;  // ln 2 in two parts, |r| ≤ ln 2 / 2
  float sum = 1.0f / 5040.0f;                                    // the remainder is below 0.347^8/8! = 5e-9
  sum = sum * r + 1.0f / 720.0f;
  sum = sum * r + 1.0f / 120.0f;
  sum = sum * r + 1.0f / 24.0f;
  sum = sum * r + 1.0f / 6.0f;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  return (1.0f + r * sum) * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127u) << 23);
}

FANSITE_VECTOR_CLONES void add_squares(const float* x, float mark, std::ptrdiff_t count, float* sums) {
  for (std::ptrdiff_t i = 0; i < count; ++i) sums[i] += (x[i] - mark) * (x[i] - mark);
}
FANSITE_VECTOR_CLONES void add_squares(const double* x, double mark, std::ptrdiff_t count, double* sums) {
  for (std::ptrdiff_t i = 0; i < count; ++i) sums[i] += (x[i] - mark) * (x[i] - mark);
}
FANSITE_VECTOR_CLONES void exponentials(float factor, std::ptrdiff_t count, float* values) {
  for (std::ptrdiff_t i = 0; i < count; ++i) values[i] = exp_of_negative(factor * values[i]);
}
void exponentials(double factor, std::ptrdiff_t count, double* values) {
  for (std::ptrdiff_t i = 0; i < count; ++i) values[i] *= factor;
  portable::exp(values, count);
}

template <class Real>
void values_of(const Matrix& x, std::span<const int> landmarks, double width, Real* values) {
  constexpr Index kBlock = 1024;  // rows that stay in the first cache
  const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> columns = x.template cast<Real>();
  const auto factor = static_cast<Real>(-0.5 / (width * width));
  const Index rows = x.rows();
  for (std::size_t m = 0; m < landmarks.size(); ++m) {
    Real* column = values + static_cast<Index>(m) * rows;
    for (Index first = 0; first < rows; first += kBlock) {
      const Index count = std::min(kBlock, rows - first);
      std::fill(column + first, column + first + count, Real(0));
      for (Index p = 0; p < columns.cols(); ++p) {
        add_squares(columns.col(p).data() + first, columns(landmarks[m], p), count, column + first);
      }
      exponentials(factor, count, column + first);
    }
  }
}

}  // namespace

void kernel_values(const Matrix& x, std::span<const int> landmarks, double width, float* values) {
  values_of(x, landmarks, width, values);
}
void kernel_values(const Matrix& x, std::span<const int> landmarks, double width, double* values) {
  values_of(x, landmarks, width, values);
}

LandmarkFactor chosen_landmarks(const Matrix& x, std::span<const int> landmarks, double width, Index most) {
  const Matrix marks = x(std::vector<int>(landmarks.begin(), landmarks.end()), Eigen::all);
  const int n = static_cast<int>(marks.rows());
  std::vector<int> pivots(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) pivots[static_cast<std::size_t>(i)] = i;
  Matrix a(n, n);
  kernel_values(marks, pivots, width, a.data());
  int rank = 0, info = 0;
  std::vector<double> work(2 * pivots.size());
  dpstrf_("L", &n, a.data(), &n, pivots.data(), &rank, &kNegligible, work.data(), &info);
  rank = static_cast<int>(std::min<Index>(rank, most));
  LandmarkFactor result;
  for (int i = 0; i < rank; ++i) {  // counted from 1
    result.rows.push_back(landmarks[static_cast<std::size_t>(pivots[static_cast<std::size_t>(i)] - 1)]);
  }
  result.lower = a.topLeftCorner(rank, rank);
  return result;
}

}  // namespace fansite::causal
