// SPDX-License-Identifier: Apache-2.0
//
// COSMO among the graph methods (Massidda, Landolfi, Cinquini and Bacciu, ICLR 2024): every variable has a priority, an
// edge i → j counts as far as that of j is the higher one,
//   O_ij = sigmoid((p_j − p_i − ε)/t),
// and priorities and weights are learnt together while the temperature t falls. At its end no cycle has edges that
// count, so nothing else shuns cycles. Relations are linear, or one small network for each variable.
//
// Which direction of a link survives is decided by the scales of the columns as much as by causes. For comparison, not
// for use.
#pragma once

#include <memory>
#include <span>

#include "fansite/causal/neural/learning.h"

namespace fansite::causal {

/// What the weight of an edge is, of those to the hidden units of a network.
enum class UnitWeights { sum, norm };
constexpr auto enum_names(UnitWeights) {
  return std::to_array<EnumName<UnitWeights>>({{UnitWeights::sum, "sum"}, {UnitWeights::norm, "norm"}});
}

/// The authors search for learning rate, penalties, temperature and shift anew for every kind of table; these are the
/// middle of what they found best.
struct CosmoParams {
  Relations relations = Relations::nonlinear;
  int hidden = 10;                 ///< units of each network; nonlinear alone
  int epochs = 2000;               ///< times through the rows
  int batch = 64;                  ///< rows per step
  double learning_rate = 1.4e-3;   ///< of Adam
  double l1 = 7e-4;                ///< of Σ|H|
  double l2 = 2e-3;                ///< of ‖H‖₂
  double priority_penalty = 2e-3;  ///< of ‖p‖₂
  double first_temperature = 0.45;
  double last_temperature = 8e-4;               ///< reached along half a cosine
  double shift = 0.012;                         ///< ε
  UnitWeights unit_weights = UnitWeights::sum;  ///< as published; the norm cannot cancel
  double threshold = 0.3;                       ///< edges have at least this absolute weight
  bool standardise = false;                     ///< columns to mean 0 and variance 1 first; else to mean 0

  static const Description& description();
};

/// t after so many epochs: from the first temperature along half a cosine to the last.
double cosmo_temperature(const CosmoParams& params, int epochs);
/// O of priorities; its diagonal is 0.
Matrix cosmo_orientation(const Vector& priorities, double shift, double temperature);

class CosmoLearning final : public Learning {
 public:
  /// Of columns with mean 0; they must outlive this.
  CosmoLearning(const Matrix& values, const CosmoParams& params, std::uint64_t seed);
  ~CosmoLearning() override;

  void advance(Progress& progress) override;  ///< one epoch
  bool finished() const override;
  long steps() const override;  ///< epochs
  long schedule() const override;
  LearningState state() const override;
  void restore(const LearningState& state) override;

  Matrix weights() const;  ///< (i, j): of i → j, H∘O
  Vector priorities() const;
  double loss();  ///< mean squared error and penalties over all rows, at the temperature reached

  /// For tests: the loss of these parameters over all rows, and its gradient: priorities, then H or the networks.
  double loss(std::span<const double> parameters, std::span<double> gradient);
  std::span<const double> parameters() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

GraphMethod cosmo_method();

}  // namespace fansite::causal
