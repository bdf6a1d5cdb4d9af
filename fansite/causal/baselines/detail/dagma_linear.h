// SPDX-License-Identifier: Apache-2.0
//
// DAGMA with linear relations: min_W μ (½ tr (I−W)ᵀ C (I−W) + λ₁ Σ|W|) + h(W∘W), C the covariance of the columns.
#pragma once

#include "fansite/base/adam.h"
#include "fansite/causal/baselines/dagma.h"

namespace fansite::causal {

class LinearDagma final : public DagmaLearning {
 public:
  LinearDagma(const Matrix& values, const DagmaParams& params);

  void advance(Progress& progress) override;
  bool finished() const override { return round_ >= params_.rounds; }
  long steps() const override;
  long schedule() const override;
  LearningState state() const override;
  void restore(const LearningState& state) override;

  Matrix weights() const override { return weights_; }
  DagmaReport report() override;

 private:
  int round_iterations() const { return round_ + 1 == params_.rounds ? params_.last_iterations : params_.iterations; }
  double score(const Matrix& weights) const;
  double penalty(const Matrix& weights) const { return params_.l1 * weights.lpNorm<1>(); }
  void begin_attempt();
  void begin_round();
  void end_round();
  void take_iteration();
  bool converged();

  DagmaParams params_;
  Matrix covariance_;
  Matrix weights_, before_;  // now, and before the last step
  Matrix start_;             // of the round
  Adam<double> adam_;
  int round_ = 0, iteration_ = 0, restarts_ = 0;
  long taken_ = 0;
  double mu_ = 0, s_ = 0, rate_ = 0;
  double round_rate_ = 0;  // that the next attempt at this round begins with
  double objective_ = 0;   // at the last check
};

}  // namespace fansite::causal
