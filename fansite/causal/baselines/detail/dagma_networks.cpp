// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/detail/dagma_networks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/random.h"

namespace fansite::causal {
namespace {

constexpr AdamRates kRates{0.99, 0.999, 1e-8, false};
constexpr double kDomain = 1;      // s
constexpr int kCheckEvery = 1000;  // iterations, and those after which the rate of a retry decays
constexpr double kDecay = 0.8;
constexpr double kNoObjective = 1e16;  // before the first check, as published
constexpr Index kManyParameters = 40000;
constexpr double kLeastRate = 1e-10;  // an attempt with less is not made

std::size_t at(Index place) { return static_cast<std::size_t>(place); }

}  // namespace

// W and b start at 0, v and c uniform within ±1/√h, as published.
NetworkDagma::NetworkDagma(const Matrix& values, const DagmaParams& params, std::uint64_t seed)
    : params_(params),
      shape_{values.cols(), params.hidden},
      rows_(values),
      error_(shape_, &team_),
      parameters_(at(shape_.size()), 0.0),
      gradient_(parameters_.size(), 0.0) {
  const double bound = 1 / std::sqrt(static_cast<double>(params.hidden));
  for (Index j = 0; j < shape_.variables; ++j) {
    Random random(Key{seed}.split(static_cast<std::uint64_t>(j)));
    for (Index k = 0; k <= params.hidden; ++k)
      parameters_[at(shape_.output_weights(j) + k)] = random.uniform(-bound, bound);
  }
  mu_ = params.first_mu;
  attempt_rate_ = params.learning_rate;
  begin_round();
}

// ---- The objective --------------------------------------------------------------------------------------------------

Matrix NetworkDagma::squares() const {
  Matrix a(shape_.variables, shape_.variables);
  for (Index j = 0; j < shape_.variables; ++j) {
    const double* w = parameters_.data() + shape_.weights(j);
    for (Index i = 0; i < shape_.variables; ++i, w += shape_.hidden) {
      double sum = 0;
      for (int k = 0; k < shape_.hidden; ++k) sum += w[k] * w[k];
      a(i, j) = sum;
    }
  }
  return a;
}

// With the gradient of half the squared error; h beside it.
NetworkDagma::Fit NetworkDagma::measure() {
  Fit fit;
  double sum = 0;
  half_error_ = error_(rows_, parameters_, gradient_, [&] {
    fit.h = log_det_acyclicity(squares(), kDomain);
    for (Index j = 0; j < shape_.variables; ++j) {
      const double* w = parameters_.data() + shape_.weights(j);
      double own = 0;
      for (Index k = 0; k < shape_.weights_size(); ++k) own += std::abs(w[k]);
      sum += own;
    }
  });
  fit.penalty = params_.l1 * sum;
  const auto d = static_cast<double>(shape_.variables), rows = static_cast<double>(rows_.rows());
  fit.score = 0.5 * d * std::log(2 * half_error_ / rows);
  return fit;
}

// dQ/dx̂ = d (x̂ − x) / Σ(x̂ − x)², so the gradient of half the squared error is scaled by d / (2 · half).
void NetworkDagma::add_penalties(Index j, const Fit& fit, double fit_scale) {
  const double l1 = mu_ * params_.l1, l2 = mu_ * params_.l2;
  double* g = gradient_.data() + shape_.weights(j);
  const double* p = parameters_.data() + shape_.weights(j);
  for (Index k = 0; k < shape_.child_size(); ++k) g[k] = fit_scale * g[k] + l2 * p[k];
  for (Index i = 0; i < shape_.variables; ++i) {
    const double pull = 2 * fit.h->gradient(i, j);
    for (int k = 0; k < shape_.hidden; ++k, ++g, ++p) *g += pull * *p + (*p > 0 ? l1 : *p < 0 ? -l1 : 0);
  }
}

void NetworkDagma::move(const Fit& fit) {
  const double fit_scale = mu_ * static_cast<double>(shape_.variables) / (2 * half_error_);
  const auto piece = [&](int j) {
    add_penalties(j, fit, fit_scale);
    const auto size = at(shape_.child_size());
    adam_[at(j)].step(std::span(parameters_.data() + shape_.weights(j), size),
                      std::span<const double>(gradient_.data() + shape_.weights(j), size), rate_);
  };
  // Of 30 variables that takes 50 µs, less than it can to have all threads meet once more.
  if (shape_.size() < kManyParameters) {
    for (int j = 0; j < static_cast<int>(shape_.variables); ++j) piece(j);
  } else {
    team_.run(static_cast<int>(shape_.variables), piece);
  }
}

double NetworkDagma::objective(std::span<const double> parameters, std::span<double> gradient) {
  const std::vector<double> kept = parameters_;
  std::copy(parameters.begin(), parameters.end(), parameters_.begin());
  const Fit fit = measure();
  check(fit.h.has_value(), "[dagma] the parameters are outside the domain");
  const double fit_scale = mu_ * static_cast<double>(shape_.variables) / (2 * half_error_);
  for (Index j = 0; j < shape_.variables; ++j) add_penalties(j, fit, fit_scale);
  if (!gradient.empty()) std::copy(gradient_.begin(), gradient_.end(), gradient.begin());
  parameters_ = kept;
  return mu_ * (fit.score + fit.penalty) + fit.h->value;
}

// ---- The path -------------------------------------------------------------------------------------------------------

void NetworkDagma::begin_attempt() {
  iteration_ = 0;
  rate_ = attempt_rate_;
  objective_ = kNoObjective;
  adam_.assign(at(shape_.variables), Adam<double>(at(shape_.child_size()), kRates));
}

void NetworkDagma::begin_round() {
  start_ = parameters_;
  decays_ = false;
  begin_attempt();
}

void NetworkDagma::end_round() {
  ++round_;
  mu_ *= params_.mu_factor;
  if (!finished()) begin_round();
}

// The weights left the domain: the round begins anew with half the rate, which then decays.
void NetworkDagma::fail() {
  parameters_ = start_;
  attempt_rate_ *= 0.5;
  decays_ = true;
  ++restarts_;
  if (attempt_rate_ < kLeastRate) return end_round();
  begin_attempt();
}

void NetworkDagma::take_iteration() {
  const Fit fit = measure();
  check_data(std::isfinite(fit.score),
             "[dagma] the score is {}; standardise the columns, or are some determined by others?",
             fit.score > 0 ? "too large for a number" : "the logarithm of no error at all");
  if (!fit.h) return fail();
  move(fit);
  const int iteration = iteration_++;
  ++taken_;
  const bool last = iteration_ >= round_iterations();
  if (decays_ && iteration_ % kCheckEvery == 0) rate_ *= kDecay;
  if (iteration % kCheckEvery == 0 || last) {
    const double objective = mu_ * (fit.score + fit.penalty) + fit.h->value;
    const bool same = std::abs((objective_ - objective) / objective_) <= params_.tolerance;
    objective_ = objective;
    if (same || last) end_round();
  }
}

void NetworkDagma::advance(Progress&) {
  const SingleThreadedBlas one_thread;
  // A thousandth of a second at 30 variables and 1000 rows; more where that takes no time at all.
  const Index work = rows_.rows() * shape_.size();
  const int count = static_cast<int>(std::clamp<Index>(50'000'000 / std::max<Index>(work, 1), 1, 100));
  for (int i = 0; i < count && !finished(); ++i) take_iteration();
}

long NetworkDagma::steps() const { return static_cast<long>(round_) * params_.iterations + iteration_; }
long NetworkDagma::schedule() const {
  return static_cast<long>(params_.rounds - 1) * params_.iterations + params_.last_iterations;
}

// ---- State and result -----------------------------------------------------------------------------------------------

LearningState NetworkDagma::state() const {
  LearningState state;
  state.numbers = {double(round_),
                   double(iteration_),
                   double(restarts_),
                   double(taken_),
                   double(adam_[0].state().steps),
                   double(decays_),
                   mu_,
                   rate_,
                   attempt_rate_,
                   objective_};
  std::vector<double> mean, square;
  for (const Adam<double>& adam : adam_) {
    mean.insert(mean.end(), adam.state().mean.begin(), adam.state().mean.end());
    square.insert(square.end(), adam.state().square.begin(), adam.state().square.end());
  }
  state.vectors = {parameters_, start_, std::move(mean), std::move(square)};
  return state;
}

void NetworkDagma::restore(const LearningState& state) {
  constexpr std::int64_t kMany = std::int64_t{1} << 52;
  StateReader reader(state);
  round_ = static_cast<int>(reader.count(params_.rounds));
  iteration_ = static_cast<int>(reader.count(std::max(params_.iterations, params_.last_iterations)));
  restarts_ = static_cast<int>(reader.count(std::numeric_limits<int>::max()));
  taken_ = reader.count(kMany);
  const std::int64_t adam_steps = reader.count(kMany);
  decays_ = reader.count(1) != 0;
  for (double* number : {&mu_, &rate_, &attempt_rate_, &objective_}) *number = reader.number();
  parameters_ = reader.vector(parameters_.size());
  start_ = reader.vector(parameters_.size());
  const std::vector<double>& mean = reader.vector(parameters_.size());
  const std::vector<double>& square = reader.vector(parameters_.size());
  reader.end();
  for (Index j = 0; j < shape_.variables; ++j) {
    const auto part = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + shape_.weights(j), all.begin() + shape_.weights(j + 1));
    };
    adam_[at(j)].restore({part(mean), part(square), {}, adam_steps});
  }
}

DagmaReport NetworkDagma::report() {
  const SingleThreadedBlas one_thread;
  const Fit fit = measure();
  return {.score = fit.score,
          .penalty = fit.penalty,
          .acyclicity = fit.h ? fit.h->value : std::numeric_limits<double>::infinity(),
          .mu = finished() ? mu_ / params_.mu_factor : mu_,
          .rounds = round_,
          .iterations = taken_,
          .restarts = restarts_};
}

}  // namespace fansite::causal
