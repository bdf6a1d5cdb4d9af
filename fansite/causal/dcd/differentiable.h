// SPDX-License-Identifier: Apache-2.0
//
// Differentiable causal discovery as published: SDCD (Nazaret et al., ICML 2024) and FANSITE-DCD, which is its second
// stage inside the moral graph that Markov boundaries make. One small network per variable learns mean and variance
// given possible parents; an edge's weight is the norm of its first-layer weights, and a penalty grows until the edges
// have no cycle.
//
// Which direction of a link survives is decided by the size of the weights, hence by the variables' scales, and not by
// the likelihood: on the FANS authors' d30-G tables, as they are, most edges come out reversed. For comparison, not for
// use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/causal/dcd/reference.h"

namespace fansite {
class Team;
}

namespace fansite::causal {

/// One training of all networks.
struct StageParams {
  double learning_rate = 1e-3;  ///< of Adam
  int batch = 256;              ///< rows per step
  int max_epochs = 2000;        ///< times through the rows, at most
  double l1 = 5e-4;             ///< α, of Σ|W|
  double l2 = 5e-3;             ///< β, of the squares of all parameters, biases too

  bool operator==(const StageParams&) const = default;
  static const Description& description();
};

/// Where the published program does not do what it seems to be meant to. Off: as published.
struct Corrections {
  bool random_weights = false;  ///< W starts random and not at 0
  bool keep_best = false;       ///< the best validated networks also when the epochs run out, not the last ones
  bool forget_best = false;     ///< what was best before γ rose again is no longer

  bool operator==(const Corrections&) const = default;
  static const Description& description();
};

struct DifferentiableParams {
  StageParams first{2e-3, 256, 2000, 1e-2, 2e-4};  ///< SDCD's choice of pairs, without penalty; its batch validates too
  StageParams second;                              ///< the search among those pairs

  int hidden = 10;  ///< units per network
  Variance variance = Variance::network;
  bool standardise = false;  ///< columns to mean 0 and variance 1 (dividing by N − 1) first

  double mask_threshold = 0.2;     ///< pairs above it after the first stage are the second's
  double threshold = 0.1;          ///< edges of the answer have at least this weight; above it cycles end a freeze
  double gamma_increment = 0.005;  ///< per epoch, of the acyclicity penalty's factor
  int power_iterations = 15;       ///< per step
  bool freeze = true;              ///< γ stays as it is once the weights above freeze_threshold have no cycle
  double freeze_threshold = 0.01;

  int check_every = 20;  ///< epochs from one check of cycles and validation loss to the next
  int patience = 10;     ///< checks without improvement that end a stage; in the second, while γ is frozen
  Corrections corrections;
  std::uint64_t seed = 0;
  /// A file that keeps the state of training, every few seconds and when interrupted; "": none. Training goes on from
  /// what is there already, and the result has the same bits as without. The file stays until it is removed.
  std::string checkpoint;
  std::optional<std::uint64_t> values_hash = {};  ///< of the values, if it is known already

  bool operator==(const DifferentiableParams&) const = default;
  static const Description& description();  ///< of both stages
};

/// How a stage went.
struct StageReport {
  int epochs = 0;              ///< 0: not run
  bool stopped_early = false;  ///< patience ran out; the networks are then the best validated ones
  double validation_loss = 0;  ///< of the networks kept, summed over variables and over batches; NaN: never measured
  double gamma = 0;            ///< of the last epoch
};

struct DifferentiableResult {
  Matrix weights;   ///< A[i][j] of i → j, 0 outside the mask
  ByteMatrix mask;  ///< where edges were sought; directed
  ByteMatrix dag;   ///< to_dag(weights, threshold)
  StageReport first, second;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// SDCD: both stages. Data are N×d, at least 5 rows, a fifth of which validate. Skip the first stage with
/// first.max_epochs = 0 and mask_threshold = −1.
DifferentiableResult sdcd(const Matrix& data, const DifferentiableParams& params, Progress& progress);

/// FANSITE-DCD: the second stage inside the mask, meant to be a moral graph with both directions of every link;
/// its diagonal does not matter.
DifferentiableResult fansite_dcd(const Matrix& data, const ByteMatrix& mask, const DifferentiableParams& params,
                                 Progress& progress);

/// Throws, before other work, what fansite_dcd would: a DataError for a checkpoint that is damaged or something else, a
/// UsageError for one of another table or other settings and for a place that cannot be written.
void check_checkpoint(const Matrix& data, const DifferentiableParams& params);

/// γ's schedule: from 0 in equal steps to increment·epochs at index epochs − 1.
double scheduled_gamma(int index, double increment, int epochs);

/// The same as a value that can be advanced, saved and continued: the same bits whether or not it was interrupted, and
/// for any number of threads.
class DifferentiableTraining {
 public:
  /// Both stages, or the second inside a mask. The team, if there is one, must outlive this.
  DifferentiableTraining(const Matrix& data, const DifferentiableParams& params, Team* team = nullptr);
  DifferentiableTraining(const Matrix& data, const ByteMatrix& mask, const DifferentiableParams& params,
                         Team* team = nullptr);
  ~DifferentiableTraining();
  DifferentiableTraining(DifferentiableTraining&&) noexcept;
  DifferentiableTraining& operator=(DifferentiableTraining&&) noexcept;

  /// Up to that many epochs more; they may end one stage and begin the next.
  void advance(int epochs);
  bool finished() const;
  int stage() const;   ///< 1 or 2
  int epochs() const;  ///< of this stage so far
  /// Of the networks that would be kept if training ended here.
  DifferentiableResult result() const;

  /// Everything that changes while training.
  struct State {
    int stage = 0, epoch = 0;
    int hidden = 0;
    ByteMatrix mask;                              ///< of this stage
    std::vector<float> parameters, mean, square;  ///< of the networks, and Adam's moments
    std::int64_t steps = 0;                       ///< of Adam
    std::vector<double> left, right;              ///< u and v of the penalty
    int gamma_index = 0;                          ///< of the schedule's next value
    std::optional<double> frozen_gamma;
    double gamma = 0;  ///< of the last epoch
    int waited = 0;    ///< checks since the best
    double best_loss = 0, last_loss = 0;
    std::vector<float> best;  ///< networks; empty: none yet
    bool stopped = false;     ///< patience ran out
    StageReport first;        ///< of the stage before
  };
  State state() const;
  void restore(const State& state);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace fansite::causal
