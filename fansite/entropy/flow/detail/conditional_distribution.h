// SPDX-License-Identifier: Apache-2.0
//
// The distribution of one variable given others, row by row, on a grid of its values.
#pragma once

#include <span>

#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {

/// Where a distribution is tabulated: first over the column's whole range, then between the points that hold nearly all
/// of it.
struct DistributionGrid {
  float margin = 0;  ///< of the range, beyond either end of it
  Index coarse = 0;  ///< points of the first pass …
  float tail = 0;    ///< … of which so much may be left out on either side …
  Index points = 0;  ///< … and of the second
};

/// A distribution at evenly spaced points, linear between them; what lies outside of them does not exist.
struct ConditionalDistribution {
  Eigen::MatrixXf points;     ///< rows × points, ascending
  Eigen::MatrixXf densities;  ///< there, in units of the largest of each row

  /// The (k + ½)/count quantiles of a row.
  Eigen::RowVectorXf quantiles(Index row, int count) const;
  float quantile(Index row, float probability) const;
  /// P(variable ≤ x) in a row.
  double probability(Index row, float x) const;
};

/// A network, or linear model, with those of the rows asked for that it judges.
struct Judged {
  const EnsembleDensity::Part* part;
  std::vector<int> place;  ///< of each such row among those asked for
  CellTable table;
};
/// For every part of the density, in its order; `rows` ascending.
std::vector<Judged> judged(const EnsembleDensity& density, std::span<const int> rows);

/// p(options(i, v) | given) in each of these rows, in units of the largest of each row: a row's densities may all be
/// too large or too small for a float. Of the mixture of the networks that have not seen the row, its other cells as
/// they are. `options`: of each column of the variable.
Eigen::MatrixXf relative_densities(const EnsembleDensity& density, int variable, std::span<const int> given,
                                   std::span<const int> rows, const std::vector<TrialColumn>& options);

/// p(variable | given) in each of these rows of the table, of the mixture of the networks that have not seen it, the
/// row's other values as they are. Of a column with intervals it is the distribution of the numbers under them. NaN
/// where a cell of the given is absent.
ConditionalDistribution conditional_distribution(const EnsembleDensity& density, int variable,
                                                 std::span<const int> given, std::span<const int> rows,
                                                 const DistributionGrid& grid);

}  // namespace fansite::flow
