// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/detail/row_draws.h"

namespace fansite::flow {
namespace {

// Streams of a training's key.
enum Stream : std::uint64_t { kInitial, kSplit, kHeldOut, kOrder, kSubsets };

constexpr std::int64_t kMostUndone = 20;  // in a row, before training is given up
constexpr int kHeldOutSubsets = 2000;     // subsets that the held-out likelihood averages over, at least

// Where training starts. The paper's values are tiny, and grow only because the marginals do not fit at first; over a
// base they do, and the gradient of each of W1, W2 and V is a product of the other two: nothing would move for
// thousands of steps. So W1 and V start large, as random features and a random readout, and W2 small, with no bias: the
// flow starts as the identity nonetheless. Sigmoids that start alike also move alike, and make one mode; their shifts
// are spread. With a standard deviation of s that is z = u + O(s²), and changes a normal density by O(s⁴).
Parameters start(const Shape& shape, const TrainParams& params, Key key) {
  constexpr double kW2 = 0.01, kV = 0.3, kSpread = 0.4;
  Parameters parameters = initial_parameters(shape, key);
  if (params.base == BaseKind::none) return parameters;
  // Half of max_size values of unit variance come together in a node.
  parameters.w1 *= 1 / (kInitialSize * std::sqrt(std::max(1.0, 0.5 * params.max_size)));
  parameters.w2 *= kW2 / kInitialSize;
  parameters.v *= kV / kInitialSize;
  parameters.b2.setZero();
  const int k = shape.sigmoids;
  const double step = k > 1 ? kSpread * std::sqrt(12.0 / (k * k - 1)) : 0;  // of k evenly spaced shifts
  for (int i = 0; i < k; ++i) parameters.c[k + i] = step * (i - 0.5 * (k - 1));
  return parameters;
}

}  // namespace

TrainParams complete(const TrainParams& params, const Shape& shape) {
  TrainParams p = params;
  if (p.batch == 0) p.batch = shape.variables < 100 ? 64 : 256;
  if (p.max_size == 0) {
    p.max_size = std::min(paper_max_size(shape.variables), shape.ranks);
    if (p.subsets == SubsetKind::non_leaf) p.max_size = std::min(p.max_size + 1, shape.variables);
  }
  return p;
}

TrainParams paper_training(int variables, Index rows) {
  TrainParams params;
  params.batch = variables < 100 ? 64 : 256;
  params.steps = 5000 * ((rows + params.batch - 1) / params.batch);
  params.base = BaseKind::none;
  params.schedule = Schedule::constant;
  params.learning_rate = 5e-4;
  params.held_out = 0;
  return params;
}

const Description& TrainParams::description() {
  using P = TrainParams;
  static const Description list =
      Describe<P>()
          .field("base", &P::base, "gaussian (the flow learns what is left over) or none (as the paper)")
          .field("steps", &P::steps, "training steps of each network, at most", at_least(0))
          .field("batch", &P::batch, "rows a step; 0: 64, or 256 from 100 variables on", at_least(0))
          .field("subset_size", &P::max_size, "of the subsets drawn, at most; 0: the paper's for the width",
                 at_least(0))
          .field("subsets", &P::subsets, "which subsets are drawn: leaf (as the paper) or non_leaf")
          .field("learning_rate", &P::learning_rate, "of the first step", above(0))
          .field("schedule", &P::schedule, "of the learning rate: cosine or constant")
          .field("clip", &P::clip, "of the gradient's norm; inf: none",
                 {.least = 0, .least_itself = false, .infinite = true})
          .field("noise", &P::noise,
                 "added to the numbers of a row each time it is drawn, on the scale of normal scores", at_least(0))
          .field("held_out", &P::held_out, "share of a network's rows that choose its best step",
                 {.least = 0, .most = 1, .most_itself = false})
          .field("patience", &P::patience, "stop after so many evaluations without improvement; 0: take all steps",
                 at_least(0))
          .field("evaluate_every", &P::evaluate_every, "steps from one evaluation to the next", at_least(1))
          .rule([](const P& p) {
            if (p.patience > 0 && p.held_out <= 0) {
              throw ParameterError("patience", "it needs rows held out to judge by; set held_out above 0");
            }
          })
          .done();
  return list;
}

void validate(const TrainParams& params, const Shape& shape) {
  const TrainParams p = complete(params, shape);
  fansite::validate(p);
  check(p.batch > 0, "[batch] {} rows a step; use 1 or more", p.batch);
  const int most = shape.ranks + (p.subsets == SubsetKind::non_leaf ? 1 : 0);
  check(p.max_size <= most, "[train] subsets of up to {} variables; a flow with {} ranks allows {}", p.max_size,
        shape.ranks, most);
  SubsetSampler(shape.variables, p.subsets, p.max_size);  // checks the rest
}
namespace {

SubsetSampler sampler_of(const RowCells& data, const Shape& shape, const TrainParams& params) {
  if (data.variables.empty()) return {shape.variables, params.subsets, params.max_size};
  return {data.variables, shape.variables, params.subsets, params.max_size, shape.ranks + 1};
}

}  // namespace

struct Training::Work {
  Work(const RowCells& data, std::span<const int> all_rows, const Shape& shape, const TrainParams& params, Key key,
       Team* team)
      : data(data),
        params(complete(params, shape)),
        key(key),
        team(team),
        learner(pack(start(shape, this->params, key.split(kInitial))), team),
        sampler(sampler_of(data, shape, this->params)),
        batch(shape, &base),
        next(shape, &base) {
    validate(params, shape);
    check(data.cols() == shape.variables, "[train] a table of {} columns for a flow of {} variables", data.cols(),
          shape.variables);
    check(!all_rows.empty(), "[train] no rows to train on");
    for (const int row : all_rows)
      check(row >= 0 && row < data.rows(), "[train] row {} to train on; the table has 0 to {}", row, data.rows() - 1);
    for (const int row : all_rows) {
      if (!data.score->row(row).array().isNaN().all()) rows.push_back(row);
    }
    check_data(!rows.empty(), "[train] the rows to train on have no cells");
    const std::vector<int> held = hold_out(rows, params.held_out, key.split(kSplit));
    if (params.base == BaseKind::gaussian) {
      base = GaussianBase(*data.score, rows);
      base.set_reliability(data.reliability);
    }
    draw_held_out(held, shape);
    state.best_loss = std::numeric_limits<double>::infinity();
    state.learner = state.backup = learner.state();
  }

  // Fixed subsets of the rows held out, to evaluate again and again.
  void draw_held_out(const std::vector<int>& held, const Shape& shape) {
    if (held.empty()) return;
    Random random(key.split(kHeldOut));
    const std::size_t passes = (kHeldOutSubsets + held.size() - 1) / held.size();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      for (const int row : held) {
        if (held_out.empty() || held_out.back().rows() == params.batch) held_out.emplace_back(shape, &base);
        sampler.draw(random, data.row(row), subset);
        held_out.back().add(subset, data.row(row));
      }
    }
    for (Batch& b : held_out) b.finish();
  }

  // The rows of step t are places t·B .. t·B+B−1 of an endless list: the rows in a random order, again and again.
  template <class Visit>
  void for_each_row(std::int64_t step, Visit&& visit) {
    const auto n = static_cast<std::int64_t>(rows.size());
    std::int64_t epoch = step * params.batch / n, place = step * params.batch % n;
    for (int i = 0; i < params.batch; ++i, ++place) {
      if (place == n) {
        ++epoch;
        place = 0;
      }
      if (epoch != order_epoch) {
        Random shuffle(key.split(kOrder).split(static_cast<std::uint64_t>(epoch)));
        order = shuffle.permutation(static_cast<int>(n));
        if (data.weights != nullptr) order = by_weight(order, rows, *data.weights, shuffle);
        order_epoch = epoch;
      }
      visit(rows[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])]);
    }
  }

  void fill(Batch& to, std::int64_t step) {
    Random random(key.split(kSubsets).split(static_cast<std::uint64_t>(step)));
    to.clear();
    for_each_row(step, [&](int row) {
      sampler.draw(random, data.row(row), subset);
      to.add(subset, params.noise > 0 ? with_noise(data.row(row), random) : data.row(row));
    });
    to.finish();
    filled_step = step;
  }

  // The subset's numbers with noise, their variance as before; intervals stay as they are.
  CellRow with_noise(const CellRow& cells, Random& random) {
    noisy.assign(cells.score, cells.score + data.cols());
    const double keep = 1 / std::sqrt(1 + params.noise * params.noise);
    for (const int j : subset) {
      if (cells.low != nullptr && cells.low[j] < cells.high[j]) continue;
      const double moved = static_cast<double>(cells.score[j]) + params.noise * random.normal();
      noisy[static_cast<std::size_t>(j)] = static_cast<float>(keep * moved);
    }
    return {noisy.data(), cells.low, cells.high};
  }

  double learning_rate(std::int64_t step) const {
    if (params.schedule == Schedule::constant) return params.learning_rate;
    const double done = static_cast<double>(step) / static_cast<double>(params.steps);
    return params.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
  }

  bool finished() const { return state.stopped || state.step >= params.steps; }

  void evaluate_start() {
    if (state.step == 0 && state.curve.empty() && !held_out.empty()) evaluate();  // the start may be hard to beat
  }

  void take_step() {
    evaluate_start();
    if (filled_step != state.step) fill(next, state.step);
    std::swap(batch, next);
    const double loss = team != nullptr && team->size() > 1
                            ? learner.gradient(batch, [&] { fill(next, state.step + 1); })
                            : learner.gradient(batch);
    const bool fine = std::isfinite(loss) && std::isfinite(learner.gradient_norm());
    if (fine) {
      learner.adam(learning_rate(state.step), params.clip);
      adam_steps = learner.steps();
      count(loss);
    } else {
      ++state.undone;
      ++state.undone_in_a_row;
      check_data(
          state.undone_in_a_row <= kMostUndone,
          "[train] the loss is not finite, {} times in a row at step {}. Are there values beyond 1e18? Standardise "
          "the columns or lower the learning rate.",
          state.undone_in_a_row, state.step);
      // The weights have not moved. If they are at fault, and not a row, no step works: then back to those that did.
      if (state.undone_in_a_row >= kMostUndone / 2) {
        learner.restore(state.backup);
        adam_steps = learner.steps();
      }
    }
    ++state.step;
    if (is_evaluated(state.step)) evaluate();
  }

  bool is_evaluated(std::int64_t step) const { return step % params.evaluate_every == 0 || step == params.steps; }

  void count(double loss) {
    state.loss_sum += loss;
    ++state.loss_count;
    state.undone_in_a_row = 0;
  }

  DeviceSteps next_steps(std::int64_t most, std::int64_t later) {
    evaluate_start();
    DeviceSteps steps;
    steps.first = state.step + later;
    most = finished() ? 0 : std::min(most, params.steps - steps.first);
    for (std::int64_t i = 0; i < most; ++i) {
      const std::int64_t step = steps.first + i;
      for_each_row(step, [&](int row) { steps.rows.push_back(row); });
      const AdamRates rates = adam_rates(learning_rate(step), adam_steps + later + i + 1);
      steps.rate.push_back(rates.rate);
      steps.square_scale.push_back(rates.square_scale);
      if (!held_out.empty() && is_evaluated(step + 1)) break;
    }
    return steps;
  }

  void took(const DeviceProgress& progress, const Learner::State* with) {
    if (with != nullptr) learner.restore(*with);
    adam_steps += static_cast<std::int64_t>(progress.losses.size());
    for (const double loss : progress.losses) {
      count(loss);
      ++state.step;
      if (is_evaluated(state.step)) evaluate(with != nullptr);
    }
  }

  // Unless the learner has its present state there is nothing to fall back to.
  void evaluate(bool is_present = true) {
    CurvePoint point;
    point.step = state.step;
    point.training = state.loss_count > 0 ? state.loss_sum / static_cast<double>(state.loss_count)
                                          : std::numeric_limits<double>::quiet_NaN();
    state.loss_sum = 0;
    state.loss_count = 0;
    point.held_out = std::numeric_limits<double>::quiet_NaN();
    if (!held_out.empty()) {
      double sum = 0;
      std::int64_t count = 0;
      for (const Batch& b : held_out) {
        sum += learner.loss(b) * b.rows();
        count += b.rows();
      }
      point.held_out = sum / static_cast<double>(count);
      if (point.held_out < state.best_loss) {
        state.best_loss = point.held_out;
        state.best = learner.state().weights;
        state.kept_step = state.step;
        state.waited = 0;
      } else if (++state.waited >= params.patience && params.patience > 0) {
        state.stopped = true;
      }
    } else {
      state.kept_step = state.step;
    }
    if (is_present && state.undone_in_a_row == 0 && (held_out.empty() || std::isfinite(point.held_out)))
      state.backup = learner.state();
    state.curve.push_back(point);
  }

  RowCells data;
  TrainParams params;
  Key key;
  Team* team;
  GaussianBase base;
  Learner learner;
  SubsetSampler sampler;
  std::vector<int> rows;  // to train on
  std::vector<Batch> held_out;
  std::vector<int> order;  // of the rows, in the present epoch
  std::int64_t order_epoch = -1;
  Batch batch, next;
  std::int64_t filled_step = -1;
  std::int64_t adam_steps = 0;  // taken here or on a device
  Subset subset;
  std::vector<float> noisy;
  State state;
};

Training::Training(const RowCells& data, std::span<const int> rows, const Shape& shape, const TrainParams& params,
                   Key key, Team* team)
    : work_(std::make_unique<Work>(data, rows, shape, params, key, team)) {}
Training::~Training() = default;
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;

void Training::advance(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps && !work_->finished(); ++i) work_->take_step();
}

bool Training::finished() const { return work_->finished(); }
std::int64_t Training::steps() const { return work_->state.step; }

Training::State Training::state() const {
  State state = work_->state;
  state.learner = work_->learner.state();
  return state;
}

void Training::restore(State state) {
  const auto size = static_cast<std::size_t>(work_->learner.layout().size);
  for (const Learner::State* s : {&state.learner, &state.backup}) {
    check(s->weights.size() == size && s->mean.size() == size && s->square.size() == size,
          "[train] the state to continue from is of a flow of another shape");
  }
  check(state.best.empty() || state.best.size() == size,
        "[train] the state to continue from is of a flow of another shape");
  work_->learner.restore(state.learner);
  work_->adam_steps = state.learner.steps;
  work_->state = std::move(state);
  work_->filled_step = -1;
}

DeviceTraining Training::for_device() const {
  const Work& work = *work_;
  const Layout& layout = work.learner.layout();
  return {.layout = layout,
          .data = work.data,
          .subsets = work.params.subsets,
          .max_size = work.params.max_size,
          .most_columns = layout.shape.ranks + 1,
          .batch = work.params.batch,
          .noise = work.params.noise,
          .clip = work.params.clip,
          .subset_key = work.key.split(kSubsets),
          .base = &work.base};
}

DeviceSteps Training::next_steps(std::int64_t most, std::int64_t later) { return work_->next_steps(most, later); }
void Training::took(const DeviceProgress& progress, const Learner::State* learner) { work_->took(progress, learner); }
void Training::set_learner(const Learner::State& learner) { work_->learner.restore(learner); }
bool Training::holds_out() const { return !work_->held_out.empty(); }

Trained Training::result() const {
  const State& state = work_->state;
  Trained trained;
  trained.weights = work_->learner.weights();
  trained.kept_step = state.step;
  if (!state.best.empty()) {
    trained.weights.values = state.best;
    trained.kept_step = state.kept_step;
  }
  trained.base = work_->base;
  trained.curve = state.curve;
  trained.steps = state.step;
  trained.undone_steps = state.undone;
  return trained;
}

Trained train(const RowCells& data, std::span<const int> rows, const Shape& shape, const TrainParams& params, Key key,
              Progress& progress, Team* team) {
  Training training(data, rows, shape, params, key, team);
  run_to_end(training, progress);
  return training.result();
}

void run_to_end(Training& training, Progress& progress) {
  constexpr std::int64_t kReport = 50;
  while (!training.finished()) {
    throw_if_interrupted(progress);
    const std::int64_t before = training.steps();
    training.advance(kReport);
    progress.advance(static_cast<long>(training.steps() - before));
  }
}

}  // namespace fansite::flow
