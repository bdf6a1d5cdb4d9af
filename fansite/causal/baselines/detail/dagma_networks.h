// SPDX-License-Identifier: Apache-2.0
//
// DAGMA with a network for each variable: min μ (d/2 ln mean squared error + λ₁ Σ|W|) + h(A), A_ij = Σ_k W_j[i][k]²,
// and λ₂ on all parameters, whole table at each step.
#pragma once

#include "fansite/base/adam.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/baselines/dagma.h"
#include "fansite/causal/neural/acyclicity.h"
#include "fansite/causal/neural/detail/networks.h"

namespace fansite::causal {

class NetworkDagma final : public DagmaLearning {
 public:
  NetworkDagma(const Matrix& values, const DagmaParams& params, std::uint64_t seed);

  void advance(Progress& progress) override;
  bool finished() const override { return round_ >= params_.rounds; }
  long steps() const override;
  long schedule() const override;
  LearningState state() const override;
  void restore(const LearningState& state) override;

  Matrix weights() const override { return squares().cwiseSqrt(); }
  DagmaReport report() override;

  /// For tests: the objective at these parameters, at this round's μ, and its gradient with λ₂'s share.
  double objective(std::span<const double> parameters, std::span<double> gradient);
  std::span<const double> parameters() const { return parameters_; }

 private:
  struct Fit {
    double score = 0, penalty = 0;
    std::optional<Acyclicity> h;
  };
  int round_iterations() const { return round_ + 1 == params_.rounds ? params_.last_iterations : params_.iterations; }
  Matrix squares() const;
  Fit measure();
  void move(const Fit& fit);
  void add_penalties(Index j, const Fit& fit, double fit_scale);
  void begin_attempt();
  void begin_round();
  void end_round();
  void fail();
  void take_iteration();

  DagmaParams params_;
  NetworksShape shape_;
  Team team_;
  NetworkRows rows_;
  SquaredError error_;
  std::vector<double> parameters_, start_, gradient_;  // start_: of the round
  std::vector<Adam<double>> adam_;                     // of each variable
  double half_error_ = 0;                              // of the last measurement
  int round_ = 0, iteration_ = 0, restarts_ = 0;
  long taken_ = 0;
  bool decays_ = false;  // the rate, within a round that failed before
  double mu_ = 0, rate_ = 0;
  double attempt_rate_ = 0;  // that an attempt begins with; halved by every failure, for good
  double objective_ = 0;     // at the last check
};

}  // namespace fansite::causal
