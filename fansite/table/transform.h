// SPDX-License-Identifier: Apache-2.0
//
// Maps of single columns onto a common scale before a flow learns them. All are increasing, so Markov boundaries, and
// what one variable tells about another, stay as they are.
#pragma once

#include <string_view>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"

namespace fansite {

enum class TransformKind {
  rank,         ///< normal scores Φ⁻¹((rank − ½)/N), ties sharing the mean of their ranks; tames outliers
  standardise,  ///< mean 0, variance 1
  none
};
constexpr auto enum_names(TransformKind) {
  return std::to_array<EnumName<TransformKind>>(
      {{TransformKind::rank, "rank"}, {TransformKind::standardise, "standardise"}, {TransformKind::none, "none"}});
}

/// The map of one column, fitted to its values.
struct ColumnTransform {
  TransformKind kind = TransformKind::none;
  double shift = 0, scale = 1;  ///< standardise: (x − shift) / scale
  std::vector<double> x, z;     ///< rank: the distinct values, ascending, and their scores
  double log_slope = 0;         ///< mean ln dx/dz over the fitted values: what an entropy gains on the way back to the
                                ///< original scale. NaN where that is not defined: many equal values, or one only

  /// Fitted values have the scores of rank_gaussianise, bit for bit. Between them the map is linear, beyond them it
  /// goes on along the secant of the outer ones. A constant column's values become 0, except by `none`.
  double operator()(double value) const;
};

/// The values must be finite, at least one; a DataError or UsageError if not.
ColumnTransform fit_transform(TransformKind kind, const Eigen::Ref<const Vector>& values);
std::vector<ColumnTransform> fit_transforms(TransformKind kind, const MatrixView& values);
/// Column j by transform j; a UsageError if there are not as many columns as transforms.
Matrix apply_transforms(const std::vector<ColumnTransform>& transforms, const MatrixView& values);

}  // namespace fansite
