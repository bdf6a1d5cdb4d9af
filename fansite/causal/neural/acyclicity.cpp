// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/acyclicity.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

constexpr Index kSmall = 24;  // columns that plain loops factorise as fast as BLAS would

int as_int(Index value) { return static_cast<int>(value); }

// c += a b.
void add_product(const Matrix& a, const Matrix& b, Matrix& c) {
  const int d = as_int(a.rows());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1.0, a.data(), d, b.data(), d, 1.0, c.data(), d);
}

// The LU factors of the block at (first, first), in its place, without exchanging rows: of an M-matrix that is stable,
// every pivot is above 0, and only of an M-matrix they all are. False at the first that is not.
bool factorise(Matrix& m, Index first, Index size) {
  const int stride = as_int(m.rows());
  const auto at = [&](Index i, Index j) { return m.data() + (first + j) * m.rows() + first + i; };
  if (size <= kSmall) {
    for (Index k = 0; k < size; ++k) {
      const double pivot = *at(k, k);
      if (!(pivot > 0)) return false;
      for (Index i = k + 1; i < size; ++i) *at(i, k) /= pivot;
      for (Index j = k + 1; j < size; ++j) {
        const double factor = *at(k, j);
        if (factor == 0) continue;
        for (Index i = k + 1; i < size; ++i) *at(i, j) -= *at(i, k) * factor;
      }
    }
    return true;
  }
  const Index half = size / 2, rest = size - half;
  if (!factorise(m, first, half)) return false;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, as_int(half), as_int(rest), 1.0, at(0, 0),
              stride, at(0, half), stride);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, as_int(rest), as_int(half), 1.0,
              at(0, 0), stride, at(half, 0), stride);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(rest), as_int(rest), as_int(half), -1.0, at(half, 0),
              stride, at(0, half), stride, 1.0, at(half, half), stride);
  return factorise(m, first + half, rest);
}

}  // namespace

std::optional<Acyclicity> log_det_acyclicity(const Matrix& a, double s) {
  const Index d = a.rows();
  check(d == a.cols(), "[acyclicity] weights of {} rows and {} columns; they must be square", d, a.cols());
  Matrix factors = -a;
  factors.diagonal().array() += s;
  if (!factorise(factors, 0, d)) return std::nullopt;
  Acyclicity h;
  // ln det − d ln s pivot by pivot: without a cycle each is s itself.
  for (Index k = 0; k < d; ++k) h.value -= std::log(factors(k, k) / s);
  // (sI − A)⁻ᵀ = (LU)⁻ᵀ = L⁻ᵀ U⁻ᵀ.
  h.gradient = Matrix::Identity(d, d);
  if (d == 0) return h;
  const int n = as_int(d);
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, n, n, 1.0, factors.data(), n,
              h.gradient.data(), n);
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, n, n, 1.0, factors.data(), n,
              h.gradient.data(), n);
  return h;
}

// F = e^A − I by its series at A/2ᵏ, then F ← F² + 2F, k times: the ones of I would cost small weights their digits.
Acyclicity exponential_acyclicity(const Matrix& a) {
  const Index d = a.rows();
  check(d == a.cols(), "[acyclicity] weights of {} rows and {} columns; they must be square", d, a.cols());
  Acyclicity h;
  h.gradient = Matrix::Zero(d, d);
  if (d == 0) return h;
  const double norm = a.colwise().lpNorm<1>().maxCoeff();
  if (!std::isfinite(norm)) {
    h.value = norm;
    h.gradient.setConstant(norm);
    return h;
  }
  const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(std::max(norm, 1e-300) / 0.5))));
  const Matrix x = std::ldexp(1.0, -halvings) * a;
  // To degree 14, whose remainder is below ½^15/15! = 2e-17, in blocks of four powers (Paterson and Stockmeyer):
  //   F = x + x²/2 + x³/6 + x⁴ (1/24 + x/120 + … + x⁴ (…)).
  Matrix x2 = Matrix::Zero(d, d), x3 = x2, x4 = x2;
  add_product(x, x, x2);
  add_product(x2, x, x3);
  add_product(x2, x2, x4);
  double factorial = 1;
  double inverse[15];
  for (int k = 1; k <= 14; ++k) inverse[k] = 1 / (factorial *= k);
  const auto block = [&](int from) -> Matrix {  // Σ_{k<4} x^k/(from + k)!, as far as 14
    Matrix sum = inverse[from + 1] * x + inverse[from + 2] * x2;
    if (from + 3 <= 14) sum += inverse[from + 3] * x3;
    sum.diagonal().array() += inverse[from];
    return sum;
  };
  Matrix sum = block(12);
  for (int from = 8; from >= 4; from -= 4) {
    Matrix next = block(from);
    add_product(x4, sum, next);
    sum = std::move(next);
  }
  Matrix f = x + inverse[2] * x2 + inverse[3] * x3;
  add_product(x4, sum, f);
  for (int k = 0; k < halvings; ++k) {
    Matrix next = 2 * f;
    add_product(f, f, next);
    f = std::move(next);
  }
  h.value = f.trace();
  h.gradient = f.transpose();
  h.gradient.diagonal().array() += 1;
  return h;
}

}  // namespace fansite::causal
