// SPDX-License-Identifier: Apache-2.0
//
// NOTEARS among the graph methods, with linear relations (Zheng, Aragam, Ravikumar and Xing, NeurIPS 2018):
//   min_W 1/(2N) ‖X − XW‖² + λ₁ Σ|W|  subject to  tr e^(W∘W) = d,
// by an augmented Lagrangian whose every step is minimised by L-BFGS over W = W⁺ − W⁻, both ≥ 0.
//
// Which direction of a link survives is decided by the scales of the columns as much as by causes. For comparison, not
// for use.
#pragma once

#include "fansite/causal/neural/learning.h"

namespace fansite::causal {

struct NotearsParams {
  double l1 = 0.1;            ///< λ₁, of Σ|W|
  int rounds = 100;           ///< of the multiplier, at most
  double h_tolerance = 1e-8;  ///< of tr e^(W∘W) − d: at most this is no cycle
  double max_rho = 1e16;      ///< of the factor of ½h², which grows tenfold until h falls to a quarter
  double threshold = 0.3;     ///< edges have at least this absolute weight
  bool standardise = false;   ///< columns to mean 0 and variance 1 first; else to mean 0

  static const Description& description();
};

/// Of centred columns.
class Notears final : public Learning {
 public:
  /// C: their covariance, divided by N.
  Notears(Matrix covariance, const NotearsParams& params);

  void advance(Progress& progress) override;  ///< one minimisation
  bool finished() const override { return finished_; }
  long steps() const override { return minimised_; }
  long schedule() const override;
  LearningState state() const override;
  void restore(const LearningState& state) override;

  Matrix weights() const;  ///< of the last minimum; of what there is of the next if time ran out
  double acyclicity() const;
  double score() const;  ///< 1/(2N) ‖X − XW‖²
  double penalty() const;
  double rho() const { return rho_; }
  long iterations() const { return iterations_; }

  /// For tests: ½ tr(I−W)ᵀC(I−W) + ρ/2 h² + αh + λ₁ Σ(W⁺ + W⁻) of W⁺ and W⁻ side by side, without their diagonals.
  double lagrangian(std::span<const double> parts, std::span<double> gradient, double rho, double alpha) const;

 private:
  Matrix matrix_of(std::span<const double> parts) const;

  NotearsParams params_;
  Matrix covariance_;
  std::vector<double> parts_;       // where this round began, and its answer once it is over
  std::vector<double> candidate_;   // the last minimum of this round, whose h did not fall enough; empty: none
  std::vector<double> unfinished_;  // where time ran out
  double rho_ = 1, alpha_ = 0;
  double h_ = 0;  // of parts_; infinite at first
  int round_ = 0;
  long minimised_ = 0, iterations_ = 0;
  bool finished_ = false;
};

GraphMethod notears_method();

}  // namespace fansite::causal
