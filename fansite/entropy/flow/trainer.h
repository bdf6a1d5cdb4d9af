// SPDX-License-Identifier: Apache-2.0
//
// Training one network: batches of rows with fresh subsets, Adam, the likelihood of rows held out, and when to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/learner.h"

namespace fansite::flow {

/// How the learning rate goes over the steps.
enum class Schedule {
  constant,  ///< as in the paper
  cosine     ///< down to 0 along half a cosine: the last steps average out the noise of the batches
};
constexpr auto enum_names(Schedule) {
  return std::to_array<EnumName<Schedule>>({{Schedule::cosine, "cosine"}, {Schedule::constant, "constant"}});
}

enum class BaseKind {
  none,     ///< the paper's model
  gaussian  ///< the flow describes what a linear Gaussian model leaves over
};
constexpr auto enum_names(BaseKind) {
  return std::to_array<EnumName<BaseKind>>({{BaseKind::gaussian, "gaussian"}, {BaseKind::none, "none"}});
}

struct TrainParams {
  std::int64_t steps = 6000;  ///< at most
  int batch = 0;              ///< rows per step; 0: 64 below 100 variables, 256 from there on
  int max_size = 0;           ///< M, of the subsets drawn; 0: the paper's for the number of variables
  SubsetKind subsets = SubsetKind::leaf;
  BaseKind base = BaseKind::gaussian;
  Schedule schedule = Schedule::cosine;
  double learning_rate = 2e-3;        ///< of the first step
  double clip = 5;                    ///< of the gradient's norm
  double noise = 0;                   ///< added to the numbers of a row each time it is drawn, standard deviation: so
                                      ///< that with few rows none is learnt by heart
  double held_out = 0.1;              ///< share of the rows kept back to watch the likelihood; 0: none
  int patience = 0;                   ///< stop after so many evaluations without improvement; 0: take all the steps
  std::int64_t evaluate_every = 250;  ///< steps

  bool operator==(const TrainParams&) const = default;
  static const Description& description();
};

/// The paper's: no base, constant learning rate 5e-4, no rows held out, a number of steps that is 5000 times through
/// the rows.
TrainParams paper_training(int variables, Index rows);

/// The zeros that stand for the paper's values filled in.
TrainParams complete(const TrainParams& params, const Shape& shape);

/// Throws a UsageError for settings that make no sense with this shape.
void validate(const TrainParams& params, const Shape& shape);

/// −mean log p(x_S), over the steps since the last point and over the rows held out (NaN without any).
struct CurvePoint {
  std::int64_t step = 0;
  double training = 0;
  double held_out = 0;
};

struct Trained {
  Weights weights;    ///< of the best step, if rows were held out to choose it, else of the last
  GaussianBase base;  ///< under the flow; empty: none
  std::vector<CurvePoint> curve;
  std::int64_t steps = 0;         ///< taken
  std::int64_t kept_step = 0;     ///< the step the weights are from
  std::int64_t undone_steps = 0;  ///< taken back because the loss or its gradient was not finite
};

struct DeviceTraining;
struct DeviceSteps;
struct DeviceProgress;

/// Training as a value that can be advanced, saved and continued: the same bits whether or not it was interrupted, and
/// for any number of threads.
class Training {
 public:
  /// `rows` of `data` are those to train on, with those to be held out among them. The numbers of `data` and the team
  /// must outlive this. A row is drawn as often as its weight says.
  Training(const RowCells& data, std::span<const int> rows, const Shape& shape, const TrainParams& params, Key key,
           Team* team = nullptr);
  ~Training();
  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;

  /// Takes up to `steps` more steps. Throws a DataError if the loss does not stay finite.
  void advance(std::int64_t steps);
  bool finished() const;
  std::int64_t steps() const;
  Trained result() const;

  /// Everything that changes while training.
  struct State {
    Learner::State learner, backup;  ///< backup: what a step that went wrong is undone to
    std::vector<float> best;         ///< the best weights so far
    std::vector<CurvePoint> curve;
    std::int64_t step = 0, kept_step = 0;
    std::int64_t undone = 0, undone_in_a_row = 0;
    std::int64_t waited = 0;             ///< evaluations since the best
    double best_loss = 0, loss_sum = 0;  ///< held out; of the steps since the last point of the curve
    std::int64_t loss_count = 0;
    bool stopped = false;  ///< patience ran out
  };
  State state() const;
  void restore(State state);

  // For a device that takes the steps in this one's place (device_training.h).
  DeviceTraining for_device() const;
  /// The next steps, at most so many, and none past an evaluation of rows held out; `later`: those after so many more.
  DeviceSteps next_steps(std::int64_t most, std::int64_t later = 0);
  /// They were taken elsewhere. The learner, which then has an old state, is needed again where rows are held out, for
  /// state() and for result(): `learner` is its new one, null if it is to follow.
  void took(const DeviceProgress& progress, const Learner::State* learner);
  void set_learner(const Learner::State& learner);
  bool holds_out() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// To the last step, reporting every step taken to `progress`, which can interrupt it.
void run_to_end(Training& training, Progress& progress);
/// From the first step to the last, reporting every step taken to `progress`, which can interrupt it.
Trained train(const RowCells& data, std::span<const int> rows, const Shape& shape, const TrainParams& params, Key key,
              Progress& progress, Team* team = nullptr);

}  // namespace fansite::flow
