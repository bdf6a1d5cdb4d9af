// SPDX-License-Identifier: Apache-2.0
//
// Do two variables tell anything about each other once others are known? A score for each row, by networks that have
// not seen it, whose mean is zero if they do not, whatever the networks got wrong about either variable alone.
#pragma once

#include <span>

#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {

/// With f(t, z) = log p(t|S_i, z), the score of row i is
///   c_i = f(t_i, z_i) − E_z' f(t_i, z') − E_t' f(t', z_i) + E_t' E_z' f(t', z'),
/// t' ~ p(t|S_i) and z' ~ p(z|S_i) independent: the part of f that is a function of neither alone. Under independence
/// given S its mean is a product of two errors, that of f and that of p(·|S); under dependence it is positive as far as
/// f points the right way. Expectations are over kNodes quantiles of each distribution, or over its levels with their
/// probabilities.
struct DependenceScores {
  Eigen::ArrayXf rows;  ///< c_i, of the mixture of the networks that have not seen row i; NaN where cells are absent,
                        ///< or t or z was drawn
  Eigen::ArrayXd networks;  ///< Σ c_i of each network's own density over the rows it has not seen
};

constexpr int kNodes = 8;

/// Of t = `target` and z = `other`; `given` holds neither. `rows`: the rows to ask, ascending; empty: all. Others have
/// no score (NaN).
DependenceScores dependence_scores(const EnsembleDensity& density, int target, int other, std::span<const int> given,
                                   std::span<const int> rows = {});

/// out(i, k): the (k + ½)/count quantile of p(variable | given) in the i-th of these rows, of the mixture of the
/// networks that have not seen it.
Eigen::MatrixXf conditional_quantiles(const EnsembleDensity& density, int variable, std::span<const int> given,
                                      std::span<const int> rows, int count);

}  // namespace fansite::flow
