// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/products.h"

#include <algorithm>
#include <cassert>
#include <mutex>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"

namespace fansite::neural {
namespace {

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda, const double* b,
          int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

// A tile is worth a thread from so many multiply-adds on: some 20 µs.
constexpr Index kTileWork = Index{1} << 20;
constexpr Index kTileColumns = 32;  // at least

template <class Real>
void tiled(bool transpose_a, bool transpose_b, const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c,
           bool add) {
  const Index m = c.rows(), n = c.cols(), k = transpose_a ? a.rows() : a.cols();
  assert((transpose_a ? a.cols() : a.rows()) == m && (transpose_b ? b.rows() : b.cols()) == n);
  assert((transpose_b ? b.cols() : b.rows()) == k);
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!add) c.setZero();
    return;
  }
  // A layer's gradient has many rows and its columns may be few: cut along the longer side.
  const bool by_rows = m > n;
  const Index length = by_rows ? m : n;
  const Index cut = std::clamp(m * n * k / kTileWork, Index{1}, std::max(Index{1}, length / kTileColumns));
  const Index each = (length + cut - 1) / cut;
  const auto tile = [&](std::ptrdiff_t t) {
    const Index first = t * each, count = std::min(each, length - first);
    if (count <= 0) return;
    const Index i = by_rows ? first : 0, j = by_rows ? 0 : first;
    const Real* from_a = a.data() + (transpose_a ? i : i * a.outerStride());
    const Real* from_b = b.data() + (transpose_b ? j * b.outerStride() : j);
    gemm(transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
         static_cast<int>(by_rows ? count : m), static_cast<int>(by_rows ? n : count), static_cast<int>(k), from_a,
         static_cast<int>(a.outerStride()), from_b, static_cast<int>(b.outerStride()), add ? Real{1} : Real{0},
         c.data() + i * c.outerStride() + j, static_cast<int>(c.outerStride()));
  };
  if (cut == 1) {
    tile(0);
  } else {
    parallel_for(cut, tile);
  }
}

}  // namespace

template <class Real>
void times_transposed(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add) {
  tiled<Real>(false, true, a, b, c, add);
}
template <class Real>
void times(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add) {
  tiled<Real>(false, false, a, b, c, add);
}
template <class Real>
void transposed_times(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add) {
  tiled<Real>(true, false, a, b, c, add);
}

template void times_transposed<float>(const RowsView<float>&, const RowsView<float>&, RowsRef<float>, bool);
template void times_transposed<double>(const RowsView<double>&, const RowsView<double>&, RowsRef<double>, bool);
template void times<float>(const RowsView<float>&, const RowsView<float>&, RowsRef<float>, bool);
template void times<double>(const RowsView<double>&, const RowsView<double>&, RowsRef<double>, bool);
template void transposed_times<float>(const RowsView<float>&, const RowsView<float>&, RowsRef<float>, bool);
template void transposed_times<double>(const RowsView<double>&, const RowsView<double>&, RowsRef<double>, bool);

UnsplitBlas::UnsplitBlas() {
  static std::mutex lock;
  static std::weak_ptr<void> last;
  const std::lock_guard guard(lock);
  held_ = last.lock();
  if (held_ == nullptr) last = held_ = std::make_shared<SingleThreadedBlas>();
}

}  // namespace fansite::neural
