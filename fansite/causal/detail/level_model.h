// SPDX-License-Identifier: Apache-2.0
//
// Probabilities of groups of levels as functions of features, with their derivatives.
#pragma once

#include <memory>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/causal/graph_rows.h"

namespace fansite::causal {

/// A model's parameters are its intercepts, then its coefficients.
class LevelModel {
 public:
  struct Derivatives {
    Vector gradient;
    Matrix hessian;  ///< the lower half
  };

  virtual ~LevelModel() = default;
  virtual Index intercepts() const = 0;
  /// For so many features.
  virtual Index coefficients(Index features) const = 0;
  /// A ridge λ stands for λ·weight on every coefficient, so that two levels cost the same in either model.
  virtual double ridge_weight() const = 0;
  /// Without coefficients: every level has its share.
  virtual Vector intercepts_of_shares() const = 0;
  /// Σ −ln p(group | features) over rows, each as often as it weighs; infinite for parameters that are none.
  virtual double loss(const Matrix& features, const Vector& parameters) const = 0;
  virtual Derivatives derivatives(const Matrix& features, const Vector& parameters) const = 0;
  /// −ln p of every row's group, with coefficients that the row, and those that depend on it, had no part in, as far as
  /// one Newton step tells: u + M (I − W M)⁻¹ g for the rows' predictors u with loss gradient g and curvature W,
  /// M = A H⁻¹ Aᵀ, A du/dcoefficients. `hessian`: H of all parameters, with ridges, its lower half. A single row leaves
  /// intercepts as they are, as it leaves shares where there are no features. A block takes its part in these away too:
  /// else what they are and what other blocks show would tell, between them, what it shows. Empty if there is no H⁻¹.
  virtual Vector left_out(const Matrix& features, const Vector& parameters, const Matrix& hessian) const = 0;
};

/// Groups 0..count−1 of levels in order, or of two: P(group ≤ k) = σ(θ_k − f), f = features · coefficients
/// (proportional odds). `rows`: how much they tell.
std::unique_ptr<LevelModel> ordered_model(std::vector<int> groups, int count, const GraphRows& rows = {});
/// p(group k) ∝ exp(f_k), Σ_k f_k = 0. Which group has which number makes no difference.
std::unique_ptr<LevelModel> nominal_model(std::vector<int> groups, int count, const GraphRows& rows = {});
/// Of each group of levels, by the rows' weights.
Vector shares_of(const std::vector<int>& groups, int count, const GraphRows& rows);

}  // namespace fansite::causal
