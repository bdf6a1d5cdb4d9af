// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/learner.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/detail/learner_kernel.h"

namespace fansite::flow {
namespace {

using Floats = hwy::AlignedFreeUniquePtr<float[]>;

Floats zeros(Index count) {
  Floats floats = hwy::AllocateAligned<float>(static_cast<std::size_t>(count));
  if (!floats) throw std::bad_alloc();
  std::fill_n(floats.get(), count, 0.0f);
  return floats;
}

// Pieces are a function of the shape alone, so that sums over them do not depend on the threads.
constexpr int kVariablesPerPiece = 4;
constexpr int kRanksPerPiece = 4;
constexpr int kRowsPerPiece = 16;
constexpr Index kParametersPerPiece = 1 << 13;

int pieces_of(Index count, Index size) { return static_cast<int>((count + size - 1) / size); }

}  // namespace

struct Learner::Arrays {
  Arrays(const Weights& from, Team* with)
      : layout(from.layout),
        team(with),
        weights(zeros(layout.size)),
        moment1(zeros(layout.size)),
        moment2(zeros(layout.size)),
        gradient(zeros(layout.size)),
        mixing(zeros(Index{kernel::mixing_outputs(layout)} * kernel::mixing_stride(layout))),
        pieces(static_cast<std::size_t>(pieces_of(layout.shape.variables, kVariablesPerPiece))),
        rank_squares(static_cast<std::size_t>(pieces_of(layout.shape.ranks, kRanksPerPiece))) {
    std::copy(from.values.begin(), from.values.end(), weights.get());
  }

  template <class Body>
  void for_each(int count, Body&& body) {
    if (team != nullptr) {
      team->run(count, body);
    } else {
      for (int i = 0; i < count; ++i) body(i);
    }
  }

  void reserve(int terms) {
    if (terms <= capacity) return;
    capacity = terms + terms / 4;
    // Room for a whole vector behind the last term's hidden nodes.
    hidden = zeros(capacity * layout.hidden_stride + Layout::kChunk);
    outputs = zeros(capacity * layout.output_stride);
    output_gradient = zeros(capacity * layout.output_stride);
  }

  double run(const Batch& batch, bool with_gradient, const std::function<void()>& aside);
  void add_mixing_gradient();

  Layout layout;
  Team* team;
  Floats weights, moment1, moment2, gradient;
  Floats mixing;  // V transposed
  Floats hidden, outputs, output_gradient;
  Index capacity = 0;
  std::vector<kernel::OutputPiece> pieces;
  std::vector<double> rank_squares;
  bool gradient_is_zero = true;
  double norm = 0;
  std::int64_t steps = 0;
};

double Learner::Arrays::run(const Batch& batch, bool with_gradient, const std::function<void()>& aside) {
  const Shape& shape = layout.shape;
  const Index mixing_stride = kernel::mixing_stride(layout);
  reserve(batch.terms());
  for (int q = 0; q < 3 * shape.sigmoids; ++q) {
    for (int l = 0; l < shape.outputs; ++l) {
      mixing[static_cast<std::size_t>(l * mixing_stride + q)] =
          weights[static_cast<std::size_t>(layout.v + q * layout.output_stride + l)];
    }
  }
  if (with_gradient && !gradient_is_zero) std::fill_n(gradient.get(), layout.size, 0.0f);
  if (with_gradient) gradient_is_zero = false;
  kernel::Step step;
  step.layout = &layout;
  step.batch = &batch;
  step.weights = weights.get();
  step.mixing = mixing.get();
  step.gradient = with_gradient ? gradient.get() : nullptr;
  step.hidden = hidden.get();
  step.outputs = outputs.get();
  step.output_gradient = output_gradient.get();
  step.row_weight = 1.0f / static_cast<float>(batch.rows());

  for_each(pieces_of(batch.rows(), kRowsPerPiece), [&](int i) {
    kernel::hidden_forward(step, i * kRowsPerPiece, std::min((i + 1) * kRowsPerPiece, batch.rows()));
  });
  const int last = static_cast<int>(pieces.size()) - 1;
  const int asides = aside ? 1 : 0;
  for_each(last + 1 + asides, [&](int i) {
    if (i == 0 && asides != 0) return aside();
    i -= asides;
    const int first = (last - i) * kVariablesPerPiece;  // the late variables have the most work: first
    kernel::outputs(step, first, std::min(first + kVariablesPerPiece, shape.variables),
                    pieces[static_cast<std::size_t>(last - i)]);
  });
  double loss = batch.log_scale / batch.rows();
  for (const auto& piece : pieces) loss += piece.loss;
  if (!with_gradient) return loss;

  for_each(static_cast<int>(rank_squares.size()), [&](int i) {
    rank_squares[static_cast<std::size_t>(i)] =
        kernel::hidden_backward(step, i * kRanksPerPiece, std::min((i + 1) * kRanksPerPiece, shape.ranks));
  });
  add_mixing_gradient();
  double square = 0;
  for (const auto& piece : pieces) square += piece.square;
  for (const double s : rank_squares) square += s;
  for (Index i = layout.v; i < layout.size; ++i) {
    const double g = static_cast<double>(gradient[static_cast<std::size_t>(i)]);
    square += g * g;
  }
  norm = std::sqrt(square);
  return loss;
}

void Learner::Arrays::add_mixing_gradient() {
  const Shape& shape = layout.shape;
  const Index stride = kernel::mixing_stride(layout);
  std::vector<float>& total = pieces.front().mixing_gradient;
  for (std::size_t p = 1; p < pieces.size(); ++p) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += pieces[p].mixing_gradient[i];
  }
  for (int q = 0; q < 3 * shape.sigmoids; ++q) {
    for (int l = 0; l < shape.outputs; ++l) {
      gradient[static_cast<std::size_t>(layout.v + q * layout.output_stride + l)] =
          total[static_cast<std::size_t>(l * stride + q)];
    }
    gradient[static_cast<std::size_t>(layout.c + q)] =
        total[static_cast<std::size_t>(kernel::mixing_outputs(layout) * stride + q)];
  }
}

AdamRates adam_rates(double learning_rate, std::int64_t step) {
  const double t = static_cast<double>(step);
  return {static_cast<float>(learning_rate / (1 - std::pow(static_cast<double>(kernel::kBeta1), t))),
          static_cast<float>(1 / (1 - std::pow(static_cast<double>(kernel::kBeta2), t)))};
}

Learner::Learner(const Weights& weights, Team* team) : arrays_(std::make_unique<Arrays>(weights, team)) {}
Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;

const Layout& Learner::layout() const { return arrays_->layout; }
double Learner::loss(const Batch& batch) { return arrays_->run(batch, false, {}); }
double Learner::gradient(const Batch& batch, const std::function<void()>& aside) {
  return arrays_->run(batch, true, aside);
}
double Learner::gradient_norm() const { return arrays_->norm; }

void Learner::adam(double learning_rate, double clip) {
  Arrays& a = *arrays_;
  ++a.steps;
  kernel::AdamStep step;
  step.weights = a.weights.get();
  step.gradient = a.gradient.get();
  step.mean = a.moment1.get();
  step.square = a.moment2.get();
  step.gradient_scale = static_cast<float>(std::min(1.0, clip / (a.norm + 1e-6)));
  const AdamRates rates = adam_rates(learning_rate, a.steps);
  step.rate = rates.rate;
  step.square_scale = rates.square_scale;
  a.for_each(pieces_of(a.layout.size, kParametersPerPiece), [&](int i) {
    const Index first = i * kParametersPerPiece;
    kernel::adam(step, first, std::min(first + kParametersPerPiece, a.layout.size));
  });
  a.gradient_is_zero = true;
}

Learner::State Learner::state() const {
  const Arrays& a = *arrays_;
  const auto copy = [&](const Floats& floats) {
    return std::vector<float>(floats.get(), floats.get() + a.layout.size);
  };
  return {copy(a.weights), copy(a.moment1), copy(a.moment2), a.steps};
}

std::int64_t Learner::steps() const { return arrays_->steps; }

void Learner::restore(const State& state) {
  Arrays& a = *arrays_;
  std::copy(state.weights.begin(), state.weights.end(), a.weights.get());
  std::copy(state.mean.begin(), state.mean.end(), a.moment1.get());
  std::copy(state.square.begin(), state.square.end(), a.moment2.get());
  a.steps = state.steps;
}

Weights Learner::weights() const { return {arrays_->layout, state().weights}; }

Parameters Learner::gradient_parameters() const { return unpack(arrays_->layout, arrays_->gradient.get()); }

}  // namespace fansite::flow
