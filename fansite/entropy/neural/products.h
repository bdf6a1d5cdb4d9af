// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices whose rows are contiguous, with the same bits for any number of threads: large ones are cut into
// tiles that depend on their sizes alone, and BLAS computes each tile on one thread.
#pragma once

#include <memory>

#include "fansite/base/matrix.h"

namespace fansite::neural {

/// Rows are contiguous: a batch, or a layer's weights with a row for each output.
template <class Real>
using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using RowsView = Eigen::Ref<const Rows<Real>, 0, Eigen::OuterStride<>>;
template <class Real>
using RowsRef = Eigen::Ref<Rows<Real>, 0, Eigen::OuterStride<>>;

/// c = a bᵀ, or c += with `add`: a batch through a layer. Real: float or double.
template <class Real>
void times_transposed(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add = false);
/// c = a b: what comes back from a layer.
template <class Real>
void times(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add = false);
/// c = aᵀ b: a layer's gradient.
template <class Real>
void transposed_times(const RowsView<Real>& a, const RowsView<Real>& b, RowsRef<Real> c, bool add = false);

/// While anybody holds one, BLAS does not split its work (base/detail/single_threaded_blas.h).
class UnsplitBlas {
 public:
  UnsplitBlas();

 private:
  std::shared_ptr<void> held_;
};

}  // namespace fansite::neural
