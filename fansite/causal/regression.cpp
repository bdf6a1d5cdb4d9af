// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/regression.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/error.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* pivots, int* rank, const double* tolerance,
             double* work, int* info);
}

namespace fansite::causal {
namespace {

constexpr double kLeastOthers = 1e-6;  // of 1 − leverage: a row that fits itself alone says nothing
// A landmark of whose kernel the others leave less, out of 1, is passed over: with noise of a tenth of the signal's
// variance or more, thousands of rows could not tell.
constexpr double kNegligible = 1e-7;

int as_int(Index i) { return static_cast<int>(i); }

// ---- BLAS: Eigen alone uses the oldest instructions -----------------------------------------------------------------

// A = L Lᵀ in place, the lower half; false if A is not positive definite.
bool factorise(Matrix& a) {
  const int n = as_int(a.rows());
  int info = 0;
  dpotrf_("L", &n, a.data(), &n, &info);
  return info == 0;
}

// Rows and columns of a positive semidefinite matrix, the one that the chosen ones leave most of first, until they
// leave no more than `tolerance` of any; and their factor, A = L Lᵀ for those alone.
struct Chosen {
  std::vector<int> places;
  Matrix lower;
};
Chosen factorise_some(Matrix a, double tolerance) {
  const int n = as_int(a.rows());
  int rank = 0, info = 0;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  std::vector<double> work(2 * pivots.size());
  dpstrf_("L", &n, a.data(), &n, pivots.data(), &rank, &tolerance, work.data(), &info);
  pivots.resize(static_cast<std::size_t>(rank));
  for (int& pivot : pivots) --pivot;  // counted from 1
  return {std::move(pivots), a.topLeftCorner(rank, rank)};
}

// X ← X L^{−T}.
void solve_from_right(const Matrix& lower, Matrix& x) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, as_int(x.rows()), as_int(x.cols()), 1.0,
              lower.data(), as_int(lower.rows()), x.data(), as_int(x.rows()));
}

// XᵀX, the lower half.
Matrix gram(const Matrix& x) {
  Matrix result = Matrix::Zero(x.cols(), x.cols());
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, as_int(x.cols()), as_int(x.rows()), 1.0, x.data(),
              as_int(x.rows()), 0.0, result.data(), as_int(x.cols()));
  return result;
}

// C ← C − A (Aᵀ B): takes out of B, a copy of C, what columns A say.
void take_out(const Matrix& a, Matrix& c) {
  if (a.cols() == 0 || c.cols() == 0) return;
  Matrix along(a.cols(), c.cols());
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, as_int(a.cols()), as_int(c.cols()), as_int(a.rows()), 1.0,
              a.data(), as_int(a.rows()), c.data(), as_int(c.rows()), 0.0, along.data(), as_int(along.rows()));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(a.rows()), as_int(c.cols()), as_int(a.cols()), -1.0,
              a.data(), as_int(a.rows()), along.data(), as_int(along.rows()), 1.0, c.data(), as_int(c.rows()));
}

// ---- The pieces of f ------------------------------------------------------------------------------------------------

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

// Keeps for each target the fit with the least leave-one-out squares so far.
class BestFits {
 public:
  BestFits(const Matrix& left, const Vector& leverage)
      : best_{Matrix(left.rows(), left.cols()), Matrix(left.rows(), left.cols())},
        least_(static_cast<std::size_t>(left.cols()), std::numeric_limits<double>::infinity()) {
    offer(left, leverage);
  }

  void offer(const Matrix& left, const Vector& leverage) {
    const Vector others = (1 - leverage.array()).max(kLeastOthers).inverse();
    for (Index t = 0; t < left.cols(); ++t) {
      const Vector left_out = left.col(t).cwiseProduct(others);
      const double squares = left_out.squaredNorm();
      double& least = least_[static_cast<std::size_t>(t)];
      if (squares >= least) continue;
      least = squares;
      best_.left_out.col(t) = left_out;
      best_.leverage.col(t) = leverage;
    }
  }

  Residuals result() && { return std::move(best_); }

 private:
  Residuals best_;
  std::vector<double> least_;
};

}  // namespace

const Description& RegressionParams::description() {
  using P = RegressionParams;
  static const Description list =
      Describe<P>()
          .field("landmarks", &P::landmarks, "rows at which kernels are evaluated", at_least(1))
          .field("landmarks_per_parent", &P::landmarks_per_parent, "and so many more for each parent", at_least(0))
          .field("max_landmarks", &P::max_landmarks, "at most so many in all", at_least(1))
          .field("widths", &P::widths, "of the kernels, in standard deviations; the best is chosen", above(0))
          .field("ridges", &P::ridges, "noise over signal variance of the regressions; the best is chosen", above(0))
          .done();
  return list;
}

Matrix standardised(const MatrixView& values) {
  Matrix result = values.rowwise() - values.colwise().mean();
  for (Index j = 0; j < result.cols(); ++j) {
    if ((values.col(j).array() == values(0, j)).all()) {
      result.col(j).setZero();  // its mean may differ from it by rounding
      continue;
    }
    const double spread = std::sqrt(result.col(j).squaredNorm() / static_cast<double>(result.rows()));
    if (spread > 0) result.col(j) = (result.col(j) / spread).cast<float>().cast<double>();
  }
  return result;
}

Regression::Regression(Matrix values, RegressionParams params, Key key)
    : values_(std::move(values)),
      params_(std::move(params)),
      order_(Random(key).permutation(static_cast<int>(values_.rows()))) {}

Residuals Regression::residuals(std::span<const int> targets, std::span<const int> parents) const {
  const std::vector<int> columns(parents.begin(), parents.end()), wanted(targets.begin(), targets.end());
  const Matrix x = values_(Eigen::all, columns);
  const Matrix basis = linear_basis(x);
  const Vector basis_leverage = basis.rowwise().squaredNorm();
  Matrix y = values_(Eigen::all, wanted);
  take_out(basis, y);
  BestFits best(y, basis_leverage);
  if (parents.empty()) return std::move(best).result();

  const Index count =
      std::min<Index>({rows(), params_.max_landmarks,
                       params_.landmarks + params_.landmarks_per_parent * static_cast<Index>(parents.size())});
  const std::vector<int> landmarks(order_.begin(), order_.begin() + count);
  const Matrix distances = squared_distances(x, x(landmarks, Eigen::all));
  const Matrix between = distances(landmarks, Eigen::all);
  for (const double width : params_.widths) {
    const auto kernel = [&](const Matrix& squares) -> Matrix {
      return (squares.array() * (-0.5 / (width * width))).exp();
    };
    // Features whose inner products are the kernel's: k(x, m) K(m, m)^{−½}, less what the linear part explains. Of wide
    // kernels a few landmarks tell what all the others would.
    const Chosen marks = factorise_some(kernel(between), kNegligible);
    Matrix features = kernel(distances(Eigen::all, marks.places));
    solve_from_right(marks.lower, features);
    take_out(basis, features);
    const Matrix products = gram(features);
    for (const double ridge : params_.ridges) {
      Matrix lower = products;
      lower.diagonal().array() += ridge;
      if (!factorise(lower)) continue;
      Matrix smoother = features;  // of the hat matrix Z Zᵀ
      solve_from_right(lower, smoother);
      Matrix left = y;
      take_out(smoother, left);
      best.offer(left, basis_leverage + smoother.rowwise().squaredNorm());
    }
  }
  return std::move(best).result();
}

}  // namespace fansite::causal
