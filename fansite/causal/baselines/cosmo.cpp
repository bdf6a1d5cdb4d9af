// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/cosmo.h"

#include <cblas.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "fansite/base/adam.h"
#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/special.h"
#include "fansite/causal/neural/detail/networks.h"

namespace fansite::causal {
namespace {

enum Stream : std::uint64_t { kPriorities, kWeights, kOrder };  // of the seed's key

std::size_t at(Index place) { return static_cast<std::size_t>(place); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double norm(std::span<const double> values) {
  return Vector::Map(values.data(), static_cast<Index>(values.size())).norm();
}

}  // namespace

double cosmo_temperature(const CosmoParams& params, int epochs) {
  const double passed = static_cast<double>(epochs) / params.epochs;
  return params.last_temperature +
         0.5 * (params.first_temperature - params.last_temperature) * (1 + std::cos(std::numbers::pi * passed));
}

Matrix cosmo_orientation(const Vector& priorities, double shift, double temperature) {
  const Index d = priorities.size();
  Matrix o(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) o(i, j) = (priorities[j] - priorities[i] - shift) / temperature;
  }
  portable::sigmoid(o.data(), o.size());
  o.diagonal().setZero();
  return o;
}

// ---- Loss and gradient ----------------------------------------------------------------------------------------------

// Parameters: p, then H (linear: d×d, column by column) or the networks, whose W stands for H.
struct CosmoLearning::Work {
  Work(const Matrix& table, const CosmoParams& with, std::uint64_t from_seed)
      : values(table),
        params(with),
        seed(from_seed),
        d(table.cols()),
        shape{d, with.hidden},
        error(shape, &team),
        rows(std::min<Index>(with.batch, table.rows()), d),
        parameters(at(d + (linear() ? d * d : shape.size())), 0.0),
        gradient(parameters.size(), 0.0),
        adam(parameters.size()) {
    draw();
  }

  bool linear() const { return params.relations == Relations::linear; }
  double temperature() const { return cosmo_temperature(params, epoch); }
  Index unit_count() const { return linear() ? 1 : params.hidden; }
  // Where the weights of i → j begin, one for each unit.
  Index place(Index i, Index j) const { return d + (linear() ? j * d + i : shape.weights(j) + i * params.hidden); }

  void draw() {
    Random priorities(Key{seed}.split(kPriorities));
    for (Index i = 0; i < d; ++i) parameters[at(i)] = params.shift / std::numbers::sqrt2 * priorities.normal();
    // Fan-ins as published: d of linear weights, with the gain of a linear unit; 10 d of the networks' first layer.
    const double first =
        linear() ? std::sqrt(3.0 / static_cast<double>(d)) : 1 / std::sqrt(static_cast<double>(params.hidden * d));
    const double head = 1 / std::sqrt(static_cast<double>(params.hidden));
    for (Index j = 0; j < d; ++j) {
      Random random(Key{seed}.split(kWeights).split(static_cast<std::uint64_t>(j)));
      Index k = place(0, j);
      const auto fill = [&](Index count, double bound) {
        for (const Index end = k + count; k < end; ++k) parameters[at(k)] = random.uniform(-bound, bound);
      };
      fill(d * unit_count(), first);
      if (linear()) continue;
      fill(params.hidden, first);     // b
      fill(params.hidden + 1, head);  // v, c
    }
  }

  // Mean squared error over rows and variables, and its gradient by the weights in force, H∘O.
  double linear_error(const MatrixView& batch, const Matrix& in_force, Matrix& by_weights) const {
    const int n = static_cast<int>(batch.rows()), width = static_cast<int>(d),
              stride = static_cast<int>(batch.outerStride());
    Matrix rest = -batch;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, width, width, 1.0, batch.data(), stride, in_force.data(),
                width, 1.0, rest.data(), n);
    by_weights.resize(d, d);
    const double scale = 1 / static_cast<double>(batch.rows() * d);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, width, n, 2 * scale, batch.data(), stride, rest.data(),
                n, 0.0, by_weights.data(), width);
    return scale * rest.squaredNorm();
  }

  // Of a batch: either the rows of a linear model or the packed ones of networks. Leaves the gradient.
  double evaluate(const Matrix& batch, const NetworkRows& packed) {
    const Matrix o = cosmo_orientation(Vector::Map(parameters.data(), d), params.shift, temperature());
    const Index units = unit_count();
    double loss = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0);
    if (linear()) {
      const Matrix in_force = Matrix::Map(parameters.data() + d, d, d).cwiseProduct(o);
      Matrix by_weights;
      loss = linear_error(batch, in_force, by_weights);
      Matrix::Map(gradient.data() + d, d, d) = by_weights;
    } else {
      in_force.assign(parameters.begin() + d, parameters.end());
      for (Index j = 0; j < d; ++j) {
        double* w = in_force.data() + shape.weights(j);
        for (Index i = 0; i < d; ++i) {
          for (Index k = 0; k < units; ++k) *w++ *= o(i, j);
        }
      }
      const double scale = 2 / static_cast<double>(packed.rows() * d);
      const std::span<double> of_networks = std::span(gradient).subspan(at(d));
      loss = scale * error(packed, in_force, of_networks);
      for (double& g : of_networks) g *= scale;
    }
    return loss + finish(o);
  }

  // From the gradient by H∘O to those by H and p, with the penalties, whose sum is returned.
  double finish(const Matrix& o) {
    const Index units = unit_count();
    const double t = temperature();
    double absolute = 0, square = 0;
    for (Index j = 0; j < d; ++j) {
      for (Index k = place(0, j), end = k + d * units; k < end; ++k) {
        absolute += std::abs(parameters[at(k)]);
        square += parameters[at(k)] * parameters[at(k)];
      }
    }
    const double size = std::sqrt(square), pull = size > 0 ? params.l2 / size : 0;
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < d; ++i) {
        double by_o = 0;
        for (Index k = place(i, j), end = k + units; k < end; ++k) {
          const double h = parameters[at(k)];
          by_o += gradient[at(k)] * h;
          gradient[at(k)] = gradient[at(k)] * o(i, j) + params.l1 * sign(h) + pull * h;
        }
        const double by_difference = by_o * o(i, j) * (1 - o(i, j)) / t;  // 0 on the diagonal
        gradient[at(j)] += by_difference;
        gradient[at(i)] -= by_difference;
      }
    }
    const double priorities = norm(std::span(parameters).first(at(d)));
    if (priorities > 0) {
      for (Index i = 0; i < d; ++i) gradient[at(i)] += params.priority_penalty * parameters[at(i)] / priorities;
    }
    return params.l1 * absolute + params.l2 * size + params.priority_penalty * priorities;
  }

  double evaluate_all() {
    const SingleThreadedBlas one_thread;
    return linear() ? evaluate(values, rows) : evaluate(Matrix(), NetworkRows(values));
  }

  // ---- An epoch -----------------------------------------------------------------------------------------------------

  void take_epoch() {
    const SingleThreadedBlas one_thread;
    const Key key = Key{seed}.split(kOrder).split(static_cast<std::uint64_t>(epoch));
    const std::vector<int> order = Random(key).permutation(static_cast<int>(values.rows()));
    for (std::size_t from = 0; from < order.size(); from += at(params.batch)) {
      const auto some = std::span(order).subspan(from, std::min(at(params.batch), order.size() - from));
      Matrix batch;
      if (linear()) {
        batch = values(some, Eigen::all);
      } else {
        rows.fill(values, some);
      }
      const double loss = evaluate(batch, rows);
      check_data(std::isfinite(loss), "[cosmo] the loss is no longer a number; standardise the columns");
      adam.step(parameters, gradient, params.learning_rate);
    }
    ++epoch;
  }

  const Matrix& values;
  CosmoParams params;
  std::uint64_t seed;
  Index d;
  NetworksShape shape;
  Team team;
  SquaredError error;
  NetworkRows rows;
  std::vector<double> parameters, gradient, in_force;
  Adam<double> adam;
  int epoch = 0;
};

CosmoLearning::CosmoLearning(const Matrix& values, const CosmoParams& params, std::uint64_t seed) {
  validate(params);
  work_ = std::make_unique<Work>(values, params, seed);
}
CosmoLearning::~CosmoLearning() = default;

void CosmoLearning::advance(Progress&) { work_->take_epoch(); }
bool CosmoLearning::finished() const { return work_->epoch >= work_->params.epochs; }
long CosmoLearning::steps() const { return work_->epoch; }
long CosmoLearning::schedule() const { return work_->params.epochs; }

LearningState CosmoLearning::state() const {
  const Work& w = *work_;
  return {{double(w.epoch), double(w.adam.state().steps)}, {w.parameters, w.adam.state().mean, w.adam.state().square}};
}

void CosmoLearning::restore(const LearningState& state) {
  Work& w = *work_;
  StateReader reader(state);
  w.epoch = static_cast<int>(reader.count(w.params.epochs));
  Adam<double>::State adam;
  adam.steps = reader.count(std::int64_t{1} << 52);
  w.parameters = reader.vector(w.parameters.size());
  adam.mean = reader.vector(w.parameters.size());
  adam.square = reader.vector(w.parameters.size());
  reader.end();
  w.adam.restore(std::move(adam));
}

Matrix CosmoLearning::weights() const {
  const Work& w = *work_;
  Matrix weights = cosmo_orientation(priorities(), w.params.shift, w.temperature());
  for (Index j = 0; j < w.d; ++j) {
    for (Index i = 0; i < w.d; ++i) {
      const auto units = std::span(w.parameters).subspan(at(w.place(i, j)), at(w.unit_count()));
      const bool adds = w.linear() || w.params.unit_weights == UnitWeights::sum;
      weights(i, j) *= adds ? std::accumulate(units.begin(), units.end(), 0.0) : norm(units);
    }
  }
  return weights;
}

Vector CosmoLearning::priorities() const { return Vector::Map(work_->parameters.data(), work_->d); }
double CosmoLearning::loss() { return work_->evaluate_all(); }
std::span<const double> CosmoLearning::parameters() const { return work_->parameters; }

double CosmoLearning::loss(std::span<const double> parameters, std::span<double> gradient) {
  Work& w = *work_;
  std::vector<double> kept(parameters.begin(), parameters.end());
  std::swap(kept, w.parameters);
  const double loss = w.evaluate_all();
  std::swap(kept, w.parameters);
  if (!gradient.empty()) std::copy(w.gradient.begin(), w.gradient.end(), gradient.begin());
  return loss;
}

// ---- The row --------------------------------------------------------------------------------------------------------

namespace {

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<CosmoParams>();
  Deadline deadline = answer_deadline(context);
  const LearningTable table =
      learning_table(context, params.standardise ? Columns::standardised : Columns::centred, "cosmo");
  if (table.variables() < 2) return answer_without_pairs(table);
  CosmoLearning learning(table.values, params, context.run().seed);
  const bool finished =
      learn(learning, context, "cosmo: " + CosmoParams::description().identity(&params), "weights", deadline);
  GraphAnswer answer = weighted_answer(table, learning.weights(), params.threshold, "cosmo");
  answer.how = fmt::format(
      "{} relations; directions as published, which follow the columns' scales more than causes; {} epoch{}",
      name(params.relations), learning.steps(), learning.steps() == 1 ? "" : "s");
  const double temperature = cosmo_temperature(params, static_cast<int>(learning.steps()));
  answer.details = {
      {"loss", learning.loss()}, {"temperature", temperature}, {"epochs_taken", std::int64_t{learning.steps()}}};
  if (!finished) {
    answer.unfinished =
        fmt::format("time ran out after {} of {} epochs, at a temperature of {:.2g}: edges may still have turned round",
                    learning.steps(), params.epochs, temperature);
  }
  return answer;
}

}  // namespace

const Description& CosmoParams::description() {
  using P = CosmoParams;
  static const Description list =
      Describe<P>()
          .field("relations", &P::relations, "of a variable to its parents: linear, or by a network")
          .field("hidden", &P::hidden, "units of each network", at_least(1))
          .field("epochs", &P::epochs, "times through the rows", at_least(1))
          .field("batch", &P::batch, "rows a step", at_least(1))
          .field("learning_rate", &P::learning_rate, "of Adam", above(0))
          .field("l1", &P::l1, "factor of the sum of absolute weights", at_least(0))
          .field("l2", &P::l2, "factor of the weights' Euclidean norm", at_least(0))
          .field("priority_penalty", &P::priority_penalty, "factor of the priorities' Euclidean norm", at_least(0))
          .field("first_temperature", &P::first_temperature, "at the first epoch", above(0))
          .field("last_temperature", &P::last_temperature, "at the last, reached along half a cosine", above(0))
          .field("shift", &P::shift, "by which the priorities of an edge's ends must differ", above(0))
          .field("unit_weights", &P::unit_weights, "an edge's weight from those to its units: their sum, or their norm")
          .field("threshold", &P::threshold, "edges of the graph have at least this weight")
          .field("standardise", &P::standardise, "columns to mean 0 and variance 1 first")
          .done();
  return list;
}

GraphMethod cosmo_method() {
  GraphMethod row;
  row.name = "cosmo";
  row.summary =
      "priorities of variables and weights of pairs, learnt while a temperature falls, as published; for comparison";
  row.citation = "Massidda, Landolfi, Cinquini and Bacciu, ICLR 2024";
  row.can = learning_capabilities();
  row.parameters = CosmoParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
