// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/differentiable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/causal/dcd/detail/learner.h"
#include "fansite/causal/dcd/detail/training_file.h"
#include "fansite/causal/dcd/pairs.h"
#include "fansite/causal/to_dag.h"

namespace fansite::causal {
namespace {

// Streams of the seed's key, and of each stage's.
enum Stream : std::uint64_t { kSplit, kFirst, kSecond };
enum StageStream : std::uint64_t { kNetworks, kWeights, kOrder };

constexpr double kHeldOut = 0.2;  // share of the rows that validate
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The columns in single precision, standardised if asked for; the networks compute with no more.
Eigen::MatrixXf columns_of(const Matrix& data, bool standardise) {
  check(data.cols() > 0, "[differentiable] a table without columns");
  check(data.rows() >= 5, "[differentiable] {} rows; 5 or more are needed, as a fifth of them validates", data.rows());
  check_data(data.allFinite(), "[differentiable] a value is missing or not finite; drop its row or fill it in");
  if (!standardise) return data.cast<float>();
  Eigen::MatrixXf columns(data.rows(), data.cols());
  for (Index j = 0; j < data.cols(); ++j) {
    const Vector centred = data.col(j).array() - data.col(j).mean();
    const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(data.rows() - 1));
    columns.col(j) = (centred / (deviation > 0 ? deviation : 1)).cast<float>();
  }
  return columns;
}

// Everything is uniform within ±1/√fan-in; the first layer's fan-in is counted as d²h, as published.
void initialise(Learner& learner, const DifferentiableParams& params, Key key) {
  const int d = learner.pairs().variables, h = params.hidden;
  const double root = std::sqrt(static_cast<double>(h)), first = 1 / (d * root), head = 1 / root;
  for (int j = 0; j < d; ++j) {
    const std::span<float> child = learner.child(j);
    std::size_t at = 0;
    const auto fill = [&](Random& random, Index count, double bound) {
      for (Index k = 0; k < count; ++k) child[at++] = static_cast<float>(random.uniform(-bound, bound));
    };
    Random weights(key.split(kWeights).split(static_cast<std::uint64_t>(j)));
    fill(weights, learner.pairs().parents(j) * h, params.corrections.random_weights ? first : 0);
    Random rest(key.split(kNetworks).split(static_cast<std::uint64_t>(j)));
    fill(rest, h, first);  // b
    fill(rest, h, head);   // m
    fill(rest, h, params.variance == Variance::network ? head : 0);
    fill(rest, 1, head);  // m0
    fill(rest, 1, params.variance == Variance::network ? head : 0);
  }
  learner.begin();
}

}  // namespace

const Description& StageParams::description() {
  using P = StageParams;
  static const Description list =
      Describe<P>()
          .field("learning_rate", &P::learning_rate, "of Adam", above(0))
          .field("batch", &P::batch, "rows a step", at_least(1))
          .field("epochs", &P::max_epochs, "times through the rows, at most", at_least(0))
          .field("l1", &P::l1, "factor of the sum of absolute first-layer weights", at_least(0))
          .field("l2", &P::l2, "factor of the sum of squares of all parameters", at_least(0))
          .done();
  return list;
}

const Description& Corrections::description() {
  using P = Corrections;
  static const Description list =
      Describe<P>()
          .field("random_weights", &P::random_weights, "first-layer weights start random and not at 0")
          .field("keep_best", &P::keep_best, "the best validated networks also when the epochs run out")
          .field("forget_best", &P::forget_best, "what was best before the penalty rose again is no longer")
          .done();
  return list;
}

const Description& DifferentiableParams::description() {
  using P = DifferentiableParams;
  static const Description list =
      Describe<P>()
          .part(&P::first, StageParams::description(), "first_")
          .part(&P::second, StageParams::description())
          .field("hidden", &P::hidden, "units of each network", at_least(1))
          .field("variance", &P::variance, "of the noise: from the network, 1 (unit), or one parameter a variable")
          .field("standardise", &P::standardise, "columns to mean 0 and variance 1 first")
          .field("mask_threshold", &P::mask_threshold, "pairs above it after the first stage are the second's")
          .field("threshold", &P::threshold, "edges of the graph have at least this weight")
          .field("gamma_increment", &P::gamma_increment, "of the acyclicity penalty's factor, each epoch", at_least(0))
          .field("power_iterations", &P::power_iterations, "for the acyclicity penalty, each step", at_least(0))
          .field("freeze", &P::freeze, "the factor stays once the weights above freeze_threshold have no cycle")
          .field("freeze_threshold", &P::freeze_threshold, "of the weights whose cycles keep the factor rising")
          .field("check_every", &P::check_every, "epochs from one validation to the next", at_least(1))
          .field("stage_patience", &P::patience, "validations without improvement that end a stage", at_least(1))
          .part(&P::corrections, Corrections::description())
          .done();
  return list;
}

double scheduled_gamma(int index, double increment, int epochs) {
  return epochs < 2 ? 0 : increment * epochs * index / (epochs - 1);
}

// ---- Training -------------------------------------------------------------------------------------------------------

struct DifferentiableTraining::Work {
  Work(const Matrix& data, const std::optional<ByteMatrix>& mask, const DifferentiableParams& parameters, Team* with)
      : params(parameters), team(with) {
    validate(params);
    columns = columns_of(data, params.standardise);
    split();
    if (mask) {
      check(mask->rows() == data.cols() && mask->cols() == data.cols(),
            "[differentiable] a mask of {} by {} for a table of {} columns", mask->rows(), mask->cols(), data.cols());
      enter(2, *mask);
    } else {
      enter(1, ByteMatrix::Ones(data.cols(), data.cols()));
    }
  }

  const StageParams& stage_params() const { return state.stage == 1 ? params.first : params.second; }
  bool second() const { return state.stage == 2; }
  Key stage_key() const { return Key{params.seed}.split(second() ? kSecond : kFirst); }
  bool stage_over() const { return state.stopped || state.epoch >= stage_params().max_epochs; }
  bool finished() const { return second() && stage_over(); }
  int variables() const { return static_cast<int>(columns.cols()); }

  // The same rows validate in both stages.
  void split() {
    const int rows = static_cast<int>(columns.rows());
    const auto held = static_cast<std::ptrdiff_t>(std::floor(kHeldOut * rows));
    const std::vector<int> order = Random(Key{params.seed}.split(kSplit)).permutation(rows);
    const std::vector<int> held_rows(order.begin(), order.begin() + held);
    training_rows.assign(order.begin() + held, order.end());
    validation.emplace(variables(), held, params.first.batch);
    for (int j = 0; j < variables(); ++j) validation->fill(j, columns.col(j).data(), held_rows);
  }

  void build(int stage, const ByteMatrix& mask) {
    state = {};
    state.stage = stage;
    state.hidden = params.hidden;
    state.best_loss = kInfinity;
    state.last_loss = kNaN;
    learner.emplace(AllowedPairs(mask), params.hidden, params.variance,
                    second() ? std::optional(params.power_iterations) : std::nullopt, team);
    batches.emplace(variables(), static_cast<Index>(training_rows.size()), stage_params().batch);
  }

  // Begins a stage; a first one without epochs is over at once.
  void enter(int stage, const ByteMatrix& mask) {
    build(stage, mask);
    initialise(*learner, params, stage_key());
    if (!second() && stage_over()) leave_first();
  }

  void leave_first() {
    const StageReport report = this->report();
    keep_best();
    const Matrix weights = learner->pairs().spread(learner->weights());
    ByteMatrix mask = ByteMatrix::Zero(weights.rows(), weights.cols());
    for (Index j = 0; j < weights.cols(); ++j) {
      for (Index i = 0; i < weights.rows(); ++i) mask(i, j) = i != j && weights(i, j) > params.mask_threshold;
    }
    enter(2, mask);
    state.first = report;
  }

  bool keeps_best() const { return !state.best.empty() && (state.stopped || params.corrections.keep_best); }
  void keep_best() {
    if (keeps_best()) learner->restore_parameters(state.best);
  }
  StageReport report() const {
    return {state.epoch, state.stopped, keeps_best() ? state.best_loss : state.last_loss, state.gamma};
  }

  void take_epoch() {
    const StageParams& stage = stage_params();
    if (second()) {
      state.gamma = state.frozen_gamma ? *state.frozen_gamma
                                       : scheduled_gamma(state.gamma_index++, params.gamma_increment, stage.max_epochs);
    }
    shuffle();
    const Learner::Penalties penalties{stage.l1, stage.l2, state.gamma};
    for (int b = 0; b < batches->count(); ++b) learner->step((*batches)[b], penalties, stage.learning_rate);
    if (state.epoch % params.check_every == 0) check_training();
    ++state.epoch;
    if (!second() && stage_over()) leave_first();
  }

  void shuffle() {
    const Key key = stage_key().split(kOrder).split(static_cast<std::uint64_t>(state.epoch));
    std::vector<int> order = Random(key).permutation(static_cast<int>(training_rows.size()));
    for (int& row : order) row = training_rows[static_cast<std::size_t>(row)];
    const auto fill = [&](int j) { batches->fill(j, columns.col(j).data(), order); };
    if (team != nullptr) {
      team->run(variables(), fill);
    } else {
      for (int j = 0; j < variables(); ++j) fill(j);
    }
  }

  bool acyclic(double threshold) const { return acyclic_above(learner->pairs(), learner->weights(), threshold); }

  void check_training() {
    const bool freezes = second() && params.freeze;
    if (freezes && !state.frozen_gamma) {
      // Not at the first check: there the weights have hardly left 0.
      if (state.epoch > 1 && acyclic(params.freeze_threshold)) state.frozen_gamma = state.gamma;
    } else if (freezes && !acyclic(params.threshold)) {
      state.frozen_gamma.reset();
      state.waited = 0;
      if (params.corrections.forget_best) {
        state.best.clear();
        state.best_loss = kInfinity;
      }
    }
    state.last_loss = 0;
    for (int b = 0; b < validation->count(); ++b) state.last_loss += learner->loss((*validation)[b]);
    if (freezes && !state.frozen_gamma) return;
    if (state.last_loss < state.best_loss) {
      state.best_loss = state.last_loss;
      state.best = learner->kept();
      state.waited = 0;
    } else {
      ++state.waited;
    }
    state.stopped = state.waited >= params.patience;
  }

  DifferentiableParams params;
  Team* team;
  Eigen::MatrixXf columns;
  std::vector<int> training_rows;
  std::optional<Batches> validation, batches;
  std::optional<Learner> learner;
  State state;  // without what the learner has
};

DifferentiableTraining::DifferentiableTraining(const Matrix& data, const DifferentiableParams& params, Team* team)
    : work_(std::make_unique<Work>(data, std::nullopt, params, team)) {}
DifferentiableTraining::DifferentiableTraining(const Matrix& data, const ByteMatrix& mask,
                                               const DifferentiableParams& params, Team* team)
    : work_(std::make_unique<Work>(data, mask, params, team)) {}
DifferentiableTraining::~DifferentiableTraining() = default;
DifferentiableTraining::DifferentiableTraining(DifferentiableTraining&&) noexcept = default;
DifferentiableTraining& DifferentiableTraining::operator=(DifferentiableTraining&&) noexcept = default;

void DifferentiableTraining::advance(int epochs) {
  for (int i = 0; i < epochs && !finished(); ++i) work_->take_epoch();
}

bool DifferentiableTraining::finished() const { return work_->finished(); }
int DifferentiableTraining::stage() const { return work_->state.stage; }
int DifferentiableTraining::epochs() const { return work_->state.epoch; }

DifferentiableResult DifferentiableTraining::result() const {
  const Work& w = *work_;
  // Of the best networks the weights alone are wanted.
  Learner kept(w.learner->pairs(), w.params.hidden, w.params.variance, std::nullopt);
  kept.restore_parameters(w.keeps_best() ? w.state.best : w.learner->kept());
  std::vector<double> weights = kept.weights();
  const auto absurd = std::count_if(weights.begin(), weights.end(), [](double a) { return std::isnan(a); });
  std::replace_if(
      weights.begin(), weights.end(), [](double a) { return std::isnan(a); }, 0.0);
  DifferentiableResult result;
  result.weights = kept.pairs().spread(weights);
  result.mask = kept.pairs().mask();
  result.dag = to_dag(result.weights, w.params.threshold);
  (w.second() ? result.second : result.first) = w.report();
  if (w.second()) result.first = w.state.first;
  if (absurd > 0) {
    result.warnings.push_back(fmt::format(
        "{} of {} weights are not numbers and count as 0. Are there values beyond 1e15? Standardise the columns.",
        absurd, weights.size()));
  }
  const auto above = (result.weights.array() >= w.params.threshold).count();
  const auto edges = (result.dag.array() != 0).count();
  if (above > edges) {
    result.warnings.push_back(fmt::format("{} of {} weights at or above {} would close a cycle and are no edges.",
                                          above - edges, above, w.params.threshold));
  }
  return result;
}

DifferentiableTraining::State DifferentiableTraining::state() const {
  State state = work_->state;
  Learner::State learner = work_->learner->state();
  state.mask = work_->learner->pairs().mask();
  state.parameters = std::move(learner.parameters);
  state.mean = std::move(learner.mean);
  state.square = std::move(learner.square);
  state.steps = learner.steps;
  state.left = std::move(learner.penalty.left);
  state.right = std::move(learner.penalty.right);
  return state;
}

void DifferentiableTraining::restore(const State& state) {
  Work& w = *work_;
  check(state.stage == 1 || state.stage == 2, "[differentiable] the state to continue from is of no stage");
  check(state.mask.rows() == w.variables() && state.mask.cols() == w.variables(),
        "[differentiable] the state to continue from is of {} variables, not {}", state.mask.rows(), w.variables());
  check(state.hidden == w.params.hidden && (state.best.empty() || state.best.size() == state.parameters.size()),
        "[differentiable] the state to continue from is of networks of another shape");
  w.build(state.stage, state.mask);
  w.learner->restore(
      {state.parameters, state.mean, state.square, state.steps, SpectralPenalty::State{state.left, state.right}});
  w.state = state;
  for (auto* part : {&w.state.parameters, &w.state.mean, &w.state.square}) *part = {};  // the learner has them
  w.state.left = w.state.right = {};
}

// ---- From the first epoch to the last -------------------------------------------------------------------------------

namespace {

// What the state of training depends on, the mask of fansite_dcd apart: all settings, each of which this must name.
StateIdentity identity(const Matrix& data, std::string_view method, const DifferentiableParams& params) {
  return identity_of(
      data, fmt::format("{}: {}, seed {}", method, DifferentiableParams::description().identity(&params), params.seed),
      params.values_hash);
}

constexpr std::string_view kBothStages = "sdcd", kSecondStage = "fansite-dcd";

void resume(DifferentiableTraining& training, const ByteMatrix* mask, const TrainingFile& file) {
  const auto state = file.load();
  if (!state) return;
  check(mask == nullptr || state->mask == AllowedPairs(*mask).mask(),
        "[dag] {} is the checkpoint of a search among other links; delete it or choose another path", file.path());
  try {
    training.restore(*state);
  } catch (const UsageError&) {
    file.damaged("its networks are of another shape");
  }
}

// Without a mask, both stages.
DifferentiableResult run(const Matrix& data, const ByteMatrix* mask, const DifferentiableParams& params,
                         Progress& progress) {
  Team team;
  DifferentiableTraining training = mask != nullptr ? DifferentiableTraining(data, *mask, params, &team)
                                                    : DifferentiableTraining(data, params, &team);
  std::optional<TrainingFile> file;
  if (!params.checkpoint.empty()) {
    file.emplace(params.checkpoint, identity(data, mask != nullptr ? kSecondStage : kBothStages, params));
    resume(training, mask, *file);
  }
  int stage = 0;
  while (!training.finished()) {
    if (progress.interrupted()) {
      if (file) file->write(training.state());
      throw Interrupted("interrupted");
    }
    if (training.stage() != stage) {
      stage = training.stage();
      progress.begin(stage == 1 ? "pairs" : "graph", stage == 1 ? params.first.max_epochs : params.second.max_epochs);
      progress.already_done(training.epochs());
    }
    training.advance(1);
    progress.advance(1);
    if (file && file->due()) file->write(training.state());
  }
  return training.result();
}

}  // namespace

void check_checkpoint(const Matrix& data, const DifferentiableParams& params) {
  if (params.checkpoint.empty()) return;
  TrainingFile(params.checkpoint, identity(data, kSecondStage, params)).load();
}

DifferentiableResult sdcd(const Matrix& data, const DifferentiableParams& params, Progress& progress) {
  return run(data, nullptr, params, progress);
}

DifferentiableResult fansite_dcd(const Matrix& data, const ByteMatrix& mask, const DifferentiableParams& params,
                                 Progress& progress) {
  return run(data, &mask, params, progress);
}

}  // namespace fansite::causal
