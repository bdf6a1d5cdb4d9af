// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of Gaussian forward selection, vectorised (Highway, run-time dispatch).
#pragma once

#include <cstddef>

namespace fansite::kernel {

/// Candidates, fewer than 2²⁴ (their indices are held in single precision), are stored in blocks of this many columns,
/// the Cholesky rows of one block contiguous: [block][row][64]. A step then streams through memory, and a block (≤ 512
/// bytes a row) stays in registers while its rows are summed.
inline constexpr std::ptrdiff_t kBlock = 64;

/// All candidates of one target, given the current set of `size` members; everything in units of unit-variance columns.
template <class Real>
struct Sweep {
  std::ptrdiff_t blocks = 0;          ///< columns / 64, rounded up
  std::ptrdiff_t capacity = 0;        ///< Cholesky rows that `factor` has room for
  std::ptrdiff_t size = 0;            ///< Cholesky rows in use
  Real* factor = nullptr;             ///< [block][capacity][64]
  Real* variance = nullptr;           ///< σ²_{j|S}; +∞ marks a column that is not a candidate
  Real* covariance = nullptr;         ///< σ_{jT|S}
  const Real* correlation = nullptr;  ///< of the new member with every column
  const Real* loadings = nullptr;     ///< the new member's own entries in the existing rows
  Real inverse_sd = 0;                ///< 1/σ_{z|S} of the new member
  Real target_loading = 0;            ///< σ_{zT|S}/σ_{z|S}
  Real determined = 0;                ///< a variance below this becomes +∞
};

struct SweepResult {
  double best = 0;               ///< largest σ²_{jT|S}/σ²_{j|S}: the variance of T that one candidate explains
  std::ptrdiff_t column = -1;    ///< the first that explains so much; −1 when none explains anything
  double smallest_variance = 0;  ///< of the remaining candidates
};

/// Appends the Cholesky row l_j = (ρ_zj − Σ_i l_iz l_ij)/σ_z, takes l_j² off the variances and l_j·l_T off the
/// covariances.
SweepResult condition(const Sweep<float>& sweep);
SweepResult condition(const Sweep<double>& sweep);

/// The same, plain loops: what the vectorised version is held to.
SweepResult condition_reference(const Sweep<double>& sweep);

}  // namespace fansite::kernel
