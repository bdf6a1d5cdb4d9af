// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/detail/dagma_linear.h"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/causal/neural/acyclicity.h"

namespace fansite::causal {
namespace {

constexpr AdamRates kRates{0.99, 0.999, 1e-8, false};
constexpr std::array kDomains = {1.0, 0.9, 0.8, 0.7, 0.6};  // s, round by round, as published; then the last
constexpr int kCheckEvery = 1000;                           // iterations
constexpr double kNoObjective = 1e16;                       // before the first check, as published
constexpr double kLeastRate = 1e-16;

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// C (I − W).
Matrix left_over(const Matrix& covariance, const Matrix& weights) {
  Matrix rest = -weights;
  rest.diagonal().array() += 1;
  Matrix product(rest.rows(), rest.cols());
  const int d = static_cast<int>(rest.rows());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1.0, covariance.data(), d, rest.data(), d, 0.0,
              product.data(), d);
  return product;
}

}  // namespace

LinearDagma::LinearDagma(const Matrix& values, const DagmaParams& params)
    : params_(params), adam_(static_cast<std::size_t>(values.cols() * values.cols()), kRates) {
  const Matrix centred = scaled(values, Columns::centred);
  covariance_ = centred.transpose() * centred / static_cast<double>(values.rows());
  check_data(covariance_.allFinite(), "[dagma] products of values overflow; standardise the columns");
  weights_ = before_ = start_ = Matrix::Zero(values.cols(), values.cols());
  mu_ = params_.first_mu;
  begin_round();
}

double LinearDagma::score(const Matrix& weights) const {
  Matrix rest = -weights;
  rest.diagonal().array() += 1;
  return 0.5 * rest.cwiseProduct(left_over(covariance_, weights)).sum();
}

void LinearDagma::begin_attempt() {
  iteration_ = 0;
  rate_ = round_rate_;
  objective_ = kNoObjective;
  adam_ = Adam<double>(static_cast<std::size_t>(weights_.size()), kRates);
}

void LinearDagma::begin_round() {
  start_ = before_ = weights_;
  s_ = kDomains[std::min<std::size_t>(static_cast<std::size_t>(round_), kDomains.size() - 1)];
  round_rate_ = params_.learning_rate;
  begin_attempt();
}

void LinearDagma::end_round() {
  ++round_;
  mu_ *= params_.mu_factor;
  if (!finished()) begin_round();
}

void LinearDagma::take_iteration() {
  std::optional<Acyclicity> h;
  while (!(h = log_det_acyclicity(weights_.cwiseProduct(weights_), s_))) {
    check_data(weights_.allFinite(), "[dagma] weights are no longer numbers; standardise the columns");
    if (iteration_ == 0 || s_ <= 0.9) {  // the domain is too narrow for this round: again, wider and more carefully
      weights_ = before_ = start_;
      round_rate_ *= 0.5;
      s_ += 0.1;
      ++restarts_;
      return begin_attempt();
    }
    rate_ *= 0.5;
    if (rate_ <= kLeastRate) {
      weights_ = before_;
      return end_round();
    }
    weights_ = before_ + 0.5 * (weights_ - before_);  // the same step, half as long
  }
  const Matrix fit = left_over(covariance_, weights_);
  const Matrix gradient =
      -mu_ * fit + mu_ * params_.l1 * weights_.unaryExpr(&sign) + 2 * weights_.cwiseProduct(h->gradient);
  before_ = weights_;
  const auto size = static_cast<std::size_t>(weights_.size());
  adam_.step(std::span(weights_.data(), size), std::span(gradient.data(), size), rate_);
  ++iteration_;
  ++taken_;
  if (iteration_ >= round_iterations() || converged()) end_round();
}

bool LinearDagma::converged() {
  if (iteration_ % kCheckEvery != 0) return false;
  const auto h = log_det_acyclicity(weights_.cwiseProduct(weights_), s_);
  if (!h) return false;  // the next iteration will see to it
  const double objective = mu_ * (score(weights_) + penalty(weights_)) + h->value;
  check_data(std::isfinite(objective), "[dagma] the objective overflows; standardise the columns");
  const bool same = std::abs((objective_ - objective) / objective_) <= params_.tolerance;
  objective_ = objective;
  return same;
}

void LinearDagma::advance(Progress&) {
  const SingleThreadedBlas one_thread;
  for (int i = 0; i < 20 && !finished(); ++i) take_iteration();
}

long LinearDagma::steps() const { return static_cast<long>(round_) * params_.iterations + iteration_; }
long LinearDagma::schedule() const {
  return static_cast<long>(params_.rounds - 1) * params_.iterations + params_.last_iterations;
}

LearningState LinearDagma::state() const {
  const auto flat = [](const Matrix& m) { return std::vector<double>(m.data(), m.data() + m.size()); };
  const Adam<double>::State& adam = adam_.state();
  return {{double(round_), double(iteration_), double(restarts_), double(taken_), double(adam.steps), mu_, s_, rate_,
           round_rate_, objective_},
          {flat(weights_), flat(before_), flat(start_), adam.mean, adam.square}};
}

void LinearDagma::restore(const LearningState& state) {
  constexpr std::int64_t kMany = std::int64_t{1} << 52;
  StateReader reader(state);
  const auto size = static_cast<std::size_t>(weights_.size());
  round_ = static_cast<int>(reader.count(params_.rounds));
  iteration_ = static_cast<int>(reader.count(std::max(params_.iterations, params_.last_iterations)));
  restarts_ = static_cast<int>(reader.count(std::numeric_limits<int>::max()));
  taken_ = reader.count(kMany);
  Adam<double>::State adam;
  adam.steps = reader.count(kMany);
  for (double* number : {&mu_, &s_, &rate_, &round_rate_, &objective_}) *number = reader.number();
  for (Matrix* m : {&weights_, &before_, &start_}) *m = Matrix::Map(reader.vector(size).data(), m->rows(), m->cols());
  adam.mean = reader.vector(size);
  adam.square = reader.vector(size);
  reader.end();
  adam_.restore(std::move(adam));
}

DagmaReport LinearDagma::report() {
  const SingleThreadedBlas one_thread;
  const auto h = log_det_acyclicity(weights_.cwiseProduct(weights_), 1);
  return {.score = score(weights_),
          .penalty = penalty(weights_),
          .acyclicity = h ? h->value : std::numeric_limits<double>::infinity(),
          .mu = finished() ? mu_ / params_.mu_factor : mu_,
          .rounds = round_,
          .iterations = taken_,
          .restarts = restarts_};
}

}  // namespace fansite::causal
