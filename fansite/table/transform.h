// SPDX-License-Identifier: Apache-2.0
//
// Maps of single columns onto a common scale before a flow learns them. All are increasing, so Markov boundaries, and
// what one variable tells about another, stay as they are. A value that repeats becomes an interval: as much of the
// standard normal distribution as its share of the rows.
#pragma once

#include <string_view>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/table/column.h"

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

/// The open end of an interval, or −: beyond any score, but a number that files and products can hold.
inline constexpr double kOpenEnd = 1e15;

/// What a flow knows of a cell: a number, an interval (low, high], or nothing.
struct Cell {
  double score = 0;          ///< as a condition; of an interval the mean of the standard normal inside it; NaN: absent
  double low = 0, high = 0;  ///< equal to the score: a number

  bool is_interval() const { return low < high; }
};

/// The map of one column, fitted to its values.
struct ColumnTransform {
  TransformKind kind = TransformKind::none;
  double shift = 0, scale = 1;    ///< standardise: (x − shift) / scale
  std::vector<double> x, z;       ///< rank: the distinct values, ascending, and their scores
  std::vector<double> low, high;  ///< of the values that are intervals, else equal to z; empty: none is
  double log_slope = 0;  ///< mean ln dx/dz over the fitted values: what an entropy gains on the way back to the
                         ///< original scale. NaN where that is not defined: many equal values, or one only

  /// Fitted values have the scores of rank_gaussianise, bit for bit. Between them the map is linear, beyond them it
  /// goes on along the secant of the outer ones. A constant column's values become 0, except by `none`.
  double operator()(double value) const;
  /// Values that were not fitted are numbers.
  Cell cell(double value) const;
  /// The value of a score, no smaller or larger than those fitted; of one that is near an interval's, that of the
  /// interval.
  double inverse(double score) const;
  bool has_intervals() const { return !low.empty(); }
  /// The variance of the fitted scores where intervals make it less than that of the normal distribution they stand
  /// for, else 1: cov(score, y) is so much of cov(normal score before it was made coarse, y).
  double reliability() const;
};

/// The values must not be infinite, and one at least not missing; a DataError or UsageError if not. Columns with
/// intervals are always mapped by rank: with low and high the normal scores of the shares of the rows below a value and
/// up to it, Φ⁻¹(P(x < v)) and Φ⁻¹(P(x ≤ v)).
ColumnTransform fit_transform(TransformKind kind, const Eigen::Ref<const Vector>& values,
                              ColumnKind column = ColumnKind::continuous);
/// `columns`: the kind of each, or none if all are continuous.
std::vector<ColumnTransform> fit_transforms(TransformKind kind, const MatrixView& values,
                                            const std::vector<ColumnKind>& columns = {});
/// Column j by transform j, NaN where a cell is missing; a UsageError if there are not as many columns as transforms.
Matrix apply_transforms(const std::vector<ColumnTransform>& transforms, const MatrixView& values);

}  // namespace fansite
