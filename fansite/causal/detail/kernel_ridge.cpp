// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/kernel_ridge.h"

#include <cblas.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "fansite/base/detail/vectorise.h"
#include "fansite/causal/detail/kernel_features.h"
#include "fansite/causal/detail/kernel_values.h"

extern "C" {
void ssytrd_(const char* uplo, const int* n, float* a, const int* lda, float* diagonal, float* beside, float* factors,
             float* work, const int* size, int* info);
void sormtr_(const char* side, const char* uplo, const char* transposed, const int* m, const int* n, const float* a,
             const int* lda, const float* factors, float* c, const int* ldc, float* work, const int* size, int* info);
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* diagonal, double* beside,
             double* factors, double* work, const int* size, int* info);
void dormtr_(const char* side, const char* uplo, const char* transposed, const int* m, const int* n, const double* a,
             const int* lda, const double* factors, double* c, const int* ldc, double* work, const int* size,
             int* info);
}

namespace fansite::causal {
namespace {

template <class Real>
using MatrixOf = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using VectorOf = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

int as_int(Index i) { return static_cast<int>(i); }

// ---- BLAS and LAPACK in both precisions -----------------------------------------------------------------------------

void solve_from_right(const MatrixOf<float>& lower, MatrixOf<float>& x) {
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, as_int(x.rows()), as_int(x.cols()), 1.0f,
              lower.data(), as_int(lower.rows()), x.data(), as_int(x.rows()));
}
void solve_from_right(const MatrixOf<double>& lower, MatrixOf<double>& x) { causal::solve_from_right(lower, x); }

MatrixOf<float> gram(const MatrixOf<float>& x) {
  MatrixOf<float> result = MatrixOf<float>::Zero(x.cols(), x.cols());
  cblas_ssyrk(CblasColMajor, CblasLower, CblasTrans, as_int(x.cols()), as_int(x.rows()), 1.0f, x.data(),
              as_int(x.rows()), 0.0f, result.data(), as_int(x.cols()));
  return result;
}
MatrixOf<double> gram(const MatrixOf<double>& x) { return causal::gram(x); }

// C ← C − A AᵀC.
void take_out(const MatrixOf<float>& a, MatrixOf<float>& c) {
  MatrixOf<float> along(a.cols(), c.cols());
  cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, as_int(a.cols()), as_int(c.cols()), as_int(a.rows()), 1.0f,
              a.data(), as_int(a.rows()), c.data(), as_int(c.rows()), 0.0f, along.data(), as_int(along.rows()));
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(a.rows()), as_int(c.cols()), as_int(a.cols()), -1.0f,
              a.data(), as_int(a.rows()), along.data(), as_int(along.rows()), 1.0f, c.data(), as_int(c.rows()));
}
void take_out(const MatrixOf<double>& a, MatrixOf<double>& c) { causal::take_out(a, c); }

VectorOf<float> times(bool transposed, const MatrixOf<float>& a, const VectorOf<float>& v) {
  VectorOf<float> result = VectorOf<float>::Zero(transposed ? a.cols() : a.rows());
  cblas_sgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, as_int(a.rows()), as_int(a.cols()), 1.0f, a.data(),
              as_int(a.rows()), v.data(), 1, 0.0f, result.data(), 1);
  return result;
}
VectorOf<double> times(bool transposed, const MatrixOf<double>& a, const VectorOf<double>& v) {
  VectorOf<double> result = VectorOf<double>::Zero(transposed ? a.cols() : a.rows());
  cblas_dgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, as_int(a.rows()), as_int(a.cols()), 1.0, a.data(),
              as_int(a.rows()), v.data(), 1, 0.0, result.data(), 1);
  return result;
}

// A = Q T Qᵀ with a tridiagonal T, from the lower half of A; and X ← X Q. The reflections of Q stay in A.
template <class Real>
struct Tridiagonal {
  VectorOf<Real> diagonal, beside, factors;
};
template <class Real>
Tridiagonal<Real> tridiagonal(MatrixOf<Real>& a) {
  const int n = as_int(a.rows());
  Tridiagonal<Real> t{VectorOf<Real>::Zero(n), VectorOf<Real>::Zero(n), VectorOf<Real>::Zero(n)};
  int size = 64 * n, info = 0;
  VectorOf<Real> work(size);
  if constexpr (std::is_same_v<Real, float>) {
    ssytrd_("L", &n, a.data(), &n, t.diagonal.data(), t.beside.data(), t.factors.data(), work.data(), &size, &info);
  } else {
    dsytrd_("L", &n, a.data(), &n, t.diagonal.data(), t.beside.data(), t.factors.data(), work.data(), &size, &info);
  }
  return t;
}
template <class Real>
void rotate(const MatrixOf<Real>& a, const Tridiagonal<Real>& t, MatrixOf<Real>& x) {
  const int rows = as_int(x.rows()), n = as_int(x.cols());
  int size = 64 * rows + 65 * 64, info = 0;
  VectorOf<Real> work(size);
  if constexpr (std::is_same_v<Real, float>) {
    sormtr_("R", "L", "N", &rows, &n, a.data(), &n, t.factors.data(), x.data(), &rows, work.data(), &size, &info);
  } else {
    dormtr_("R", "L", "N", &rows, &n, a.data(), &n, t.factors.data(), x.data(), &rows, work.data(), &size, &info);
  }
}

// ---- One width ------------------------------------------------------------------------------------------------------

// With T + r = L D Lᵀ, whose L has only 1 and the numbers l beside its diagonal, v = L⁻¹u row by row, one column after
// the other: sums of v²/d are the leverages, and those of v c the fitted values. `last` is the column before.
template <class Real>
[[gnu::always_inline]] inline void next_column_of(const Real* u, Real l, Real inverse, std::ptrdiff_t rows, Real* last,
                                                  Real* leverage) {
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const Real v = u[i] - l * last[i];
    last[i] = v;
    leverage[i] += v * v * inverse;
  }
}
FANSITE_VECTOR_CLONES void next_column(const float* u, float l, float inverse, std::ptrdiff_t rows, float* last,
                                       float* leverage) {
  next_column_of(u, l, inverse, rows, last, leverage);
}
FANSITE_VECTOR_CLONES void next_column(const double* u, double l, double inverse, std::ptrdiff_t rows, double* last,
                                       double* leverage) {
  next_column_of(u, l, inverse, rows, last, leverage);
}

// Features in the columns of which their inner products are tridiagonal: UᵀU = T.
template <class Real>
struct Features {
  MatrixOf<Real> u;
  Vector diagonal, beside;  // of T; the last of `beside` is 0
};

template <class Real>
Features<Real> features_of(const RidgeProblem& problem, double width) {
  const LandmarkFactor marks = chosen_landmarks(problem.x, problem.landmarks, width);
  Features<Real> result;
  MatrixOf<Real>& u = result.u;
  u.resize(problem.x.rows(), static_cast<Index>(marks.rows.size()));
  if (u.cols() == 0) return result;
  kernel_values(problem.x, marks.rows, width, u.data());
  solve_from_right(MatrixOf<Real>(marks.lower.template cast<Real>()), u);
  if (problem.root_weights.size() > 0) u.array().colwise() *= problem.root_weights.template cast<Real>().array();
  take_out(MatrixOf<Real>(problem.basis.template cast<Real>()), u);
  MatrixOf<Real> products = gram(u);
  const Tridiagonal<Real> t = tridiagonal(products);
  rotate(products, t, u);
  result.diagonal = t.diagonal.template cast<double>();
  result.beside = t.beside.template cast<double>();
  return result;
}

// T + r = L D Lᵀ; false if it is not positive definite.
struct Factor {
  Vector l, d;  // l[k] beside d[k] and d[k − 1]; l[0] is 0
};
std::optional<Factor> factor(const Vector& diagonal, const Vector& beside, double ridge) {
  Factor result{Vector::Zero(diagonal.size()), diagonal.array() + ridge};
  for (Index k = 1; k < diagonal.size(); ++k) {
    result.l[k] = beside[k - 1] / result.d[k - 1];
    result.d[k] -= result.l[k] * beside[k - 1];
    if (!(result.d[k] > 0)) return std::nullopt;
  }
  return result;
}

// (T + r)⁻¹ y.
Vector solve(const Factor& factor, Vector y) {
  const Index n = y.size();
  for (Index k = 1; k < n; ++k) y[k] -= factor.l[k] * y[k - 1];
  y.array() /= factor.d.array();
  for (Index k = n - 2; k >= 0; --k) y[k] -= factor.l[k + 1] * y[k + 1];
  return y;
}

// Each row's weight in its own fitted value, in blocks of rows that stay in the first cache.
template <class Real>
Vector leverages(const MatrixOf<Real>& u, const Factor& factor) {
  constexpr Index kBlock = 1024;
  VectorOf<Real> sums = VectorOf<Real>::Zero(u.rows()), last(kBlock);
  for (Index first = 0; first < u.rows(); first += kBlock) {
    const Index count = std::min(kBlock, u.rows() - first);
    last.setZero();
    for (Index k = 0; k < u.cols(); ++k) {
      next_column(u.col(k).data() + first, static_cast<Real>(factor.l[k]), static_cast<Real>(1 / factor.d[k]), count,
                  last.data(), sums.data() + first);
    }
  }
  return sums.template cast<double>();
}

// Of blocks; far below what their rows' ridge leaves of 1 − H, 2e-6 of 5000 rows.
constexpr double kLeastOfBlocks = 1e-8;

// What fits without a row, or its block, leave of it: with H = S Sᵀ the weights of rows in fitted values, (I − H)⁻¹ of
// what all rows leave of the block.
class LeaveOut {
 public:
  // `smoother`: S; not read where there are no blocks.
  LeaveOut(const RidgeProblem& problem, const Vector& leverage, const Matrix& smoother)
      : problem_(problem), leverage_(leverage) {
    for (const std::vector<int>& rows : problem.blocks) {
      Block block{smoother(rows, Eigen::all), {}};
      const bool few = block.smoother.rows() <= block.smoother.cols();
      const Matrix inside = few ? Matrix(block.smoother * block.smoother.transpose())
                                : Matrix(block.smoother.transpose() * block.smoother);
      block.others.compute((1 + kLeastOfBlocks) * Matrix::Identity(inside.rows(), inside.cols()) - inside);
      blocks_.push_back(std::move(block));
    }
  }

  Vector operator()(const Vector& left) const {
    Vector result = left.array() / (1 - leverage_.array()).max(kLeastOthers);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [smoother, others] = blocks_[b];
      const std::vector<int>& rows = problem_.blocks[b];
      const Vector of_block = left(rows);
      const bool few = smoother.rows() <= smoother.cols();
      // (I − S Sᵀ)⁻¹ = I + S (I − SᵀS)⁻¹ Sᵀ
      const Vector alone = few ? Vector(others.solve(of_block))
                               : Vector(of_block + smoother * others.solve(Vector(smoother.transpose() * of_block)));
      result(rows) = alone;
    }
    return result;
  }

  // Of a row in a block 1 − 1/[(I − H)⁻¹]_ii: what is left of it has σ² [(I − H)⁻¹]_ii, as that of a single row has
  // σ²/(1 − leverage).
  Vector leverage() const {
    Vector result = leverage_;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [smoother, others] = blocks_[b];
      const bool few = smoother.rows() <= smoother.cols();
      const Vector wider =
          few ? Vector(others.solve(Matrix::Identity(smoother.rows(), smoother.rows())).diagonal())
              : Vector(1 + (smoother * others.solve(Matrix::Identity(smoother.cols(), smoother.cols())))
                               .cwiseProduct(smoother)
                               .rowwise()
                               .sum()
                               .array());
      result(problem_.blocks[b]) = 1 - wider.array().inverse();
    }
    return result;
  }

 private:
  struct Block {
    Matrix smoother;
    Eigen::LDLT<Matrix> others;
  };
  const RidgeProblem& problem_;
  const Vector& leverage_;
  std::vector<Block> blocks_;
};

// S of a ridge: the lines beside U L⁻ᵀ D^{−½}.
template <class Real>
Matrix smoother(const RidgeProblem& problem, const MatrixOf<Real>& u, const Factor& factor) {
  if (problem.blocks.empty()) return {};
  Matrix result(u.rows(), problem.basis.cols() + u.cols());
  result.leftCols(problem.basis.cols()) = problem.lines;
  Vector last = Vector::Zero(u.rows());
  for (Index k = 0; k < u.cols(); ++k) {
    last = u.col(k).template cast<double>() - factor.l[k] * last;
    result.col(problem.basis.cols() + k) = last / std::sqrt(factor.d[k]);
  }
  return result;
}

// Keeps for each target the fit with the least squares so far. `left`: by the fit to all rows.
void offer(RidgeFits& best, Index target, const LeaveOut& leave_out, const Vector& left) {
  const Vector left_out = leave_out(left);
  const double squares = left_out.squaredNorm();
  double& least = best.squares[static_cast<std::size_t>(target)];
  if (squares >= least) return;
  least = squares;
  best.left_out.col(target) = left_out;
  best.leverage.col(target) = leave_out.leverage();
}

RidgeFits none_yet(const RidgeProblem& problem) {
  return {Matrix(problem.y.rows(), problem.y.cols()), Matrix(problem.y.rows(), problem.y.cols()),
          std::vector<double>(static_cast<std::size_t>(problem.y.cols()), std::numeric_limits<double>::infinity())};
}

template <class Real>
RidgeFits fits_in(const RidgeProblem& problem, double width, std::span<const double> ridges) {
  RidgeFits best = none_yet(problem);
  if (ridges.empty()) return best;
  const Features<Real> features = features_of<Real>(problem, width);
  if (features.u.cols() == 0) return best;
  std::vector<Vector> along;  // Uᵀ y
  for (Index t = 0; t < problem.y.cols(); ++t) {
    along.push_back(
        times(true, features.u, VectorOf<Real>(problem.y.col(t).template cast<Real>())).template cast<double>());
  }
  for (const double ridge : ridges) {
    const std::optional<Factor> lower = factor(features.diagonal, features.beside, ridge);
    if (!lower) continue;
    const Vector leverage = problem.line_leverage + leverages(features.u, *lower);
    const LeaveOut leave_out(problem, leverage, smoother(problem, features.u, *lower));
    for (Index t = 0; t < problem.y.cols(); ++t) {
      const VectorOf<Real> slopes = solve(*lower, along[static_cast<std::size_t>(t)]).template cast<Real>();
      const Vector left = problem.y.col(t) - Vector(times(false, features.u, slopes).template cast<double>());
      offer(best, t, leave_out, left);
    }
  }
  return best;
}

}  // namespace

RidgeFits linear_fits(const RidgeProblem& problem) {
  RidgeFits best = none_yet(problem);
  const LeaveOut leave_out(problem, problem.line_leverage, problem.lines);
  for (Index t = 0; t < problem.y.cols(); ++t) offer(best, t, leave_out, problem.y.col(t));
  return best;
}

RidgeFits kernel_fits_in_single(const RidgeProblem& problem, double width, std::span<const double> ridges) {
  return fits_in<float>(problem, width, ridges);
}
RidgeFits kernel_fits_in_double(const RidgeProblem& problem, double width, std::span<const double> ridges) {
  return fits_in<double>(problem, width, ridges);
}
RidgeFits kernel_fits(const RidgeProblem& problem, double width, std::span<const double> ridges) {
  return problem.y.rows() < kFewestRowsInSingle ? kernel_fits_in_double(problem, width, ridges)
                                                : kernel_fits_in_single(problem, width, ridges);
}

}  // namespace fansite::causal
