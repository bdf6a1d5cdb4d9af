// SPDX-License-Identifier: Apache-2.0
//
// Is the linear Gaussian model enough? Each variable is regressed on its Markov boundary. If all is linear and
// Gaussian, what is left over depends on no other variable, be it a member or not; here we look for signs that it does.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

struct LinearityParams {
  double level = 0.01;     ///< the share of linear Gaussian tables that may be called nonlinear
  int max_targets = 1000;  ///< more targets than this: evenly spaced ones stand for all
};

/// How the residual of one variable follows another, g being the other's normal scores.
enum class Sign {
  none,          ///< nothing could be tested
  curvature,     ///< its mean follows g² − 1
  s_shape,       ///< its mean follows g³ − 3g
  spread_slope,  ///< its size follows g: it rises or falls
  spread_bulge   ///< its size follows g² − 1: it differs between the middle and the tails
};
constexpr auto enum_names(Sign) {
  return std::to_array<EnumName<Sign>>({{Sign::curvature, "curvature"},
                                        {Sign::s_shape, "S-shape"},
                                        {Sign::spread_slope, "sloping spread"},
                                        {Sign::spread_bulge, "bulging spread"},
                                        {Sign::none, "none"}});
}

struct LinearityTest {
  /// Linear and Gaussian, as far as one can see: no residual was found to follow another variable.
  bool linear = true;
  double p_value = 1;      ///< of the strongest sign, corrected for all that were tested
  int target = -1;         ///< the strongest sign: the residual of this variable …
  int other = -1;          ///< … follows this one …
  Sign sign = Sign::none;  ///< … in this way

  /// Linear with noise of any distribution, as far as one can see: no two variables were found whose residuals follow
  /// each other both ways. Noise that is not normal bends the mean of a cause given its effects, never that of an
  /// effect given its causes; the Gaussian estimator's boundaries are right all the same. Takes about twice the rows to
  /// see a bend.
  bool linear_equations = true;
  double pair_p_value = 1;              ///< of the weaker way of the strongest pair, corrected for all pairs
  std::pair<int, int> pair = {-1, -1};  ///< that pair

  bool normal = true;            ///< the residuals look normal; does not bear on the rest
  double normality_p_value = 1;  ///< of the strongest departure, corrected for all targets
  int normality_target = -1;     ///< the variable whose residual departs most
};

/// boundaries[t]: the variables that t is regressed on; none if empty. Passed over: constant columns, copies of earlier
/// ones, and targets that their boundary determines (R² above 1 − 1e-10) or leaves fewer than 10 degrees of freedom.
/// A table that allows no answer is a DataError. The result has the same bits for any number of threads.
LinearityTest test_linearity(const Dataset& data, const TableFacts& facts,
                             const std::vector<std::vector<int>>& boundaries, const LinearityParams& params,
                             Progress& progress);
LinearityTest test_linearity(const Dataset& data, const std::vector<std::vector<int>>& boundaries,
                             const LinearityParams& params = {});

}  // namespace fansite
