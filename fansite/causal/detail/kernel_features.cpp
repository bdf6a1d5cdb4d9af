// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/kernel_features.h"

#include <cblas.h>

#include <algorithm>
#include <utility>

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* pivots, int* rank, const double* tolerance,
             double* work, int* info);
}

namespace fansite::causal {
namespace {

// A landmark of whose kernel the others leave less, out of 1, is passed over: with noise of a tenth of the signal's
// variance or more, thousands of rows could not tell.
constexpr double kNegligible = 1e-7;

int as_int(Index i) { return static_cast<int>(i); }

// Rows and columns of a positive semidefinite matrix, the one that the chosen ones leave most of first, until they
// leave no more than `tolerance` of any; and their factor, A = L Lᵀ for those alone.
struct Chosen {
  std::vector<int> places;
  Matrix lower;
};
Chosen factorise_some(Matrix a, double tolerance, Index most) {
  const int n = as_int(a.rows());
  int rank = 0, info = 0;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  std::vector<double> work(2 * pivots.size());
  dpstrf_("L", &n, a.data(), &n, pivots.data(), &rank, &tolerance, work.data(), &info);
  rank = as_int(std::min<Index>(rank, most));
  pivots.resize(static_cast<std::size_t>(rank));
  for (int& pivot : pivots) --pivot;  // counted from 1
  return {std::move(pivots), a.topLeftCorner(rank, rank)};
}

// An orthonormal basis of the constant and linear functions of the columns; those that others determine are passed
// over.
Matrix linear_basis(const Matrix& x) {
  Matrix basis(x.rows(), x.cols() + 1);
  Index kept = 0;
  for (Index c = 0; c <= x.cols(); ++c) {
    Vector v = c == 0 ? Vector(Vector::Ones(x.rows())) : Vector(x.col(c - 1));
    const double before = v.norm();
    // Twice: once leaves rounding errors of the size of what was taken out.
    for (int pass = 0; pass < 2; ++pass) v -= basis.leftCols(kept) * (basis.leftCols(kept).transpose() * v);
    const double after = v.norm();
    if (after > 1e-6 * before) basis.col(kept++) = v / after;
  }
  return basis.leftCols(kept);
}

Matrix squared_distances(const Matrix& x, const Matrix& marks) {
  Matrix result = (-2.0 * x) * marks.transpose();
  result.colwise() += x.rowwise().squaredNorm();
  result.rowwise() += marks.rowwise().squaredNorm().transpose();
  return result.cwiseMax(0);
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

KernelFeatures::KernelFeatures(Matrix x, int parents, std::span<const int> order, const RegressionParams& params)
    : basis_(linear_basis(x)) {
  if (parents == 0) return;
  const Index count = std::min<Index>(
      {x.rows(), params.max_landmarks, params.landmarks + params.landmarks_per_parent * static_cast<Index>(parents)});
  landmarks_.assign(order.begin(), order.begin() + count);
  distances_ = squared_distances(x, x(landmarks_, Eigen::all));
  between_ = distances_(landmarks_, Eigen::all);
}

Matrix KernelFeatures::kernels(double width, Index most) const {
  const auto kernel = [&](const Matrix& squares) -> Matrix {
    return (squares.array() * (-0.5 / (width * width))).exp();
  };
  // k(x, m) K(m, m)^{−½}. Of wide kernels a few landmarks tell what all the others would.
  const Chosen marks = factorise_some(kernel(between_), kNegligible, most);
  Matrix features = kernel(distances_(Eigen::all, marks.places));
  solve_from_right(marks.lower, features);
  take_out(basis_, features);
  return features;
}

}  // namespace fansite::causal
