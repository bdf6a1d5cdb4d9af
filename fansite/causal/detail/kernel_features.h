// SPDX-License-Identifier: Apache-2.0
//
// Functions of the parents that a child's equation is made of: constants, lines, and kernels at landmarks. All kinds of
// children share them.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/causal/regression.h"

namespace fansite::causal {

// ---- BLAS: Eigen alone uses the oldest instructions -----------------------------------------------------------------

/// A = L Lᵀ in place, the lower half; false if A is not positive definite.
bool factorise(Matrix& a);
/// (L Lᵀ)⁻¹ in place, the lower half.
void invert_factorised(Matrix& lower);
/// X ← X L^{−T}.
void solve_from_right(const Matrix& lower, Matrix& x);
/// XᵀX, the lower half.
Matrix gram(const Matrix& x);
/// XᵀY and XY.
Matrix across(const Matrix& x, const Matrix& y);
Matrix product(const Matrix& x, const Matrix& y);
/// C ← C − A (Aᵀ B): takes out of B, a copy of C, what columns A say.
void take_out(const Matrix& a, Matrix& c);

// ---- Features -------------------------------------------------------------------------------------------------------

class KernelFeatures {
 public:
  /// Of the columns of so many parents. `order` of the rows: the first ones are landmarks. `root_weights`: of the rows,
  /// which the basis is multiplied by; empty: 1.
  KernelFeatures(Matrix x, int parents, std::span<const int> order, const RegressionParams& params,
                 const Vector& root_weights = {});

  /// An orthonormal basis of the constant (first) and linear functions; those that others determine are passed over.
  const Matrix& basis() const { return basis_; }
  /// Whether there are kernels: there is none of no parents.
  bool has_kernels() const { return !landmarks_.empty(); }
  /// The columns of the parents, and the rows at which there are kernels.
  const Matrix& x() const { return x_; }
  std::span<const int> landmarks() const { return landmarks_; }
  /// Features whose inner products are the kernel's, less what the linear part explains; `most` of them, those of the
  /// landmarks that tell most.
  Matrix kernels(double width, Index most = std::numeric_limits<Index>::max()) const;

 private:
  Matrix x_, basis_;
  std::vector<int> landmarks_;
};

}  // namespace fansite::causal
