// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/detail/learner.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/dcd/detail/kernel.h"

namespace fansite::causal {
namespace {

constexpr int kPieces = 32;  // enough for the threads to end together, few enough to hand out

hwy::AlignedFreeUniquePtr<float[]> zeros(Index count) {
  auto floats = hwy::AllocateAligned<float>(static_cast<std::size_t>(count));
  if (!floats) throw std::bad_alloc();
  std::fill_n(floats.get(), count, 0.0f);
  return floats;
}

// Of the thread that asks, kept for its next child.
float* scratch(Index count) {
  thread_local hwy::AlignedFreeUniquePtr<float[]> floats;
  thread_local Index size = 0;
  if (count > size) {
    floats = zeros(count);
    size = count;
  }
  return floats.get();
}

}  // namespace

// ---- Batches --------------------------------------------------------------------------------------------------------

// A cache line between variables: at a distance of a power of two they would compete for the same places of the cache.
Batches::Batches(int variables, Index rows, Index batch)
    : variables_(variables),
      rows_(rows),
      batch_(std::min(batch, std::max<Index>(rows, 1))),
      stride_((batch_ + kernel::kRowStep - 1) / kernel::kRowStep * kernel::kRowStep + kernel::kChunk),
      values_(zeros(count() * variables_ * stride_)) {}

Batch Batches::operator[](int i) const {
  return {values_.get() + i * variables_ * stride_, stride_, std::min(batch_, rows_ - i * batch_)};
}

void Batches::fill(int j, const float* column, std::span<const int> order) {
  for (int i = 0; i < count(); ++i) {
    float* to = values_.get() + (i * variables_ + j) * stride_;
    const Index first = i * batch_, rows = std::min(batch_, rows_ - first);
    const int* from = order.data() + first;
    for (Index k = 0; k < rows; ++k) to[k] = column[from[k]];
  }
}

// ---- Learner --------------------------------------------------------------------------------------------------------

Learner::Learner(AllowedPairs pairs, int hidden, Variance variance, std::optional<int> power_iterations, Team* team)
    : pairs_(std::move(pairs)), hidden_(hidden), variance_(variance), team_(team) {
  if (power_iterations) penalty_.emplace(pairs_, *power_iterations);
  const auto cost = [&](int j) { return pairs_.parents(j) + 4; };  // sigmoids and heads weigh as much as four parents
  Index total = 0, done = 0;
  for (int j = 0; j < pairs_.variables; ++j) {
    block_.push_back(size_);
    size_ += kernel::child_size(pairs_.parents(j), hidden_);
    total += cost(j);
  }
  block_.push_back(size_);
  for (int j = 0; j < pairs_.variables; ++j) {
    if (pieces_.empty() || done * kPieces >= total * static_cast<Index>(pieces_.size())) pieces_.push_back({j, j});
    pieces_.back().last = j + 1;
    done += cost(j);
  }
  parameters_ = zeros(size_);
  mean_ = zeros(size_);
  square_ = zeros(size_);
  gradient_ = zeros(size_);
  weights_.resize(pairs_.parent.size());
  pull_.resize(pairs_.parent.size());
  losses_.resize(static_cast<std::size_t>(pairs_.variables));
  begin();
}

template <class Body>
void Learner::for_each(int count, Body&& body) {
  if (team_ != nullptr) {
    team_->run(count, body);
  } else {
    for (int i = 0; i < count; ++i) body(i);
  }
}

double Learner::forward(const Batch& batch, bool with_gradient) {
  const int asides = with_gradient && penalty_ ? 2 : 0;
  if (asides > 0) penalty_->take(weights_);
  for_each(static_cast<int>(pieces_.size()) + asides, [&](int i) {
    if (i < asides) return i == 0 ? penalty_->iterate_left() : penalty_->iterate_right();
    const Piece& piece = pieces_[static_cast<std::size_t>(i - asides)];
    kernel::Child child;
    child.hidden = hidden_;
    child.variance = variance_;
    child.values = batch.values;
    child.stride = batch.stride;
    child.rows = batch.rows;
    child.scratch = scratch(kernel::scratch_size(hidden_));
    for (int j = piece.first; j < piece.last; ++j) {
      const Index block = block_[static_cast<std::size_t>(j)];
      child.variable = j;
      child.parents = pairs_.parent.data() + pairs_.start[static_cast<std::size_t>(j)];
      child.parent_count = pairs_.parents(j);
      child.parameters = parameters_.get() + block;
      child.gradient = with_gradient ? gradient_.get() + block : nullptr;
      losses_[static_cast<std::size_t>(j)] = kernel::likelihood(child);
    }
  });
  if (asides > 0) penalty_->finish();
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

double Learner::loss(const Batch& batch) { return forward(batch, false); }

void Learner::add_penalties(int j, const Penalties& penalties) {
  kernel::PenaltyStep step;
  step.parent_count = pairs_.parents(j);
  step.hidden = hidden_;
  step.parameters = parameters_.get() + block_[static_cast<std::size_t>(j)];
  step.gradient = gradient_.get() + block_[static_cast<std::size_t>(j)];
  step.l1 = static_cast<float>(penalties.l1);
  step.l2 = static_cast<float>(penalties.l2);
  const Index first = pairs_.start[static_cast<std::size_t>(j)];
  if (penalty_ && penalties.gamma != 0) {
    for (Index e = first; e < first + step.parent_count; ++e) {
      const auto pair = static_cast<std::size_t>(e);
      const double a = weights_[pair];
      // A weight that is not a number has no direction to be pulled along.
      pull_[pair] = a > 0 && std::isfinite(a)
                        ? static_cast<float>(penalties.gamma * penalty_->slope(pairs_.parent[pair], j) / a)
                        : 0.0f;
    }
    step.pull = pull_.data() + first;
  }
  kernel::add_penalties(step);
}

double Learner::step(const Batch& batch, const Penalties& penalties, double learning_rate) {
  const double loss = forward(batch, true);
  ++steps_;
  const double t = static_cast<double>(steps_);
  kernel::AdamStep adam;
  adam.rate = static_cast<float>(learning_rate / (1 - std::pow(static_cast<double>(kernel::kBeta1), t)));
  adam.square_scale = static_cast<float>(1 / (1 - std::pow(static_cast<double>(kernel::kBeta2), t)));
  for_each(static_cast<int>(pieces_.size()), [&](int i) {
    const Piece& piece = pieces_[static_cast<std::size_t>(i)];
    for (int j = piece.first; j < piece.last; ++j) {
      add_penalties(j, penalties);
      const Index block = block_[static_cast<std::size_t>(j)];
      kernel::AdamStep own = adam;
      own.count = block_[static_cast<std::size_t>(j) + 1] - block;
      own.parameters = parameters_.get() + block;
      own.gradient = gradient_.get() + block;
      own.mean = mean_.get() + block;
      own.square = square_.get() + block;
      kernel::adam(own);
      measure(j);
    }
  });
  return loss;
}

NetworkParameters Learner::gradient(const Batch& batch, const Penalties& penalties) {
  forward(batch, true);
  for (int j = 0; j < pairs_.variables; ++j) add_penalties(j, penalties);
  return unpack(gradient_.get());
}

void Learner::measure(int j) {
  kernel::norms(parameters_.get() + block_[static_cast<std::size_t>(j)], pairs_.parents(j), hidden_,
                weights_.data() + pairs_.start[static_cast<std::size_t>(j)]);
}

// ---- Parameters in and out ------------------------------------------------------------------------------------------

std::span<float> Learner::child(int j) {
  return {parameters_.get() + block_[static_cast<std::size_t>(j)],
          static_cast<std::size_t>((pairs_.parents(j) + 3) * hidden_ + 2)};
}

void Learner::begin() {
  for (int j = 0; j < pairs_.variables; ++j) measure(j);
  std::fill_n(mean_.get(), size_, 0.0f);
  std::fill_n(square_.get(), size_, 0.0f);
  steps_ = 0;
  if (penalty_) {
    const double even = 1 / std::sqrt(static_cast<double>(pairs_.variables));
    const std::vector<double> start(static_cast<std::size_t>(pairs_.variables), even);
    penalty_->restore({start, start});
    penalty_->update(weights_);
  }
}

void Learner::set(const NetworkParameters& p) {
  for (int j = 0; j < pairs_.variables; ++j) {
    auto to = child(j).begin();
    const auto put = [&](double value) { *to++ = static_cast<float>(value); };
    for (Index e = pairs_.start[static_cast<std::size_t>(j)]; e < pairs_.start[static_cast<std::size_t>(j) + 1]; ++e) {
      for (const double w : p.w[static_cast<std::size_t>(j)].row(pairs_.parent[static_cast<std::size_t>(e)])) put(w);
    }
    for (const Matrix* part : {&p.b, &p.m, &p.s}) {
      for (const double value : part->row(j)) put(value);
    }
    put(p.m0[j]);
    put(p.s0[j]);
  }
  begin();
}

NetworkParameters Learner::unpack(const float* values) const {
  NetworkParameters p = zero_networks(pairs_.variables, hidden_);
  for (int j = 0; j < pairs_.variables; ++j) {
    const float* from = values + block_[static_cast<std::size_t>(j)];
    const auto take = [&] { return static_cast<double>(*from++); };
    for (Index e = pairs_.start[static_cast<std::size_t>(j)]; e < pairs_.start[static_cast<std::size_t>(j) + 1]; ++e) {
      for (double& w : p.w[static_cast<std::size_t>(j)].row(pairs_.parent[static_cast<std::size_t>(e)])) w = take();
    }
    for (Matrix* part : {&p.b, &p.m, &p.s}) {
      for (double& value : part->row(j)) value = take();
    }
    p.m0[j] = take();
    p.s0[j] = take();
  }
  return p;
}

Learner::State Learner::state() const {
  const auto copy = [&](const Floats& floats) { return std::vector<float>(floats.get(), floats.get() + size_); };
  State state{copy(parameters_), copy(mean_), copy(square_), steps_, {}};
  if (penalty_) state.penalty = penalty_->state();
  return state;
}

void Learner::restore(const State& state) {
  const auto size = static_cast<std::size_t>(size_);
  check(state.mean.size() == size && state.square.size() == size,
        "[differentiable] the state to continue from is of networks of another shape");
  restore_parameters(state.parameters);
  std::copy(state.mean.begin(), state.mean.end(), mean_.get());
  std::copy(state.square.begin(), state.square.end(), square_.get());
  steps_ = state.steps;
  if (penalty_) penalty_->restore(state.penalty);
}

void Learner::restore_parameters(const std::vector<float>& parameters) {
  check(parameters.size() == static_cast<std::size_t>(size_),
        "[differentiable] the state to continue from is of networks of another shape");
  std::copy(parameters.begin(), parameters.end(), parameters_.get());
  for (int j = 0; j < pairs_.variables; ++j) measure(j);
}

}  // namespace fansite::causal
