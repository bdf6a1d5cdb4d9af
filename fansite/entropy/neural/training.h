// SPDX-License-Identifier: Apache-2.0
//
// Training one network of neural/network.h: batches of rows with fresh subsets, Adam, the loss of rows held out, and
// when to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/trainer.h"
#include "fansite/entropy/neural/network.h"

namespace fansite::neural {

/// How the learning rate goes over the steps.
enum class Decay {
  constant,
  linear,  ///< down to 0
  cosine,  ///< down to 0 along half a cosine
  plateau  ///< halved where the held-out loss has not fallen for `plateau` evaluations, down to a twentieth
};
constexpr auto enum_names(Decay) {
  return std::to_array<EnumName<Decay>>({{Decay::constant, "constant"},
                                         {Decay::linear, "linear"},
                                         {Decay::cosine, "cosine"},
                                         {Decay::plateau, "plateau"}});
}

/// Each estimator has defaults of its own.
struct NetworkTrainParams {
  std::int64_t steps = 10000;  ///< at most
  int batch = 0;               ///< rows per step; 0: 64 below 100 variables, 256 from there on
  int max_size = 0;            ///< M, of the subsets drawn; 0: the paper's for the number of variables
  double learning_rate = 1e-3;
  Decay decay = Decay::cosine;
  double clip = 5;                    ///< of the gradient's norm
  double noise = 0;                   ///< standard deviation, added to the numbers of a row each time it is drawn
  double held_out = 0.1;              ///< share of the rows kept back to choose the best step; 0: none
  int patience = 10;                  ///< stop after so many evaluations without improvement; 0: take all the steps
  std::int64_t evaluate_every = 250;  ///< steps

  // Of some estimators only, described there.
  flow::SubsetKind subsets = flow::SubsetKind::leaf;
  int plateau = 20;      ///< evaluations
  bool amsgrad = false;  ///< Adam divides by the largest square so far
  double polyak = 0;     ///< densities are of a running mean of the parameters, each step so much of the old; 0: none

  bool operator==(const NetworkTrainParams&) const = default;
  static const Description& description();
};

/// The zeros filled in for a table of this width.
NetworkTrainParams complete(const NetworkTrainParams& params, int variables, Draws draws);

struct TrainedNetwork {
  std::vector<float> parameters;  ///< of the best step, if rows were held out to choose it, else of the last
  std::vector<flow::CurvePoint> curve;
  std::int64_t steps = 0, kept_step = 0, undone_steps = 0;
};

/// Training as a value that can be advanced, saved and continued: the same bits whether or not it was interrupted, and
/// for any number of threads.
class NetworkTraining {
 public:
  /// `rows` of `data` are those to train on, with those to be held out among them; no cell of them is an interval. The
  /// numbers of `data` and the network must outlive this.
  NetworkTraining(const flow::RowCells& data, std::span<const int> rows, const SubsetNetwork<float>& network,
                  const NetworkTrainParams& params, Key key);
  ~NetworkTraining();
  NetworkTraining(NetworkTraining&&) noexcept;

  /// Takes up to `steps` more steps. Throws a DataError if the loss does not stay finite.
  void advance(std::int64_t steps);
  bool finished() const;
  std::int64_t steps() const;
  TrainedNetwork result() const;
  /// As it is after the last step.
  const std::vector<float>& parameters() const;

  /// Everything that changes while training.
  struct State {
    std::vector<float> parameters, mean, square, largest;  ///< largest: with amsgrad
    std::vector<float> average, best;                      ///< with polyak; once something was evaluated
    std::vector<flow::CurvePoint> curve;
    std::int64_t step = 0, adam_steps = 0, kept_step = 0, undone = 0, undone_in_a_row = 0;
    std::int64_t waited = 0, level = 0;  ///< evaluations since the best, and since it or the last change of the rate
    std::int64_t loss_count = 0;
    double best_loss = 0, loss_sum = 0, rate_scale = 1;
    bool stopped = false;  ///< patience ran out
  };
  State state() const;
  /// A UsageError for a state of another network.
  void restore(State state);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace fansite::neural
