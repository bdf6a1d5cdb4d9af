// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fansite/base/adam.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/detail/row_draws.h"

namespace fansite::neural {
namespace {

// Streams of a training's key.
enum Stream : std::uint64_t { kInitial, kSplit, kHeldOut, kOrder, kSubsets, kLoss };

constexpr std::int64_t kMostUndone = 20;              // in a row, before training is given up
constexpr std::size_t kHeldOutSubsets = 1000;         // that the held-out loss averages over, at least
constexpr std::size_t kSlice = std::size_t{1} << 16;  // parameters that are moved together
constexpr double kLeastRateScale = 0.05;

}  // namespace

const Description& NetworkTrainParams::description() {
  using P = NetworkTrainParams;
  static const Description list =
      Describe<P>()
          .field("steps", &P::steps, "training steps of each network, at most", at_least(0))
          .field("batch", &P::batch, "rows a step; 0: 64, or 256 from 100 variables on", at_least(0))
          .field("subset_size", &P::max_size, "of the subsets drawn, at most; 0: the paper's for the width",
                 at_least(0))
          .field("learning_rate", &P::learning_rate, "of the first step", above(0))
          .field("decay", &P::decay, "of the learning rate: constant, linear, cosine or plateau (halved when stuck)")
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
            if (p.decay == Decay::plateau && p.held_out <= 0) {
              throw ParameterError("decay", "a plateau needs rows held out to judge by; set held_out above 0");
            }
          })
          .done();
  return list;
}

NetworkTrainParams complete(const NetworkTrainParams& params, int variables, Draws draws) {
  NetworkTrainParams p = params;
  if (p.batch == 0) p.batch = variables < 100 ? 64 : 256;
  const bool conditions = draws == Draws::conditions;
  const int most = p.subsets == flow::SubsetKind::non_leaf && !conditions ? variables : variables - 1;
  if (p.max_size == 0)
    p.max_size = conditions ? most : std::min(most, flow::paper_max_size(variables) + (most == variables));
  check(p.max_size <= most, "[subset_size] {} of {} variables; use {} at most", p.max_size, variables, most);
  return p;
}

struct NetworkTraining::Work {
  Work(const flow::RowCells& cells, std::span<const int> all_rows, const SubsetNetwork<float>& net,
       const NetworkTrainParams& p, Key k)
      : data(cells),
        network(net),
        params(complete(p, net.variables(), net.draws())),
        key(k),
        sampler(net.variables(), params.subsets,
                std::max(params.max_size, params.subsets == flow::SubsetKind::leaf ? 0 : 1)) {
    fansite::validate(params);
    check(data.cols() == net.variables(), "[train] a table of {} columns for a network of {}", data.cols(),
          net.variables());
    for (const int row : all_rows) {
      check(row >= 0 && row < data.rows(), "[train] row {} to train on; the table has 0 to {}", row, data.rows() - 1);
      if (!data.score->row(row).array().isNaN().all()) rows.push_back(row);
    }
    check_data(!rows.empty(), "[train] the rows to train on have no cells");
    const std::vector<int> held = flow::hold_out(rows, params.held_out, key.split(kSplit));
    state.parameters.resize(net.size());
    net.start(key.split(kInitial), state.parameters);
    const AdamRates rates{.largest = params.amsgrad};
    for (std::size_t first = 0; first < net.size(); first += kSlice) {
      adam.emplace_back(std::min(kSlice, net.size() - first), rates);
    }
    gradient.resize(net.size());
    if (params.polyak > 0) state.average = state.parameters;
    state.best_loss = std::numeric_limits<double>::infinity();
    draw_held_out(held);
  }

  std::span<float> slice(std::vector<float>& values, std::size_t s) const {
    return std::span(values).subspan(s * kSlice, std::min(kSlice, values.size() - s * kSlice));
  }

  void draw_subset(Random& random, const flow::CellRow& row, flow::Subset& subset) {
    if (network.draws() == Draws::densities) {
      sampler.draw(random, row, subset);
      return;
    }
    const int size = static_cast<int>(random.below(static_cast<std::uint32_t>(params.max_size) + 1));
    subset = random.subset(network.variables(), size);
    std::erase_if(subset, [&](int j) { return std::isnan(row.score[j]); });
  }

  void clear(SubsetBatch<float>& batch, Index count) const {
    const Index d = network.variables();
    for (Rows<float>* table : {&batch.values, &batch.mask, &batch.present}) table->setZero(count, d);
  }

  void put(SubsetBatch<float>& batch, Index at, int row, Random& random, double noise) {
    const flow::CellRow cells = data.row(row);
    draw_subset(random, cells, subset);
    for (const int j : subset) batch.mask(at, j) = 1;
    const double keep = 1 / std::sqrt(1 + noise * noise);
    for (Index j = 0; j < data.cols(); ++j) {
      if (std::isnan(cells.score[j])) continue;
      batch.present(at, j) = 1;
      batch.values(at, j) = cells.score[j];
      if (noise > 0) {
        batch.values(at, j) =
            static_cast<float>(keep * (static_cast<double>(cells.score[j]) + noise * random.normal()));
      }
    }
  }

  // Fixed subsets of the rows held out, to evaluate again and again.
  void draw_held_out(const std::vector<int>& held) {
    if (held.empty()) return;
    constexpr std::size_t kAtOnce = 256;
    Random random(key.split(kHeldOut));
    const std::size_t count = held.size() * ((kHeldOutSubsets + held.size() - 1) / held.size());
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      SubsetBatch<float>& batch = held_out.emplace_back();
      const std::size_t some = std::min(kAtOnce, count - first);
      clear(batch, static_cast<Index>(some));
      batch.key = key.split(kHeldOut).split(first);
      batch.progress = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < some; ++i) {
        put(batch, static_cast<Index>(i), held[(first + i) % held.size()], random, 0);
      }
    }
  }

  // The rows of step t are places t·B .. t·B+B−1 of an endless list: the rows in a random order, again and again.
  void fill(std::int64_t step) {
    const auto n = static_cast<std::int64_t>(rows.size());
    std::int64_t epoch = step * params.batch / n, place = step * params.batch % n;
    Random random(key.split(kSubsets).split(static_cast<std::uint64_t>(step)));
    clear(batch, params.batch);
    batch.key = key.split(kLoss).split(static_cast<std::uint64_t>(step));
    batch.progress = static_cast<double>(step);
    for (int i = 0; i < params.batch; ++i, ++place) {
      if (place == n) {
        ++epoch;
        place = 0;
      }
      if (epoch != order_epoch) {
        Random shuffle(key.split(kOrder).split(static_cast<std::uint64_t>(epoch)));
        order = shuffle.permutation(static_cast<int>(n));
        if (data.weights != nullptr) order = flow::by_weight(order, rows, *data.weights, shuffle);
        order_epoch = epoch;
      }
      put(batch, i, rows[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])], random, params.noise);
    }
  }

  double learning_rate() const {
    const double done = static_cast<double>(state.step) / static_cast<double>(params.steps);
    switch (params.decay) {
      case Decay::linear:
        return params.learning_rate * (1 - done);
      case Decay::cosine:
        return params.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
      case Decay::plateau:
        return params.learning_rate * state.rate_scale;
      case Decay::constant:
        break;
    }
    return params.learning_rate;
  }

  bool finished() const { return state.stopped || state.step >= params.steps; }

  void take_step() {
    if (state.step == 0 && state.curve.empty() && !held_out.empty()) evaluate();
    fill(state.step);
    const double loss = network.loss(state.parameters, batch, gradient);
    double squares = 0;
    std::vector<double> norms(adam.size());
    parallel_slices(
        [&](std::size_t s) { norms[s] = clip_norm(slice(gradient, s), std::numeric_limits<double>::infinity()); });
    for (const double norm : norms) squares += norm * norm;
    const double norm = std::sqrt(squares);
    if (std::isfinite(loss) && std::isfinite(norm)) {
      move(norm);
      state.loss_sum += loss;
      ++state.loss_count;
      state.undone_in_a_row = 0;
    } else {
      ++state.undone;
      ++state.undone_in_a_row;
      check_data(
          state.undone_in_a_row <= kMostUndone,
          "[train] the loss is not finite, {} times in a row at step {}. Are there values beyond 1e18? Use --transform "
          "rank or lower the learning rate.",
          state.undone_in_a_row, state.step);
    }
    ++state.step;
    if (state.step % params.evaluate_every == 0 || state.step == params.steps) evaluate();
  }

  void parallel_slices(const std::function<void(std::size_t)>& body) const {
    if (adam.size() == 1) {
      body(0);
    } else {
      parallel_for(static_cast<std::ptrdiff_t>(adam.size()),
                   [&](std::ptrdiff_t s) { body(static_cast<std::size_t>(s)); });
    }
  }

  void move(double norm) {
    const double rate = learning_rate();
    const float scale = norm > params.clip ? static_cast<float>(params.clip / norm) : 1.0f;
    const auto old = static_cast<float>(params.polyak);
    parallel_slices([&](std::size_t s) {
      const std::span<float> g = slice(gradient, s), p = slice(state.parameters, s);
      if (scale != 1.0f) {
        for (float& value : g) value *= scale;
      }
      adam[s].step(p, g, rate);
      if (params.polyak > 0) {
        const std::span<float> average = slice(state.average, s);
        for (std::size_t i = 0; i < p.size(); ++i) average[i] = old * average[i] + (1 - old) * p[i];
      }
    });
  }

  const std::vector<float>& judged() const { return params.polyak > 0 ? state.average : state.parameters; }

  void evaluate() {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    flow::CurvePoint point{state.step, kUnknown, kUnknown};
    if (state.loss_count > 0) point.training = state.loss_sum / static_cast<double>(state.loss_count);
    state.loss_sum = 0;
    state.loss_count = 0;
    if (held_out.empty()) {
      state.kept_step = state.step;
      state.curve.push_back(point);
      return;
    }
    double sum = 0, count = 0;
    for (const SubsetBatch<float>& held : held_out) {
      sum += network.loss(judged(), held, {}) * static_cast<double>(held.rows());
      count += static_cast<double>(held.rows());
    }
    point.held_out = sum / count;
    state.curve.push_back(point);
    if (point.held_out < state.best_loss) {
      state.best_loss = point.held_out;
      state.best = judged();
      state.kept_step = state.step;
      state.waited = state.level = 0;
      return;
    }
    ++state.waited;
    if (++state.level > params.plateau && params.decay == Decay::plateau) {
      state.rate_scale = std::max(state.rate_scale / 2, kLeastRateScale);
      state.level = -params.plateau / 2;  // some evaluations to settle in
    }
    if (params.patience > 0 && state.waited >= params.patience) state.stopped = true;
  }

  flow::RowCells data;
  const SubsetNetwork<float>& network;
  NetworkTrainParams params;
  Key key;
  flow::SubsetSampler sampler;
  std::vector<int> rows;  // to train on
  std::vector<SubsetBatch<float>> held_out;
  std::vector<int> order;  // of the rows, in the present epoch
  std::int64_t order_epoch = -1;
  SubsetBatch<float> batch;
  flow::Subset subset;
  std::vector<Adam<float>> adam;  // of each slice of the parameters
  std::vector<float> gradient;
  UnsplitBlas unsplit;
  State state;
};

NetworkTraining::NetworkTraining(const flow::RowCells& data, std::span<const int> rows,
                                 const SubsetNetwork<float>& network, const NetworkTrainParams& params, Key key)
    : work_(std::make_unique<Work>(data, rows, network, params, key)) {}
NetworkTraining::~NetworkTraining() = default;
NetworkTraining::NetworkTraining(NetworkTraining&&) noexcept = default;

void NetworkTraining::advance(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps && !work_->finished(); ++i) work_->take_step();
}
bool NetworkTraining::finished() const { return work_->finished(); }
std::int64_t NetworkTraining::steps() const { return work_->state.step; }
const std::vector<float>& NetworkTraining::parameters() const { return work_->judged(); }

NetworkTraining::State NetworkTraining::state() const {
  State state = work_->state;
  for (const Adam<float>& slice : work_->adam) {
    const Adam<float>::State& own = slice.state();
    state.mean.insert(state.mean.end(), own.mean.begin(), own.mean.end());
    state.square.insert(state.square.end(), own.square.begin(), own.square.end());
    state.largest.insert(state.largest.end(), own.largest.begin(), own.largest.end());
    state.adam_steps = own.steps;
  }
  return state;
}

void NetworkTraining::restore(State state) {
  Work& work = *work_;
  const std::size_t size = work.network.size();
  const auto fits = [&](const std::vector<float>& values, bool wanted) { return values.size() == (wanted ? size : 0); };
  check(fits(state.parameters, true) && fits(state.mean, true) && fits(state.square, true) &&
            fits(state.largest, work.params.amsgrad) && fits(state.average, work.params.polyak > 0) &&
            (state.best.empty() || fits(state.best, true)) && state.step <= work.params.steps,
        "[train] the state to continue from is of another network");
  for (std::size_t s = 0; s < work.adam.size(); ++s) {
    const auto part = [&](std::vector<float>& values) {
      if (values.empty()) return std::vector<float>();
      const std::span<float> own = work.slice(values, s);
      return std::vector<float>(own.begin(), own.end());
    };
    work.adam[s].restore({part(state.mean), part(state.square), part(state.largest), state.adam_steps});
  }
  state.mean.clear();
  state.square.clear();
  state.largest.clear();
  work.state = std::move(state);
}

TrainedNetwork NetworkTraining::result() const {
  const State& state = work_->state;
  TrainedNetwork trained{work_->judged(), state.curve, state.step, state.step, state.undone};
  if (!state.best.empty()) {
    trained.parameters = state.best;
    trained.kept_step = state.kept_step;
  }
  return trained;
}

}  // namespace fansite::neural
