// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/sigmoidal.h"

#include <cmath>
#include <numbers>

namespace fansite::neural {
namespace {

constexpr double kEpsilon = 1e-6;

// ln(1 + e^x), for any x.
template <class Array>
auto softplus(const Array& x) {
  return (x.max(0) + ((-x.abs()).exp() + 1).log()).eval();
}
template <class Array>
auto sigmoid(const Array& x) {
  return (1 / (1 + (-x).exp())).eval();
}

// What a term's map is made of. 1 − y is the sum of w (1 − σ), never a difference.
template <class Real>
struct Map {
  Columns<Real> a, w, sigma, rest, share;  // rest: 1 − σ; share: of each sigmoid in dy/dx
  Column<Real> y, not_y, log_sum;          // y' and 1 − y'; ln Σ w a σ (1 − σ)

  Map(const Columns<Real>& q, const Column<Real>& x) {
    const Index k = q.cols() / 3, n = q.rows();
    a = softplus(q.leftCols(k)) + static_cast<Real>(kEpsilon);
    const Column<Real> top = q.rightCols(k).rowwise().maxCoeff();
    Columns<Real> log_w = q.rightCols(k).colwise() - top;
    const Column<Real> log_total = log_w.exp().rowwise().sum().log();
    log_w.colwise() -= log_total;
    w = log_w.exp();
    const Columns<Real> u =
        (a.colwise() * x + q.middleCols(k, k)).max(static_cast<Real>(-1e15)).min(static_cast<Real>(1e15));
    sigma = sigmoid(u);
    rest = sigmoid(-u);
    constexpr auto keep = static_cast<Real>(1 - kEpsilon), half = static_cast<Real>(0.5 * kEpsilon);
    y = (w * sigma).rowwise().sum() * keep + half;
    not_y = (w * rest).rowwise().sum() * keep + half;
    // σ (1 − σ) may be too small for a number, its logarithm −|u| − 2 ln(1 + e^−|u|) is not.
    share = log_w + a.log() - u.abs() - 2 * ((-u.abs()).exp() + 1).log();
    const Column<Real> largest = share.rowwise().maxCoeff();
    share = (share.colwise() - largest).exp();
    const Column<Real> total = share.rowwise().sum();
    log_sum = largest + total.log();
    for (Index i = 0; i < n; ++i) share.row(i) /= total[i];
  }

  Column<Real> z() const { return y.log() - not_y.log(); }
  Column<Real> log_slope() const { return log_sum + static_cast<Real>(std::log1p(-kEpsilon)) - y.log() - not_y.log(); }
};

}  // namespace

MappedValue sigmoidal(std::span<const double> a, std::span<const double> b, std::span<const double> w, double x) {
  double y = 0, slope = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double sigma = 1 / (1 + std::exp(-(a[k] * x + b[k])));
    y += w[k] * sigma;
    slope += w[k] * a[k] * sigma * (1 - sigma);
  }
  y = y * (1 - kEpsilon) + 0.5 * kEpsilon;
  return {std::log(y) - std::log(1 - y), std::log(slope) + std::log1p(-kEpsilon) - std::log(y) - std::log(1 - y)};
}

template <class Real>
void map_terms(const Columns<Real>& q, const Column<Real>& x, Column<Real>& z, Column<Real>& log_slope) {
  const Map<Real> map(q, x);
  z = map.z();
  log_slope = map.log_slope();
}

template <class Real>
Column<Real> log_densities(const Columns<Real>& q, const Column<Real>& x, Columns<Real>* dq) {
  const Map<Real> map(q, x);
  const Column<Real> z = map.z();
  constexpr auto kHalfLogTwoPi = static_cast<Real>(0.5 * 1.8378770664093453);
  Column<Real> result = map.log_slope() - z.square() / 2 - kHalfLogTwoPi;
  if (dq == nullptr) return result;
  const Index k = q.cols() / 3;
  // With respect to y: through z, and through −ln y' − ln(1 − y').
  const Column<Real> by_y =
      static_cast<Real>(1 - kEpsilon) * (-z * (1 / map.y + 1 / map.not_y) - 1 / map.y + 1 / map.not_y);
  const Columns<Real> by_u =
      ((map.w * map.sigma * map.rest).colwise() * by_y + map.share * (map.rest - map.sigma)).eval();
  dq->resize(q.rows(), q.cols());
  dq->leftCols(k) = (by_u.colwise() * x + map.share / map.a) * sigmoid(q.leftCols(k));
  dq->middleCols(k, k) = by_u;
  const Columns<Real> by_log_w = (map.w * map.sigma).colwise() * by_y + map.share;
  const Column<Real> sum = by_log_w.rowwise().sum();
  dq->rightCols(k) = by_log_w - map.w.colwise() * sum;
  return result;
}

template void map_terms(const Columns<float>&, const Column<float>&, Column<float>&, Column<float>&);
template void map_terms(const Columns<double>&, const Column<double>&, Column<double>&, Column<double>&);
template Column<float> log_densities(const Columns<float>&, const Column<float>&, Columns<float>*);
template Column<double> log_densities(const Columns<double>&, const Column<double>&, Columns<double>*);

}  // namespace fansite::neural
