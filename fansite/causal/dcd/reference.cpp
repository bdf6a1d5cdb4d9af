// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fansite::causal {

NetworkParameters zero_networks(int variables, int hidden) {
  NetworkParameters p;
  p.w.assign(static_cast<std::size_t>(variables), Matrix::Zero(variables, hidden));
  p.b = p.m = p.s = Matrix::Zero(variables, hidden);
  p.m0 = p.s0 = Vector::Zero(variables);
  return p;
}

namespace reference {
namespace {

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }
double softplus(double z) { return z > 20 ? z : std::log1p(std::exp(z)); }

const Matrix& weights_of(const NetworkParameters& p, Index child) { return p.w[static_cast<std::size_t>(child)]; }

double before_softplus(const NetworkParameters& p, const Matrix& hidden, Index n, Index j, Variance kind) {
  double q = p.s0[j];
  if (kind == Variance::network) q += hidden.row(n).dot(p.s.row(j));
  return q;
}

// Every parameter of a and its counterparts, one after the other.
template <class Visit, class First, class... Rest>
void for_each_parameter(Visit&& visit, First& a, Rest&... rest) {
  for (std::size_t j = 0; j < a.w.size(); ++j) {
    for (Index k = 0; k < a.w[j].size(); ++k) visit(a.w[j].data()[k], rest.w[j].data()[k]...);
  }
  for (const auto part : {&NetworkParameters::b, &NetworkParameters::m, &NetworkParameters::s}) {
    for (Index k = 0; k < (a.*part).size(); ++k) visit((a.*part).data()[k], (rest.*part).data()[k]...);
  }
  for (const auto part : {&NetworkParameters::m0, &NetworkParameters::s0}) {
    for (Index k = 0; k < (a.*part).size(); ++k) visit((a.*part).data()[k], (rest.*part).data()[k]...);
  }
}

}  // namespace

Forward forward(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind) {
  const Index d = rows.cols(), h = p.b.cols();
  Forward f;
  f.mean.resize(rows.rows(), d);
  f.variance.resize(rows.rows(), d);
  for (Index j = 0; j < d; ++j) {
    f.hidden.emplace_back(rows.rows(), h);
    Matrix& hidden = f.hidden.back();
    for (Index n = 0; n < rows.rows(); ++n) {
      for (Index k = 0; k < h; ++k) {
        double sum = p.b(j, k);
        for (Index i = 0; i < d; ++i) {
          if (mask(i, j) != 0) sum += rows(n, i) * weights_of(p, j)(i, k);
        }
        hidden(n, k) = sigmoid(sum);
      }
      f.mean(n, j) = p.m0[j] + hidden.row(n).dot(p.m.row(j));
      f.variance(n, j) =
          kind == Variance::unit ? 1 : std::max(softplus(before_softplus(p, hidden, n, j, kind)), kLeastVariance);
    }
  }
  return f;
}

Matrix adjacency(const NetworkParameters& p, const ByteMatrix& mask) {
  const Index d = mask.rows();
  Matrix a = Matrix::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (mask(i, j) != 0) a(i, j) = weights_of(p, j).row(i).norm();
    }
  }
  return a;
}

Loss loss(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind,
          const Penalties& penalties) {
  const Forward f = forward(p, mask, rows, kind);
  const Index d = rows.cols();
  Loss loss;
  for (Index n = 0; n < rows.rows(); ++n) {
    for (Index j = 0; j < d; ++j) {
      const double variance = f.variance(n, j), error = rows(n, j) - f.mean(n, j);
      loss.nll += 0.5 * std::log(2 * std::numbers::pi * variance) + error * error / (2 * variance);
    }
  }
  loss.nll /= static_cast<double>(rows.rows());
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      if (mask(i, j) != 0) loss.l1 += penalties.l1 * weights_of(p, j).row(i).lpNorm<1>();
    }
  }
  for_each_parameter([&](double value) { loss.l2 += penalties.l2 * value * value; }, p);
  if (penalties.gamma != 0) loss.dag = penalties.gamma * penalties.slope.cwiseProduct(adjacency(p, mask)).sum();
  return loss;
}

NetworkParameters gradient(const NetworkParameters& p, const ByteMatrix& mask, const MatrixView& rows, Variance kind,
                           const Penalties& penalties) {
  const Index d = rows.cols(), h = p.b.cols();
  const auto batch = static_cast<double>(rows.rows());
  const Forward f = forward(p, mask, rows, kind);
  NetworkParameters g = zero_networks(static_cast<int>(d), static_cast<int>(h));
  for (Index j = 0; j < d; ++j) {
    const Matrix& hidden = f.hidden[static_cast<std::size_t>(j)];
    Matrix& dw = g.w[static_cast<std::size_t>(j)];
    for (Index n = 0; n < rows.rows(); ++n) {
      const double variance = f.variance(n, j), error = rows(n, j) - f.mean(n, j);
      const double by_mean = -error / (batch * variance);
      const double by_variance = (1 / (2 * variance) - error * error / (2 * variance * variance)) / batch;
      double by_q = 0;  // what the softplus is taken of
      if (kind != Variance::unit && variance > kLeastVariance)
        by_q = by_variance * sigmoid(before_softplus(p, hidden, n, j, kind));
      g.m0[j] += by_mean;
      g.s0[j] += by_q;
      for (Index k = 0; k < h; ++k) {
        g.m(j, k) += by_mean * hidden(n, k);
        double by_hidden = by_mean * p.m(j, k);
        if (kind == Variance::network) {
          g.s(j, k) += by_q * hidden(n, k);
          by_hidden += by_q * p.s(j, k);
        }
        const double by_sum = by_hidden * hidden(n, k) * (1 - hidden(n, k));
        g.b(j, k) += by_sum;
        for (Index i = 0; i < d; ++i) {
          if (mask(i, j) != 0) dw(i, k) += rows(n, i) * by_sum;
        }
      }
    }
    for (Index i = 0; i < d; ++i) {
      if (mask(i, j) == 0) continue;
      const auto w = weights_of(p, j).row(i);
      dw.row(i) += penalties.l1 * w.cwiseSign();
      const double norm = w.norm();
      if (penalties.gamma != 0 && norm > 0) dw.row(i) += penalties.gamma * penalties.slope(i, j) / norm * w;
    }
  }
  for_each_parameter([&](double& by, double value) { by += 2 * penalties.l2 * value; }, g, p);
  return g;
}

Adam::Adam(int variables, int hidden)
    : mean_(zero_networks(variables, hidden)), square_(zero_networks(variables, hidden)) {}

void Adam::step(NetworkParameters& p, const NetworkParameters& gradient, double learning_rate) {
  ++steps_;
  const double t = static_cast<double>(steps_);
  const double correct1 = 1 - std::pow(0.9, t), correct2 = 1 - std::pow(0.999, t);
  for_each_parameter(
      [&](double& value, double& mean, double& square, double by) {
        mean = 0.9 * mean + 0.1 * by;
        square = 0.999 * square + 0.001 * by * by;
        value -= learning_rate * (mean / correct1) / (std::sqrt(square / correct2) + 1e-8);
      },
      p, mean_, square_, gradient);
}

}  // namespace reference
}  // namespace fansite::causal
