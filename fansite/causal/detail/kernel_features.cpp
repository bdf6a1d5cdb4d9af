// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/kernel_features.h"

#include <cblas.h>

#include <algorithm>
#include <utility>

#include "fansite/causal/detail/kernel_values.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
}

namespace fansite::causal {
namespace {

int as_int(Index i) { return static_cast<int>(i); }

// An orthonormal basis of the constant and linear functions of the columns; those that others determine are passed
// over.
Matrix linear_basis(const Matrix& x, const Vector& root_weights) {
  Matrix basis(x.rows(), x.cols() + 1);
  Index kept = 0;
  for (Index c = 0; c <= x.cols(); ++c) {
    Vector v = c == 0 ? Vector(Vector::Ones(x.rows())) : Vector(x.col(c - 1));
    if (root_weights.size() > 0) v.array() *= root_weights.array();
    const double before = v.norm();
    // Twice: once leaves rounding errors of the size of what was taken out.
    for (int pass = 0; pass < 2; ++pass) v -= basis.leftCols(kept) * (basis.leftCols(kept).transpose() * v);
    const double after = v.norm();
    if (after > 1e-6 * before) basis.col(kept++) = v / after;
  }
  return basis.leftCols(kept);
}

}  // namespace

bool factorise(Matrix& a) {
  const int n = as_int(a.rows());
  int info = 0;
  dpotrf_("L", &n, a.data(), &n, &info);
  return info == 0;
}

void invert_factorised(Matrix& lower) {
  const int n = as_int(lower.rows());
  int info = 0;
  dpotri_("L", &n, lower.data(), &n, &info);
}

void solve_from_right(const Matrix& lower, Matrix& x) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, as_int(x.rows()), as_int(x.cols()), 1.0,
              lower.data(), as_int(lower.rows()), x.data(), as_int(x.rows()));
}

Matrix gram(const Matrix& x) {
  Matrix result = Matrix::Zero(x.cols(), x.cols());
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, as_int(x.cols()), as_int(x.rows()), 1.0, x.data(),
              as_int(x.rows()), 0.0, result.data(), as_int(x.cols()));
  return result;
}

Matrix across(const Matrix& x, const Matrix& y) {
  Matrix result = Matrix::Zero(x.cols(), y.cols());
  if (result.size() == 0 || x.rows() == 0) return result;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, as_int(x.cols()), as_int(y.cols()), as_int(x.rows()), 1.0,
              x.data(), as_int(x.rows()), y.data(), as_int(y.rows()), 0.0, result.data(), as_int(result.rows()));
  return result;
}

Matrix product(const Matrix& x, const Matrix& y) {
  Matrix result = Matrix::Zero(x.rows(), y.cols());
  if (result.size() == 0 || x.cols() == 0) return result;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(x.rows()), as_int(y.cols()), as_int(x.cols()), 1.0,
              x.data(), as_int(x.rows()), y.data(), as_int(y.rows()), 0.0, result.data(), as_int(result.rows()));
  return result;
}

void take_out(const Matrix& a, Matrix& c) {
  if (a.cols() == 0 || c.cols() == 0) return;
  Matrix along(a.cols(), c.cols());
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, as_int(a.cols()), as_int(c.cols()), as_int(a.rows()), 1.0,
              a.data(), as_int(a.rows()), c.data(), as_int(c.rows()), 0.0, along.data(), as_int(along.rows()));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(a.rows()), as_int(c.cols()), as_int(a.cols()), -1.0,
              a.data(), as_int(a.rows()), along.data(), as_int(along.rows()), 1.0, c.data(), as_int(c.rows()));
}

KernelFeatures::KernelFeatures(Matrix x, int parents, std::span<const int> order, const RegressionParams& params,
                               const Vector& root_weights)
    : x_(std::move(x)), basis_(linear_basis(x_, root_weights)) {
  if (parents == 0) return;
  const Index count = std::min<Index>(
      {x_.rows(), params.max_landmarks, params.landmarks + params.landmarks_per_parent * static_cast<Index>(parents)});
  landmarks_.assign(order.begin(), order.begin() + count);
}

Matrix KernelFeatures::kernels(double width, Index most) const {
  // k(x, m) K(m, m)^{−½}. Of wide kernels a few landmarks tell what all the others would.
  const LandmarkFactor marks = chosen_landmarks(x_, landmarks_, width, most);
  Matrix features(x_.rows(), static_cast<Index>(marks.rows.size()));
  kernel_values(x_, marks.rows, width, features.data());
  solve_from_right(marks.lower, features);
  take_out(basis_, features);
  return features;
}

}  // namespace fansite::causal
