// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/notears.h"

#include <cblas.h>
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/minimise.h"
#include "fansite/causal/neural/acyclicity.h"

namespace fansite::causal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFalls = 0.25;  // what must be left of h, at most, for ρ to stay
constexpr double kGrows = 10;    // ρ, else

// ½ tr (I−W)ᵀ C (I−W) and its gradient −C (I−W).
double fit(const Matrix& covariance, const Matrix& weights, Matrix& gradient) {
  Matrix rest = -weights;
  rest.diagonal().array() += 1;
  gradient.resize(rest.rows(), rest.cols());
  const int d = static_cast<int>(rest.rows());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, d, d, d, -1.0, covariance.data(), d, rest.data(), d, 0.0,
              gradient.data(), d);
  return -0.5 * rest.cwiseProduct(gradient).sum();
}

}  // namespace

Notears::Notears(Matrix covariance, const NotearsParams& params)
    : params_(params), covariance_(std::move(covariance)), h_(kInfinity) {
  validate(params);
  check_data(covariance_.allFinite(), "[notears] products of values overflow; standardise the columns");
  const Index d = covariance_.rows();
  parts_.assign(static_cast<std::size_t>(2 * d * (d - 1)), 0.0);
}

Matrix Notears::matrix_of(std::span<const double> parts) const {
  const Index d = covariance_.rows();
  const std::size_t half = parts.size() / 2;
  Matrix weights = Matrix::Zero(d, d);
  std::size_t k = 0;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      if (i == j) continue;
      weights(i, j) = parts[k] - parts[half + k];
      ++k;
    }
  }
  return weights;
}

double Notears::lagrangian(std::span<const double> parts, std::span<double> gradient, double rho, double alpha) const {
  const Matrix weights = matrix_of(parts);
  Matrix smooth;
  double value = fit(covariance_, weights, smooth);
  const Acyclicity h = exponential_acyclicity(weights.cwiseProduct(weights));
  value += (0.5 * rho * h.value + alpha) * h.value;
  smooth += 2 * (rho * h.value + alpha) * weights.cwiseProduct(h.gradient);
  const std::size_t half = parts.size() / 2;
  std::size_t k = 0;
  for (Index j = 0; j < weights.cols(); ++j) {
    for (Index i = 0; i < weights.rows(); ++i) {
      if (i == j) continue;
      gradient[k] = smooth(i, j) + params_.l1;
      gradient[half + k] = -smooth(i, j) + params_.l1;
      value += params_.l1 * (parts[k] + parts[half + k]);
      ++k;
    }
  }
  return value;
}

// Every minimisation of a round begins where the round did, with a larger ρ than the one before; its answer is the
// last.
void Notears::advance(Progress& progress) {
  const SingleThreadedBlas one_thread;
  if (rho_ < params_.max_rho) {
    const auto f = [&](std::span<const double> parts, std::span<double> gradient) {
      return lagrangian(parts, gradient, rho_, alpha_);
    };
    Minimum minimum = minimise_nonnegative(f, parts_, {}, progress);
    check_data(std::isfinite(minimum.value), "[notears] the loss overflows; standardise the columns");
    if (progress.out_of_time() && !minimum.converged) {
      unfinished_ = std::move(minimum.x);
      return;
    }
    iterations_ += minimum.iterations;
    ++minimised_;
    candidate_ = std::move(minimum.x);
    const Matrix weights = matrix_of(candidate_);
    if (exponential_acyclicity(weights.cwiseProduct(weights)).value > kFalls * h_) {
      rho_ *= kGrows;
      if (rho_ < params_.max_rho) return;
    }
  }
  if (!candidate_.empty()) parts_ = std::move(candidate_);
  candidate_.clear();
  h_ = acyclicity();
  alpha_ += rho_ * h_;
  ++round_;
  finished_ = h_ <= params_.h_tolerance || rho_ >= params_.max_rho || round_ >= params_.rounds;
}

// Rounds whose h falls at once, and every tenfold growth of ρ.
long Notears::schedule() const {
  return std::min<long>(params_.rounds, 20) + static_cast<long>(std::ceil(std::log10(params_.max_rho)));
}

LearningState Notears::state() const {
  return {{rho_, alpha_, h_, double(round_), double(minimised_), double(iterations_), double(finished_)},
          {parts_, candidate_}};
}

void Notears::restore(const LearningState& state) {
  constexpr std::int64_t kMany = std::int64_t{1} << 52;
  StateReader reader(state);
  for (double* number : {&rho_, &alpha_, &h_}) *number = reader.number();
  round_ = static_cast<int>(reader.count(params_.rounds));
  minimised_ = reader.count(kMany);
  iterations_ = reader.count(kMany);
  finished_ = reader.count(1) != 0;
  parts_ = reader.vector(parts_.size());
  const bool none = state.vectors.size() > 1 && state.vectors[1].empty();
  candidate_ = reader.vector(none ? 0 : parts_.size());
  reader.end();
}

Matrix Notears::weights() const {
  return matrix_of(!unfinished_.empty() ? unfinished_ : !candidate_.empty() ? candidate_ : parts_);
}

double Notears::acyclicity() const {
  const Matrix weights = this->weights();
  return exponential_acyclicity(weights.cwiseProduct(weights)).value;
}

double Notears::score() const {
  Matrix gradient;
  return fit(covariance_, weights(), gradient);
}

double Notears::penalty() const { return params_.l1 * weights().lpNorm<1>(); }

// ---- The row --------------------------------------------------------------------------------------------------------

namespace {

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<NotearsParams>();
  Deadline deadline = answer_deadline(context);
  const LearningTable table =
      learning_table(context, params.standardise ? Columns::standardised : Columns::centred, "notears");
  if (table.variables() < 2) return answer_without_pairs(table);
  Notears learning(table.values.transpose() * table.values / static_cast<double>(table.rows()), params);
  const bool finished =
      learn(learning, context, "notears: " + NotearsParams::description().identity(&params), "weights", deadline);
  GraphAnswer answer = weighted_answer(table, learning.weights(), params.threshold, "notears");
  answer.how = fmt::format(
      "linear relations; directions as published, which follow the columns' scales more than causes; h = {:.2g}",
      learning.acyclicity());
  answer.details = {{"score", learning.score()},
                    {"penalty", learning.penalty()},
                    {"acyclicity", learning.acyclicity()},
                    {"rho", learning.rho()},
                    {"iterations_taken", std::int64_t{learning.iterations()}}};
  if (!finished) {
    answer.unfinished = fmt::format(
        "time ran out with h = {:.2g}: the weights may still have changed, and edges that would "
        "close a cycle were left out",
        learning.acyclicity());
  }
  return answer;
}

}  // namespace

const Description& NotearsParams::description() {
  using P = NotearsParams;
  static const Description list =
      Describe<P>()
          .field("l1", &P::l1, "factor of the sum of absolute weights", at_least(0))
          .field("rounds", &P::rounds, "of the Lagrange multiplier, at most", at_least(1))
          .field("h_tolerance", &P::h_tolerance, "of the constraint, at which there is no cycle", above(0))
          .field("max_rho", &P::max_rho, "at which the constraint's factor no longer grows", above(1))
          .field("threshold", &P::threshold, "edges of the graph have at least this weight")
          .field("standardise", &P::standardise, "columns to mean 0 and variance 1 first")
          .done();
  return list;
}

GraphMethod notears_method() {
  GraphMethod row;
  row.name = "notears";
  row.summary =
      "linear weights of all pairs under a matrix exponential that forbids cycles, as published; for comparison";
  row.citation = "Zheng, Aragam, Ravikumar and Xing, NeurIPS 2018";
  row.can = learning_capabilities();
  row.parameters = NotearsParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
